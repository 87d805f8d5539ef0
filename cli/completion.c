/* assay completion: a shell proposes verbs, options and names. The shell's part hands all words to
 * this program, which looks them up in the tables. */
#include "cli/options.h"
#include "faults/sabotage.h"
#include "model/clause.h"
#include "scenarios/scenario.h"

#include <string.h>

struct request {
    const char *shell;
    struct cli_arguments words;
};

static const char *const shells[] = {"bash", "zsh", "fish", "words", NULL};

static const struct option options[] = {
    {WORD_ROW(struct request, shell, NULL, "SHELL", shells), .needed = true,
     .lacking = "say for which shell: bash, zsh or fish",
     .about = "prints the lines that this shell reads"},
    {ARGUMENTS_ROW(struct request, words, "WORD", false), .names = NAMES_OF_NOTHING,
     .about = "of words, after --: a command line without assay; prints what its last word may "
              "become, a line each"},
};

/* ---- candidates ------------------------------------------------------------------------------ */

static void propose(FILE *out, const char *candidate, const char *begun)
{
    if (strncmp(candidate, begun, strlen(begun)) == 0) {
        fprintf(out, "%s\n", candidate);
    }
}

static void propose_names(FILE *out, enum option_names names, const char *begun)
{
    struct sabotage sabotage;
    for (size_t i = 0; names == NAMES_OF_SCENARIOS && i < scenario_count(); i++) {
        propose(out, scenario_name(i), begun);
    }
    for (size_t i = 0; names == NAMES_OF_SABOTAGES && i < sabotage_count(); i++) {
        sabotage_get(i, &sabotage);
        propose(out, sabotage.name, begun);
    }
    for (int c = 0; names == NAMES_OF_CLAUSES && c < CLAUSE_COUNT; c++) {
        propose(out, clause_get((enum clause_id)c)->id, begun);
    }
}

static void propose_values(FILE *out, const struct option *option, const char *begun)
{
    const char *const *word = option->kind == OPTION_WORD ? option->words : NULL;
    for (; word != NULL && *word != NULL; word++) {
        propose(out, *word, begun);
    }
    propose_names(out, option->names, begun);
}

static void propose_options(FILE *out, const struct cli_verb *verb, const char *begun)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        if (verb->options[i].name != NULL) {
            propose(out, verb->options[i].name, begun);
        }
    }
    propose(out, "--help", begun);
}

static const struct option *option_named(const struct cli_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        if (verb->options[i].name != NULL && strcmp(verb->options[i].name, name) == 0) {
            return &verb->options[i];
        }
    }
    return NULL;
}

/* The row without a name that the `arguments`th argument belongs to; NULL: none. */
static const struct option *argument_row(const struct cli_verb *verb, int arguments)
{
    for (size_t i = 0; i < verb->option_count && verb->options[i].name == NULL; i++) {
        if ((int)i == arguments || verb->options[i].kind == OPTION_ARGUMENTS) {
            return &verb->options[i];
        }
    }
    return NULL;
}

/* What the words before the last one leave open: the value of an option, or an argument. */
static const struct option *open_row(const struct cli_verb *verb, int count, char **words)
{
    int arguments = 0;
    for (int i = 1; i + 1 < count; i++) {
        const struct option *option = option_named(verb, words[i]);
        bool takes_value = option != NULL && option->kind != OPTION_FLAG;
        i += takes_value && i + 1 < count && strcmp(words[i + 1], "=") == 0; /* as bash splits */
        if (takes_value && i + 2 >= count) {
            return option;
        }
        i += takes_value;
        arguments += option == NULL && words[i][0] != '-';
    }
    return argument_row(verb, arguments);
}

void options_complete(FILE *out, int count, char **words)
{
    const struct cli_verb *verb = count > 1 ? cli_find_verb(words[0]) : NULL;
    const char *begun = count > 0 ? words[count - 1] : "";
    if (count <= 1) {
        for (const struct cli_verb *const *each = cli_verbs; *each != NULL; each++) {
            propose(out, (*each)->name, begun);
        }
        return;
    }
    if (verb == NULL) {
        return;
    }
    const struct option *row = open_row(verb, count, words);
    if (begun[0] == '-' && (row == NULL || row->name == NULL)) {
        propose_options(out, verb, begun);
    } else if (row != NULL) {
        propose_values(out, row, strcmp(begun, "=") == 0 ? "" : begun);
    }
}

/* ---- shells ---------------------------------------------------------------------------------- */

/* Where nothing is proposed, the shell proposes files. */
static const char bash[] =
    "_assay() {\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY=($(assay completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
    "}\n"
    "complete -o default -F _assay assay\n";

static const char zsh[] = "autoload -Uz compinit && compinit\n"
                          "_assay() {\n"
                          "    local -a found\n"
                          "    found=(${(f)\"$(assay completion words -- "
                          "\"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
                          "    if (( $#found )); then compadd -a found; else _files; fi\n"
                          "}\n"
                          "compdef _assay assay\n";

static const char fish[] =
    "complete -c assay -a '(assay completion words -- (commandline -opc)[2..] "
    "(commandline -ct) 2>/dev/null)'\n";

static int completion_run(void *asked)
{
    struct request *request = asked;
    if (strcmp(request->shell, "words") == 0) {
        options_complete(stdout, request->words.count, (char **)request->words.positional);
        return CLI_OK;
    }
    if (request->words.count > 0) {
        return cli_usage_error(&cli_completion, "only words takes more, such as '%s'",
                               cli_quote(request->words.positional[0]).text);
    }
    fputs(strcmp(request->shell, "bash") == 0  ? bash
          : strcmp(request->shell, "zsh") == 0 ? zsh
                                               : fish,
          stdout);
    return CLI_OK;
}

const struct cli_verb cli_completion = {.name = "completion",
                                        .about = "proposals of a shell: verbs, options, names",
                                        .options = options,
                                        .option_count = COUNT(options),
                                        .request_size = sizeof(struct request),
                                        .run = completion_run};
