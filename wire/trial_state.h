/* The state of a run, shared by the files that conduct it: trial.c (the course of a run), trial_events.c
 * (what backends tell), trial_strike.c (faults). Only for these. */
#ifndef WIRE_TRIAL_STATE_H
#define WIRE_TRIAL_STATE_H

#include "wire/event.h"
#include "wire/trial.h"

#define TRIAL_SEATS    256
#define TRIAL_BACKENDS 512
#define TRIAL_ACKED    256

/* A foreign process of the run: a worker or a client. */
struct trial_hand {
    unsigned index; /* of the lane's hands */
    struct keeper keeper;
    bool runs;
    bool admitted;      /* its connections pass */
    bool ended;         /* a client that is through */
    bool paused;        /* stopped by a fault */
    unsigned life;      /* how often it was started */
    unsigned deaths;    /* by itself */
    unsigned announced; /* counting commits so far */
    bool connected;     /* in this life */
    double start_at;    /* when it is to be started again; 0: it is not */
};

enum trial_hold {
    TRIAL_FREE,    /* answered, or nothing was told */
    TRIAL_CONTROL, /* goes on by itself */
    TRIAL_LATE,    /* commits when a successor has acted */
    TRIAL_OPEN,    /* rolls back when a successor has acted */
    TRIAL_PAUSED,  /* goes on when its worker does */
    TRIAL_QUEUED   /* waits until another commit is through */
};

/* A backend's connection to the conductor. */
struct trial_seat {
    int fd;                  /* -1: free */
    struct trial_hand *hand; /* NULL: nobody's */
    struct event event;
    unsigned ordinal;
    bool commits; /* between the two events of a commit */
    enum trial_hold hold;
    double until; /* of a hold */
    bool late;    /* it was held until a successor acted */
};

/* Which backend serves whom: also when the connection is gone and the backend is not. */
struct trial_backend {
    pid_t pid;
    uint64_t connection;
    unsigned hand;
};

struct trial_acked {
    size_t promise;
    char key[200];
};

struct trial {
    struct lane *lane;
    const struct subject *subject;
    const struct trial_plan *plan;
    struct trial_result *result;
    char database[32];
    PGconn *judge; /* to the run's database */
    struct trial_hand hands[LANE_SETUP];
    struct trial_seat seats[TRIAL_SEATS];
    struct trial_backend backends[TRIAL_BACKENDS];
    size_t backend_count; /* ever; the table is a ring */
    struct trial_acked acked[TRIAL_ACKED];
    size_t acked_count;
    double began, moved; /* the last thing that counts as progress */
    double struck;       /* the last fault; 0: none */
    size_t struck_at;    /* commits then */
    double asked;        /* whether it is done, last */
    bool done;
    double joined;    /* by the clock: the other workers, because nothing moved without them */
    size_t joined_at; /* commits then */
    double acted;     /* by the clock: the first commit that counted after that */
    bool client_hit;  /* a fault hit a client: what it did not enqueue cannot be missed */
    bool over;        /* with a verdict */
    double learn_until;
    double looked;                   /* whether everything rests, last */
    unsigned rests;                  /* looks in a row that found it so */
    double leapt;                    /* the clock, last */
    bool settled;                    /* it is done, and everything was seen at rest since */
    double clock_began, clock_moved; /* by the lane's clock */
};

double trial_now(void);
/* Something happened that counts as progress. */
void trial_moves(struct trial *trial);

/* The first verdict stays. */
void trial_end(struct trial *trial, enum trial_verdict verdict, const char *broken,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- trial.c ---- */
bool trial_start_hand(struct trial *trial, struct trial_hand *hand);
void trial_admit(struct trial *trial, struct trial_hand *hand);
void trial_join_others(struct trial *trial);

/* ---- trial_events.c ---- */
enum proxy_verdict trial_told(void *context, const struct proxy_event *event);
void trial_accept(struct trial *trial);
void trial_read(struct trial *trial, struct trial_seat *seat);
void trial_answer(struct trial_seat *seat, enum event_answer_kind kind, const char *sqlstate);
void trial_close_seat(struct trial_seat *seat);
/* Lets go what waits behind commits that are through. */
void trial_next_queued(struct trial *trial);
const struct trial_backend *trial_find_backend(const struct trial *trial, pid_t pid);

/* ---- trial_rows.c ---- */
void trial_rows_begin(struct trial *trial);
/* Writes the rows into the result's commits. */
void trial_rows_end(struct trial *trial);

/* ---- trial_survey.c ---- */
void trial_survey(struct trial *trial);

/* ---- trial_clock.c ---- */
/* Seconds of the lane's clock, which is real time if the subject has none. */
double trial_clock(const struct trial *trial);
/* Leaps to the next deadline, if everything rests. */
void trial_move_clock(struct trial *trial);

/* ---- trial_strike.c ---- */
/* The point that hits here, or NULL. */
const struct point *trial_point_here(const struct trial *trial, const struct trial_seat *seat);
/* The fault happens; the seat is answered, or held until trial_let_go(). */
void trial_strike(struct trial *trial, struct trial_seat *seat, const struct point *point);
/* Ends holds whose time has come. */
void trial_let_go(struct trial *trial);
bool trial_holds(const struct trial *trial);

#endif
