/* libFuzzer target: whatever a client and a server send to each other, in whatever pieces, what the
 * proxy passes on is what was sent, or the session ends. The first bytes say how the pieces are cut,
 * how often something is held, and where the server's part begins. */
#include "wire/tests/mill.h"

#include "wire/normalise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* (NM1), (NM2): no longer than the text, and the same when it is done again. */
static void normalise_twice(const char *text, size_t length)
{
    char *once = malloc(length + 1), *twice = malloc(length + 1);
    size_t used = normalise(text, length, once, length);
    CHECK(used <= length);
    CHECK(normalise(once, used, twice, used) == used);
    CHECK(memcmp(once, twice, used) == 0);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) {
        return 0;
    }
    static struct mill mill;
    memset(&mill, 0, sizeof mill);
    mill.random.state = data[0];
    mill.mischief = data[1] % 8;
    const char *bytes = (const char *)data + 4;
    size_t length = size - 4, middle = (size_t)(data[2] << 8 | data[3]) % (length + 1);
    struct mill_stream up = {.bytes = bytes, .length = middle};
    struct mill_stream down = {.bytes = bytes + middle, .length = length - middle};
    mill_run(&mill, &up, &down);
    normalise_twice(bytes, length);
    return 0;
}
