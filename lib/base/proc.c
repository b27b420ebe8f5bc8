#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* ppoll, addchdir_np */
#endif
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sig.h"
#include "base/spawn.h"

enum {
	GRACE_MS = 2000,	/* from TERM to KILL */
	LINGER_MS = 1000,	/* for pipes that outlive the child */
	SPAWN_FAILED = 127,	/* POSIX: a child that could not start */
	CHUNK = 64 * 1024
};

/* A child that runs. Descriptors are ours, -1 when closed. */
struct child {
	const struct hf_proc *p;
	pid_t pid;		/* and its process group */
	int in, out, errout;
	size_t sent;		/* of p->input */
	bool exited;		/* but not reaped: the group keeps its id */
	int64_t exited_at;
	struct sigaction old_action;	/* of SIGCHLD */
	sigset_t old_mask;
	sigset_t wait_mask;	/* while waiting: SIGCHLD comes through */
};

/* ---- start ---- */

/* What the child gets; -1: nothing of its own. */
struct ends {
	int in, out, errout;
};

static int
make_pipes(struct child *c, struct ends *e)
{
	if (c->p->input.s != NULL &&
	    hf_spawn_pipe(&c->in, &e->in, true) < 0)
		return -1;
	if (c->p->out != NULL &&
	    hf_spawn_pipe(&c->out, &e->out, false) < 0)
		return -1;
	if (c->p->errout != NULL &&
	    hf_spawn_pipe(&c->errout, &e->errout, false) < 0)
		return -1;
	return 0;
}

/* An error number. */
static int
add_chdir(posix_spawn_file_actions_t *fa, const char *cwd)
{
#if defined(__linux__) || defined(__APPLE__)
	return posix_spawn_file_actions_addchdir_np(fa, cwd);
#else
	(void)fa, (void)cwd;
	return ENOSYS;
#endif
}

static int
add_actions(posix_spawn_file_actions_t *fa, const struct hf_proc *p,
    const struct ends *e)
{
	int rc = e->in >= 0 ?
	    posix_spawn_file_actions_adddup2(fa, e->in, 0) :
	    posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);

	if (rc == 0 && e->out >= 0)
		rc = posix_spawn_file_actions_adddup2(fa, e->out, 1);
	if (rc == 0 && e->errout >= 0)
		rc = posix_spawn_file_actions_adddup2(fa, e->errout, 2);
	if (rc == 0 && p->cwd != NULL)
		rc = add_chdir(fa, p->cwd);
	return rc;
}

/* An error number. */
static int
spawn(struct child *c, const struct ends *e)
{
	posix_spawn_file_actions_t fa;
	int rc = posix_spawn_file_actions_init(&fa);

	if (rc != 0)
		return rc;
	rc = add_actions(&fa, c->p, e);
	if (rc == 0)
		rc = hf_spawn(&c->pid, c->p->argv, c->p->envp, &fa);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

static int
spawn_failed(const struct hf_proc *p, int errnum, struct hf_err *err)
{
	struct stat st;

	if (errnum == ENOSYS && p->cwd != NULL)
		return hf_err_set(err, HF_E_IO, "cannot run '%s' in "
		    "another folder on this system", p->argv[0]);
	/* The folder's failure has the same number as the program's. */
	if (p->cwd != NULL && stat(p->cwd, &st) < 0)
		return hf_err_sys(err, errno, "cannot run '%s' in '%s'",
		    p->argv[0], p->cwd);
	if (errnum == ENOENT || errnum == ENOTDIR)
		return hf_err_set(err, HF_E_NOT_FOUND,
		    "cannot run '%s': no such program", p->argv[0]);
	return hf_err_sys(err, errnum, "cannot run '%s'", p->argv[0]);
}

static void
close_pipes(struct child *c)
{
	hf_spawn_close(&c->in);
	hf_spawn_close(&c->out);
	hf_spawn_close(&c->errout);
}

static int
start(struct child *c, struct hf_err *err)
{
	struct ends e = { -1, -1, -1 };
	int rc, errnum;

	rc = make_pipes(c, &e);
	errnum = rc < 0 ? errno : spawn(c, &e);
	hf_spawn_close(&e.in);
	hf_spawn_close(&e.out);
	hf_spawn_close(&e.errout);
	return errnum != 0 ? spawn_failed(c->p, errnum, err) : 0;
}

static void
on_child(int sig)
{
	(void)sig;
}

/* From here to unwatch SIGCHLD comes in poll and nowhere else, so that an
 * exit wakes it and interrupts nothing. */
static void
watch(struct child *c)
{
	struct sigaction sa = { .sa_handler = on_child,
	    .sa_flags = SA_NOCLDSTOP };
	sigset_t child;

	sigemptyset(&sa.sa_mask);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &c->old_mask);
	sigaction(SIGCHLD, &sa, &c->old_action);
	c->wait_mask = c->old_mask;
	sigdelset(&c->wait_mask, SIGCHLD);
}

static void
unwatch(struct child *c)
{
	sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
	sigaction(SIGCHLD, &c->old_action, NULL);
}

/* ---- run ---- */

/* Writes on. A child that does not want its input is no error: its exit
 * status says how it did. */
static void
feed(struct child *c)
{
	struct hf_str in = c->p->input;
	ssize_t n = 0;

	if (c->sent < in.n)
		n = write(c->in, in.s + c->sent, in.n - c->sent);
	if (n > 0)
		c->sent += (size_t)n;
	if (c->sent == in.n || (n < 0 && errno != EAGAIN && errno != EINTR))
		hf_spawn_close(&c->in);
}

/* Reads on, to nowhere without b. */
static int
drain(struct child *c, int *fd, struct hf_buf *b, struct hf_err *err)
{
	char chunk[CHUNK];
	ssize_t n = read(*fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return hf_err_sys(err, errno, "cannot read from '%s'",
		    c->p->argv[0]);
	if (n == 0) {
		hf_spawn_close(fd);
		return 0;
	}
	if (b == NULL)
		return 0;
	hf_buf_add(b, chunk, (size_t)n);
	if (b->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "'%s' printed too much", c->p->argv[0]);
	return 0;
}

/* Looks without reaping: until that is done, neither the process's nor the
 * group's id can be given to another. */
static int
look_for_exit(struct child *c, struct hf_err *err)
{
	siginfo_t si = { 0 };

	if (c->exited)
		return 0;
	if (waitid(P_PID, (id_t)c->pid, &si, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == EINTR ? 0 : hf_err_sys(err, errno,
		    "cannot wait for '%s'", c->p->argv[0]);
	if (si.si_pid == c->pid) {
		c->exited = true;
		c->exited_at = hf_clock_boot();
		hf_spawn_close(&c->in);
	}
	return 0;
}

/* Is all over? A process of the child's that lives on in the background
 * with our pipes is not waited for. */
static bool
is_over(const struct child *c)
{
	if (!c->exited)
		return false;
	if (c->out < 0 && c->errout < 0)
		return true;
	return hf_clock_boot() - c->exited_at >= LINGER_MS;
}

/* Waits for something to do, until end (0: for ever), and does it. In
 * stopping, what the child says no longer counts, nor do signals. */
static int
turn(struct child *c, int64_t end, bool stopping, struct hf_err *err)
{
	struct pollfd p[] = {
		{ stopping ? -1 : hf_sig_fd(), POLLIN, 0 },
		{ c->in, POLLOUT, 0 },
		{ c->out, POLLIN, 0 },
		{ c->errout, POLLIN, 0 },
	};
	int64_t left = end != 0 ? end - hf_clock_boot() : 0;
	struct timespec ts = { 0, 0 };

	if (left > 0) {
		ts.tv_sec = (time_t)(left / 1000);
		ts.tv_nsec = (long)(left % 1000) * 1000000;
	}
	if (ppoll(p, sizeof(p) / sizeof(p[0]), end != 0 ? &ts : NULL,
	    &c->wait_mask) < 0) {
		if (errno == EINTR)
			return look_for_exit(c, err);
		return hf_err_sys(err, errno, "cannot wait for '%s'",
		    c->p->argv[0]);
	}
	if (p[1].revents != 0)
		feed(c);
	if (p[2].revents != 0 && drain(c, &c->out,
	    stopping ? NULL : c->p->out, err) < 0)
		return -1;
	if (p[3].revents != 0 && drain(c, &c->errout,
	    stopping ? NULL : c->p->errout, err) < 0)
		return -1;
	return look_for_exit(c, err);
}

static int
follow(struct child *c, struct hf_err *err)
{
	long ms = c->p->timeout_ms;
	int64_t end = ms > 0 ? hf_clock_boot() + ms : 0;

	while (!is_over(c)) {
		int64_t until = end;

		if (c->exited && (end == 0 || c->exited_at + LINGER_MS < end))
			until = c->exited_at + LINGER_MS;
		if (turn(c, until, false, err) < 0)
			return -1;
		if (is_over(c))
			break;
		if (hf_sig_check(err) < 0)
			return -1;
		if (end != 0 && hf_clock_boot() >= end)
			return hf_err_set(err, HF_E_TIMEOUT, "'%s' did not "
			    "end within %ld ms", c->p->argv[0], ms);
	}
	return 0;
}

/* Ends the group. Its last member is known to be gone when nobody holds
 * our pipes any more; without pipes the child itself must do. */
static void
stop(struct child *c)
{
	int64_t end = hf_clock_boot() + GRACE_MS;

	kill(-c->pid, SIGTERM);
	/* One that was stopped would not see it. */
	kill(-c->pid, SIGCONT);
	hf_spawn_close(&c->in);
	while (hf_clock_boot() < end) {
		if (c->exited && c->out < 0 && c->errout < 0)
			break;
		if (turn(c, end, true, NULL) < 0)
			break;
	}
	kill(-c->pid, SIGKILL);
}

/* The exit status as a shell gives it. -1 when it cannot be known. */
static int
reap(struct child *c)
{
	int st;

	while (waitpid(c->pid, &st, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
}

/* Is there certainly no such program? */
static bool
is_missing(const struct hf_proc *p)
{
	struct hf_str path = hf_str(hf_env("PATH"));
	struct hf_buf b = HF_BUF_INIT;
	bool found = false;

	if (strchr(p->argv[0], '/') != NULL)
		return p->argv[0][0] == '/' && access(p->argv[0], X_OK) < 0;
	while (path.s != NULL && !found) {
		size_t n = hf_str_find(path, HF_STR(":"), 0);

		hf_buf_clear(&b);
		hf_buf_str(&b, hf_strn(path.s, n < path.n ? n : path.n));
		hf_buf_printf(&b, "%s%s", b.len > 0 ? "/" : "./", p->argv[0]);
		found = access(hf_buf_cstr(&b), X_OK) == 0;
		path = n < path.n ? hf_strn(path.s + n + 1, path.n - n - 1) :
		    HF_STR_NONE;
	}
	hf_buf_release(&b);
	return !found;
}

/* A child that could not start may also be told by its status alone, which
 * other programs use too: so it is looked whether that can be it. */
static int
check_started(const struct hf_proc *p, struct hf_err *err)
{
	struct stat st;

	if ((p->cwd != NULL && stat(p->cwd, &st) < 0) || is_missing(p))
		return spawn_failed(p, ENOENT, err);
	return 0;
}

int
hf_proc_run(const struct hf_proc *p, int *status, struct hf_err *err)
{
	struct child c = { .p = p, .pid = -1, .in = -1, .out = -1,
	    .errout = -1 };
	int rc, st = -1;

	if (hf_sig_check(err) < 0)
		return -1;
	watch(&c);
	rc = start(&c, err);
	if (rc == 0) {
		rc = follow(&c, err);
		if (rc < 0)
			stop(&c);
		st = reap(&c);
	}
	close_pipes(&c);
	unwatch(&c);
	if (rc < 0)
		return -1;
	if (st < 0)
		return hf_err_set(err, HF_E_IO, "cannot wait for '%s'",
		    p->argv[0]);
	if (st == SPAWN_FAILED && check_started(p, err) < 0)
		return -1;
	*status = st;
	return 0;
}

/* ---- environment ---- */

/* What agents set for the programs that they run (FORMATS 11.2, 11.3, and
 * each agent's own source). Their settings (CODEX_HOME, tokens, providers)
 * have names like these and must stay. */
static const char *const marks[] = {
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
	"CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE",
	"AI_AGENT", "CODEX_THREAD_ID", "CODEX_CI", "GEMINI_CLI", "OPENCODE",
	"OPENCODE_PID", "PI_CODING_AGENT", NULL
};

static bool
is_named(const char *assignment, const char *const *names)
{
	size_t n = strcspn(assignment, "=");

	for (; names != NULL && *names != NULL; names++) {
		if (strlen(*names) == n && memcmp(*names, assignment, n) == 0)
			return true;
	}
	return false;
}

const char **
hf_proc_env(const char *const *drop)
{
	char **all = hf_env_all();
	const char **out;
	size_t n = 0, kept = 0;

	while (all[n] != NULL)
		n++;
	out = hf_reallocarray(NULL, n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		if (!is_named(all[i], marks) && !is_named(all[i], drop))
			out[kept++] = all[i];
	}
	out[kept] = NULL;
	return out;
}

void
hf_proc_exec(char *const *argv, const char **env)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction sa = { .sa_handler = SIG_DFL };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
	execvpe(argv[0], argv, (char *const *)(uintptr_t)env);
}

/* ---- who is it ---- */

/* The start of a small file, NUL-terminated; -1 with errno. */
static ssize_t
read_start(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = hf_io_read(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

/* Field 22 of a stat line. The second, the name in parentheses, can hold
 * anything, so counting starts behind the last parenthesis. */
static unsigned long long
parse_start(const char *line, bool *alive)
{
	const char *s = strrchr(line, ')');

	if (s == NULL || s[1] != ' ')
		return 0;
	s += 2;
	/* One that is not reaped yet does nothing any more. */
	if (*s == 'Z' || *s == 'X')
		*alive = false;
	for (int field = 3; field < 22; field++) {
		s = strchr(s, ' ');
		if (s == NULL)
			return 0;
		s++;
	}
	return strtoull(s, NULL, 10);
}

unsigned long long
hf_proc_start(long pid, bool *alive)
{
	char path[64], line[1024];

	*alive = false;
	if (pid <= 0 || pid > INT_MAX)
		return 0;
	/* EPERM: there, but another user's. /proc may hide those. */
	if (kill((pid_t)pid, 0) < 0 && errno != EPERM)
		return 0;
	*alive = true;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (read_start(path, line, sizeof(line)) <= 0)
		return 0;
	return parse_start(line, alive);
}

const char *
hf_proc_boot_id(void)
{
	static char id[64];

	if (id[0] == '\0' && read_start("/proc/sys/kernel/random/boot_id",
	    id, sizeof(id)) > 0)
		id[strcspn(id, "\n")] = '\0';
	return id;
}

const char *
hf_proc_host(void)
{
	static char name[256];
	const char *given = hf_env("HANDOFF_HOST");

	if (given != NULL)
		snprintf(name, sizeof(name), "%s", given);
	else if (name[0] == '\0' && gethostname(name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	return name;
}
