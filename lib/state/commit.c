#include "state/commit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "brief/brief.h"
#include "brief/secrets.h"
#include "state/draft.h"
#include "state/events.h"
#include "state/extras.h"
#include "state/forward.h"
#include "state/hooks.h"
#include "state/stable.h"

enum { DIGEST_LEN = 72, BLOCKERS = 16, VALIDATION_MAX = 256 << 10 };

struct commit {
	struct hf_store *st;
	struct hf_doc *doc;
	struct hf_config config;
	struct hf_session session;
	struct hf_metrics metrics;
	struct hf_brief given;		/* as the document has it */
	char *brief;			/* compact JSON, secrets masked */
	char *validation;		/* the same; NULL */
	char hash[DIGEST_LEN];
	struct hf_attempt r;
	struct hf_lease handed;		/* as the document has it */
	struct hf_lease lease;		/* ours, once we hold it */
	bool automatic;
};

/* ---- the document ---- */

static int
read_brief(struct commit *c, struct hf_err *err)
{
	const struct hf_jval *v = hf_doc_get(c->doc, "brief");

	hf_brief_init(&c->given);
	if (v == NULL)
		return hf_err_set(err, HF_E_MISSING,
		    "the document has no brief: hf-validate makes it");
	return hf_brief_from_json(&c->given, v, err);
}

static void
mask_text(struct hf_buf *out, struct hf_str text, void *arg)
{
	hf_secrets_mask(arg, out, text);
}

static void
restore_text(struct hf_buf *out, struct hf_str text, void *arg)
{
	hf_secrets_restore(arg, out, text);
}

/* What the check found, for "show"; beyond its limit it is left out. */
static void
mask_validation(struct commit *c, struct hf_secrets *known)
{
	const struct hf_jval *v = hf_doc_get(c->doc, "validation");
	struct hf_buf text = HF_BUF_INIT, masked = HF_BUF_INIT;

	if (hf_json_type(v) == HF_J_OBJ)
		hf_json_write(&text, v);
	if (text.len > 0 && text.len <= VALIDATION_MAX) {
		hf_secrets_mask(known, &masked, hf_buf_view(&text));
		c->validation = hf_buf_steal(&masked);
	}
	hf_buf_release(&masked);
	hf_buf_release(&text);
}

/* The last look for secrets, whoever wrote the brief; exact placeholders
 * are put back only on request. */
static int
mask_brief(struct commit *c, struct hf_err *err)
{
	struct hf_secrets *known = hf_secrets_load(&c->config,
	    c->session.cwd, err);
	struct hf_buf text = HF_BUF_INIT;
	struct hf_brief masked, stored;
	struct hf_jtree *t;

	if (known == NULL)
		return -1;
	hf_brief_map(&c->given, &masked, mask_text, known);
	hf_brief_map(&masked, &stored, c->config.secrets_restore ?
	    restore_text : mask_text, known);
	t = hf_jtree_new();
	hf_jtree_write(&text, hf_brief_to_json(t, &stored), false);
	c->brief = hf_buf_steal(&text);
	hf_brief_hash(&stored, c->hash);
	hf_jtree_free(t);
	mask_validation(c, known);
	hf_brief_release(&masked);
	hf_brief_release(&stored);
	hf_secrets_free(known);
	return 0;
}

/* The record of the attempt that a document names. */
static int
load_attempt(struct hf_store *st, const struct hf_doc *d,
    struct hf_attempt *r, struct hf_err *err)
{
	const struct hf_jval *v = hf_doc_get(d, "commit");
	struct hf_str id = hf_json_get_str(v, "attempt");
	const struct hf_jval *s = hf_doc_get(d, "session");
	char *name;
	int rc;

	hf_record_init(r);
	if (id.n == 0)
		return hf_err_set(err, HF_E_MISSING,
		    "the document's commit names no attempt");
	name = hf_strndup(id.s, id.n);
	rc = hf_record_load(st, name, r, err);
	if (rc == 0)
		rc = hf_err_set(err, HF_E_MISSING,
		    "there is no record of handoff '%s'", name);
	else if (rc > 0 && (r->source.id == NULL ||
	    !hf_str_is(hf_json_get_str(s, "id"), r->source.id)))
		rc = hf_err_set(err, HF_E_CONFLICT,
		    "handoff '%s' is of another session", name);
	free(name);
	return rc < 0 ? -1 : 0;
}

/* ---- whose it is ---- */

static int
given_up(const char *id, struct hf_err *err)
{
	return hf_err_set(err, HF_E_CHANGED, "the handoff was given up "
	    "meanwhile (session '%s' was switched off, or another one took "
	    "over)", id);
}

/* Does the main still say that this attempt goes on? */
static int
check_ours(const struct commit *c, const struct hf_main *m,
    struct hf_err *err)
{
	if (m->redirect.id != NULL)
		return hf_err_set(err, HF_E_CHANGED,
		    "session '%s' was handed off to '%s' meanwhile", m->id,
		    m->redirect.id);
	if (m->attempt == NULL || strcmp(m->attempt, c->r.id) != 0 ||
	    m->epoch != c->r.epoch || !m->lease.held)
		return given_up(m->id, err);
	return 0;
}

/* Takes the attempt over from where begin left it. */
static int
take(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct commit *c = arg;

	if (m->redirect.attempt != NULL &&
	    strcmp(m->redirect.attempt, c->r.id) == 0) {
		/* By a process that came no further. */
		if (hf_main_busy(c->st, m))
			return hf_err_set(err, HF_E_BUSY, "handoff '%s' is "
			    "being committed by another process", c->r.id);
	} else if (check_ours(c, m, err) < 0)
		return -1;
	else if (!hf_lease_same(&m->lease, &c->handed) &&
	    hf_main_busy(c->st, m))
		return hf_err_set(err, HF_E_BUSY, "handoff '%s' is being "
		    "committed by another process", c->r.id);
	if (hf_store_lease(c->st, hf_attempt_seconds(&c->config),
	    (long)getpid(), &c->lease, err) < 0)
		return -1;
	m->lease = c->lease;
	return 1;
}

/* ---- may it go on ---- */

/* Programs, which take time: before anything is looked at. */
static int
ask_hooks(struct commit *c, struct hf_err *err)
{
	struct hf_buf line = HF_BUF_INIT;
	char *blocker[BLOCKERS];
	size_t n = 0;
	int rc;

	hf_doc_line(c->doc, &line);
	rc = hf_hook_blockers(hf_buf_view(&line), blocker, &n, BLOCKERS,
	    err);
	if (rc == 0 && n > 0)
		rc = hf_err_set(err, HF_E_CHANGED,
		    "the session is not at rest: %s", blocker[0]);
	if (rc == 0)
		rc = hf_hook_veto(hf_buf_view(&line), err);
	while (n > 0)
		free(blocker[--n]);
	hf_buf_release(&line);
	return rc;
}

/* Nothing but reading happens in here. */
static int
still_stable(struct commit *c, struct hf_err *err)
{
	struct hf_stable s = { &c->session, &c->metrics,
		hf_doc_get(c->doc, "host"), c->automatic };
	struct hf_config config;
	struct hf_main m;
	int rc;

	/* Read anew: it may have been switched off by now. */
	if (hf_config_load(&config, err) < 0)
		return -1;
	rc = hf_main_load(c->st, c->r.source.agent, c->r.source.id, &m, err);
	if (rc >= 0)
		rc = check_ours(c, &m, err);
	if (rc == 0)
		rc = hf_stable(&s, &config, &m, err);
	hf_main_release(&m);
	hf_config_release(&config);
	return rc;
}

/* ---- prepare ---- */

/* A successor must have room to work in before it is handed off itself. */
static int
check_size(const struct commit *c, struct hf_err *err)
{
	size_t tokens = hf_brief_tokens(&c->given);
	struct hf_metrics m = { .capacity = c->metrics.capacity };
	int64_t threshold;

	/* Another agent's window is not known from here. */
	if (strcmp(c->r.target.agent, c->r.source.agent) != 0)
		m.capacity = 0;
	threshold = hf_trigger_threshold(&c->config, &m);
	if ((int64_t)tokens * 2 <= threshold)
		return 0;
	return hf_err_set(err, HF_E_OVERFLOW, "the brief has about %zu "
	    "tokens, more than half of the %lld at which its successor is "
	    "handed off itself", tokens, (long long)threshold);
}

static int
prepare(struct commit *c, struct hf_err *err)
{
	struct hf_attempt *r = &c->r;
	int rc = check_size(c, err);

	if (rc == 0)
		rc = hf_draft_free(r, err);
	if (rc < 0)
		return -1;
	/* Nobody knows the id yet: another one does as well. */
	if (rc == 0 && hf_draft_place(r, err) < 0)
		return -1;
	hf_main_set(&r->brief, c->brief);
	hf_main_set(&r->hash, c->hash);
	hf_main_set(&r->validation, c->validation);
	if (hf_attempt_step("commit.prepare-draft", err) < 0 ||
	    hf_draft_write(r, err) < 0)
		return -1;
	r->phase = HF_PHASE_PREPARED;
	if (hf_attempt_step("commit.prepare-record", err) < 0 ||
	    hf_record_save(c->st, r, err) < 0)
		return -1;
	return hf_attempt_step("commit.prepared", err);
}

/* ---- the commit point ---- */

static int
redirect(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct commit *c = arg;

	if (check_ours(c, m, err) < 0)
		return -1;
	if (c->automatic && !m->enabled)
		return given_up(m->id, err);
	hf_main_set_redirect(m, c->r.target.agent, c->r.target.id, c->r.id,
	    hf_clock_now());
	m->failures = 0;
	m->retry_at = 0;
	hf_main_clear_request(m);
	m->fenced = true;
	return 1;
}

/* 1 it is there, 0 it is not, -1 it cannot be told. */
static int
is_redirected(struct commit *c, struct hf_err *err)
{
	struct hf_main m;
	int rc = hf_main_load(c->st, c->r.source.agent, c->r.source.id, &m,
	    err);

	if (rc >= 0)
		rc = m.redirect.attempt != NULL &&
		    strcmp(m.redirect.attempt, c->r.id) == 0;
	hf_main_release(&m);
	return rc;
}

/* 0 committed; 1 not committed, with *err; -1 nobody can tell. */
static int
point_of_commit(struct commit *c, struct hf_err *err)
{
	struct hf_err why;
	struct hf_main m;
	int rc = hf_attempt_step("commit.redirect", err);

	if (rc < 0)
		return 1;
	rc = hf_main_update(c->st, c->r.source.agent, c->r.source.id, &m,
	    redirect, c, err);
	hf_main_release(&m);
	if (rc == 0)
		return 0;
	/* A write that failed at its very last step is there all the same,
	 * and others may have seen it. */
	rc = is_redirected(c, &why);
	if (rc < 0)
		hf_err_prefix(err, "it cannot be told whether handoff '%s' "
		    "is committed (handoff recover will)", c->r.id);
	return rc > 0 ? 0 : rc < 0 ? -1 : 1;
}

/* ---- afterwards ---- */

static void
extras(struct commit *c)
{
	struct hf_jtree *t = hf_doc_tree(c->doc);
	struct hf_err why;
	char *path = NULL;

	if (hf_extras_title(&c->config, &c->r, &why) < 0)
		hf_warn("the title of '%s' is as it was: %s", c->r.source.id,
		    why.msg);
	if (!c->automatic || !c->config.save_to_disk)
		return;
	if (hf_extras_save(&c->r, &path, &why) < 0) {
		hf_warn("the brief is not saved: %s", why.msg);
		return;
	}
	hf_jset_cstr(t, hf_jget(c->doc->obj, "commit"), "saved", path);
	free(path);
}

static int
forward(struct commit *c, struct hf_err *err)
{
	bool first = c->r.phase == HF_PHASE_PREPARED;
	int rc = hf_forward(c->st, &c->config, &c->r, err);

	hf_attempt_to_doc(c->doc, &c->r, NULL);
	if (rc < 0)
		return -1;
	if (c->r.phase == HF_PHASE_PENDING)
		hf_warn("%s (handoff recover tries again)", c->r.error);
	if (first)
		extras(c);
	return 0;
}

/* ---- in order ---- */

/* With the lease in our hands. What fails before the commit point is
 * undone. */
static int
run(struct commit *c, struct hf_err *err)
{
	struct hf_err why, ignored;
	int rc = 1;

	if (hf_attempt_step("commit.taken", err) == 0 &&
	    ask_hooks(c, err) == 0 && still_stable(c, err) == 0 &&
	    prepare(c, err) == 0 && still_stable(c, err) == 0)
		rc = point_of_commit(c, err);
	if (rc == 0)
		return forward(c, err);
	if (rc > 0) {
		why = *err;
		if (hf_attempt_undo(c->st, &c->r, &why, &ignored) < 0)
			hf_warn("what is left of handoff '%s' is removed by "
			    "'handoff recover': %s", c->r.id, ignored.msg);
		c->r.phase = HF_PHASE_FAILED;
		hf_attempt_to_doc(c->doc, &c->r, NULL);
	}
	return -1;
}

/* The attempt is committed, or was about to be. */
static int
again(struct commit *c, struct hf_err *err)
{
	struct hf_main m;
	int rc;

	if (c->r.hash == NULL || strcmp(c->r.hash, c->hash) != 0)
		return hf_err_set(err, HF_E_CONFLICT, "handoff '%s' was "
		    "committed with another brief", c->r.id);
	if (c->r.phase == HF_PHASE_STARTED) {
		hf_attempt_to_doc(c->doc, &c->r, NULL);
		return 0;
	}
	rc = hf_main_update(c->st, c->r.source.agent, c->r.source.id, &m,
	    take, c, err);
	hf_main_release(&m);
	return rc < 0 ? -1 : forward(c, err);
}

static int
commit_begun(struct commit *c, struct hf_err *err)
{
	const struct hf_jval *v = hf_doc_get(c->doc, "commit");
	struct hf_err why, ignored;
	struct hf_main m;
	int rc;

	if (load_attempt(c->st, c->doc, &c->r, err) < 0)
		return -1;
	if (c->r.phase == HF_PHASE_FAILED)
		return hf_err_set(err, HF_E_CHANGED,
		    "handoff '%s' has failed: %s", c->r.id,
		    c->r.error != NULL ? c->r.error : "given up");
	rc = is_redirected(c, err);
	if (rc < 0)
		return -1;
	/* The record was read before the redirect: who made that wrote the
	 * brief into it meanwhile. */
	if (rc > 0 && !hf_phase_committed(c->r.phase)) {
		hf_record_release(&c->r);
		if (load_attempt(c->st, c->doc, &c->r, err) < 0)
			return -1;
	}
	if (rc > 0 || hf_phase_committed(c->r.phase))
		return again(c, err);
	hf_lease_from_json(hf_json_get(v, "lease"), &c->handed);
	rc = hf_main_update(c->st, c->r.source.agent, c->r.source.id, &m,
	    take, c, err);
	hf_main_release(&m);
	if (rc < 0) {
		why = *err;
		if (why.code == HF_E_CHANGED)
			hf_attempt_undo(c->st, &c->r, &why, &ignored);
		return -1;
	}
	return run(c, err);
}

static int
commit(struct commit *c, const struct hf_begin *how, struct hf_err *err)
{
	struct hf_begin at_once = *how;

	if (c->session.agent == NULL)
		return hf_err_set(err, HF_E_UNSUPPORTED,
		    "the document's session is of no agent that is known");
	if (c->session.path == NULL)
		return hf_err_set(err, HF_E_MISSING,
		    "the document's session has no path");
	c->automatic = hf_begin_automatic(c->doc);
	if (hf_json_type(hf_doc_get(c->doc, "commit")) == HF_J_OBJ)
		return commit_begun(c, err);
	at_once.at_once = true;
	if (hf_begin(c->st, &at_once, c->doc, &c->r, &c->lease, err) < 0)
		return -1;
	return run(c, err);
}

int
hf_commit(struct hf_store *st, const struct hf_begin *how, struct hf_doc *d,
    struct hf_err *err)
{
	struct commit c = { .st = st, .doc = d };
	int rc = -1;

	if (read_brief(&c, err) < 0) {
		hf_brief_release(&c.given);
		return -1;
	}
	if (hf_metrics_from_doc(d, &c.session, &c.metrics, err) == 0) {
		if (hf_config_load(&c.config, err) == 0) {
			rc = mask_brief(&c, err);
			if (rc == 0)
				rc = commit(&c, how, err);
			hf_config_release(&c.config);
		}
		hf_session_release(&c.session);
		hf_metrics_release(&c.metrics);
	}
	hf_record_release(&c.r);
	hf_brief_release(&c.given);
	free(c.brief);
	free(c.validation);
	return rc;
}

/* ---- failing ---- */

int
hf_commit_fail(struct hf_store *st, const struct hf_doc *d,
    const struct hf_err *why, struct hf_err *err)
{
	const struct hf_jval *e = hf_doc_get(d, "error");
	struct hf_err said = *why;
	struct hf_attempt r;
	struct hf_str msg;
	char *code;
	int rc;

	if (hf_json_type(hf_doc_get(d, "commit")) != HF_J_OBJ)
		return 0;
	if (hf_json_type(e) == HF_J_OBJ) {
		msg = hf_json_get_str(e, "message");
		code = hf_strndup(hf_json_get_str(e, "code").n > 0 ?
		    hf_json_get_str(e, "code").s : "",
		    hf_json_get_str(e, "code").n);
		hf_err_set(&said, hf_code_parse(code), "%.*s", (int)(msg.n <
		    HF_ERR_MAX ? msg.n : HF_ERR_MAX), msg.n > 0 ? msg.s : "");
		free(code);
	}
	rc = load_attempt(st, d, &r, err);
	if (rc == 0 && (r.phase == HF_PHASE_SUMMARIZING ||
	    r.phase == HF_PHASE_PREPARED))
		rc = hf_attempt_undo(st, &r, &said, err);
	hf_record_release(&r);
	return rc;
}
