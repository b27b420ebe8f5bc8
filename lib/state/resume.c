#include "state/resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int
hf_resume_find(struct hf_store *st, const char *what, struct hf_session *s,
    struct hf_err *err)
{
	struct hf_main m;
	int rc;

	hf_session_init(s);
	rc = hf_route_resolve(st, what, &m, err);
	if (rc > 0)
		rc = complete(&m, s, err);
	else if (rc == 0)
		rc = hf_session_find(what, NULL, s, err);
	if (rc >= 0 && s->cwd == NULL)
		rc = hf_err_set(err, HF_E_UNSUPPORTED,
		    "session '%s' does not say which folder it belongs to",
		    s->id);
	hf_main_release(&m);
	return rc < 0 ? -1 : 0;
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
