/* The private cluster, on the PostgreSQL that is installed; without one, only what needs none.
 *
 * Every test that counts leftovers has a temporary folder of its own: other programs on this
 * machine may sweep the common one meanwhile. */
#include "model/check.h"
#include "real/cluster.h"

#include "real/owner.h"
#include "real/postmaster.h"
#include "real/tree.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static struct cluster cluster;
static struct error error;
static char scratch[64];               /* this test's own folder */
static struct cluster_options options; /* clusters go to the scratch folder */

static void set_up(void)
{
    snprintf(scratch, sizeof scratch, "/tmp/assay-test-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch));
    cr_assert_eq(chmod(scratch, 0711), 0); /* the server's user passes through */
    options = (struct cluster_options){.temporary = scratch, .max_connections = 10};
}

static void tear_down(void)
{
    (void)cluster_close(&cluster, &error);
    (void)tree_remove(scratch);
}

TestSuite(cluster, .init = set_up, .fini = tear_down, .timeout = 60);

/* ---- helpers -------------------------------------------------------------------------------- */

static void need_postgresql(void)
{
    struct programs programs;
    if (!programs_find(&programs, NULL, &error)) {
        tear_down(); /* a skipped test is not torn down */
        cr_skip_test("%s", error.text);
    }
}

static void start(struct cluster *which)
{
    cr_assert(cluster_start(which, &options, &error), "%s", error.text);
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* What is in a folder and begins so. */
static int count_entries(const char *path, const char *prefix)
{
    int count = 0;
    DIR *folder = opendir(path);
    cr_assert_not_null(folder, "%s", path);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        count += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(folder);
    return count;
}

/* Runs SQL with the psql of the package and returns what it prints, up to the end of the line. */
static const char *psql(const struct cluster *on, const char *sql)
{
    static char text[256];
    char program[PATH_MAX];
    char output[128];
    snprintf(program, sizeof program, "%s/psql", on->programs.folder);
    snprintf(output, sizeof output, "%s/psql-%jd", scratch, (intmax_t)getpid());
    const char *const arguments[] = {
        program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, cluster_dsn(on), NULL};
    const struct process_plan plan = {
        .arguments = arguments, .user = &on->user, .output = output, .when_orphaned = SIGKILL};
    struct error failed = {""};
    bool ok = process_run(&plan, 60000, &failed);
    FILE *file = fopen(output, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    unlink(output);
    cr_assert(ok || text[0] != '\0', "%s", failed.text);
    return text;
}

/* Runs a line as a user would; returns its status. */
static int shell(const char *line)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return status;
}

#define says(on, sql, wanted)                                                                      \
    do {                                                                                           \
        const char *said = psql(on, sql);                                                          \
        cr_assert_str_eq(said, wanted, "%s: %s", sql, said);                                       \
    } while (0)

static bool process_lives(pid_t pid)
{
    struct process_state state;
    return process_state(pid, &state) && state.state != 'Z';
}

static bool soon_over(pid_t pid)
{
    for (int i = 0; i < 1000 && process_lives(pid); i++) {
        poll(NULL, 0, 5);
    }
    return !process_lives(pid);
}

/* How many System V segments this process made. */
static int memory_of(pid_t creator)
{
    int count = 0;
    char line[512];
    FILE *file = fopen("/proc/sysvipc/shm", "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *at = line; /* key, id, mode, size, creator */
        intmax_t made_by = 0;
        for (int i = 0; i < 5; i++) {
            made_by = strtoimax(at, &at, 10);
        }
        count += made_by == (intmax_t)creator;
    }
    fclose(file);
    return count;
}

/* A folder as clusters have it, with this owner file; NULL for none. */
static const char *make_leftover(const char *name, const char *owner)
{
    static char folder[128];
    char path[192];
    snprintf(folder, sizeof folder, "%s/" CLUSTER_PREFIX "%s-folder", scratch, name);
    cr_assert_eq(mkdir(folder, 0711), 0);
    snprintf(path, sizeof path, "%s/data-folder", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    if (owner != NULL) {
        snprintf(path, sizeof path, "%s/" OWNER_FILE, folder);
        FILE *file = fopen(path, "w");
        fputs(owner, file);
        fclose(file);
    }
    return folder;
}

static void write_postmaster_pid(const char *folder, pid_t pid)
{
    char path[192];
    snprintf(path, sizeof path, "%s/data-folder/postmaster.pid", folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "%jd\n%s/data-folder\n", (intmax_t)pid, folder);
    fclose(file);
}

/* ---- a cluster's life ----------------------------------------------------------------------- */

/* (C1) */
Test(cluster, it_starts_answers_and_leaves_nothing)
{
    need_postgresql();
    start(&cluster);
    cr_assert(cluster_running(&cluster));
    says(&cluster, "select current_user, inet_server_addr() is null", "assay|t");
    says(&cluster, "select string_agg(datname, ' ') from pg_database", "postgres");
    pid_t server = cluster.server.pid;
    cr_assert_eq(memory_of(server), 1, "one System V segment, as the header says");
    cr_assert(cluster_close(&cluster, &error), "%s", error.text);
    cr_assert(!process_lives(server));
    cr_assert_eq(memory_of(server), 0);
    cr_assert_eq(count_entries(scratch, ""), 0);
    cr_assert(cluster_close(&cluster, &error), "closing twice is allowed");
}

/* (C5) */
Test(cluster, settings_are_as_asked)
{
    static const struct {
        const char *setting, *value;
    } cases[] = {{"listen_addresses", ""},
                 {"max_connections", "10"},
                 {"fsync", "off"},
                 {"synchronous_commit", "on"},
                 {"full_page_writes", "on"},
                 {"shared_memory_type", "mmap"},
                 {"server_encoding", "UTF8"},
                 {"dynamic_shared_memory_type", "mmap"},
                 {"lc_collate", "C"},
                 {"work_mem", "5MB"},
                 {"deadlock_timeout", "100ms"},
                 {"wal_retrieve_retry_interval", "100ms"}, /* else a promotion may take 5 s */
                 {"port", "5432"}};
    need_postgresql();
    setenv("PGPORT", "1", 1); /* the user's environment is not the server's */
    options.settings = "deadlock_timeout = 100ms\nwork_mem = 5MB";
    start(&cluster);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "show %s", cases[i].setting);
        says(&cluster, sql, cases[i].value);
    }
}

Test(cluster, fsync_is_an_option)
{
    need_postgresql();
    options.fsync = true;
    start(&cluster);
    says(&cluster, "show fsync", "on");
}

/* (C3) */
Test(cluster, two_at_once_do_not_meet)
{
    static struct cluster other;
    need_postgresql();
    start(&cluster);
    start(&other);
    cr_assert_str_neq(cluster_dsn(&cluster), cluster_dsn(&other));
    says(&cluster, "create table one (); select 1", "1");
    says(&other, "select to_regclass('one') is null", "t");
    cr_assert(cluster_close(&other, &error), "%s", error.text);
    says(&cluster, "select to_regclass('one') is null", "f");
}

Test(cluster, data_outlive_every_way_to_stop)
{
    static const enum cluster_stop ways[] = {CLUSTER_FAST, CLUSTER_IMMEDIATE, CLUSTER_CRASH};
    need_postgresql();
    start(&cluster);
    says(&cluster, "create table t (n int); select 1", "1");
    for (size_t i = 0; i < COUNT(ways); i++) {
        char sql[64];
        char wanted[8];
        snprintf(sql, sizeof sql, "insert into t values (%zu); select 1", i);
        says(&cluster, sql, "1");
        pid_t server = cluster.server.pid;
        cluster_stop(&cluster, ways[i]);
        cr_assert(!cluster_running(&cluster) && !process_lives(server));
        cr_assert(cluster_restart(&cluster, &error), "%s", error.text);
        cr_assert_neq(cluster.server.pid, server);
        snprintf(wanted, sizeof wanted, "%zu", i + 1);
        says(&cluster, "select count(*) from t", wanted);
    }
    cr_assert(cluster_restart(&cluster, &error), "a running one, too: %s", error.text);
    says(&cluster, "select count(*) from t", "3");
}

Test(cluster, a_crash_takes_every_process_and_closing_takes_its_memory)
{
    need_postgresql();
    start(&cluster);
    pid_t server = cluster.server.pid;
    intmax_t backend = 0;
    pid_t sleeper = fork();
    if (sleeper == 0) { /* a client in the middle of a statement */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        psql(&cluster, "select pg_sleep(30)");
        _exit(0);
    }
    for (int i = 0; i < 200 && backend == 0; i++) {
        poll(NULL, 0, 10);
        backend = strtoimax(
            psql(&cluster, "select pid from pg_stat_activity where wait_event = 'PgSleep'"), NULL,
            10);
    }
    cr_assert_gt(backend, 0);
    cluster_stop(&cluster, CLUSTER_CRASH);
    cr_assert(!process_lives(server) && !process_lives((pid_t)backend));
    waitpid(sleeper, NULL, 0);
    cr_assert_eq(memory_of(server), 1, "a killed server leaves its segment");
    cr_assert(cluster_close(&cluster, &error), "%s", error.text);
    cr_assert_eq(memory_of(server), 0);
    cr_assert_eq(count_entries(scratch, CLUSTER_PREFIX), 0);
}

/* (C6) */
Test(cluster, all_connections_are_free_after_a_start)
{
    need_postgresql();
    options.max_connections = 1;
    options.settings = "max_wal_senders = 0";
    start(&cluster);
    says(&cluster, "select 1", "1");
}

Test(cluster, a_server_that_cannot_start_is_told_with_its_log)
{
    need_postgresql();
    options.settings = "max_connections = several";
    cr_assert(!cluster_start(&cluster, &options, &error));
    cr_assert(strstr(error.text, "PostgreSQL ended while it was starting") != NULL &&
                  strstr(error.text, "max_connections") != NULL,
              "%s", error.text);
    cr_assert_null(strchr(error.text, '\n'), "one line");
    cr_assert_eq(count_entries(scratch, ""), 0);
}

/* ---- rights --------------------------------------------------------------------------------- */

Test(cluster, root_never_serves)
{
    char path[128];
    struct stat status;
    need_postgresql();
    start(&cluster);
    snprintf(path, sizeof path, "/proc/%jd", (intmax_t)cluster.server.pid);
    cr_assert_eq(stat(path, &status), 0);
    uid_t uid = status.st_uid;
    cr_assert_neq(uid, 0);
    cr_assert_eq(uid, geteuid() == 0 ? cluster.user.uid : geteuid());
    cr_assert_eq(stat(cluster.data, &status), 0);
    cr_assert(status.st_uid == uid && (status.st_mode & 0777) == 0700);
    cr_assert_eq(stat(cluster.folder, &status), 0);
    cr_assert_eq(status.st_uid, geteuid(), "nobody else can forge a leftover");
    snprintf(path, sizeof path, "%s/socket", cluster.folder);
    cr_assert_eq(stat(path, &status), 0);
    cr_assert(status.st_uid == uid && (status.st_mode & 0777) == 0700, "others are kept out");
}

/* (K3) */
Test(cluster, an_ordinary_user_serves_as_itself_and_needs_no_cache_folder)
{
    need_postgresql();
    cr_assert_eq(chmod(scratch, 01777), 0);
    options.cache = "/proc/none";
    pid_t user = fork();
    if (user == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bool ok = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        ok = ok && cluster_start(&cluster, &options, &error) && cluster.user.uid == geteuid() &&
             strcmp(psql(&cluster, "select 1"), "1") == 0 && cluster_close(&cluster, &error);
        fprintf(stderr, "%s", ok ? "" : error.text);
        _exit(ok ? 0 : 1);
    }
    int status = 1;
    waitpid(user, &status, 0);
    cr_assert_eq(status, 0);
    cr_assert_eq(count_entries(scratch, ""), 0);
}

/* ---- the template --------------------------------------------------------------------------- */

/* (K1) */
Test(cluster, several_that_make_the_template_at_once_agree_on_one)
{
    pid_t makers[2];
    char cache[80];
    need_postgresql();
    snprintf(cache, sizeof cache, "%s/a/cache", scratch);
    options.cache = cache;
    for (size_t i = 0; i < COUNT(makers); i++) {
        makers[i] = fork();
        if (makers[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            bool ok = cluster_start(&cluster, &options, &error) &&
                      strcmp(psql(&cluster, "select 1"), "1") == 0 &&
                      cluster_close(&cluster, &error);
            _exit(ok ? 0 : 1);
        }
    }
    for (size_t i = 0; i < COUNT(makers); i++) {
        int status = 1;
        waitpid(makers[i], &status, 0);
        cr_assert_eq(status, 0);
    }
    cr_assert_eq(count_entries(cache, ""), 1, "one template, and nothing half made");
    cr_assert_eq(count_entries(cache, "postgresql-"), 1);

    /* One that is broken is removed; the cluster does not notice. */
    char command[256];
    snprintf(command, sizeof command, "rm %s/postgresql-*/data/global/pg_control", cache);
    cr_assert_eq(shell(command), 0);
    start(&cluster);
    says(&cluster, "select 1", "1");
    cr_assert_eq(count_entries(cache, ""), 0, "the next one makes it anew");
}

/* ---- what is missing ------------------------------------------------------------------------ */

Test(cluster, without_postgresql_the_package_is_named)
{
    options.programs = scratch;
    cr_assert(!cluster_start(&cluster, &options, &error));
    cr_assert_not_null(strstr(error.text, "Debian package postgresql"), "%s", error.text);
    options.programs = NULL;
    setenv("ASSAY_POSTGRES", scratch, 1);
    cr_assert(!cluster_start(&cluster, &options, &error));
    cr_assert_not_null(strstr(error.text, scratch), "%s", error.text);
    cr_assert_eq(count_entries(scratch, ""), 0);
}

Test(cluster, versions_are_read_and_old_ones_refused)
{
    static const struct {
        const char *printed, *version; /* NULL: refused */
    } cases[] = {{"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18"},
                 {"postgres (PostgreSQL) 17beta1", "17beta1"},
                 {"postgres (PostgreSQL) 14.9", NULL},
                 {"postgres (PostgreSQL) 9.6.24", NULL},
                 {"postgres: command not found", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char version[16] = "";
        bool ok = programs_version(cases[i].printed, version, sizeof version, &error);
        cr_assert_eq(ok, cases[i].version != NULL, "%s", cases[i].printed);
        cr_assert(!ok || strcmp(version, cases[i].version) == 0, "%s", version);
    }
}

Test(cluster, unfit_temporary_folders_are_refused)
{
    static const char *const names[] = {
        "with space", "with'quote", "none/at/all",
        "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long"};
    need_postgresql();
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[192];
        snprintf(path, sizeof path, "%s/%s", scratch, names[i]);
        (void)mkdir(path, 0755);
        options.temporary = path;
        cr_assert(!cluster_start(&cluster, &options, &error), "%s", path);
        cr_assert_not_null(strstr(error.text, "set TMPDIR"), "%s", error.text);
    }
}

Test(cluster, an_unfit_tmpdir_gives_way_to_tmp)
{
    char path[96];
    need_postgresql();
    snprintf(path, sizeof path, "%s/with space", scratch);
    cr_assert_eq(mkdir(path, 0755), 0);
    setenv("TMPDIR", path, 1);
    options.temporary = NULL;
    start(&cluster);
    cr_assert_eq(strncmp(cluster.folder, "/tmp/" CLUSTER_PREFIX, strlen("/tmp/" CLUSTER_PREFIX)),
                 0);
}

/* ---- leftovers ------------------------------------------------------------------------------ */

/* Starts a cluster in a child, which is killed; its struct is written to a pipe before. */
static void start_in_doomed_child(struct cluster *copy)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t doomed = fork();
    if (doomed == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bool ok = cluster_start(&cluster, &options, &error);
        ok = write(ends[1], &cluster, ok ? sizeof cluster : 0) > 0;
        if (ok) {
            pause();
        }
        _exit(1);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], copy, sizeof *copy), (ssize_t)sizeof *copy);
    close(ends[0]);
    cr_assert_eq(cluster_sweep(&options), 0, "its owner lives");
    cr_assert(process_lives(copy->server.pid) && exists(copy->folder));
    kill(doomed, SIGKILL);
    waitpid(doomed, NULL, 0);
}

Test(cluster, when_its_owner_is_killed_the_server_quits_and_a_sweep_takes_the_rest)
{
    struct cluster dead;
    need_postgresql();
    start_in_doomed_child(&dead);
    cr_assert(soon_over(dead.server.pid), "nobody but the kernel told it to");
    cr_assert_eq(memory_of(dead.server.pid), 0);
    cr_assert(exists(dead.folder));
    cr_assert_eq(cluster_sweep(&options), 1);
    cr_assert_eq(count_entries(scratch, ""), 0);
    cr_assert_eq(cluster_sweep(&options), 0);
}

Test(cluster, a_server_that_outlives_its_owner_is_ended_by_the_next_start)
{
    struct cluster dead;
    need_postgresql();
    options.keep = true; /* such a server is not told to quit; its owner never came to keep it */
    start_in_doomed_child(&dead);
    poll(NULL, 0, 100);
    cr_assert(process_lives(dead.server.pid));
    options.keep = false;
    start(&cluster); /* sweeps */
    cr_assert(!process_lives(dead.server.pid));
    cr_assert_eq(memory_of(dead.server.pid), 0);
    cr_assert(!exists(dead.folder));
    says(&cluster, "select 1", "1");
}

/* (M2) */
Test(cluster, memory_of_a_killed_server_is_swept)
{
    struct cluster dead;
    need_postgresql();
    options.keep = true;
    start_in_doomed_child(&dead);
    kill(dead.server.pid, SIGKILL); /* the doomed child's, and seen alive just now */
    cr_assert(soon_over(dead.server.pid));
    cr_assert_eq(memory_of(dead.server.pid), 1);
    cr_assert_eq(cluster_sweep(&options), 1);
    cr_assert_eq(memory_of(dead.server.pid), 0);
    cr_assert_eq(count_entries(scratch, ""), 0);
}

/* (O1), (O3) */
Test(cluster, only_folders_of_a_gone_owner_are_leftovers)
{
    struct process_state self;
    char space[64] = "";
    char texts[8][128];
    cr_assert(process_state(getpid(), &self));
    cr_assert_gt(readlink("/proc/self/ns/pid", space, sizeof space - 1), 0);
    intmax_t pid = getpid();
    snprintf(texts[0], 128, "%jd %" PRIu64 " %s\n", pid, self.start, space);
    snprintf(texts[1], 128, "%jd %" PRIu64 " %s\n", pid, self.start - 1, space);
    snprintf(texts[2], 128, "%jd %" PRIu64 " %s\n", INTMAX_C(99999999), self.start, space);
    snprintf(texts[3], 128, "%jd %" PRIu64 " pid:[1]\n", pid, self.start);
    const struct {
        const char *name, *owner; /* owner NULL: no file */
        bool old;
        bool locked;
        bool gone;
    } cases[] = {
        {"alive", texts[0], .gone = false},
        {"alive-and-old", texts[0], .old = true, .gone = false},
        {"pid-reused", texts[1], .gone = true},
        {"no-such-process", texts[2], .gone = true},
        {"elsewhere-and-locked", texts[3], .locked = true, .gone = false},
        {"elsewhere-and-free", texts[3], .gone = true},
        {"kept", "kept\n", .old = true, .gone = false},
        {"being-made", NULL, .gone = false},
        {"never-made", NULL, .old = true, .gone = true},
        {"being-written", "", .gone = false},
        {"never-written", "12", .old = true, .gone = true},
        {"nonsense", "x y z", .gone = false},
    };
    int wanted = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *folder = make_leftover(cases[i].name, cases[i].owner);
        char path[192];
        snprintf(path, sizeof path, "%s/" OWNER_FILE, folder);
        int fd = cases[i].locked ? open(path, O_RDWR) : -1;
        cr_assert(!cases[i].locked || flock(fd, LOCK_EX) == 0);
        const struct utimbuf old = {.actime = time(NULL) - 3600, .modtime = time(NULL) - 3600};
        cr_assert(!cases[i].old || utime(folder, &old) == 0);
        cr_assert_eq(owner_is_gone(folder), cases[i].gone, "%s", cases[i].name);
        wanted += cases[i].gone;
    }
    cr_assert_eq(cluster_sweep(&options), wanted);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[192];
        snprintf(path, sizeof path, "%s/" CLUSTER_PREFIX "%s-folder", scratch, cases[i].name);
        cr_assert_eq(exists(path), !cases[i].gone, "%s", cases[i].name);
    }
}

Test(cluster, a_dead_owner_that_nobody_reaped_is_gone)
{
    int ends[2];
    char folder[128];
    snprintf(folder, sizeof folder, "%s", make_leftover("zombie", NULL));
    cr_assert_eq(pipe(ends), 0);
    pid_t zombie = fork();
    if (zombie == 0) {
        (void)!write(ends[1], "x", owner_take(folder) >= 0);
        _exit(0);
    }
    char byte;
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    siginfo_t info;
    cr_assert_eq(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), 0);
    cr_assert(owner_is_gone(folder));
    waitpid(zombie, NULL, 0);
}

/* (O2) */
Test(cluster, folders_of_others_and_links_are_left_alone)
{
    char target[96];
    char link[128];
    snprintf(target, sizeof target, "%s/target", scratch);
    snprintf(link, sizeof link, "%s/" CLUSTER_PREFIX "link", scratch);
    cr_assert(mkdir(target, 0700) == 0 && symlink(target, link) == 0);
    const char *folder = make_leftover("others", "99999999 1 pid:[1]\n");
    if (geteuid() == 0) {
        cr_assert_eq(chown(folder, 65534, 65534), 0);
        cr_assert_eq(cluster_sweep(&options), 0);
        cr_assert(exists(folder));
    }
    (void)cluster_sweep(&options);
    cr_assert(exists(link) && exists(target));
}

/* (C2), (P1) */
Test(cluster, a_stranger_with_the_servers_pid_is_not_signalled)
{
    const char *folder = make_leftover("stranger", "99999999 1 pid:[1]\n");
    pid_t stranger = fork();
    if (stranger == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sleep", "sleep", "30", (char *)NULL);
        _exit(1);
    }
    write_postmaster_pid(folder, stranger);
    cr_assert_eq(cluster_sweep(&options), 1);
    cr_assert(!exists(folder));
    cr_assert_eq(waitpid(stranger, NULL, WNOHANG), 0, "it goes on");
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
}

/* (M1) */
Test(cluster, a_server_of_another_folder_is_not_signalled)
{
    need_postgresql();
    start(&cluster);
    const char *folder = make_leftover("neighbour", "99999999 1 pid:[1]\n");
    write_postmaster_pid(folder, cluster.server.pid);
    cr_assert_eq(cluster_sweep(&options), 1);
    cr_assert(!exists(folder));
    says(&cluster, "select 1", "1");
}

/* ---- keeping -------------------------------------------------------------------------------- */

Test(cluster, kept_it_goes_on_after_its_owner)
{
    struct cluster kept;
    char connect[256];
    char end[400];
    int ends[2];
    need_postgresql();
    options.keep = true;
    cr_assert_eq(pipe(ends), 0);
    pid_t owner = fork();
    if (owner == 0) {
        bool ok = cluster_start(&cluster, &options, &error);
        ok = ok && write(ends[1], &cluster, sizeof cluster) > 0 && cluster_close(&cluster, &error);
        _exit(ok ? 0 : 1);
    }
    cr_assert_eq(read(ends[0], &kept, sizeof kept), (ssize_t)sizeof kept);
    int status = 1;
    waitpid(owner, &status, 0);
    cr_assert_eq(status, 0);
    cr_assert_eq(cluster_sweep(&options), 0, "kept on purpose");
    says(&kept, "select 1", "1");
    cluster_how_to_connect(&kept, connect, sizeof connect);
    char query[300];
    snprintf(query, sizeof query, "%s -c 'select 1' >/dev/null", connect);
    cr_assert_eq(shell(query), 0, "%s", query);
    cluster_how_to_end(&kept, end, sizeof end);
    cr_assert_eq(shell(end), 0, "%s", end);
    cr_assert(!process_lives(kept.server.pid));
    cr_assert_eq(count_entries(scratch, CLUSTER_PREFIX), 0);
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* (T2), (T3) */
Test(cluster, a_tree_is_copied_only_if_it_is_folders_and_files_and_one_that_is_gone_is_removed)
{
    char from[80], to[80], odd[100];
    snprintf(from, sizeof from, "%s/from", scratch);
    snprintf(to, sizeof to, "%s/to", scratch);
    snprintf(odd, sizeof odd, "%s/odd", from);
    cr_assert(mkdir(from, 0700) == 0 && mkdir(to, 0700) == 0);
    cr_expect(tree_copy(from, to, geteuid(), getegid()));
    cr_assert_eq(mkfifo(odd, 0600), 0);
    cr_expect_not(tree_copy(from, to, geteuid(), getegid()), "a pipe");
    cr_assert(unlink(odd) == 0 && symlink("/etc/passwd", odd) == 0);
    cr_expect_not(tree_copy(from, to, geteuid(), getegid()), "a link");
    cr_expect_eq(count_entries(to, ""), 0, "nothing of either is there");
    cr_expect(tree_remove(from));
    cr_expect(tree_remove(from), "it is gone already");
}

/* ---- templates and programs ----------------------------------------------------------------- */

/* (K2) */
Test(cluster, a_template_of_another_user_is_not_used)
{
    char cache[80], path[160], copied[160];
    need_postgresql();
    if (geteuid() != 0) {
        tear_down();
        cr_skip_test("only root can give a folder to another user");
    }
    snprintf(cache, sizeof cache, "%s/cache", scratch);
    options.cache = cache;
    start(&cluster);
    snprintf(path, sizeof path, "%s/postgresql-%s-1", cache, cluster.version);
    cr_assert(cluster_close(&cluster, &error), "%s", error.text);
    cr_assert(exists(path), "%s", path);
    char line[400];
    snprintf(line, sizeof line, "touch %s/data/of-the-template", path);
    cr_assert_eq(shell(line), 0);
    for (int others = 0; others < 2; others++) {
        cr_assert_eq(lchown(path, others ? 65534 : 0, (gid_t)-1), 0);
        start(&cluster);
        snprintf(copied, sizeof copied, "%s/of-the-template", cluster.data);
        cr_expect_eq(exists(copied), !others, "%s", others ? "another user's" : "our own");
        cr_assert(cluster_close(&cluster, &error), "%s", error.text);
    }
}

/* What the program says of itself, a line each. A shell blocks all signals while it starts a program, so
 * that program tells which it inherits. */
#define ABOUT_ITSELF                                                                               \
    "pwd; ls /proc/$$/fd; grep SigBlk /proc/self/status; "                                         \
    "echo terminal $(cut -d' ' -f7 /proc/$$/stat); echo secret $ASSAY_TEST_SECRET"

/* (P2) */
Test(cluster, a_started_program_inherits_nothing_of_ours)
{
    static char text[1024];
    char output[100];
    const char *const arguments[] = {"/bin/sh", "-c", ABOUT_ITSELF, NULL};
    struct process_user user;
    sigset_t blocked;
    cr_assert(process_user_find(&user, &error), "%s", error.text);
    snprintf(output, sizeof output, "%s/output", scratch);
    const struct process_plan plan = {
        .arguments = arguments, .user = &user, .output = output, .when_orphaned = SIGKILL};
    setenv("ASSAY_TEST_SECRET", "known", 1);
    cr_assert_eq(dup2(STDERR_FILENO, 57), 57); /* open, and not closed by an exec */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    cr_expect(process_run(&plan, 60000, &error), "%s", error.text);
    FILE *file = fopen(output, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(text, "/\n0\n1\n2\nSigBlk:\t0000000000000000\nterminal 0\nsecret\n");
}
