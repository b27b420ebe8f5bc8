#include "state/begin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/proc.h"
#include "brief/secrets.h"
#include "session/trigger.h"
#include "state/draft.h"
#include "state/events.h"
#include "state/hooks.h"
#include "state/stable.h"

struct begin {
	struct hf_store *st;
	const struct hf_begin *how;
	const struct hf_doc *doc;
	struct hf_config config;
	struct hf_session session;
	struct hf_metrics metrics;
	struct hf_attempt *r;
	struct hf_lease *lease;
	bool automatic;
};

bool
hf_begin_automatic(const struct hf_doc *d)
{
	struct hf_str reason = hf_json_get_str(hf_doc_get(d, "trigger"),
	    "reason");

	return reason.n > 0 && !hf_str_is(reason, "manual");
}

/* ---- may it begin ---- */

static int
check_main(const struct begin *b, const struct hf_main *m,
    struct hf_err *err)
{
	if (m->redirect.id != NULL)
		return hf_err_set(err, HF_E_CHANGED,
		    "session '%s' was handed off to '%s' meanwhile", m->id,
		    m->redirect.id);
	if (hf_main_busy(b->st, m))
		return hf_err_set(err, HF_E_BUSY, "another handoff of session "
		    "'%s' is under way (%s%s%s)", m->id,
		    m->attempt != NULL ? m->attempt : "",
		    strcmp(m->lease.host, b->lease->host) != 0 ? ", on " : "",
		    strcmp(m->lease.host, b->lease->host) != 0 ?
		    m->lease.host : "");
	if (b->automatic && (!b->config.auto_handoff || !m->enabled))
		return hf_err_set(err, HF_E_REFUSED, "automatic handoff is "
		    "not on for session '%s': hf-trigger --manual asks for it",
		    m->id);
	return 0;
}

static int
check_first(struct begin *b, const struct hf_main *m, struct hf_err *err)
{
	struct hf_stable s = { &b->session, &b->metrics,
		hf_doc_get(b->doc, "host"), false };

	if (check_main(b, m, err) < 0)
		return -1;
	if (hf_json_type(hf_doc_get(b->doc, "trigger")) == HF_J_OBJ)
		return 0;
	return hf_stable_may(&s, &b->config, m, err);
}

/* ---- the record ---- */

/* A mode that asks nobody is never passed on. */
static bool
asks_nobody(const char *mode)
{
	static const char *const words[] = { "bypass", "yolo", "danger",
		"never", "full", "dontask" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (hf_str_ifind(hf_str(mode), words[i], 0) != SIZE_MAX)
			return true;
	return false;
}

/* The successor's title; one that was made of a prompt can hold what must
 * not leave the session. */
static int
set_title(struct begin *b, struct hf_err *err)
{
	struct hf_secrets *known;
	struct hf_buf masked = HF_BUF_INIT;

	known = hf_secrets_load(&b->config, b->session.cwd, err);
	if (known == NULL)
		return -1;
	hf_secrets_mask(known, &masked, hf_str(b->session.title));
	free(b->r->target.title);
	b->r->target.title = hf_successor_title(hf_buf_view(&masked));
	hf_secrets_free(known);
	hf_buf_release(&masked);
	return 0;
}

/* What the successor has from its source. */
static void
inherit(struct begin *b, bool same_agent)
{
	struct hf_attempt *r = b->r;
	const struct hf_session *s = &b->session;
	struct hf_session seen;
	struct hf_err ignored;

	hf_main_set(&r->target.cwd, s->cwd);
	if (!same_agent)
		return;
	hf_main_set(&r->target.model, s->model);
	hf_session_init(&seen);
	if (!b->automatic && hf_session_peek(s->path, &seen, &ignored) == 0 &&
	    seen.permission != NULL && !asks_nobody(seen.permission))
		hf_main_set(&r->target.permission, seen.permission);
	hf_session_release(&seen);
}

static int
choose_agent(struct begin *b, const struct hf_main *m, struct hf_err *err)
{
	const char *name = b->how->to != NULL ? b->how->to :
	    m->requested.on && m->requested.to != NULL ? m->requested.to :
	    b->session.agent->name;
	const struct hf_agent *a = hf_agent_by_name(hf_str(name));

	if (a == NULL)
		return hf_err_set(err, HF_E_USAGE,
		    "the agent '%s' is not known", name);
	hf_main_set(&b->r->target.agent, a->name);
	inherit(b, a == b->session.agent);
	return set_title(b, err);
}

static int
fill_record(struct begin *b, const struct hf_main *m, struct hf_err *err)
{
	struct hf_attempt *r = b->r;
	struct hf_str reason = hf_json_get_str(hf_doc_get(b->doc, "trigger"),
	    "reason");
	const char *focus = b->how->focus != NULL ? b->how->focus :
	    m->requested.on ? m->requested.focus : NULL;
	char id[HF_ATTEMPT_LEN];

	hf_record_new_id(id);
	hf_main_set(&r->id, id);
	r->phase = HF_PHASE_SUMMARIZING;
	hf_main_set(&r->source.agent, b->session.agent->name);
	hf_main_set(&r->source.id, b->session.id);
	hf_main_set(&r->source.path, b->session.path);
	hf_main_set(&r->host, hf_proc_host());
	hf_main_set(&r->user, hf_env_user());
	r->reason = reason.n > 0 ? hf_strndup(reason.s, reason.n) :
	    hf_strdup("manual");
	r->metrics.tokens = b->metrics.tokens;
	r->metrics.turns = b->metrics.turns;
	r->metrics.compactions = b->metrics.compactions;
	r->metrics.capacity = b->metrics.capacity;
	r->revision.seq = (int64_t)b->metrics.seq;
	hf_main_set(&r->revision.digest, b->metrics.digest);
	r->revision.size = (int64_t)b->metrics.file.size;
	r->epoch = m->epoch + 1;
	r->begun = hf_clock_now();
	r->target.time = r->begun;
	if (focus != NULL && strlen(focus) > HF_FOCUS_MAX)
		return hf_err_set(err, HF_E_USAGE,
		    "the focus is longer than %d bytes", (int)HF_FOCUS_MAX);
	hf_main_set(&r->focus, focus);
	if (choose_agent(b, m, err) < 0)
		return -1;
	return hf_draft_place(r, err);
}

/* ---- marking ---- */

static int
mark(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct begin *b = arg;

	if (check_main(b, m, err) < 0)
		return -1;
	/* The record names the epoch already. */
	if (++m->epoch != b->r->epoch)
		return hf_err_set(err, HF_E_CHANGED,
		    "the state of session '%s' changed meanwhile", m->id);
	hf_main_set(&m->attempt, b->r->id);
	m->lease = *b->lease;
	m->last_seq = b->r->revision.seq;
	hf_main_set(&m->path, b->session.path);
	hf_main_set(&m->cwd, b->session.cwd);
	hf_main_place(m);
	hf_main_clear_request(m);
	hf_main_set_deferred(m, NULL, 0);
	return 1;
}

/* From us to whoever takes the next step. */
static int
hand_over(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct begin *b = arg;

	if (m->attempt == NULL || strcmp(m->attempt, b->r->id) != 0 ||
	    m->epoch != b->r->epoch || !m->lease.held)
		return hf_err_set(err, HF_E_CHANGED,
		    "the handoff of '%s' was given up meanwhile", m->id);
	if (hf_store_lease(b->st, hf_attempt_seconds(&b->config),
	    hf_attempt_owner(), b->lease, err) < 0)
		return -1;
	m->lease = *b->lease;
	return 1;
}

/* What was written for an attempt that never was. Whatever is left of it
 * after a failure here is found by recover. */
static void
forget(struct begin *b)
{
	struct hf_buf key = HF_BUF_INIT;
	struct hf_err ignored;

	hf_buf_printf(&key, "records/%s", b->r->id);
	if (hf_store_remove(b->st, hf_buf_cstr(&key), NULL, &ignored) >= 0)
		hf_open_remove(b->st, b->r->id, &ignored);
	hf_buf_release(&key);
}

/* In this order: what is open is known before there is anything to know
 * about it; the main, which decides, comes last. */
static int
write_marks(struct begin *b, struct hf_err *err)
{
	struct hf_open o = { b->r->id, b->r->source.agent, b->r->source.id,
		*b->lease };
	struct hf_main m;
	int rc;

	if (hf_attempt_step("commit.begin-open", err) < 0 ||
	    hf_open_create(b->st, &o, err) < 0)
		return -1;
	rc = hf_attempt_step("commit.begin-record", err) < 0 ? -1 :
	    hf_record_save(b->st, b->r, err);
	if (rc == 0 && hf_attempt_step("commit.begin-main", err) < 0)
		rc = -1;
	if (rc < 0) {
		forget(b);
		return -1;
	}
	rc = hf_main_update(b->st, b->r->source.agent, b->r->source.id, &m,
	    mark, b, err);
	hf_main_release(&m);
	if (rc < 0) {
		/* It may have been stored all the same, when the last flush
		 * failed or no answer came: undoing looks. */
		if (err->code == HF_E_IO || err->code == HF_E_UNAVAILABLE ||
		    err->code == HF_E_CANCELLED) {
			struct hf_err why = *err, ignored;

			hf_attempt_undo(b->st, b->r, &why, &ignored);
		} else
			forget(b);
		return -1;
	}
	return 0;
}

/* Is somebody paid for the summary? Only then it matters to be told no
 * before; else the commit asks. */
static bool
costs(const struct begin *b)
{
	return !b->how->at_once && b->config.provider != NULL &&
	    strcmp(b->config.provider, "extract") != 0;
}

static int
ask_and_hand_over(struct begin *b, struct hf_err *err)
{
	struct hf_buf line = HF_BUF_INIT;
	struct hf_main m;
	int rc = 0;

	if (costs(b)) {
		hf_doc_line(b->doc, &line);
		rc = hf_hook_veto(hf_buf_view(&line), err);
		hf_buf_release(&line);
	}
	if (rc == 0 && hf_attempt_step("commit.begin-lease", err) < 0)
		rc = -1;
	if (rc == 0 && !b->how->at_once) {
		rc = hf_main_update(b->st, b->r->source.agent,
		    b->r->source.id, &m, hand_over, b, err);
		hf_main_release(&m);
	}
	if (rc == 0 && hf_attempt_step("commit.begun", err) < 0)
		rc = -1;
	if (rc < 0) {
		struct hf_err why = *err, ignored;

		hf_attempt_undo(b->st, b->r, &why, &ignored);
	}
	return rc;
}

static int
begin(struct begin *b, struct hf_err *err)
{
	struct hf_main m;
	int rc;

	if (b->session.agent == NULL)
		return hf_err_set(err, HF_E_UNSUPPORTED,
		    "the document's session is of no agent that is known");
	if (b->session.path == NULL || b->session.id == NULL)
		return hf_err_set(err, HF_E_MISSING,
		    "the document's session has no id or no path");
	/* It is never guessed: a successor in another folder is lost. */
	if (b->session.cwd == NULL)
		return hf_err_set(err, HF_E_UNSUPPORTED, "session '%s' does "
		    "not say which folder it belongs to", b->session.id);
	if (hf_main_owner(b->session.path, err) < 0)
		return -1;
	if (hf_store_lease(b->st, hf_attempt_seconds(&b->config),
	    (long)getpid(), b->lease, err) < 0)
		return -1;
	/* Looked at first, so that who comes too late writes nothing. */
	rc = hf_main_load(b->st, b->session.agent->name, b->session.id, &m,
	    err);
	if (rc >= 0)
		rc = check_first(b, &m, err);
	if (rc >= 0)
		rc = fill_record(b, &m, err);
	hf_main_release(&m);
	if (rc < 0 || write_marks(b, err) < 0 ||
	    ask_and_hand_over(b, err) < 0)
		return -1;
	hf_event_attempt("begun", b->r);
	return 0;
}

int
hf_begin(struct hf_store *st, const struct hf_begin *how,
    const struct hf_doc *d, struct hf_attempt *r, struct hf_lease *lease,
    struct hf_err *err)
{
	struct begin b = { .st = st, .how = how, .doc = d, .r = r,
		.lease = lease };
	int rc;

	hf_record_init(r);
	b.automatic = hf_begin_automatic(d);
	if (hf_metrics_from_doc(d, &b.session, &b.metrics, err) < 0)
		return -1;
	if ((rc = hf_config_load(&b.config, err)) == 0) {
		rc = begin(&b, err);
		hf_config_release(&b.config);
	}
	hf_session_release(&b.session);
	hf_metrics_release(&b.metrics);
	return rc;
}

/* ---- what is not due ---- */

struct defer { char *line[HF_DEFERRED_MAX]; size_t n; };

static int
set_deferred(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct defer *f = arg;
	bool same = m->ndeferred == f->n;

	(void)err;
	for (size_t i = 0; same && i < f->n; i++)
		same = strcmp(m->deferred[i], f->line[i]) == 0;
	if (!m->stored || same)
		return 0;
	hf_main_set_deferred(m, f->line, f->n);
	return 1;
}

static void
add(struct defer *f, struct hf_str a)
{
	if (a.n > 0 && f->n < HF_DEFERRED_MAX)
		f->line[f->n++] = hf_strndup(a.s, a.n);
}

int
hf_begin_defer(struct hf_store *st, const struct hf_doc *d,
    struct hf_err *err)
{
	const struct hf_jval *t = hf_doc_get(d, "trigger"), *v;
	const struct hf_jval *s = hf_doc_get(d, "session");
	struct hf_str agent = hf_json_get_str(s, "agent");
	struct hf_str id = hf_json_get_str(s, "id");
	struct defer f = { { NULL }, 0 };
	struct hf_jiter it;
	struct hf_main m;
	char *a, *i;
	int rc;

	if (agent.n == 0 || id.n == 0)
		return 0;
	/* Of a session that is not even due, nothing is held up. */
	if (hf_json_get_str(t, "reason").n > 0) {
		if (hf_json_is(hf_json_get(t, "guard"), "busy"))
			add(&f, HF_STR("busy"));
		hf_json_iter(&it, hf_json_get(t, "blockers"));
		while ((v = hf_json_next(&it, NULL)) != NULL)
			add(&f, hf_json_str(v));
	}
	a = hf_strndup(agent.s, agent.n);
	i = hf_strndup(id.s, id.n);
	rc = hf_main_update(st, a, i, &m, set_deferred, &f, err);
	hf_main_release(&m);
	free(a);
	free(i);
	while (f.n > 0)
		free(f.line[--f.n]);
	return rc < 0 ? -1 : 0;
}
