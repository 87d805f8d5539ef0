/* Identities: every id in the store is minted from what it identifies, never drawn from a sequence
 * or by chance (E-ACL-7, E-ACL-22). A task started twice mints the same GUID twice, and two
 * transactions that commute leave equal rows whichever comes first.
 *
 * An id is 63 bits, positive and never 0, so that it fits a database's bigint. Two different
 * identities among n collide with a chance of about n^2 / 2^64: 10^-8 for a million rows. */
#ifndef MODEL_IDENTITY_H
#define MODEL_IDENTITY_H

#include <stdint.h>

/* Raised when any id would be minted otherwise: recorded runs then order equal messages otherwise.
 */
#define IDENTITY_VERSION 1

/* What is minted from a parent identity; the second number of the pair. */
enum identity_role {
    IDENTITY_TRIGGER = 1,         /* of a job: the activity that starts it */
    IDENTITY_TASK,                /* of an activity: what Leg1 asks of a worker */
    IDENTITY_LEG1,                /* of an activity: its Leg1 message */
    IDENTITY_WORK,                /* of a task: its message to the worker */
    IDENTITY_LEG2,                /* of a GUID: its Leg2 message */
    IDENTITY_ESCALATION,          /* of a message: its escalation */
    IDENTITY_COPY,                /* of a message: a second row with the same content */
    IDENTITY_JOB,                 /* of 0: a job; plus its number */
    IDENTITY_ACCOUNT = 1 << 18,   /* of 0: an account of the inbox; plus its number */
    IDENTITY_LETTER = 1 << 19,    /* of 0: a message to it; plus its number */
    IDENTITY_CLOSE = 1 << 20,     /* of a task: the GUID of its closing answer */
    IDENTITY_PENDING = 1 << 21,   /* of a task: the GUID of a pending answer; plus its number */
    IDENTITY_EDGE = 1 << 22,      /* of a GUID: the child along an edge; plus the edge */
    IDENTITY_DIMENSION = 1 << 24, /* of an activity: a dimension's output; plus the dimension */
    /* seq */
    IDENTITY_STAGE = 1 << 25,       /* of 0: Stage1 */
    IDENTITY_SEQ_EVENT,             /* of a seq: its terminal event */
    IDENTITY_SEQ = 1 << 26,         /* of 0: a seq; plus its number */
    IDENTITY_SEQ_TALLY = 1 << 27,   /* of 0: an actor's stripe of the counters; plus its number */
    IDENTITY_INCARNATION = 1 << 28, /* of a stripe: an incarnation of its actor; plus its number */
};

/* Two rounds of multiply and fold, as good generators end with: every bit of both numbers reaches
 * every bit of the id. */
static inline int64_t identity_mint(int64_t parent, int64_t role)
{
    uint64_t x = (uint64_t)parent ^ ((uint64_t)role * UINT64_C(0x9E3779B97F4A7C15));
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    x &= (uint64_t)INT64_MAX;
    return x == 0 ? 1 : (int64_t)x;
}

#endif
