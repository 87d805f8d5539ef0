/* A lane: one private PostgreSQL with the module in it, one proxy, and room for one set of foreign
 * processes at a time. Runs of a lane follow one another, each on a fresh database that is a copy of
 * what the subject's setup left.
 *
 *   TMPDIR/assay-cluster-wire-XXXXXX/
 *     owner          who made it; the next cluster_sweep() removes what a killed process left
 *     assay_wire.so  the module, written from the program itself
 *     assay_clock.so, clock   the clock's library and page, if the subject has a clock
 *     conductor      socket on which backends tell of commits
 *     a/ ... setup/  the proxy's socket of each hand
 *     home/          HOME and TMPDIR of foreign processes, theirs
 *     log            what foreign processes print
 *
 * Owned by one process: the lane's own (crew.h).
 *
 * (LN1) Foreign code reaches the server through the proxy only, and so does everyone else on this
 *       machine who finds the proxy's port on 127.0.0.1: the server asks for a password, which is
 *       drawn for the lane.
 * (LN2) After lane_close() no process, socket and folder of the lane is left. */
#ifndef WIRE_LANE_H
#define WIRE_LANE_H

#include "real/cluster.h"
#include "wire/clock.h"
#include "wire/keeper.h"
#include "wire/proxy.h"
#include "wire/subject.h"

#include <libpq-fe.h>
#include <signal.h>

#define LANE_CLIENT SUBJECT_WORKERS_MAX /* the hands: workers, then clients, then setup */
#define LANE_SETUP  (LANE_CLIENT + SUBJECT_CLIENTS_MAX)
#define LANE_HANDS  (LANE_SETUP + 1)
#define LANE_TAIL   600 /* bytes of a log that a message shows */

struct lane_options {
    const struct subject *subject;
    const char *folder;   /* where the subject's commands run */
    const char *programs; /* PostgreSQL's; NULL: looked for */
};

struct lane {
    struct lane_options options;
    char folder[CLUSTER_FOLDER_SIZE];
    int lock;
    struct cluster cluster;
    struct process_user user; /* whom foreign code runs as */
    struct proxy *proxy;
    char password[33];
    uint16_t ports[LANE_HANDS];
    int listener;    /* of the conductor; -1: nobody listens, and backends go on by themselves */
    PGconn *control; /* to the database postgres */
    char log[CLUSTER_FOLDER_SIZE + 8];
    unsigned runs;
    bool setup_failed; /* why it did not open: the subject's setup, and nothing of ours */
    struct clock clock;
    char preload[2][CLUSTER_FOLDER_SIZE + 32]; /* variables that bring the clock */
    const char *server_environment[4];
    proxy_told *told; /* for a run; NULL: everything passes */
    void *context;
};

/* Set by a signal: whatever the lane does, it ends soon. */
extern volatile sig_atomic_t lane_interrupted;

/* Starts the server and runs the subject's setup. False: *error says what was wrong. */
bool lane_open(struct lane *lane, const struct lane_options *options, struct error *error);
void lane_close(struct lane *lane);

/* A fresh copy of the template, by this name. */
bool lane_copy_database(struct lane *lane, const char *name, struct error *error);
void lane_drop_database(struct lane *lane, const char *name);

/* A connection of Assay's own, which the module does not follow. NULL: *error. */
PGconn *lane_connect(const struct lane *lane, const char *database, struct error *error);

/* From now on backends tell of commits and wait for the answer; until nobody listens any more. */
bool lane_listen(struct lane *lane, struct error *error);
void lane_stop_listening(struct lane *lane);

/* The server crashes and serves again; the control connection is a new one. */
bool lane_crash(struct lane *lane, struct error *error);

/* Starts a command as a hand, which gets DATABASE_URL and PG* that lead to the proxy. */
bool lane_start(const struct lane *lane, unsigned hand, const char *command, const char *database,
                struct keeper *keeper, struct error *error);

/* 'a' is worker 0, 'x' client 0. */
char lane_letter(unsigned hand);

/* The end of what foreign processes printed, on one line. */
void lane_tail(const struct lane *lane, char text[LANE_TAIL]);

#endif
