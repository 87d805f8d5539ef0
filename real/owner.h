/* The owner of a temporary folder, and whether that process is still there: a file in the folder.
 *
 * The file names the process by pid and start time, so that another process with the same pid is
 * not mistaken for it, and by the pid namespace of that pid. A process of another
 * namespace (a container that shares the temporary folder) cannot be looked up, so the file is also
 * locked for as long as its owner lives.
 *
 * (O1) A folder whose owner lives is never said to be orphaned.
 * (O2) Neither is one that was kept on purpose, nor one of another user.
 * (O3) A folder without a readable owner is being made or was left at that very moment: it is
 *      orphaned once it is a minute old. */
#ifndef REAL_OWNER_H
#define REAL_OWNER_H

#include <stdbool.h>

#define OWNER_FILE      "owner"
#define OWNER_GRACE_SEC 60

/* Writes the file for this process, locks it, and returns its descriptor, to be held as long as the
 * folder is in use; -1: errno. */
int owner_take(const char *folder);
/* Lets go of the lock. With `keep` the folder will not be taken for a leftover. */
bool owner_leave(int fd, bool keep);

/* Whether the folder is a leftover of ours. */
bool owner_is_gone(const char *folder);

#endif
