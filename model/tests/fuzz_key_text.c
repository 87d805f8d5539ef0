/* Any bytes as a composed state: refused with a fault that points into them, or read, and then
 * composed to the same bytes less the zeros, which composing drops. */
#include "model/check.h"
#include "model/key_text.h"

#include <string.h>

#define FLOWS_MAX 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fault(const struct text_error *error, size_t length)
{
    CHECK(error->wrong != NULL && error->right != NULL);
    CHECK(error->at <= length);
}

/* A good text has zeros nowhere but at the ends of flows. */
static void check_same_less_zeros(const char *text, size_t length, const char *composed)
{
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '0') {
            CHECK(composed[at] == text[i]);
            at++;
        }
    }
    CHECK(composed[at] == '\0');
}

static void check_read_again(const char *composed, const struct key_flow *flows, int count)
{
    struct key_flow again[FLOWS_MAX];
    struct text_error error;
    int count_again = 0;
    CHECK(key_text_parse(composed, strlen(composed), again, count, &count_again, &error));
    CHECK(count_again == count);
    for (int i = 0; i < count; i++) {
        CHECK(again[i].key == flows[i].key);
        CHECK(again[i].parent == flows[i].parent);
        CHECK(again[i].position == flows[i].position);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct key_flow flows[FLOWS_MAX];
    struct text_error error = {NULL, NULL, 0};
    char composed[KEY_TEXT_SIZE(FLOWS_MAX)];
    int count = 0;
    if (!key_text_parse(text, size, flows, FLOWS_MAX, &count, &error)) {
        check_fault(&error, size);
        return 0;
    }
    size_t room = KEY_TEXT_SIZE(count);
    CHECK(key_text_compose(flows, count, composed, room) == KEY_TEXT_COMPOSED);
    check_same_less_zeros(text, size, composed);
    check_read_again(composed, flows, count);
    return 0;
}
