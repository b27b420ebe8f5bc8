#include "base/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/sig.h"
#include "base/spawn.h"

enum { CHUNK = 64 * 1024 };

/* ---- start ---- */

/* An error number. */
static int
spawn(struct hf_peer *p, const char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t fa;
	int rc = posix_spawn_file_actions_init(&fa);

	if (rc != 0)
		return rc;
	rc = posix_spawn_file_actions_adddup2(&fa, in, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&fa, out, 1);
	if (rc == 0)
		rc = hf_spawn(&p->pid, argv, NULL, &fa);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

int
hf_peer_start(struct hf_peer *p, const char *const *argv, size_t max,
    struct hf_err *err)
{
	int in = -1, out = -1, rc;

	*p = (struct hf_peer)HF_PEER_INIT;
	p->name = argv[0];
	p->buf.max = max + CHUNK;
	if (hf_spawn_pipe(&p->in, &in, true) < 0 ||
	    hf_spawn_pipe(&p->out, &out, false) < 0)
		rc = errno;
	else
		rc = spawn(p, argv, in, out);
	hf_spawn_close(&in);
	hf_spawn_close(&out);
	if (rc == 0)
		return 0;
	hf_spawn_close(&p->in);
	hf_spawn_close(&p->out);
	p->pid = -1;
	if (rc == ENOENT || rc == ENOTDIR)
		return hf_err_set(err, HF_E_NOT_FOUND,
		    "cannot run '%s': no such program", argv[0]);
	return hf_err_sys(err, rc, "cannot run '%s'", argv[0]);
}

/* ---- talk ---- */

static int
gone(const struct hf_peer *p, struct hf_err *err)
{
	return hf_err_set(err, HF_E_UNAVAILABLE, "'%s' has ended", p->name);
}

/* Waits for one descriptor until *deadline, which a signal draws near. */
static int
wait_for(const struct hf_peer *p, int fd, short what, int64_t *deadline,
    bool *signalled, long grace_ms, struct hf_err *err)
{
	for (;;) {
		struct pollfd f[] = {
			{ fd, what, 0 },
			{ *signalled ? -1 : hf_sig_fd(), POLLIN, 0 },
		};
		int64_t now = hf_clock_boot(), left;

		if (!*signalled && hf_sig_got() != 0) {
			*signalled = true;
			if (*deadline > now + grace_ms)
				*deadline = now + grace_ms;
			continue;
		}
		left = *deadline - now;
		if (left <= 0)
			return *signalled ? hf_sig_check(err) :
			    hf_err_set(err, HF_E_UNAVAILABLE,
			    "'%s' does not answer in time", p->name);
		if (poll(f, 2, left < 60000 ? (int)left : 60000) < 0 &&
		    errno != EINTR)
			return hf_err_sys(err, errno, "cannot wait for '%s'",
			    p->name);
		if (f[0].revents != 0)
			return 0;
	}
}

int
hf_peer_send(struct hf_peer *p, struct hf_str line, int64_t deadline,
    long grace_ms, struct hf_err *err)
{
	bool signalled = false;
	size_t sent = 0;

	if (p->in < 0)
		return gone(p, err);
	while (sent <= line.n) {
		ssize_t n = sent < line.n ?
		    write(p->in, line.s + sent, line.n - sent) :
		    write(p->in, "\n", 1);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno == EPIPE)
			return gone(p, err);
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return hf_err_sys(err, errno, "cannot write to '%s'",
			    p->name);
		else if (wait_for(p, p->in, POLLOUT, &deadline, &signalled,
		    grace_ms, err) < 0)
			return -1;
	}
	return 0;
}

/* The line that the buffer begins with, if it is whole. */
static bool
take_line(struct hf_peer *p, size_t seen, struct hf_str *line)
{
	const char *end = p->buf.len > seen ? memchr(p->buf.data + seen,
	    '\n', p->buf.len - seen) : NULL;

	if (end == NULL)
		return false;
	*line = hf_strn(p->buf.data, (size_t)(end - p->buf.data));
	p->pos = line->n + 1;
	return true;
}

int
hf_peer_recv(struct hf_peer *p, struct hf_str *line, int64_t deadline,
    long grace_ms, struct hf_err *err)
{
	bool signalled = false;
	size_t seen = 0;

	if (p->out < 0)
		return gone(p, err);
	hf_buf_eat(&p->buf, p->pos);
	p->pos = 0;
	while (!take_line(p, seen, line)) {
		char *room = hf_buf_room(&p->buf, CHUNK);
		ssize_t n;

		seen = p->buf.len;
		if (room == NULL)
			return hf_err_set(err, HF_E_UNAVAILABLE,
			    "'%s' says a line that is too long", p->name);
		n = read(p->out, room, CHUNK);
		if (n > 0)
			p->buf.len += (size_t)n;
		else if (n == 0)
			return gone(p, err);
		else if (errno != EAGAIN && errno != EINTR)
			return hf_err_sys(err, errno, "cannot read from '%s'",
			    p->name);
		else if (wait_for(p, p->out, POLLIN, &deadline, &signalled,
		    grace_ms, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- end ---- */

/* Its stdout ends when it does; what it still says is dropped. */
static bool
ends_by_itself(struct hf_peer *p, long wait_ms)
{
	int64_t end = hf_clock_boot() + wait_ms, left;
	char drop[4096];

	while ((left = end - hf_clock_boot()) > 0) {
		struct pollfd f = { p->out, POLLIN, 0 };
		ssize_t n;

		if (poll(&f, 1, (int)left) <= 0)
			continue;
		n = read(p->out, drop, sizeof(drop));
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return true;
	}
	return false;
}

void
hf_peer_end(struct hf_peer *p, long wait_ms)
{
	hf_spawn_close(&p->in);
	if (p->pid > 0) {
		if (!ends_by_itself(p, wait_ms))
			kill(-p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
		p->pid = -1;
	}
	hf_spawn_close(&p->out);
	hf_buf_release(&p->buf);
	p->pos = 0;
}
