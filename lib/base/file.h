/*
 * Files that survive a crash.
 *
 * A folder is held open by a descriptor (struct hf_dir) and names are
 * relative to it. "durable" promises that after success the change is on
 * disk: file flushed, renamed, folder flushed. After a failure the old
 * state stands and no temporary file is left, with one exception: when the
 * last step, the flush of the folder, fails, the change is made but a power
 * cut may undo it.
 * Modes are 0600 and 0700 whatever the umask. A name to be written that is
 * not one path component is HF_E_INVALID.
 * Fault points (step.h), each before its call: file.open, file.write,
 * file.fsync, file.close, file.rename, file.link, file.unlink, file.mkdir,
 * file.dirsync.
 */
#ifndef HF_BASE_FILE_H
#define HF_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

struct hf_dir {
	int fd;			/* -1: not open */
	char *path;		/* for messages */
};
#define HF_DIR_INIT	{ -1, NULL }

/* Opens a folder. HF_E_NOT_FOUND when it is not there or no folder. */
int	hf_dir_open(struct hf_dir *d, const char *path, struct hf_err *err);
/* Opens it, making it and the folders above it durably, each 0700. */
int	hf_dir_make(struct hf_dir *d, const char *path, struct hf_err *err);
/* A folder inside d; made when create is set. name is one component. */
int	hf_dir_sub(struct hf_dir *out, const struct hf_dir *d,
	    const char *name, bool create, struct hf_err *err);
void	hf_dir_close(struct hf_dir *d);
/* fsync; EINVAL and ENOTSUP are tolerated. */
int	hf_dir_sync(const struct hf_dir *d, struct hf_err *err);
/* Names in it ("." and ".." left out), in no order; cb returns 0 to go on,
 * 1 to stop, -1 as an error; returns what the last cb did. Left-over
 * temporary files (a dot in front) are among them. */
int	hf_dir_each(const struct hf_dir *d,
	    int (*cb)(const char *name, void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);

/* openat(2) with O_CLOEXEC and O_NOFOLLOW, never waiting for a FIFO; with
 * O_CREAT a new file is 0600. -1 with errno. */
int	hf_file_open(const struct hf_dir *d, const char *name, int flags);
/* 1 and the content appended, 0 when there is no such file, -1. Beyond the
 * buffer's maximum: HF_E_OVERFLOW. Does not follow a symbolic link; what is
 * no regular file is HF_E_IO. */
int	hf_file_read(const struct hf_dir *d, const char *name,
	    struct hf_buf *out, struct hf_err *err);

/* Atomic, durable replacement: .name.RANDOM.tmp O_EXCL 0600, write, fsync,
 * close, rename, fsync of the folder; the old content survives a failure.
 * Full disks are named ("no space left"). */
int	hf_file_replace(const struct hf_dir *d, const char *name,
	    struct hf_str content, struct hf_err *err);
/* The same, but the name must be free: link(2), HF_E_EXISTS if taken;
 * where there are no links, a rename that does not overwrite. */
int	hf_file_create(const struct hf_dir *d, const char *name,
	    struct hf_str content, struct hf_err *err);
/* Appends durably with one write (O_APPEND, fsync); makes the file. What a
 * full disk cut short is taken back. */
int	hf_file_append(const struct hf_dir *d, const char *name,
	    struct hf_str content, struct hf_err *err);
/* Renames from → to inside d without overwriting; durable. HF_E_EXISTS if
 * to is taken, HF_E_NOT_FOUND without from. Where it takes link and unlink
 * (NFS), calling it again completes one that was killed in between. The
 * content of from is not flushed. */
int	hf_file_publish(const struct hf_dir *d, const char *from,
	    const char *to, struct hf_err *err);
/* Removes durably; 1 removed, 0 was not there. */
int	hf_file_remove(const struct hf_dir *d, const char *name,
	    struct hf_err *err);

/* Can other machines change the folder (NFS, SMB, cluster file systems,
 * folders shared with a guest)? Any FUSE counts. False outside Linux. */
bool	hf_file_network(const struct hf_dir *d);
/* malloc'd "a/b"; a slash at the end of a is not doubled, "" gives b. */
char	*hf_path_join(const char *a, const char *b);
/* What stands behind the last slash, so "" for "a/"; borrowed. */
const char *hf_path_base(const char *path);
/* malloc'd folder part, what stands before that: "." for "a", "/" for
 * "/a", "a" for "a/". */
char	*hf_path_dir(const char *path);
/* One path component that leads nowhere else: no '/', not "", "." or "..",
 * no NUL, at most 255 bytes. */
bool	hf_path_component(struct hf_str name);

#endif
