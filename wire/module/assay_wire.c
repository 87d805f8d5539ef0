/* The part of `assay wire` that runs inside a private PostgreSQL: every backend tells the conductor
 * of each commit, just before and just after it, and waits for the answer (wire/event.h). So a
 * commit is seen where it happens: also inside CALL, of background workers, and between the
 * execution and the commit of a statement that commits by itself.
 *
 * Loaded by shared_preload_libraries. Without a conductor that listens it does nothing. */
#include "postgres.h"

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"
#include "tcop/utility.h"
#include "utils/guc.h"

#include "wire/event.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

PG_MODULE_MAGIC;

void _PG_init(void);

static char *socket_path; /* of the conductor */
static bool quiet;        /* this session is Assay's own */
static int conductor = -1;
static int depth;     /* of statements inside statements */
static bool notifies; /* this transaction sends a notification, and may get its xid at commit */
static struct event pending; /* the transaction's statements so far */

static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;
static ExecutorFinish_hook_type next_finish;
static ProcessUtility_hook_type next_utility;

/* ---- statements ------------------------------------------------------------------------------ */

static bool mentions_notify(const char *text)
{
    for (; *text != '\0'; text++) {
        if (pg_strncasecmp(text, "notify", 6) == 0) {
            return true;
        }
    }
    return false;
}

/* A query of several statements comes once for each: it is noted once. */
static void note_statement(const char *text)
{
    size_t used = strlen(pending.text);
    size_t length = text == NULL ? 0 : strlen(text);
    if (depth > 0 || quiet || length == 0) {
        return;
    }
    notifies = notifies || mentions_notify(text);
    if (used >= length && strcmp(pending.text + used - length, text) == 0) {
        return;
    }
    snprintf(pending.text + used, sizeof pending.text - used, "%s%s", used == 0 ? "" : "; ", text);
}

static void on_start(QueryDesc *query, int flags)
{
    note_statement(query->sourceText);
    if (next_start != NULL) {
        next_start(query, flags);
    } else {
        standard_ExecutorStart(query, flags);
    }
}

static void on_run(QueryDesc *query, ScanDirection direction, uint64 count, bool once)
{
    depth++;
    PG_TRY();
    {
        if (next_run != NULL) {
            next_run(query, direction, count, once);
        } else {
            standard_ExecutorRun(query, direction, count, once);
        }
    }
    PG_FINALLY();
    {
        depth--;
    }
    PG_END_TRY();
}

static void on_finish(QueryDesc *query)
{
    depth++;
    PG_TRY();
    {
        if (next_finish != NULL) {
            next_finish(query);
        } else {
            standard_ExecutorFinish(query);
        }
    }
    PG_FINALLY();
    {
        depth--;
    }
    PG_END_TRY();
}

static void on_utility(PlannedStmt *statement, const char *text, bool read_only,
                       ProcessUtilityContext context, ParamListInfo params,
                       QueryEnvironment *environment, DestReceiver *receiver,
                       QueryCompletion *completion)
{
    ProcessUtility_hook_type next = next_utility != NULL ? next_utility : standard_ProcessUtility;
    /* BEGIN and COMMIT are no work; what PREPARE and EXECUTE run is noted where it runs. */
    if (!IsA(statement->utilityStmt, TransactionStmt) &&
        !IsA(statement->utilityStmt, PrepareStmt) && !IsA(statement->utilityStmt, ExecuteStmt)) {
        note_statement(text);
    }
    depth++;
    PG_TRY();
    {
        next(statement, text, read_only, context, params, environment, receiver, completion);
    }
    PG_FINALLY();
    {
        depth--;
    }
    PG_END_TRY();
}

/* ---- the conductor --------------------------------------------------------------------------- */

static void let_go(void)
{
    if (conductor >= 0) {
        close(conductor);
    }
    conductor = -1;
}

static bool reach(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (conductor >= 0) {
        return true;
    }
    if (socket_path == NULL || socket_path[0] == '\0' ||
        strlen(socket_path) >= sizeof address.sun_path) {
        return false;
    }
    memcpy(address.sun_path, socket_path, strlen(socket_path) + 1);
    conductor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (conductor >= 0 && connect(conductor, (struct sockaddr *)&address, sizeof address) != 0) {
        let_go();
    }
    return conductor >= 0;
}

/* A conductor that goes away lets everything pass. A backend that is told to end meanwhile does so
 * when it is answered: before, it would report a commit as undone that the conductor still holds. */
static bool await_answer(struct event_answer *answer)
{
    for (;;) {
        struct pollfd wait = {.fd = conductor, .events = POLLIN};
        int count = poll(&wait, 1, 1000);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        if (count == 0 && !PostmasterIsAlive()) {
            _exit(1);
        }
        if (count > 0) {
            return recv(conductor, answer, sizeof *answer, 0) == (ssize_t)sizeof *answer;
        }
    }
}

static struct event_answer tell(enum event_kind kind)
{
    struct event_answer answer = {.kind = EVENT_GO};
    size_t length = offsetof(struct event, text) + strlen(pending.text) + 1;
    pending.kind = kind;
    pending.backend = MyProcPid;
    pending.xid = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
    pending.database = MyDatabaseId;
    pending.in_background = MyBackendType != B_BACKEND;
    if (!reach()) {
        return answer;
    }
    if (send(conductor, &pending, length, MSG_NOSIGNAL) != (ssize_t)length ||
        !await_answer(&answer)) {
        let_go();
        answer.kind = EVENT_GO;
    }
    return answer;
}

static bool is_followed(void)
{
    return !quiet && (MyBackendType == B_BACKEND || MyBackendType == B_BG_WORKER);
}

static void before_commit(void)
{
    if (!TransactionIdIsValid(GetTopTransactionIdIfAny()) && !notifies) {
        return; /* it changed nothing */
    }
    struct event_answer answer = tell(EVENT_BEFORE);
    if (answer.kind == EVENT_END) {
        let_go();
        ereport(FATAL, (errcode(ERRCODE_ADMIN_SHUTDOWN),
                        errmsg("terminating connection due to administrator command")));
    }
    if (answer.kind == EVENT_RAISE) {
        const char *code = answer.sqlstate;
        ereport(ERROR, (errcode(MAKE_SQLSTATE(code[0], code[1], code[2], code[3], code[4])),
                        errmsg("raised before the commit")));
    }
}

static void on_transaction(XactEvent event, void *context)
{
    if (!is_followed()) {
        return;
    }
    switch (event) {
    case XACT_EVENT_PRE_COMMIT:
        before_commit();
        break;
    case XACT_EVENT_COMMIT:
        if (TransactionIdIsValid(GetTopTransactionIdIfAny())) {
            (void)tell(EVENT_AFTER);
        }
        break;
    case XACT_EVENT_PRE_PREPARE:
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("assay wire does not follow PREPARE TRANSACTION")));
        break;
    default:
        break;
    }
    if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT) {
        pending.text[0] = '\0';
        notifies = false;
    }
}

void _PG_init(void)
{
    if (!process_shared_preload_libraries_in_progress) {
        return;
    }
    DefineCustomStringVariable("assay_wire.socket", "Where the conductor listens.", NULL,
                               &socket_path, "", PGC_POSTMASTER, 0, NULL, NULL, NULL);
    DefineCustomBoolVariable("assay_wire.quiet", "This session's commits are not told.", NULL,
                             &quiet, false, PGC_USERSET, 0, NULL, NULL, NULL);
    MarkGUCPrefixReserved("assay_wire");
    next_start = ExecutorStart_hook;
    ExecutorStart_hook = on_start;
    next_run = ExecutorRun_hook;
    ExecutorRun_hook = on_run;
    next_finish = ExecutorFinish_hook;
    ExecutorFinish_hook = on_finish;
    next_utility = ProcessUtility_hook;
    ProcessUtility_hook = on_utility;
    RegisterXactCallback(on_transaction, NULL);
}
