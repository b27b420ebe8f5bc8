/*
 * Files that survive a crash.
 *
 * A folder is held open by a descriptor (struct hf_dir) and names are
 * relative to it. "durable" in a name promises that after a return of 0
 * the change is on disk: file flushed, renamed, folder flushed.
 * Modes are 0600 and 0700 whatever the umask.
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

/* Opens a folder. HF_E_NOT_FOUND when it is not there. */
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
 * 1 to stop, -1 as an error. */
int	hf_dir_each(const struct hf_dir *d,
	    int (*cb)(const char *name, void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);

/* 1 and the content appended, 0 when there is no such file, -1. Beyond the
 * buffer's maximum: HF_E_OVERFLOW. Does not follow a symbolic link. */
int	hf_file_read(const struct hf_dir *d, const char *name,
	    struct hf_buf *out, struct hf_err *err);

/* Atomic, durable replacement: .name.RANDOM.tmp O_EXCL 0600, write, fsync,
 * close, rename, fsync of the folder; the old content survives a failure.
 * Full disks are named ("no space left"). */
int	hf_file_replace(const struct hf_dir *d, const char *name,
	    struct hf_str content, struct hf_err *err);
/* The same, but the name must be free: link(2), HF_E_EXISTS if taken. */
int	hf_file_create(const struct hf_dir *d, const char *name,
	    struct hf_str content, struct hf_err *err);
/* Appends one write durably (O_APPEND, fsync); makes the file. */
int	hf_file_append(const struct hf_dir *d, const char *name,
	    struct hf_str content, struct hf_err *err);
/* Renames from → to inside d without overwriting; HF_E_EXISTS if taken;
 * durable. */
int	hf_file_publish(const struct hf_dir *d, const char *from,
	    const char *to, struct hf_err *err);
/* Removes durably; 1 removed, 0 was not there. */
int	hf_file_remove(const struct hf_dir *d, const char *name,
	    struct hf_err *err);

/* Is the folder on a network file system (NFS, SMB, FUSE network …)? */
bool	hf_file_network(const struct hf_dir *d);
/* malloc'd "a/b"; a without trailing slash doubled. */
char	*hf_path_join(const char *a, const char *b);
/* The last component; borrowed. */
const char *hf_path_base(const char *path);
/* malloc'd folder part, "." when there is none. */
char	*hf_path_dir(const char *path);
/* One path component that leads nowhere else: no '/', not "", "." or "..",
 * no NUL, at most 255 bytes. */
bool	hf_path_component(struct hf_str name);

#endif
