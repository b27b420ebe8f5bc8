#include "state/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"

/* What the agent's store says of the end of the chain; the main's own words
 * where it says nothing. */
static int
complete(const struct hf_main *m, struct hf_session *s, struct hf_err *err)
{
	const struct hf_agent *agent = hf_agent_by_name(hf_str(m->agent));
	char *file = m->path != NULL ? hf_session_file(m->path) : NULL;
	bool there = file != NULL && access(file, F_OK) == 0;

	free(file);
	if (there)
		return hf_session_peek(m->path, s, err);
	return hf_session_find(m->id, agent, s, err);
}

static int
elsewhere(const struct hf_main *m, struct hf_session *s,
    struct hf_there *there)
{
	s->agent = hf_agent_by_name(hf_str(m->agent));
	hf_session_set(&s->id, hf_str(m->id));
	hf_session_set(&s->cwd, hf_str(m->cwd));
	there->host = hf_strdup(m->host);
	there->user = m->user != NULL ? hf_strdup(m->user) : NULL;
	return 1;
}

int
hf_resume_find(struct hf_store *st, const char *what, struct hf_session *s,
    struct hf_there *there, struct hf_err *err)
{
	struct hf_main m;
	int rc;

	hf_session_init(s);
	*there = (struct hf_there){ NULL, NULL };
	/* Also by what only the transcript tells: a title, a prefix. */
	rc = hf_main_find(st, what, &m, NULL, err);
	if (rc >= 0)
		rc = hf_route_follow(st, &m, NULL, err);
	if (rc == 0)
		rc = hf_main_here(st, &m) ? complete(&m, s, err) :
		    elsewhere(&m, s, there);
	if (rc == 0 && s->cwd == NULL)
		rc = hf_err_set(err, HF_E_UNSUPPORTED,
		    "session '%s' does not say which folder it belongs to",
		    s->id);
	hf_main_release(&m);
	return rc;
}

void
hf_there_release(struct hf_there *there)
{
	free(there->host);
	free(there->user);
}

void
hf_resume_there_command(struct hf_buf *out, const struct hf_session *s,
    const struct hf_there *there)
{
	struct hf_buf at = HF_BUF_INIT;

	if (there->user != NULL)
		hf_buf_printf(&at, "%s@", there->user);
	hf_buf_puts(&at, there->host);
	hf_buf_puts(out, "ssh -t ");
	hf_text_shell(out, hf_buf_view(&at));
	hf_buf_puts(out, " handoff resume ");
	hf_text_shell(out, hf_str(s->id));
	hf_buf_release(&at);
}

int
hf_resume_there(const struct hf_config *c, const struct hf_session *s,
    const struct hf_there *there, struct hf_err *err)
{
	const struct hf_fill vars[] = {
		{ "{id}", s->id }, { "{host}", there->host },
		{ "{user}", there->user },
		{ "{agent}", s->agent != NULL ? s->agent->name : NULL },
	};
	char *argv[HF_CONFIG_ARGV + 1];
	struct hf_buf hint = HF_BUF_INIT;
	const char **env;
	size_t n = 0;

	if (c->resume_there == NULL) {
		hf_resume_there_command(&hint, s, there);
		hf_err_set(err, HF_E_NOT_FOUND, "session '%s' is on '%s': %s",
		    s->id, there->host, hf_buf_cstr(&hint));
		hf_buf_release(&hint);
		return -1;
	}
	for (; n < HF_CONFIG_ARGV && c->resume_there[n] != NULL; n++) {
		hf_text_fill(&hint, c->resume_there[n], vars,
		    sizeof(vars) / sizeof(vars[0]));
		argv[n] = hf_buf_steal(&hint);
	}
	argv[n] = NULL;
	env = hf_proc_env(NULL);
	hf_proc_exec(argv, env);
	hf_err_sys(err, errno, "resumeThere: cannot run '%s'", argv[0]);
	free(env);
	while (n > 0)
		free(argv[--n]);
	return -1;
}

void
hf_resume_command(struct hf_buf *out, const struct hf_session *s,
    const char *prompt)
{
	struct hf_argv a = { 0 };
	size_t i;

	s->agent->resume(s, prompt, &a);
	hf_buf_puts(out, "cd ");
	hf_text_shell(out, hf_str(s->cwd));
	hf_buf_puts(out, " &&");
	for (i = 0; i < a.n; i++) {
		hf_buf_putc(out, ' ');
		hf_text_shell(out, hf_str(a.v[i]));
	}
	hf_argv_release(&a);
}

int
hf_resume_exec(const struct hf_session *s, const char *prompt,
    struct hf_err *err)
{
	char *argv[17];
	struct hf_argv a = { 0 };
	const char **env;
	size_t i;

	if (chdir(s->cwd) < 0)
		return hf_err_sys(err, errno, "cannot enter '%s'", s->cwd);
	s->agent->resume(s, prompt, &a);
	for (i = 0; i < a.n; i++)
		argv[i] = a.v[i];
	argv[a.n] = NULL;
	env = hf_proc_env(NULL);
	hf_proc_exec(argv, env);
	hf_err_sys(err, errno, "cannot run '%s'", argv[0]);
	free(env);
	hf_argv_release(&a);
	return -1;
}

/* ---- with what waits ---- */

/* Of a command line's 128 KiB for one word. */
enum { PROMPT_MAX = 96 << 10 };

/* Waits until the other end of fd is closed, by the exec that worked, or
 * says something, since it did not; then says so to the store, which is
 * opened anew: the one we came with is the parent's. */
static void
acknowledge(int fd, const struct hf_config *c, struct hf_inbox *in)
{
	struct hf_store *st = NULL;
	struct hf_err ignored;
	ssize_t n;
	char byte;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (hf_store_open(c, &st, &ignored) < 0)
		return;
	if (n == 0)
		hf_inbox_done(st, in, &ignored);
	else
		hf_inbox_undo(st, in, &ignored);
	hf_store_close(st);
}

/* The agent must not find a child that it did not start: a grandchild
 * waits. 0 the parent, -1. */
static int
leave_behind(const int fd[2], const struct hf_config *c,
    struct hf_inbox *in, struct hf_err *err)
{
	pid_t pid = fork();
	int null;

	if (pid > 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return 0;
	}
	if (pid < 0)
		return hf_err_sys(err, errno, "cannot start a process");
	if (fork() != 0)
		_exit(0);
	setsid();
	close(fd[1]);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	acknowledge(fd[0], c, in);
	_exit(0);
}

static int
exec_with(const struct hf_config *c, const struct hf_session *s,
    const char *prompt, struct hf_inbox *in, struct hf_err *err)
{
	struct hf_buf all = HF_BUF_INIT;
	int fd[2], rc = -1;

	if (prompt != NULL)
		hf_buf_printf(&all, "%s\n\n", prompt);
	hf_inbox_text(&all, in);
	if (pipe(fd) < 0 || fcntl(fd[0], F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(fd[1], F_SETFD, FD_CLOEXEC) < 0) {
		hf_err_sys(err, errno, "cannot make a pipe");
	} else if (leave_behind(fd, c, in, err) == 0) {
		close(fd[0]);
		rc = hf_resume_exec(s, hf_buf_cstr(&all), err);
		(void)!write(fd[1], "", 1);
	}
	hf_buf_release(&all);
	return rc;
}

int
hf_resume_with_messages(struct hf_store **st, const struct hf_config *c,
    const struct hf_session *s, const char *prompt, struct hf_err *err)
{
	struct hf_inbox in = { NULL, 0, false };
	struct hf_main m;
	int rc = hf_main_load(*st, s->agent->name, s->id, &m, err);

	if (rc >= 0)
		rc = hf_inbox_claim(*st, &m, PROMPT_MAX, false, &in, err);
	hf_main_release(&m);
	hf_store_close(*st);
	*st = NULL;
	if (rc == 0)
		rc = in.n > 0 ? exec_with(c, s, prompt, &in, err) :
		    hf_resume_exec(s, prompt, err);
	hf_inbox_release(&in);
	return rc;
}
