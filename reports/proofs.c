#include "reports/proofs.h"

#include "model/check.h"

#include <ctype.h>
#include <string.h>

static const struct proof proofs[] = {
#define PROOF(suite, test, clauses, errata) {suite, test, clauses, errata},
#include "proofs.def"
#undef PROOF
};

size_t proofs_count(void)
{
    return COUNT(proofs);
}

const struct proof *proofs_get(size_t index)
{
    CHECK(index < proofs_count());
    return &proofs[index];
}

static bool is_inside(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '/';
}

bool proofs_names(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == text || !is_inside(at[-1])) && !is_inside(at[length])) {
            return true;
        }
    }
    return false;
}
