/* That what is listed as equivalent is shown to be: the same ends by the same paths, in scopes that
 * reach it. */
#include "model/activity_engine.h"
#include "model/inbox.h"
#include "model/legacy_engine.h"
#include "model/pipeline.h"
#include "model/seq.h"
#include "sim/equivalence.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define GROUNDS_MAX 64
#define STATES_MAX  6000 /* of a scope, where there is little time */

static struct equivalence_ground grounds[GROUNDS_MAX];
static size_t ground_count;

static struct sabotage found(const char *name)
{
    struct sabotage sabotage;
    cr_assert(sabotage_find(name, &sabotage), "%s", name);
    return sabotage;
}

static void make_ground(const struct scope *scope)
{
    struct equivalence_ground *ground = &grounds[ground_count++];
    cr_assert(equivalence_ground_make(ground, scope));
    cr_assert_eq(ground->verdict, EXPLORE_HELD, "%s: %s", scope->name, ground->why);
    cr_assert_gt(ground->end_count, 0U, "%s", scope->name);
}

static void free_grounds(void)
{
    while (ground_count > 0) {
        equivalence_ground_free(&grounds[--ground_count]);
    }
}

static struct equivalence judge(const char *name)
{
    const struct sabotage sabotage = found(name);
    struct equivalence judged;
    cr_assert(equivalence_judge(grounds, ground_count, &sabotage, &judged));
    return judged;
}

static const struct scope inbox = {"two messages",
                                   "name: two\nprotocol: inbox\njobs: 2\nworkers: 2\naccounts: 1\n",
                                   {.crashes = 1, .duplicates = 1},
                                   false};

/* What each answer is for. */
Test(equivalence, a_difference_of_any_kind_is_told)
{
    static const struct {
        const char *name;
        enum equivalence_answer answer;
    } cases[] = {
        {"inbox.ack/repeat", EQUIVALENCE_EQUAL},
        {"inbox.send/split-after/open-account", EQUIVALENCE_EQUAL},
        {"inbox.apply/drop/remember", EQUIVALENCE_BROKEN},
        {"inbox.apply/split-after/remember", EQUIVALENCE_BROKEN},
    };
    make_ground(&inbox);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct equivalence judged = judge(cases[i].name);
        cr_expect_eq(judged.decisive.answer, cases[i].answer, "%s: %d", cases[i].name,
                     judged.decisive.answer);
        cr_expect_eq(judged.shown, cases[i].answer == EQUIVALENCE_EQUAL);
        cr_expect_eq(judged.found, cases[i].answer == EQUIVALENCE_BROKEN);
        cr_expect_eq(judged.scopes, 1U);
    }
    free_grounds();
}

/* A counter that is one higher is another end, though no promise may speak of it. */
Test(equivalence, an_entry_that_is_counted_twice_is_not_equal)
{
    static const struct scope alone = {
        "alone", "name: alone\ncommits: literal\nworkers: 1\ngraph: {trigger: []}\n", {0}, false};
    make_ground(&alone);
    struct equivalence_trial trial;
    const struct sabotage sabotage = found("enter-leg1/repeat");
    cr_assert(equivalence_try(&grounds[0], &sabotage, &trial));
    cr_expect(trial.answer == EQUIVALENCE_ENDS || trial.answer == EQUIVALENCE_BROKEN);
    cr_expect_eq(trial.more_ends, trial.answer == EQUIVALENCE_ENDS ? 1U : 0U);
    free_grounds();
}

/* A bug that only takes a path away: the ends are the same. */
Test(equivalence, a_path_that_is_gone_is_not_equal)
{
    static const struct scope ground = {"grace",
                                        "name: grace\nprotocol: seq\nworkers: 1\njobs: 1\ntimeout: "
                                        "9\nbudget: 1\nfates: [cancel]\n",
                                        {.lapses = 1},
                                        false};
    make_ground(&ground);
    cr_expect(grounds[0].seen[COVER_SEQ_CANCEL_FORCED]);
    struct equivalence judged = judge("seq.ask-to-end/drop/ask");
    cr_expect_not(judged.shown);
    free_grounds();
}

/* The client's decorator is part of the state, too: what it is about to send again. */
Test(equivalence, a_client_that_sends_twice_comes_to_rest)
{
    make_ground(&inbox);
    cr_expect(judge("inbox.send/repeat").shown);
    free_grounds();
}

/* (EQ1) */
Test(equivalence, what_takes_effect_nowhere_is_not_shown)
{
    static const struct scope ground = {
        "no hop", "name: no-hop\ncommits: literal\nhop: none\ngraph: {trigger: []}\n", {0}, false};
    make_ground(&ground);
    struct equivalence judged = judge("answer/repeat");
    cr_expect_eq(judged.decisive.answer, EQUIVALENCE_UNTOUCHED);
    cr_expect_not(judged.shown);
    cr_expect_eq(judged.scopes, 0U);
    free_grounds();
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static bool is_full(void)
{
    return getenv("ASSAY_FULL") != NULL;
}

/* Those of the protocol's scopes that there is time for. */
static void make_grounds(const struct protocol *protocol)
{
    const struct scope *scopes;
    size_t count = scopes_of(protocol, &scopes);
    cr_assert_leq(count, (size_t)GROUNDS_MAX);
    for (size_t s = 0; s < count; s++) {
        make_ground(&scopes[s]);
        if (grounds[ground_count - 1].states > STATES_MAX && !is_full()) {
            equivalence_ground_free(&grounds[--ground_count]);
        }
    }
}

/* Where not every scope is searched, what differs in one of the others may seem to be equal, and
 * what takes effect in no other may not take effect. */
static void expect_as_listed(const struct sabotage *sabotage)
{
    struct equivalence judged;
    char text[300];
    cr_assert(equivalence_judge(grounds, ground_count, sabotage, &judged));
    equivalence_text(&judged, text, sizeof text);
    bool untouched = judged.decisive.answer == EQUIVALENCE_UNTOUCHED && !is_full();
    cr_expect_not(judged.found, "%s: %s", sabotage->name, text);
    cr_expect(sabotage->differs != NULL || judged.shown || untouched, "%s is not shown: %s",
              sabotage->name, text);
    cr_expect(sabotage->differs == NULL || !judged.shown || !is_full(),
              "%s is shown, and listed as if it were not: %s", sabotage->name, text);
}

static void expect_all_as_listed(const struct protocol *protocol)
{
    size_t count = 0;
    make_grounds(protocol);
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        if (sabotage.protocol == protocol && sabotage.equivalent != NULL) {
            expect_as_listed(&sabotage);
            count++;
        }
    }
    cr_expect_gt(count, 3U);
    free_grounds();
}

/* Those that differ are listed as such, so that what is not is shown, below. */
Test(equivalence, of_what_is_listed_one_in_ten_at_most_is_not_shown)
{
    size_t listed = 0, not_shown = 0;
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        listed += sabotage.equivalent != NULL;
        not_shown += sabotage.differs != NULL;
        cr_expect(sabotage.differs == NULL || sabotage.equivalent != NULL, "%s", sabotage.name);
    }
    cr_expect_leq(100 * not_shown, EQUIVALENCE_NOT_SHOWN_PERCENT * listed);
}

Test(equivalence, what_is_listed_of_the_activity_ledger_is_shown)
{
    expect_all_as_listed(&protocol_activity);
}

Test(equivalence, what_is_listed_of_the_inbox_is_shown)
{
    expect_all_as_listed(&protocol_inbox);
}

Test(equivalence, what_is_listed_of_the_earlier_ledger_is_shown)
{
    expect_all_as_listed(&protocol_legacy);
}

Test(equivalence, what_is_listed_of_the_key_is_shown)
{
    expect_all_as_listed(&protocol_flow);
}

Test(equivalence, what_is_listed_of_the_pipeline_is_shown)
{
    expect_all_as_listed(&protocol_pipeline);
}

Test(equivalence, what_is_listed_of_the_seq_ledger_is_shown)
{
    expect_all_as_listed(&protocol_seq);
}
