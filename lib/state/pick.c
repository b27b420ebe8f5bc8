#include "state/pick.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"

/* The session of the agent that we run inside of; 0 when in none. */
static int
inside(struct hf_session *s, struct hf_err *err)
{
	const struct hf_agent *const *agents;
	const char *id;
	size_t i, n;

	agents = hf_agents(&n);
	for (i = 0; i < n; i++) {
		if (agents[i]->session_env == NULL ||
		    (id = hf_env(agents[i]->session_env)) == NULL)
			continue;
		return hf_session_find(id, agents[i], s, err) < 0 ? -1 : 1;
	}
	return 0;
}

static bool
open_somewhere(const struct hf_session *s)
{
	struct hf_live live = { 0 };

	if (s->agent->live != NULL)
		s->agent->live(s, &live);
	return live.open;
}

/* 1 when its main leads elsewhere. */
static int
redirected(struct hf_store *st, const struct hf_session *s,
    struct hf_err *err)
{
	struct hf_main m;
	int rc;

	rc = hf_main_load(st, s->agent->name, s->id, &m, err);
	if (rc >= 0)
		rc = m.redirect.id != NULL;
	hf_main_release(&m);
	return rc;
}

static void
mention(struct hf_buf *b, const struct hf_session *s)
{
	hf_buf_printf(b, "%s%s %.8s", b->len > 0 ? ", " : "",
	    s->agent->label, s->id);
	if (s->title != NULL) {
		hf_buf_puts(b, " \"");
		hf_text_clip(b, hf_str(s->title), 30);
		hf_buf_putc(b, '"');
	}
}

/* Chooses among those of the folder, newest first; its index. */
static int
choose(struct hf_store *st, struct hf_session *list, size_t n,
    size_t *chosen, struct hf_err *err)
{
	struct hf_buf open = HF_BUF_INIT;
	size_t i, nopen = 0, first = SIZE_MAX;
	int rc = 0;

	for (i = 0; i < n && rc >= 0; i++) {
		if (list[i].subagent || list[i].archived || list[i].headless)
			continue;
		if ((rc = redirected(st, &list[i], err)) != 0)
			continue;
		if (first == SIZE_MAX)
			first = i;
		if (open_somewhere(&list[i])) {
			mention(&open, &list[i]);
			nopen++;
		}
	}
	if (rc >= 0 && nopen > 1)
		rc = hf_err_set(err, HF_E_USAGE, "several sessions of this "
		    "folder are open, name one: %s", hf_buf_cstr(&open));
	hf_buf_release(&open);
	*chosen = first;
	return rc < 0 ? -1 : 0;
}

static int
of_folder(struct hf_store *st, struct hf_session *s, struct hf_err *err)
{
	struct hf_session *list = NULL;
	char cwd[PATH_MAX];
	size_t n = 0, chosen = SIZE_MAX;
	int rc = -1;

	if (getcwd(cwd, sizeof(cwd)) == NULL)
		return hf_err_sys(err, errno, "cannot tell this folder");
	if (hf_session_list(NULL, cwd, &list, &n, err) < 0 ||
	    choose(st, list, n, &chosen, err) < 0)
		goto out;
	if (chosen == SIZE_MAX) {
		hf_err_set(err, HF_E_NOT_FOUND, n > 0 ?
		    "no session of '%s' is left to be handed off" :
		    "no session of '%s'", cwd);
		goto out;
	}
	*s = list[chosen];
	hf_session_init(&list[chosen]);
	rc = 0;
out:
	hf_session_list_free(list, n);
	return rc;
}

/* A session that only the state still knows. */
static int
from_main(const struct hf_main *m, struct hf_session *s)
{
	s->agent = hf_agent_by_name(hf_str(m->agent));
	hf_session_set(&s->id, hf_str(m->id));
	hf_session_set(&s->path, hf_str(m->path));
	hf_session_set(&s->cwd, hf_str(m->cwd));
	return 0;
}

int
hf_pick(struct hf_store *st, const char *what, struct hf_session *s,
    struct hf_err *err)
{
	struct hf_main m;
	int rc;

	hf_session_init(s);
	if (what == NULL) {
		rc = inside(s, err);
		return rc != 0 ? (rc < 0 ? -1 : 0) : of_folder(st, s, err);
	}
	rc = hf_main_find(st, what, &m, s, err);
	if (rc > 0 && !hf_main_here(st, &m))
		rc = hf_err_set(err, HF_E_NOT_FOUND, "session '%s' is on "
		    "'%s': it is handed off there", m.id, m.host);
	if (rc >= 0 && s->path == NULL)
		rc = from_main(&m, s);
	hf_main_release(&m);
	return rc < 0 ? -1 : 0;
}
