#include "state/attempt.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/mem.h"
#include "state/draft.h"
#include "state/events.h"
#include "state/hooks.h"

enum {
	MARGIN_SECONDS = 120,	/* for hooks and the commit itself */
	COOLDOWN_DOUBLINGS = 8,
	COOLDOWN_MAX_MS = 24 * 3600 * 1000
};

int64_t
hf_attempt_seconds(const struct hf_config *c)
{
	return c->timeout_seconds + MARGIN_SECONDS;
}

long
hf_attempt_owner(void)
{
	int64_t pid;

	if (!hf_text_int(hf_str(hf_env("HANDOFF_OWNER")), &pid) || pid <= 1 ||
	    pid > INT32_MAX)
		return 0;
	return (long)pid;
}

#ifdef HF_FAULTS
int
hf_attempt_step(const char *name, struct hf_err *err)
{
	if (hf_step(name) == 0)
		return 0;
	return hf_err_sys(err, errno, "cannot go on at '%s'", name);
}
#endif

/* ---- documents ---- */

static struct hf_jnode *
commit_node(struct hf_jtree *t, const struct hf_attempt *r)
{
	struct hf_jnode *o = hf_jtree_obj(t), *target = hf_jtree_obj(t);
	char *path = hf_record_path(r);

	hf_jset_cstr(t, o, "attempt", r->id);
	hf_jset_int(t, o, "epoch", r->epoch);
	hf_jset_cstr(t, o, "phase", hf_phase_name(r->phase));
	hf_jset_cstr(t, o, "reason", r->reason);
	hf_jset_cstr(t, o, "focus", r->focus);
	hf_jset_cstr(t, o, "brief", r->hash);
	hf_jset_cstr(t, target, "agent", r->target.agent);
	hf_jset_cstr(t, target, "id", r->target.id);
	hf_jset_cstr(t, target, "path", path);
	hf_jset_cstr(t, target, "cwd", r->target.cwd);
	hf_jset(t, o, "target", target);
	free(path);
	return o;
}

void
hf_attempt_to_doc(struct hf_doc *d, const struct hf_attempt *r,
    const struct hf_lease *lease)
{
	struct hf_jtree *t = hf_doc_tree(d);
	struct hf_jnode *o = commit_node(t, r);

	if (lease != NULL)
		hf_jset(t, o, "lease", hf_lease_to_json(t, lease));
	hf_doc_set(d, "commit", o);
}

void
hf_attempt_document(const struct hf_attempt *r, struct hf_buf *out)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_obj(t), *s = hf_jtree_obj(t), *e;

	hf_jset_int(t, o, "v", 1);
	hf_jset_cstr(t, s, "agent", r->source.agent);
	hf_jset_cstr(t, s, "id", r->source.id);
	hf_jset_cstr(t, s, "path", r->source.path);
	hf_jset(t, o, "session", s);
	hf_jset(t, o, "commit", commit_node(t, r));
	if (r->error != NULL) {
		e = hf_jtree_obj(t);
		hf_jset_cstr(t, e, "stage", "hf-commit");
		hf_jset_cstr(t, e, "code", r->error_code);
		hf_jset_cstr(t, e, "message", r->error);
		hf_jset(t, o, "error", e);
	}
	hf_jtree_write(out, o, false);
	hf_buf_putc(out, '\n');
	hf_jtree_free(t);
}

/* ---- undoing ---- */

struct undo {
	const struct hf_attempt *r;
	const struct hf_err *why;
	int64_t cooldown;	/* ms */
	bool committed;
};

/* What speaks against trying again soon: not that someone said no, or that
 * the session went on. */
static bool
counts(enum hf_code code)
{
	switch (code) {
	case HF_E_CANCELLED:
	case HF_E_CHANGED:
	case HF_E_VETOED:
	case HF_E_BLOCKED:
	case HF_E_BUSY:
		return false;
	default:
		return true;
	}
}

static int
end_main(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct undo *u = arg;
	int64_t wait = u->cooldown;

	(void)err;
	u->committed = m->redirect.attempt != NULL &&
	    strcmp(m->redirect.attempt, u->r->id) == 0;
	if (u->committed || m->attempt == NULL ||
	    strcmp(m->attempt, u->r->id) != 0 || m->epoch != u->r->epoch)
		return 0;
	hf_main_end_attempt(m);
	if (counts(u->why->code)) {
		for (int64_t i = 0; i < m->failures &&
		    i < COOLDOWN_DOUBLINGS; i++)
			wait *= 2;
		if (wait > COOLDOWN_MAX_MS)
			wait = COOLDOWN_MAX_MS;
		m->failures++;
		m->retry_at = hf_clock_now() + wait;
	}
	return 1;
}

static int64_t
cooldown_ms(void)
{
	struct hf_config c;
	struct hf_err ignored;
	int64_t s = 300;

	/* Undoing must not depend on a configuration that can be read. */
	if (hf_config_load(&c, &ignored) == 0) {
		s = c.cooldown_seconds;
		hf_config_release(&c);
	}
	return s * 1000;
}

/* A record that another one finished meanwhile stays as it is. */
static int
fail_record(struct hf_store *st, struct hf_attempt *r,
    const struct hf_err *why, struct hf_err *err)
{
	struct hf_attempt now;
	int rc = hf_record_load(st, r->id, &now, err);

	if (rc > 0 && (now.phase == HF_PHASE_SUMMARIZING ||
	    now.phase == HF_PHASE_PREPARED)) {
		now.phase = HF_PHASE_FAILED;
		hf_record_fail(&now, why);
		rc = hf_record_save(st, &now, err);
		if (rc == 0) {
			struct hf_buf doc = HF_BUF_INIT;

			hf_event_attempt("failed", &now);
			hf_attempt_document(&now, &doc);
			hf_hook_tell("failed", hf_buf_view(&doc));
			hf_buf_release(&doc);
		}
	}
	hf_record_release(&now);
	return rc < 0 ? -1 : 0;
}

int
hf_attempt_undo(struct hf_store *st, struct hf_attempt *r,
    const struct hf_err *why, struct hf_err *err)
{
	struct undo u = { r, why, cooldown_ms(), false };
	struct hf_main m;
	bool here;
	int rc;

	if (hf_attempt_step("commit.undo-main", err) < 0)
		return -1;
	rc = hf_main_update(st, r->source.agent, r->source.id, &m, end_main,
	    &u, err);
	hf_main_release(&m);
	if (rc < 0)
		return -1;
	if (u.committed)
		return hf_err_set(err, HF_E_CONFLICT,
		    "handoff '%s' is committed: it can only be completed",
		    r->id);
	/* A draft on another machine is for that one to remove. */
	here = hf_record_here(st, r);
	if (hf_attempt_step("commit.undo-draft", err) < 0 ||
	    (here && hf_draft_remove(r, err) < 0) ||
	    hf_attempt_step("commit.undo-record", err) < 0 ||
	    fail_record(st, r, why, err) < 0 ||
	    hf_attempt_step("commit.undo-open", err) < 0 ||
	    (here && hf_open_remove(st, r->id, err) < 0) ||
	    hf_attempt_step("commit.undone", err) < 0)
		return -1;
	return 0;
}
