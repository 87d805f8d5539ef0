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
    IDENTITY_AGAIN = 1 << 23,     /* of an activity: a call after its closing answer; plus which */
    IDENTITY_DIMENSION = 1 << 24, /* of an activity: a dimension's output; plus the dimension */
    /* key */
    IDENTITY_FLOW = 1 << 25,    /* of 0: a flow that a client begins; plus its number */
    IDENTITY_PLACE = 1 << 26,   /* of a flow: an activity's place; plus its position */
    IDENTITY_EVENT = 1 << 27,   /* of a place: what happened there; plus the change */
    IDENTITY_ORDER = 1 << 28,   /* of a place: a message about it; plus its kind */
    IDENTITY_AWAITED = 1 << 29, /* of a place: the flow that it awaits */
    IDENTITY_END = 1 << 30,     /* of a flow: its completion tasks */

    /* pipeline: up to 16 of each kind; protocols share no store, so that numbers may meet */
    IDENTITY_INTAKE = 1 << 26, /* of a batch: the idempotency key of an entry; plus its place */
    IDENTITY_ENTRY = 1 << 12,  /* of an idempotency key: its entry */
    IDENTITY_PAYLOAD,          /* of an idempotency key: its payload's hash; plus the version */
    IDENTITY_PAST = (1 << 12) + 16, /* of what moved an entry: the row of its history */
    IDENTITY_SWEEP,                 /* of an entry: MARK's sweep row */
    IDENTITY_NOTE = (1 << 12) + 32, /* of a request: the sweep row of a stop; plus the reason */
    IDENTITY_DEPENDENCY = (1 << 12) + 48,  /* of an entry: a dependency; plus its place */
    IDENTITY_DECISION = (1 << 12) + 64,    /* of an entry: a decision; plus its number */
    IDENTITY_ENVELOPE = (1 << 12) + 96,    /* of a decision: its envelope */
    IDENTITY_UNIT = (1 << 12) + 112,       /* of an envelope: a unit block; plus its number */
    IDENTITY_CHANGE_SET = (1 << 12) + 128, /* of a decision: its change set */
    IDENTITY_SIGNATURE,                    /* of a change set or verify result: its signature */
    IDENTITY_COMPENSATION,                 /* of a verify result: the set that undoes */
    IDENTITY_RAISED,                       /* of a verify result: its escalation's key */
    IDENTITY_VERIFY,                       /* of a change set: the root of its verify results */
    IDENTITY_AFFECTED = (1 << 12) + 144,   /* of a change set: an affected row; plus its number */
    IDENTITY_ASKS = (1 << 12) + 160,       /* of what is asked for: the request; plus its path */
    IDENTITY_TRESPASS = (1 << 12) + 192, /* of an entry: a row that nobody may bring; plus which */
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
