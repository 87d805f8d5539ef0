#include "model/clause.h"

#include "model/check.h"

static const struct clause clauses[CLAUSE_COUNT] = {
#define CLAUSE(in_family, number, of_kind, in_section, text)                                       \
    [CLAUSE_##in_family##_##number] = {.id = #in_family "-" #number,                               \
                                       .family = CLAUSE_FAMILY_##in_family,                        \
                                       .kind = CLAUSE_KIND_##of_kind,                              \
                                       .section = (in_section),                                    \
                                       .promise = (text)},
#include "model/clauses.def"
#undef CLAUSE
};

static const struct erratum errata[] = {
#define ERRATUM(in_family, number, says, wrong, decision)                                          \
    {.id = "E-" #in_family "-" #number,                                                            \
     .family = CLAUSE_FAMILY_##in_family,                                                          \
     .text = (says),                                                                               \
     .problem = (wrong),                                                                           \
     .decided = (decision)},
#include "model/errata.def"
#undef ERRATUM
};

static const struct withdrawn withdrawn[] = {
#define ERRATUM(in_family, number, says, wrong, decision)
#define WITHDRAWN(in_family, number, reason)                                                       \
    {.id = "E-" #in_family "-" #number, .family = CLAUSE_FAMILY_##in_family, .why = (reason)},
#include "model/errata.def"
#undef ERRATUM
};

static const struct {
    const char *name, *seed, *about;
} families[CLAUSE_FAMILY_COUNT] = {
#define FAMILY(id, in_seed, text) [CLAUSE_FAMILY_##id] = {#id, in_seed, text},
#include "model/families.def"
#undef FAMILY
};

static const struct {
    const char *name, *about;
} kinds[CLAUSE_KIND_COUNT] = {
    [CLAUSE_KIND_FMT] = {"fmt", "arithmetic or format, proved by unit tests"},
    [CLAUSE_KIND_LIMIT] = {"limit", "behaviour at a boundary"},
    [CLAUSE_KIND_SAFE] = {"safe", "safety invariant, checked at every commit of every run"},
    [CLAUSE_KIND_LIVE] = {"live", "liveness, checked after faults stop"},
    [CLAUSE_KIND_PATH] = {"path", "a path that must be seen taken"},
    [CLAUSE_KIND_GOLDEN] = {"golden", "a worked example, reproduced digit by digit"},
    [CLAUSE_KIND_IMPL] = {"impl", "a rule about how it is built"},
};

const struct clause *clause_get(enum clause_id id)
{
    CHECK((size_t)id < CLAUSE_COUNT);
    return &clauses[id];
}

static bool same_text(const char *id, const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && id[i] != '\0' && id[i] == text[i]) {
        i++;
    }
    return i == length && id[i] == '\0';
}

bool clause_find(const char *text, size_t length, enum clause_id *found)
{
    for (size_t i = 0; i < CLAUSE_COUNT; i++) {
        if (same_text(clauses[i].id, text, length)) {
            *found = (enum clause_id)i;
            return true;
        }
    }
    return false;
}

size_t clause_errata_count(void)
{
    return COUNT(errata);
}

const struct erratum *clause_erratum(size_t index)
{
    CHECK(index < clause_errata_count());
    return &errata[index];
}

size_t clause_withdrawn_count(void)
{
    return COUNT(withdrawn);
}

const struct withdrawn *clause_withdrawn(size_t index)
{
    CHECK(index < clause_withdrawn_count());
    return &withdrawn[index];
}

const char *clause_family_name(enum clause_family family)
{
    CHECK((size_t)family < CLAUSE_FAMILY_COUNT);
    return families[family].name;
}

const char *clause_family_seed(enum clause_family family)
{
    CHECK((size_t)family < CLAUSE_FAMILY_COUNT);
    return families[family].seed;
}

const char *clause_family_about(enum clause_family family)
{
    CHECK((size_t)family < CLAUSE_FAMILY_COUNT);
    return families[family].about;
}

const char *clause_kind_name(enum clause_kind kind)
{
    CHECK((size_t)kind < CLAUSE_KIND_COUNT);
    return kinds[kind].name;
}

const char *clause_kind_about(enum clause_kind kind)
{
    CHECK((size_t)kind < CLAUSE_KIND_COUNT);
    return kinds[kind].about;
}
