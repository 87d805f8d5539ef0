#include "cli/run_options.h"

#include "sim/campaign.h"

#include <stdio.h>
#include <string.h>

#define SHARDS_MAX 1000000

int one_run_without(const struct cli_verb *verb, const struct cli_values *names,
                    bool without[CLAUSE_COUNT], bool silent[ORACLE_NAME_COUNT])
{
    for (int i = 0; i < names->count; i++) {
        const char *name = names->values[i];
        enum clause_id clause;
        enum oracle_name oracle;
        if (clause_find(name, strlen(name), &clause)) {
            without[clause] = true;
        } else if (silent != NULL && campaign_oracle_find(name, &oracle)) {
            silent[oracle] = true;
        } else {
            return cli_usage_error(verb, "--without %s: it is a clause such as ACL-21%s",
                                   cli_quote(name).text,
                                   silent == NULL ? "" : ", or one of ledger, semaphore, data");
        }
    }
    return CLI_OK;
}

int one_run_strategy(const struct cli_verb *verb, const char *text,
                     struct choice_strategy *strategy)
{
    *strategy = (struct choice_strategy){0};
    if (text == NULL || choice_strategy_read(text, strategy)) {
        return CLI_OK;
    }
    return cli_usage_error(verb,
                           "--strategy '%s': it is random, pct, or pct:DEPTH:LENGTH with a depth "
                           "from 1 to %d and a length from 1 to %d",
                           cli_quote(text).text, CHOICE_DEPTH_MAX, CHOICE_LENGTH_MAX);
}

int one_run_check_sabotage(const struct cli_verb *verb, const struct sabotage *sabotage,
                           const struct scenario *scenario)
{
    if (sabotage->protocol == scenario->protocol) {
        return CLI_OK;
    }
    return cli_usage_error(verb, "the sabotage %s is of protocol %s, and %s of %s", sabotage->name,
                           sabotage->protocol->name, scenario->name, scenario->protocol->name);
}

/* All of text[0..length) as a number of at most `most`. */
static bool read_number(const char *text, size_t length, uint64_t most, uint64_t *number)
{
    char part[24];
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part), text);
    return length < sizeof part && cli_read_number(part, number) && *number <= most;
}

int one_run_shard(const struct cli_verb *verb, const char *text, uint64_t *shard, uint64_t *shards)
{
    const char *slash = strchr(text, '/');
    if (slash == NULL || !read_number(text, (size_t)(slash - text), SHARDS_MAX, shard) ||
        !read_number(slash + 1, strlen(slash + 1), SHARDS_MAX, shards) || *shard == 0 ||
        *shard > *shards) {
        return cli_usage_error(verb, "--shard '%s': it is K/N with K from 1 to N, such as 2/4",
                               cli_quote(text).text);
    }
    (*shard)--;
    return CLI_OK;
}
