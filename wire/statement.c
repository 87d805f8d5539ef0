#include "wire/statement.h"

#include "wire/lexer.h"

#include <string.h>

#define WORD_SIZE 16

/* One statement, while its tokens come. */
struct look {
    char first[WORD_SIZE], second[WORD_SIZE], last[WORD_SIZE]; /* words, in lower case */
    bool something;
    bool from, in, analyzes, prepared, transaction, to;
    bool chain; /* AND CHAIN */
    int parentheses;
    int atomic; /* depth of BEGIN ATOMIC and of CASE inside, where semicolons separate nothing */
};

static bool is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

static bool is_any(const char *word, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (is(word, *list)) {
            return true;
        }
    }
    return false;
}

static void copy_lower(char word[WORD_SIZE], const char *text, size_t length)
{
    memset(word, 0, WORD_SIZE);
    for (size_t i = 0; i < length && i < WORD_SIZE - 1; i++) {
        word[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
    }
}

/* A function's body in SQL: its END is the one that no CASE in it has taken. */
static void follow_atomic(struct look *look, const char *word)
{
    if (look->atomic == 0) {
        look->atomic = is(look->first, "create") && is(look->last, "begin") && is(word, "atomic");
    } else if (is(word, "case")) {
        look->atomic++;
    } else if (is(word, "end")) {
        look->atomic--;
    }
}

static void see_word(struct look *look, const char *text, size_t length)
{
    char word[WORD_SIZE];
    copy_lower(word, text, length);
    follow_atomic(look, word);
    if (look->first[0] == '\0') {
        memcpy(look->first, word, WORD_SIZE);
    } else if (look->second[0] == '\0') {
        memcpy(look->second, word, WORD_SIZE);
    }
    look->from |= look->parentheses == 0 && is(word, "from");
    look->in |= is(word, "stdin");
    look->to |= is(word, "to");
    look->analyzes |= is(word, "analyze") || is(word, "analyse");
    look->prepared |= is(word, "prepared");
    look->transaction |= is(word, "transaction");
    look->chain |= is(word, "chain") && is(look->last, "and");
    memcpy(look->last, word, WORD_SIZE);
}

static enum statement_writes writes_of(const struct look *look)
{
    static const char *const reads[] = {
        "begin", "start", "commit",  "end",    "rollback", "abort",      "savepoint",  "release",
        "set",   "show",  "reset",   "listen", "unlisten", "discard",    "deallocate", "close",
        "fetch", "move",  "declare", "lock",   "prepare",  "checkpoint", "load",       NULL};
    static const char *const writes[] = {
        "insert",  "update",  "delete",   "merge",  "truncate", "create",  "alter",  "drop",
        "grant",   "revoke",  "comment",  "notify", "reindex",  "cluster", "vacuum", "analyze",
        "analyse", "refresh", "reassign", "import", "security", NULL};
    if (is(look->first, "explain")) {
        return look->analyzes ? STATEMENT_MAY_WRITE : STATEMENT_READS;
    }
    if (is(look->first, "copy")) {
        return look->from ? STATEMENT_WRITES : STATEMENT_MAY_WRITE;
    }
    if ((is(look->first, "commit") || is(look->first, "rollback")) && look->prepared) {
        return STATEMENT_WRITES;
    }
    if (is_any(look->first, reads)) {
        return STATEMENT_READS;
    }
    return is_any(look->first, writes) ? STATEMENT_WRITES : STATEMENT_MAY_WRITE;
}

static void see_begin(struct statement_facts *facts)
{
    facts->begins = facts->open = true;
    facts->closed = false;
}

static void see_end(const struct look *look, struct statement_facts *facts)
{
    facts->open = facts->tail = false;
    facts->closed = true;
    if (look->chain) {
        see_begin(facts);
    }
}

/* A statement is complete. */
static void conclude(struct look *look, struct statement_facts *facts)
{
    const char *first = look->first;
    enum statement_writes writes = writes_of(look);
    if (look->something) {
        facts->statements++;
        facts->copies_in = facts->statements == 1 && is(first, "copy") && look->from && look->in;
        facts->writes = writes > facts->writes ? writes : facts->writes;
        facts->calls |= is(first, "call") || is(first, "do");
        facts->listens |= is(first, "listen");
        if (is(first, "begin") || (is(first, "start") && look->transaction)) {
            see_begin(facts);
        } else if (is(first, "commit") || is(first, "end")) {
            bool ended = facts->commits || facts->rolls || facts->prepares;
            facts->renews |= ended && (facts->open || facts->tail);
            facts->commits = true;
            if (!look->prepared) {
                see_end(look, facts);
            }
        } else if (is(first, "abort") || (is(first, "rollback") && !look->to && !look->prepared)) {
            facts->rolls = true;
            see_end(look, facts);
        } else if (is(first, "rollback") && look->to) {
            facts->recovers = true;
        } else if (is(first, "prepare") && is(look->second, "transaction")) {
            facts->prepares = true;
            see_end(look, facts);
        } else if (!facts->open) {
            facts->tail |= writes != STATEMENT_READS;
        }
    }
    *look = (struct look){0};
}

static void see_symbol(struct look *look, char symbol, struct statement_facts *facts)
{
    look->parentheses += symbol == '(' ? 1 : symbol == ')' && look->parentheses > 0 ? -1 : 0;
    if (symbol == ';' && look->parentheses == 0 && look->atomic == 0) {
        conclude(look, facts);
    } else {
        look->something = true;
    }
}

struct statement_facts statement_look(const char *text, size_t length)
{
    struct statement_facts facts = {0};
    struct look look = {0};
    for (struct lexer_token token = lexer_next(text, length, 0); token.kind != LEXER_END;
         token = lexer_next(text, length, token.at + token.length)) {
        if (token.kind == LEXER_SYMBOL) {
            see_symbol(&look, text[token.at], &facts);
        } else if (token.kind != LEXER_SPACE) {
            look.something = true;
            if (token.kind == LEXER_WORD) {
                see_word(&look, text + token.at, token.length);
            }
        }
    }
    conclude(&look, &facts);
    return facts;
}
