#include "state/portable.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/proc.h"
#include "brief/brief.h"
#include "brief/secrets.h"
#include "state/attempt.h"
#include "state/draft.h"
#include "state/forward.h"

enum { HASH_LEN = 72 };

/* ---- writing ---- */

int
hf_portable_write(const struct hf_attempt *r, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_jtree *t;
	struct hf_jnode *o, *s;
	struct hf_json *j;
	char at[HF_TIME_LEN];

	if (r->brief == NULL)
		return hf_err_set(err, HF_E_NOT_FOUND,
		    "handoff '%s' has no brief%s%s", r->id,
		    r->error != NULL ? ": " : "",
		    r->error != NULL ? r->error : "");
	j = hf_json_parse(hf_str(r->brief), HF_JSON_RAW, NULL, NULL, err);
	if (j == NULL)
		return -1;
	t = hf_jtree_new();
	o = hf_jtree_obj(t);
	s = hf_jtree_obj(t);
	hf_clock_format(r->begun, at);
	hf_jset_int(t, o, "v", 1);
	hf_jset_cstr(t, o, "attempt", r->id);
	hf_jset_cstr(t, o, "at", at);
	hf_jset_cstr(t, s, "agent", r->source.agent);
	hf_jset_cstr(t, s, "id", r->source.id);
	hf_jset_cstr(t, s, "cwd", r->target.cwd);
	hf_jset_cstr(t, s, "model", r->target.model);
	hf_jset_cstr(t, s, "title", r->target.title);
	hf_jset(t, o, "session", s);
	hf_jset_cstr(t, o, "hash", r->hash);
	hf_jset(t, o, "brief", hf_jtree_copy(t, hf_json_root(j)));
	hf_jtree_write(out, o, false);
	hf_buf_putc(out, '\n');
	hf_jtree_free(t);
	hf_json_free(j);
	return 0;
}

/* ---- reading ---- */

static void
mask(struct hf_buf *out, struct hf_str text, void *arg)
{
	hf_secrets_mask(arg, out, text);
}

/* The brief is what its hash says, and what is a secret here is masked. */
static int
read_brief(const struct hf_jval *root, const struct hf_config *c,
    struct hf_attempt *r, struct hf_err *err)
{
	struct hf_str said = hf_json_get_str(root, "hash");
	struct hf_secrets *known = NULL;
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t = hf_jtree_new();
	struct hf_brief given, masked;
	char hash[HASH_LEN];
	int rc = -1;

	hf_brief_init(&given);
	hf_brief_init(&masked);
	if (hf_brief_from_json(&given, hf_json_get(root, "brief"), err) < 0)
		goto out;
	hf_brief_hash(&given, hash);
	if (said.n > 0 && !hf_str_is(said, hash)) {
		hf_err_set(err, HF_E_INVALID_BRIEF,
		    "the brief was changed: it has another hash");
		goto out;
	}
	if ((known = hf_secrets_load(c, r->target.cwd, err)) == NULL)
		goto out;
	hf_brief_release(&masked);
	hf_brief_map(&given, &masked, mask, known);
	hf_brief_hash(&masked, hash);
	hf_jtree_write(&text, hf_brief_to_json(t, &masked), false);
	r->brief = hf_buf_steal(&text);
	hf_main_set(&r->hash, hash);
	rc = 0;
out:
	hf_secrets_free(known);
	hf_brief_release(&given);
	hf_brief_release(&masked);
	hf_jtree_free(t);
	return rc;
}

static char *
copy_of(const struct hf_jval *v, const char *key)
{
	struct hf_str s = hf_json_get_str(v, key);

	return s.n > 0 ? hf_strndup(s.s, s.n) : NULL;
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return path != NULL && path[0] == '/' && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode);
}

/* Where the work goes on. */
static int
choose_folder(const struct hf_jval *s, const struct hf_portable *how,
    struct hf_attempt *r, struct hf_err *err)
{
	char here[PATH_MAX];

	r->target.cwd = how->cwd != NULL ? hf_strdup(how->cwd) :
	    copy_of(s, "cwd");
	if (is_folder(r->target.cwd))
		return 0;
	if (how->cwd != NULL)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is no folder, or not absolute", how->cwd);
	if (getcwd(here, sizeof(here)) == NULL)
		return hf_err_sys(err, errno, "cannot tell this folder");
	hf_main_set(&r->target.cwd, here);
	return 0;
}

static int
fill(const struct hf_jval *root, const struct hf_config *c,
    const struct hf_portable *how, struct hf_attempt *r, struct hf_err *err)
{
	const struct hf_jval *s = hf_json_get(root, "session");
	struct hf_str agent = hf_json_get_str(s, "agent");
	const char *to = how->to;
	char id[HF_ATTEMPT_LEN];

	if (hf_agent_by_name(agent) == NULL ||
	    (r->source.id = copy_of(s, "id")) == NULL)
		return hf_err_set(err, HF_E_INVALID,
		    "it names no session of an agent that is known");
	r->source.agent = hf_strndup(agent.s, agent.n);
	if (to == NULL)
		to = r->source.agent;
	if (hf_agent_by_name(hf_str(to)) == NULL)
		return hf_err_set(err, HF_E_USAGE,
		    "the agent '%s' is not known", to);
	hf_record_new_id(id);
	hf_main_set(&r->id, id);
	hf_main_set(&r->reason, "import");
	hf_main_set(&r->host, hf_proc_host());
	hf_main_set(&r->user, hf_env_user());
	hf_main_set(&r->target.agent, to);
	if (strcmp(to, r->source.agent) == 0)
		r->target.model = copy_of(s, "model");
	r->target.title = copy_of(s, "title");
	if (r->target.title == NULL)
		r->target.title = hf_successor_title(HF_STR_NONE);
	r->begun = r->target.time = hf_clock_now();
	return choose_folder(s, how, r, err) < 0 ||
	    read_brief(root, c, r, err) < 0 ? -1 : 0;
}

/* ---- the transaction ---- */

/* 1 it may begin, 0 it was done before, *r the record of that. */
static int
look(struct hf_store *st, struct hf_attempt *r, struct hf_err *err)
{
	struct hf_attempt before;
	struct hf_main m;
	int rc = hf_main_load(st, r->source.agent, r->source.id, &m, err);

	r->epoch = m.epoch + 1;
	if (rc >= 0 && hf_main_busy(st, &m))
		rc = hf_err_set(err, HF_E_BUSY,
		    "another handoff of session '%s' is under way", m.id);
	else if (rc >= 0 && m.redirect.id == NULL)
		rc = 1;
	else if (rc >= 0) {
		rc = m.redirect.attempt == NULL ? 0 : hf_record_load(st,
		    m.redirect.attempt, &before, err);
		if (rc > 0 && before.hash != NULL &&
		    strcmp(before.hash, r->hash) == 0) {
			hf_record_release(r);
			*r = before;
			rc = 0;
		} else {
			if (rc > 0)
				hf_record_release(&before);
			rc = rc < 0 ? -1 : hf_err_set(err, HF_E_CONFLICT,
			    "session '%s' leads to '%s' already", m.id,
			    m.redirect.id);
		}
	}
	hf_main_release(&m);
	return rc;
}

static int
redirect(struct hf_main *m, void *arg, struct hf_err *err)
{
	const struct hf_attempt *r = arg;

	if (m->redirect.id != NULL || m->epoch + 1 != r->epoch)
		return hf_err_set(err, HF_E_CHANGED,
		    "the state of session '%s' changed meanwhile", m->id);
	m->epoch++;
	hf_main_set(&m->attempt, r->id);
	hf_main_set_redirect(m, r->target.agent, r->target.id, r->id,
	    hf_clock_now());
	return 1;
}

/* In this order, so that recover finds whatever is left. */
static int
commit(struct hf_store *st, const struct hf_config *c, struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_open o = { .attempt = r->id, .agent = r->source.agent,
		.id = r->source.id };
	struct hf_err why, ignored;
	struct hf_main m;
	int rc;

	if (hf_store_lease(st, hf_attempt_seconds(c), (long)getpid(),
	    &o.lease, err) < 0 || hf_draft_place(r, err) < 0 ||
	    hf_open_create(st, &o, err) < 0)
		return -1;
	r->phase = HF_PHASE_PREPARED;
	rc = hf_draft_write(r, err) < 0 || hf_record_save(st, r, err) < 0 ?
	    -1 : 0;
	if (rc == 0) {
		rc = hf_main_update(st, r->source.agent, r->source.id, &m,
		    redirect, r, err);
		hf_main_release(&m);
	}
	if (rc < 0) {
		why = *err;
		hf_attempt_undo(st, r, &why, &ignored);
		return -1;
	}
	return hf_forward(st, c, r, err);
}

int
hf_portable_read(struct hf_store *st, const struct hf_config *c,
    struct hf_str text, const struct hf_portable *how, struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_json *j;
	int64_t v = 0;
	int rc;

	hf_record_init(r);
	j = hf_json_parse(text, HF_JSON_RAW, NULL, NULL, err);
	if (j == NULL)
		return -1;
	if (!hf_json_int(hf_json_get(hf_json_root(j), "v"), &v) || v != 1 ||
	    hf_json_get(hf_json_root(j), "brief") == NULL)
		rc = hf_err_set(err, HF_E_INVALID,
		    "it is no brief that 'handoff brief export' wrote");
	else
		rc = fill(hf_json_root(j), c, how, r, err);
	if (rc == 0 && (rc = look(st, r, err)) > 0)
		rc = commit(st, c, r, err) < 0 ? -1 : 1;
	hf_json_free(j);
	return rc;
}
