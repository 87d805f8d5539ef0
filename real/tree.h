/* Trees of folders, copied and removed.
 *
 * Root copies and removes trees that an unprivileged user owns and may change meanwhile. So nothing
 * here walks by path: each folder is opened once, without following a link, and its entries are
 * reached through it.
 *
 * (T1) No symbolic link at or below the root of a tree is followed.
 * (T2) What is no folder and no regular file is never copied: the copy fails.
 * (T3) A tree, or a part of it, that is gone already counts as removed. */
#ifndef REAL_TREE_H
#define REAL_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Copies the contents of one folder into another that exists; modes are kept, all is given to this
 * user. False: errno says why, and what was copied so far stays. */
bool tree_copy(const char *from, const char *to, uid_t uid, gid_t gid);

/* Lets the file system put each folder that is made in this one somewhere of its own, rather than
 * close by. ext4 creates files slowly, and more so with each, where many were removed in the last
 * minute: as when one cluster follows another. A hint; other file systems do not take it. */
void tree_spread(const char *path);

/* Does not wait: a file that is added meanwhile may make it fail with ENOTEMPTY, as errno. */
bool tree_remove(const char *path);
/* The same, but this entry of the folder goes when all others are gone. */
bool tree_remove_last(const char *path, const char *last);

#endif
