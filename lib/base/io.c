#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sig.h"

enum { READ_SIZE = 64 << 10, WARN_MAX = 4096 };

static const char *prog = "handoff";

/* Waits until fd can be read (or written); false when a signal came. Where
 * fd cannot be waited for, reading it says why. */
static bool
wait_for(int fd, short what)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = what },
		{ .fd = hf_sig_fd(), .events = POLLIN },
	};

	/* poll would pass over a negative one, and wait for ever. */
	if (fd < 0)
		return true;
	while (hf_sig_got() == 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return true;
		if (p[0].revents != 0)
			return hf_sig_got() == 0;
	}
	return false;
}

/* All of p. With stop a signal ends it: then errno is EINTR. */
static int
write_all(int fd, const char *p, size_t n, bool stop)
{
	ssize_t put;

	while (n > 0) {
		put = write(fd, p, n);
		if (put >= 0) {
			p += put;
			n -= (size_t)put;
		} else if (errno == EINTR) {
			if (stop && hf_sig_got() != 0)
				return -1;
		} else if (errno == EAGAIN && stop) {
			if (!wait_for(fd, POLLOUT)) {
				errno = EINTR;
				return -1;
			}
		} else {
			return -1;
		}
	}
	return 0;
}

int
hf_io_write(int fd, const void *p, size_t n)
{
	return write_all(fd, p, n, false);
}

ssize_t
hf_io_read(int fd, void *p, size_t n)
{
	ssize_t got;

	do
		got = read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

ssize_t
hf_io_pread(int fd, void *p, size_t n, off_t off)
{
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		got = pread(fd, (char *)p + done, n - done, off);
		if (got == 0)
			break;
		if (got > 0) {
			done += (size_t)got;
			off += got;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return (ssize_t)done;
}

/* read(2), but a signal ends it, and a descriptor that another program made
 * non-blocking is waited for. */
static ssize_t
read_some(int fd, char *to, size_t n, const char *name, struct hf_err *err)
{
	ssize_t got;

	for (;;) {
		if (!wait_for(fd, POLLIN))
			return hf_sig_check(err);
		got = read(fd, to, n);
		if (got >= 0)
			return got;
		if (errno != EINTR && errno != EAGAIN)
			return hf_err_sys(err, errno, "cannot read '%s'",
			    name);
	}
}

int
hf_io_slurp(int fd, struct hf_buf *out, const char *name,
    struct hf_err *err)
{
	size_t max = out->max > 0 ? out->max : HF_BUF_DEFAULT_MAX;
	ssize_t got;

	do {
		size_t left = out->len < max ? max - out->len : 0;
		size_t n = left < READ_SIZE ? left : READ_SIZE;
		char *to, one;

		/* At the maximum one byte more tells whether it is the end. */
		to = n > 0 ? hf_buf_room(out, n) : NULL;
		got = read_some(fd, to != NULL ? to : &one,
		    to != NULL ? n : 1, name, err);
		if (got > 0 && to == NULL) {
			out->full = true;
			return hf_err_set(err, HF_E_OVERFLOW,
			    "'%s' is larger than %zu bytes", name, max);
		}
		if (got > 0)
			out->len += (size_t)got;
	} while (got > 0);
	hf_buf_cut(out, out->len);
	return got < 0 ? -1 : 0;
}

int
hf_io_slurp_path(const char *path, struct hf_buf *out, struct hf_err *err)
{
	int fd, r;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return hf_err_open(err, errno, "cannot open '%s'", path);
	r = hf_io_slurp(fd, out, path, err);
	close(fd);
	return r;
}

void
hf_lines_init(struct hf_lines *l, int fd, const char *name, size_t max)
{
	size_t all;

	/* A line of max bytes, its LF, and what was read with them. */
	if (__builtin_add_overflow(max, (size_t)READ_SIZE + 1, &all))
		all = SIZE_MAX;
	*l = (struct hf_lines){ fd, name, max, HF_BUF_MAX(all), 0, false };
}

void
hf_lines_release(struct hf_lines *l)
{
	hf_buf_release(&l->buf);
}

static int
too_long(const struct hf_lines *l, struct hf_err *err)
{
	return hf_err_set(err, HF_E_OVERFLOW,
	    "a line of '%s' is longer than %zu bytes", l->name, l->max);
}

/* Reads on: 1, 0 at the end, -1. The lines before pos are dropped. */
static int
fill(struct hf_lines *l, struct hf_err *err)
{
	ssize_t got;
	char *to;

	hf_buf_eat(&l->buf, l->pos);
	l->pos = 0;
	if (l->buf.len > l->max)
		return too_long(l, err);
	to = hf_buf_room(&l->buf, READ_SIZE);
	if (to == NULL)
		return too_long(l, err);
	got = read_some(l->fd, to, READ_SIZE, l->name, err);
	if (got > 0)
		l->buf.len += (size_t)got;
	l->eof = got == 0;
	return got < 0 ? -1 : got > 0;
}

/* The next n bytes are a line; skip is its end's length. */
static int
give(struct hf_lines *l, size_t n, size_t skip, struct hf_str *line,
    struct hf_err *err)
{
	if (n > l->max)
		return too_long(l, err);
	*line = hf_strn(l->buf.data + l->pos, n);
	l->pos += n + skip;
	return 1;
}

int
hf_lines_next(struct hf_lines *l, struct hf_str *line, bool *whole,
    struct hf_err *err)
{
	size_t seen = 0, left;
	const char *from, *lf;
	int r;

	if (hf_sig_check(err) < 0)
		return -1;
	for (;;) {
		left = l->buf.len - l->pos;
		from = hf_buf_view(&l->buf).s + l->pos;
		lf = left > seen ? memchr(from + seen, '\n', left - seen) :
		    NULL;
		if (lf != NULL || l->eof)
			break;
		seen = left;
		r = fill(l, err);
		if (r < 0)
			return -1;
	}
	if (lf == NULL && left == 0)
		return 0;
	if (whole != NULL)
		*whole = lf != NULL;
	if (lf == NULL)
		return give(l, left, 0, line, err);
	return give(l, (size_t)(lf - from), 1, line, err);
}

int
hf_out(struct hf_str a, struct hf_err *err)
{
	if (write_all(STDOUT_FILENO, a.s, a.n, true) == 0)
		return 0;
	if (errno == EINTR && hf_sig_check(err) < 0)
		return -1;
	return hf_err_sys(err, errno, "cannot write to stdout");
}

int
hf_out_close(struct hf_err *err)
{
	/* EBADF: it was never open, and hf_out has said so to whoever wrote.
	 * EINTR: on Linux it is closed all the same. */
	if (close(STDOUT_FILENO) == 0 || errno == EBADF || errno == EINTR)
		return 0;
	return hf_err_sys(err, errno, "cannot write to stdout");
}

/* One line, one write, so that lines of several programs do not mix. There
 * is nobody to tell when stderr itself fails. */
static void
warn_line(struct hf_str a)
{
	struct hf_buf line = HF_BUF_INIT;
	int saved = errno;

	hf_text_safe(&line, hf_str(prog), false);
	hf_buf_puts(&line, ": ");
	hf_text_safe(&line, a, false);
	hf_buf_putc(&line, '\n');
	write_all(STDERR_FILENO, line.data, line.len, true);
	hf_buf_release(&line);
	errno = saved;
}

void
hf_warn(const char *fmt, ...)
{
	char raw[WARN_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	warn_line(hf_str(raw));
}

void
hf_warn_err(const struct hf_err *err)
{
	warn_line(hf_str(err->msg));
}

void
hf_set_prog(const char *name)
{
	prog = name;
}

const char *
hf_prog(void)
{
	return prog;
}
