/* The oracle `semaphore`: the job row. Obligations, closure, the snapshot, completion.
 *
 * In each function the order of the sentences is the order in which they are told (OA3). */
#include "model/oracle/activity_commit.h"

static void of_job(struct commit *commit, const struct commit_job *job, bool broken,
                   enum clause_id clause, const char *why)
{
    if (broken) {
        judge_breach(&commit->judge, ORACLE_SEMAPHORE, clause, TABLE_JOB, job->slot, why);
    }
}

static void of_guid(struct commit *commit, const struct commit_guid *guid, bool broken,
                    enum clause_id clause, const char *why)
{
    if (broken) {
        judge_breach(&commit->judge, ORACLE_SEMAPHORE, clause, TABLE_GUID, guid->slot, why);
    }
}

/* ---- Step 2: the semaphore and the snapshot -------------------------------------------------- */

/* The store may not tell a move by 0, so a torn bundle shows where the sum is not 0. */
static void judge_bundle(struct commit *commit, const struct commit_job *job)
{
    bool still = job->after == job->before;
    of_job(commit, job, job->step2s > 0 && job->delta != 0 && still, CLAUSE_ACL_17,
           "Step 2 was marked and the semaphore did not move");
    of_job(commit, job, job->step2s == 0 && !job->born && !still, CLAUSE_ACL_17,
           "the semaphore moved and no Step 2 was marked");
}

static void judge_snapshot(struct commit *commit, const struct commit_guid *guid)
{
    const struct commit_job *job = guid->job;
    of_guid(commit, guid, guid->ledger.is.mark > 1, CLAUSE_ACL_21,
            "a GUID's snapshot was taken twice");
    of_guid(commit, guid, guid->snapshot && !guid->step2, CLAUSE_ACL_21,
            "a snapshot was taken after Step 2");
    if (!guid->step2) {
        return;
    }
    judge_held(&commit->judge, CLAUSE_ACL_20);
    judge_held(&commit->judge, CLAUSE_ACL_21);
    if (job->step2s == 1) { /* of several in one commit, nobody sees who left it there */
        bool landed = job->after == job->threshold;
        of_guid(commit, guid, guid->snapshot && !landed, CLAUSE_ACL_21,
                "a snapshot was taken away from the threshold");
        of_guid(commit, guid, !guid->snapshot && landed, CLAUSE_ACL_21,
                "the threshold was reached and no snapshot taken");
    }
}

void activity_semaphore_step2(struct commit *commit)
{
    for (size_t i = 0; i < commit->jobs; i++) {
        judge_bundle(commit, &commit->job[i]);
    }
    for (size_t i = 0; i < commit->guids; i++) {
        if (commit->guid[i].job != NULL) {
            judge_snapshot(commit, &commit->guid[i]);
        }
    }
}

/* ---- Step 3 ---------------------------------------------------------------------------------- */

/* Without the snapshot digit, a Step 3 has no right to run. Where the semaphore stands at 0 it must
 * be the semaphore that decided (ACL-44); anywhere else nothing can have (ACL-26). */
static void judge_right(struct commit *commit, const struct commit_guid *guid)
{
    bool without = guid->ledger.is.mark == 0;
    judge_held(&commit->judge, CLAUSE_ACL_44);
    judge_held(&commit->judge, CLAUSE_ACL_26);
    of_guid(commit, guid, without && guid->job->after == 0, CLAUSE_ACL_44,
            "Step 3 ran because the semaphore is 0, on a GUID that did not close the job");
    of_guid(commit, guid, without, CLAUSE_ACL_26,
            "Step 3 ran on a GUID that did not close the job");
}

static void judge_step3(struct commit *commit, const struct commit_guid *guid)
{
    if (guid->job->threshold == 0) {
        judge_held(&commit->judge, CLAUSE_ACL_18);
    }
    judge_right(commit, guid);
    of_guid(commit, guid, guid->ledger.is.tasks > 1, CLAUSE_ACL_18, "a GUID did Step 3 twice");
    of_guid(commit, guid, guid->completions == 0, CLAUSE_ACL_18,
            "Step 3 was marked without the completion tasks");
    of_guid(commit, guid, guid->activity->ledger.is.tasks == 0, CLAUSE_ACL_18,
            "Step 3 was marked on the GUID and not on the activity");
    of_guid(commit, guid, guid->job->threshold == 0 && guid->job->completed > 1, CLAUSE_ACL_18,
            "a job's completion tasks were run by a second GUID");
}

void activity_semaphore_step3(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        if (guid->step3) {
            judge_step3(commit, guid);
        }
        of_guid(commit, guid, !guid->step3 && guid->completions > 0, CLAUSE_ACL_18,
                "completion tasks were run and Step 3 not marked");
    }
}

/* ---- the job row ----------------------------------------------------------------------------- */

/* With threshold 0 one GUID closes, once (E-ACL-12). */
static void judge_closer(struct commit *commit, const struct commit_job *job)
{
    if (job->threshold != 0 || job->step2s + job->snapshots == 0) {
        return;
    }
    judge_held(&commit->judge, CLAUSE_ACL_22);
    of_job(commit, job, job->after == 0 && job->carriers == 0, CLAUSE_ACL_22,
           "a job was closed and no GUID carries the snapshot");
    of_job(commit, job, job->carriers > 1, CLAUSE_ACL_22, "two GUIDs of a job carry the snapshot");
    of_job(commit, job, job->after != 0 && job->carriers > 0, CLAUSE_ACL_22,
           "a job is open and a GUID of it carries the snapshot");
}

static void judge_job(struct commit *commit, const struct commit_job *job)
{
    bool obliges = job->opened + job->closed > 0;
    if (job->slot == ROW_NONE) {
        of_job(commit, job, obliges, CLAUSE_ACL_19, "an obligation belongs to no job");
        return;
    }
    if (job->born || job->moved || obliges || job->step2s > 0) {
        judge_held(&commit->judge, CLAUSE_ACL_19);
        judge_held(&commit->judge, CLAUSE_ACL_39);
    }
    int64_t state = row_get(commit->judge.rows, TABLE_JOB, job->slot, JOB_STATE);
    of_job(commit, job, job->after < 0, CLAUSE_ACL_19, "the semaphore is negative");
    of_job(commit, job, job->after < job->open, CLAUSE_ACL_19,
           "the semaphore is below the number of open obligations");
    of_job(commit, job, job->after > job->open, CLAUSE_ACL_19,
           "the semaphore is above the number of open obligations");
    judge_closer(commit, job);
    of_job(commit, job, job->after == 0 && state != JOB_COMPLETE, CLAUSE_ACL_39,
           "the semaphore is 0 and the job is not complete");
    of_job(commit, job, job->after != 0 && state != JOB_ACTIVE, CLAUSE_ACL_39,
           "the semaphore is not 0 and the job is complete");
    of_job(commit, job, !job->born && job->after - job->before != job->delta, CLAUSE_ACL_20,
           "the semaphore did not move by what was opened less what was closed");
}

/* An obligation is closed once, by the closing answer that came first (E-ACL-19). */
void activity_semaphore_jobs(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        of_guid(commit, guid, guid->overruled && guid->step2, CLAUSE_ACL_19,
                "an activity was closed a second time, by another GUID (E-ACL-19)");
        of_guid(commit, guid, guid->overruled, CLAUSE_ACL_19,
                "a closing answer worked although another had closed its task (E-ACL-19)");
    }
    for (size_t i = 0; i < commit->jobs; i++) {
        judge_job(commit, &commit->job[i]);
    }
}
