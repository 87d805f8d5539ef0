/* A queue worker in C: claims a job for 300 ms, does its three steps, each an effect that must happen
 * once, and closes it. Compiled with -DBROKEN an effect and the step that marks it are two commits. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 3

static PGconn *connection;
static char owner[32];

/* How many rows it changed; -1: it failed, and whatever was open is rolled back. */
static int run(const char *statement, const char *job, const char *step)
{
    const char *values[] = {job, step, owner};
    int count = strstr(statement, "$3") ? 3 : strstr(statement, "$2") ? 2 : 0;
    PGresult *result = PQexecParams(connection, statement, count, NULL, values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    int rows = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
                   ? atoi(PQcmdTuples(result))
                   : -1;
    PQclear(result);
    return rows;
}

static const char mark[] = "update jobs set step = step + 1, lease = now() + '300 ms' "
                           "where id = $1::int and step = $2::int and owner = $3";
static const char effect[] = "insert into effects (job, step) values ($1::int, $2::int)";

/* False: the job is not ours any more, or the connection is gone. */
static int do_step(const char *job, const char *step)
{
#ifdef BROKEN
    return run(effect, job, step) == 1 && run(mark, job, step) == 1;
#else
    int ok = run("begin", 0, 0) >= 0 && run(mark, job, step) == 1 && run(effect, job, step) == 1;
    return run(ok ? "commit" : "rollback", 0, 0) >= 0 && ok;
#endif
}

static void do_job(const char *job, int step)
{
    char text[12];
    for (; step < STEPS; step++) {
        snprintf(text, sizeof text, "%d", step);
        if (!do_step(job, text)) {
            return;
        }
    }
    snprintf(text, sizeof text, "%d", STEPS);
    run("update jobs set status = 'done' where id = $1::int and step = $2::int and owner = $3", job,
        text);
}

static int claim(char *job, size_t size, int *step)
{
    const char *values[] = {owner};
    PGresult *result = PQexecParams(
        connection,
        "update jobs set owner = $1, lease = now() + '300 ms' where id = (select id from jobs "
        "where status = 'ready' and (lease is null or lease < now()) order by id "
        "for update skip locked limit 1) returning id, step",
        1, NULL, values, NULL, NULL, 0);
    int found = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    if (found) {
        snprintf(job, size, "%s", PQgetvalue(result, 0, 0));
        *step = atoi(PQgetvalue(result, 0, 1));
    }
    PQclear(result);
    return found;
}

int main(void)
{
    char job[32];
    int step;
    connection = PQconnectdb("");
    for (unsigned n = 0;; n++) {
        if (PQstatus(connection) != CONNECTION_OK) {
            PQreset(connection);
        }
        snprintf(owner, sizeof owner, "%d-%u", (int)getpid(), n); /* a token for each claim */
        if (claim(job, sizeof job, &step)) {
            do_job(job, step);
        } else {
            usleep(100000);
        }
    }
}
