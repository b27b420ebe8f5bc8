/* A self-pipe: the handler sets the flag and makes the pipe readable. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/sig.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

static const struct {
	int sig;
	const char *name;
} caught[] = {
	{ SIGINT, "SIGINT" }, { SIGTERM, "SIGTERM" }, { SIGHUP, "SIGHUP" },
};

enum { CAUGHT = sizeof(caught) / sizeof(caught[0]) };

/* The signal flag (STYLE: Globals). */
static volatile sig_atomic_t got;
static int wake[2] = { -1, -1 };

static void
on_signal(int sig)
{
	int saved = errno;
	ssize_t n;

	/* The first one counts: it is what the program dies by. */
	if (got == 0)
		got = sig;
	/* A full pipe is readable already. */
	n = write(wake[1], "", 1);
	(void)n;
	errno = saved;
}

/* A signal that was ignored when we were started stays so: nohup. */
static void
catch_signal(int sig)
{
	struct sigaction sa, old;

	if (sigaction(sig, NULL, &old) < 0 || old.sa_handler == SIG_IGN)
		return;
	/* Without SA_RESTART, so that a blocked read returns. */
	sa = (struct sigaction){ .sa_handler = on_signal };
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

void
hf_sig_init(void)
{
	/* Children could not be waited for if our parent had SIGCHLD
	 * ignored. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	/* Without the pipe (no descriptors left) the flag alone must do. */
	if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		wake[0] = wake[1] = -1;
	for (size_t i = 0; i < CAUGHT; i++)
		catch_signal(caught[i].sig);
}

void
hf_sig_fork(void)
{
	int old[2] = { wake[0], wake[1] };

	if (old[0] < 0)
		return;
	/* A signal that comes in between sets the flag all the same. */
	wake[0] = wake[1] = -1;
	close(old[0]);
	close(old[1]);
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		wake[0] = wake[1] = -1;
}

int
hf_sig_got(void)
{
	return got;
}

int
hf_sig_fd(void)
{
	return wake[0];
}

int
hf_sig_check(struct hf_err *err)
{
	const char *name = "a signal";

	if (got == 0)
		return 0;
	for (size_t i = 0; i < CAUGHT; i++) {
		if (caught[i].sig == got)
			name = caught[i].name;
	}
	return hf_err_set(err, HF_E_CANCELLED, "cancelled by %s", name);
}

int
hf_sig_sleep(long ms, struct hf_err *err)
{
	int64_t end = hf_clock_boot() + (ms > 0 ? ms : 0);

	for (;;) {
		struct pollfd p = { wake[0], POLLIN, 0 };
		int64_t left = end - hf_clock_boot();

		if (hf_sig_check(err) < 0)
			return -1;
		if (left <= 0)
			return 0;
		poll(&p, 1, left < INT_MAX ? (int)left : INT_MAX);
	}
}

void
hf_sig_die(void)
{
	int sig = got;
	sigset_t set;

	if (sig == 0)
		return;
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}
