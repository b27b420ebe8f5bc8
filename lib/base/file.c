#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* renameat2 */
#endif
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#include "base/hmac.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/step.h"

/* The longest name that encrypting file systems (eCryptfs) take too. */
enum { TEMP_MAX = 143, TEMP_RANDOM = 8, TEMP_HEX = 16 };

enum { DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* ---- errors ---- */

/* A full disk is said in words that do not depend on the C library. */
static int
failed(const char *what, const char *folder, const char *name, int errnum,
    struct hf_err *err)
{
	const char *slash = name[0] == '\0' ? "" : "/";

	if (errnum == ENOSPC)
		return hf_err_set(err, HF_E_IO,
		    "cannot %s '%s%s%s': no space left on the disk", what,
		    folder, slash, name);
	if (errnum == EDQUOT)
		return hf_err_set(err, HF_E_IO,
		    "cannot %s '%s%s%s': no space left in the quota", what,
		    folder, slash, name);
	return hf_err_sys(err, errnum, "cannot %s '%s%s%s'", what, folder,
	    slash, name);
}

static int
not_found(struct hf_err *err)
{
	if (err != NULL)
		err->code = HF_E_NOT_FOUND;
	return -1;
}

static int
check_name(const char *name, struct hf_err *err)
{
	if (hf_path_component(hf_str(name)))
		return 0;
	return hf_err_set(err, HF_E_INVALID, "'%s' is not a file name", name);
}

/* ---- folders ---- */

/* -1 with errno. path is copied. */
static int
open_folder(struct hf_dir *d, int at, const char *name, const char *path)
{
	int fd = openat(at, name, DIR_FLAGS);

	if (fd < 0)
		return -1;
	d->fd = fd;
	d->path = hf_strdup(path);
	return 0;
}

static int
open_failed(const char *path, int errnum, struct hf_err *err)
{
	failed("open", path, "", errnum, err);
	if (errnum == ENOENT || errnum == ENOTDIR)
		return not_found(err);
	return -1;
}

/* Makes and opens up/name. That it is there already is no error: another
 * process was faster. */
static int
make_folder(struct hf_dir *out, const struct hf_dir *up, const char *name,
    const char *path, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	mode_t mask = umask(0);
	int rc = hf_step("file.mkdir") < 0 ? -1 :
	    mkdirat(up->fd, name, 0700);

	umask(mask);
	if (rc < 0 && errno != EEXIST)
		return failed("make", path, "", errno, err);
	if (open_folder(&d, up->fd, name, path) < 0)
		return open_failed(path, errno, err);
	if (hf_dir_sync(&d, err) < 0 || hf_dir_sync(up, err) < 0) {
		hf_dir_close(&d);
		return -1;
	}
	*out = d;
	return 0;
}

int
hf_dir_open(struct hf_dir *d, const char *path, struct hf_err *err)
{
	if (open_folder(d, AT_FDCWD, path, path) < 0)
		return open_failed(path, errno, err);
	return 0;
}

int
hf_dir_make(struct hf_dir *d, const char *path, struct hf_err *err)
{
	struct hf_dir up = HF_DIR_INIT;
	size_t n = strlen(path);
	char *clean = NULL, *above = NULL;
	int rc = -1;

	if (open_folder(d, AT_FDCWD, path, path) == 0)
		return 0;
	if (errno != ENOENT || n == 0)
		return open_failed(path, errno, err);
	while (n > 1 && path[n - 1] == '/')
		n--;
	clean = hf_strndup(path, n);
	above = hf_path_dir(clean);
	if (strcmp(above, clean) == 0) {
		open_failed(path, ENOENT, err);
		goto out;
	}
	if (hf_dir_make(&up, above, err) < 0)
		goto out;
	rc = make_folder(d, &up, hf_path_base(clean), clean, err);
out:
	hf_dir_close(&up);
	free(above);
	free(clean);
	return rc;
}

int
hf_dir_sub(struct hf_dir *out, const struct hf_dir *d, const char *name,
    bool create, struct hf_err *err)
{
	char *path = NULL;
	int rc;

	if (check_name(name, err) < 0)
		return -1;
	path = hf_path_join(d->path, name);
	rc = open_folder(out, d->fd, name, path);
	if (rc < 0 && errno == ENOENT && create)
		rc = make_folder(out, d, name, path, err);
	else if (rc < 0)
		open_failed(path, errno, err);
	free(path);
	return rc;
}

void
hf_dir_close(struct hf_dir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	free(d->path);
	*d = (struct hf_dir)HF_DIR_INIT;
}

int
hf_dir_sync(const struct hf_dir *d, struct hf_err *err)
{
	if (hf_step("file.dirsync") == 0 && fsync(d->fd) == 0)
		return 0;
	/* Not every file system can flush a folder; those that cannot do
	 * not need it or offer nothing better. */
	if (errno == EINVAL || errno == ENOTSUP || errno == EOPNOTSUPP)
		return 0;
	return failed("flush the folder", d->path, "", errno, err);
}

static bool
is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int
hf_dir_each(const struct hf_dir *d,
    int (*cb)(const char *name, void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct dirent *e;
	DIR *dir = NULL;
	/* A descriptor of its own: the position in it is shared with no
	 * other listing. */
	int fd = openat(d->fd, ".", DIR_FLAGS), rc = 0;

	if (fd < 0 || (dir = fdopendir(fd)) == NULL) {
		rc = failed("list", d->path, "", errno, err);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (rc == 0) {
		errno = 0;
		if ((e = readdir(dir)) == NULL) {
			if (errno != 0)
				rc = failed("list", d->path, "", errno, err);
			break;
		}
		if (!is_dot(e->d_name))
			rc = cb(e->d_name, arg, err);
	}
	closedir(dir);
	return rc;
}

/* ---- reading ---- */

int
hf_file_open(const struct hf_dir *d, const char *name, int flags)
{
	bool making = (flags & O_CREAT) != 0;
	/* An fchmod afterwards would be too late for a file that another
	 * process may open at the same moment. */
	mode_t mask = making ? umask(0) : 0;
	int fd = openat(d->fd, name, flags | O_CLOEXEC | O_NOFOLLOW |
	    O_NOCTTY | O_NONBLOCK, 0600);

	if (making)
		umask(mask);
	return fd;
}

int
hf_file_read(const struct hf_dir *d, const char *name, struct hf_buf *out,
    struct hf_err *err)
{
	size_t before = out->len;
	char *path = NULL;
	struct stat st;
	int fd = hf_file_open(d, name, O_RDONLY), rc = -1;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno == ELOOP)
		return hf_err_set(err, HF_E_IO, "cannot read '%s/%s': "
		    "it is a symbolic link", d->path, name);
	if (fd < 0 || fstat(fd, &st) < 0) {
		failed("read", d->path, name, errno, err);
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		hf_err_set(err, HF_E_IO, "cannot read '%s/%s': "
		    "not a regular file", d->path, name);
		goto out;
	}
	path = hf_path_join(d->path, name);
	if (hf_io_slurp(fd, out, path, err) < 0) {
		if (out->len > before)
			hf_buf_cut(out, before);
		goto out;
	}
	rc = 1;
out:
	free(path);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- writing ---- */

/* .NAME.RANDOM.tmp, NAME cut on a code point. */
static void
temp_name(const char *name, char out[TEMP_MAX + 1])
{
	uint8_t random[TEMP_RANDOM];
	char hex[TEMP_HEX + 1];
	struct hf_str a = hf_str(name);
	size_t room = TEMP_MAX - strlen(".." ".tmp") - TEMP_HEX;

	hf_random(random, sizeof(random));
	for (size_t i = 0; i < TEMP_RANDOM; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned)random[i]);
	if (a.n > room)
		a.n = hf_utf8_cut(a, room);
	snprintf(out, TEMP_MAX + 1, ".%.*s.%s.tmp", (int)a.n, a.s, hex);
}

/* close, whose failure is the last chance to hear of a failed write. */
static int
close_checked(int fd)
{
	int step = hf_step("file.close");

	return close(fd) < 0 || step < 0 ? -1 : 0;
}

/* Removes a temporary file after a failure, errno untouched. */
static void
drop_temp(const struct hf_dir *d, const char *tmp)
{
	int saved = errno;

	unlinkat(d->fd, tmp, 0);
	errno = saved;
}

/* A new file on disk, or none; -1 with errno. */
static int
write_temp(const struct hf_dir *d, const char *tmp, struct hf_str content)
{
	int fd = -1, saved;

	if (hf_step("file.open") < 0 || (fd = hf_file_open(d, tmp,
	    O_WRONLY | O_CREAT | O_EXCL)) < 0)
		return -1;
	if (hf_step("file.write") < 0 ||
	    hf_io_write(fd, content.s, content.n) < 0 ||
	    hf_step("file.fsync") < 0 || fsync(fd) < 0) {
		saved = errno;
		close(fd);
		errno = saved;
	} else if (close_checked(fd) == 0)
		return 0;
	drop_temp(d, tmp);
	return -1;
}

int
hf_file_replace(const struct hf_dir *d, const char *name,
    struct hf_str content, struct hf_err *err)
{
	char tmp[TEMP_MAX + 1];

	if (check_name(name, err) < 0)
		return -1;
	temp_name(name, tmp);
	if (write_temp(d, tmp, content) < 0)
		return failed("write", d->path, name, errno, err);
	if (hf_step("file.rename") < 0 ||
	    renameat(d->fd, tmp, d->fd, name) < 0) {
		drop_temp(d, tmp);
		return failed("replace", d->path, name, errno, err);
	}
	return hf_dir_sync(d, err);
}

/* Both: 0, or -1 with errno; EEXIST when to is taken. */
static int
rename_free(const struct hf_dir *d, const char *from, const char *to)
{
	if (hf_step("file.rename") < 0)
		return -1;
#ifdef RENAME_NOREPLACE
	return renameat2(d->fd, from, d->fd, to, RENAME_NOREPLACE);
#else
	(void)d, (void)from, (void)to;
	errno = ENOSYS;
	return -1;
#endif
}

static int
link_free(const struct hf_dir *d, const char *from, const char *to)
{
	if (hf_step("file.link") < 0)
		return -1;
	return linkat(d->fd, from, d->fd, to, 0);
}

/* Two names of one file are a link that was made, and not gone on from:
 * killed in between, or an answer of NFS that got lost. errno is
 * untouched. */
static bool
same_file(const struct hf_dir *d, const char *a, const char *b)
{
	struct stat sa, sb;
	int saved = errno;
	bool same = fstatat(d->fd, a, &sa, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstatat(d->fd, b, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
	    sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;

	errno = saved;
	return same;
}

/* The kernel or the file system (NFS; FAT) does not know the call. */
static bool
not_offered(int errnum)
{
	return errnum == ENOSYS || errnum == EINVAL || errnum == EPERM ||
	    errnum == ENOTSUP || errnum == EOPNOTSUPP;
}

int
hf_file_create(const struct hf_dir *d, const char *name,
    struct hf_str content, struct hf_err *err)
{
	char tmp[TEMP_MAX + 1];

	if (check_name(name, err) < 0)
		return -1;
	temp_name(name, tmp);
	if (write_temp(d, tmp, content) < 0)
		return failed("write", d->path, name, errno, err);
	if (link_free(d, tmp, name) == 0 ||
	    (errno == EEXIST && same_file(d, tmp, name))) {
		/* The file is there: a second name that stays behind is
		 * litter, no failure. */
		if (hf_step("file.unlink") == 0)
			unlinkat(d->fd, tmp, 0);
	} else if (!not_offered(errno) || rename_free(d, tmp, name) < 0) {
		drop_temp(d, tmp);
		if (errno == EEXIST)
			return hf_err_set(err, HF_E_EXISTS,
			    "'%s/%s' exists", d->path, name);
		return failed("create", d->path, name, errno, err);
	}
	return hf_dir_sync(d, err);
}

/* One write, so that rows of several processes do not mix. A part that
 * was written before the disk was full is taken back, if it still is the
 * end. -1 with errno. */
static int
append_once(int fd, struct hf_str content)
{
	struct stat st;
	ssize_t n;
	off_t end;

	if (hf_step("file.write") < 0)
		return -1;
	do
		n = write(fd, content.s, content.n);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n == content.n)
		return 0;
	end = lseek(fd, 0, SEEK_CUR);
	if (end >= n && fstat(fd, &st) == 0 && st.st_size == end &&
	    ftruncate(fd, end - n) < 0)
		return -1;
	/* What cuts a write to a file short is a full disk. */
	errno = ENOSPC;
	return -1;
}

int
hf_file_append(const struct hf_dir *d, const char *name,
    struct hf_str content, struct hf_err *err)
{
	int fd = -1;

	if (check_name(name, err) < 0)
		return -1;
	if (hf_step("file.open") < 0 || (fd = hf_file_open(d, name,
	    O_WRONLY | O_CREAT | O_APPEND)) < 0)
		return failed("open", d->path, name, errno, err);
	if (append_once(fd, content) < 0 || hf_step("file.fsync") < 0 ||
	    fsync(fd) < 0) {
		failed("append to", d->path, name, errno, err);
		close(fd);
		return -1;
	}
	if (close_checked(fd) < 0)
		return failed("append to", d->path, name, errno, err);
	/* Always: whoever made the file may have died before this. A folder
	 * without changes costs next to nothing. */
	return hf_dir_sync(d, err);
}

/* -1 with errno. */
static int
move_free(const struct hf_dir *d, const char *from, const char *to)
{
	if (rename_free(d, from, to) == 0)
		return 0;
	if ((not_offered(errno) && link_free(d, from, to) == 0) ||
	    (errno == EEXIST && same_file(d, from, to)))
		return hf_step("file.unlink") < 0 ? -1 :
		    unlinkat(d->fd, from, 0);
	return -1;
}

int
hf_file_publish(const struct hf_dir *d, const char *from, const char *to,
    struct hf_err *err)
{
	int errnum;

	if (check_name(from, err) < 0 || check_name(to, err) < 0)
		return -1;
	if (move_free(d, from, to) == 0)
		return hf_dir_sync(d, err);
	errnum = errno;
	if (errnum == EEXIST)
		return hf_err_set(err, HF_E_EXISTS, "'%s/%s' exists",
		    d->path, to);
	failed("publish", d->path, from, errnum, err);
	return errnum == ENOENT ? not_found(err) : -1;
}

int
hf_file_remove(const struct hf_dir *d, const char *name, struct hf_err *err)
{
	if (check_name(name, err) < 0)
		return -1;
	if (hf_step("file.unlink") < 0 || unlinkat(d->fd, name, 0) < 0)
		return errno == ENOENT ? 0 :
		    failed("remove", d->path, name, errno, err);
	return hf_dir_sync(d, err) < 0 ? -1 : 1;
}

/* ---- where it is ---- */

#ifdef __linux__
/*
 * The f_type of file systems whose files other machines can change: from
 * linux/magic.h and each one's own source, as few are in that header. FUSE
 * does not tell sshfs from a local one, and is counted in.
 */
static const uint32_t network_types[] = {
	0x00006969,		/* NFS */
	0x0000517b,		/* SMB, the old smbfs */
	0xff534d42,		/* CIFS */
	0xfe534d42,		/* SMB2 and SMB3 */
	0x0000564c,		/* NCP */
	0x5346414f,		/* AFS (OpenAFS) */
	0x6b414653,		/* AFS (the kernel's) */
	0x73757245,		/* Coda */
	0x65735546,		/* FUSE: sshfs, GlusterFS, virtiofs */
	0x01021997,		/* 9p: folders shared with a guest */
	0x00c36400,		/* Ceph */
	0x0bd00bd0,		/* Lustre */
	0x47504653,		/* GPFS */
	0x01161970,		/* GFS2 */
	0x7461636f,		/* OCFS2 */
	0x20030528,		/* OrangeFS */
	0x19830326,		/* BeeGFS */
	0xaad7aaea,		/* PanFS */
	0xbeefdead,		/* SNFS (StorNext) */
	0x786f4256,		/* VirtualBox shared folders */
	0xbacbacbc,		/* VMware shared folders (vmhgfs) */
	0x7c7c6673,		/* Parallels shared folders */
};
#endif

bool
hf_file_network(const struct hf_dir *d)
{
#ifdef __linux__
	struct statfs sf;

	if (fstatfs(d->fd, &sf) < 0)
		return false;
	for (size_t i = 0; i < sizeof(network_types) /
	    sizeof(network_types[0]); i++) {
		/* f_type is signed on some machines. */
		if ((uint32_t)sf.f_type == network_types[i])
			return true;
	}
#else
	(void)d;
#endif
	return false;
}

/* ---- paths ---- */

char *
hf_path_join(const char *a, const char *b)
{
	size_t an = strlen(a), bn = strlen(b), n = an;
	char *s = hf_malloc(an + bn + 2);

	memcpy(s, a, an);
	if (an > 0 && a[an - 1] != '/')
		s[n++] = '/';
	memcpy(s + n, b, bn + 1);
	return s;
}

const char *
hf_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

char *
hf_path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n;

	if (slash == NULL)
		return hf_strdup(".");
	n = (size_t)(slash - path);
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n > 0 ? hf_strndup(path, n) : hf_strdup("/");
}

bool
hf_path_component(struct hf_str name)
{
	if (name.s == NULL || name.n == 0 || name.n > 255)
		return false;
	if (hf_str_is(name, ".") || hf_str_is(name, ".."))
		return false;
	return memchr(name.s, '/', name.n) == NULL &&
	    memchr(name.s, '\0', name.n) == NULL;
}
