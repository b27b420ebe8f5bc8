#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sig.h"

/* Sleeps between tries, in ms: short at first, as sections are short. */
enum { SLEEP_MIN = 1, SLEEP_MAX = 32 };

static int
lock_failed(const struct hf_dir *d, const char *name, int errnum,
    struct hf_err *err)
{
	/* EOPNOTSUPP is ENOTSUP here, but need not be elsewhere. */
	if (errnum == ENOTSUP || errnum == EOPNOTSUPP || errnum == ENOSYS ||
	    errnum == ENOLCK)
		return hf_err_set(err, HF_E_IO, "cannot lock '%s/%s': "
		    "this file system offers no locks (flock)", d->path,
		    name);
	return hf_err_sys(err, errnum, "cannot lock '%s/%s'", d->path, name);
}

/* Before the next try: sleeps, never beyond end. */
static int
lock_wait(const struct hf_dir *d, const char *name, int64_t end,
    long *pause, struct hf_err *err)
{
	int64_t left = end - hf_clock_boot();
	long ms = *pause;

	if (left <= 0)
		return hf_err_set(err, HF_E_LOCKED,
		    "'%s/%s' is locked by another process", d->path, name);
	if (left < ms)
		ms = (long)left;
	if (*pause < SLEEP_MAX)
		*pause *= 2;
	return hf_sig_sleep(ms, err);
}

int
hf_lock(const struct hf_dir *d, const char *name, long wait_ms,
    struct hf_err *err)
{
	int64_t end = hf_clock_boot() + (wait_ms > 0 ? wait_ms : 0);
	long pause = SLEEP_MIN;
	int fd = -1;

	if (!hf_path_component(hf_str(name)))
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' is not a file name", name);
	fd = hf_file_open(d, name, O_RDWR | O_CREAT);
	if (fd < 0)
		return lock_failed(d, name, errno, err);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR) {
			if (hf_sig_check(err) < 0)
				goto fail;
		} else if (errno != EWOULDBLOCK) {
			lock_failed(d, name, errno, err);
			goto fail;
		} else if (lock_wait(d, name, end, &pause, err) < 0)
			goto fail;
	}
	return fd;
fail:
	close(fd);
	return -1;
}

void
hf_unlock(int fd)
{
	if (fd < 0)
		return;
	/* At once, even if a child that is just being spawned still holds a
	 * copy of the descriptor. */
	flock(fd, LOCK_UN);
	close(fd);
}
