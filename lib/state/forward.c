#include "state/forward.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "state/draft.h"
#include "state/events.h"
#include "state/hooks.h"
#include "state/inbox.h"
#include "state/late.h"

enum { NAMES = 4, REBUILDS = 3 };

/* ---- the successor gets its name ---- */

static int
point_to(struct hf_main *m, void *arg, struct hf_err *err)
{
	const struct hf_attempt *r = arg;

	if (m->redirect.attempt == NULL ||
	    strcmp(m->redirect.attempt, r->id) != 0)
		return hf_err_set(err, HF_E_CONFLICT,
		    "the route of handoff '%s' was removed", r->id);
	if (strcmp(m->redirect.id, r->target.id) == 0 &&
	    strcmp(m->redirect.agent, r->target.agent) == 0)
		return 0;
	hf_main_set(&m->redirect.id, r->target.id);
	hf_main_set(&m->redirect.agent, r->target.agent);
	return 1;
}

/* The record says where the successor goes; the redirect follows it. */
static int
follow(struct hf_store *st, struct hf_attempt *r, struct hf_err *err)
{
	struct hf_main m;
	int rc;

	if (hf_attempt_step("commit.follow", err) < 0)
		return -1;
	rc = hf_main_update(st, r->source.agent, r->source.id, &m, point_to,
	    r, err);
	hf_main_release(&m);
	return rc;
}

/* The name is another's: the same attempt under a fresh id. */
static int
rename_it(struct hf_store *st, struct hf_attempt *r, struct hf_err *err)
{
	if (hf_draft_remove(r, err) < 0 || hf_draft_place(r, err) < 0 ||
	    hf_draft_write(r, err) < 0 ||
	    hf_attempt_step("commit.rename", err) < 0 ||
	    hf_record_save(st, r, err) < 0)
		return -1;
	return follow(st, r, err);
}

static int
publish(struct hf_store *st, struct hf_attempt *r, struct hf_err *err)
{
	int names = 0, rebuilds = 0, rc;

	if (follow(st, r, err) < 0)
		return -1;
	for (;;) {
		rc = hf_attempt_step("commit.publish", err) < 0 ? -1 :
		    hf_draft_publish(r, err);
		if (rc > 0)
			return hf_attempt_step("commit.published", err);
		if (rc == 0 && rebuilds++ < REBUILDS) {
			/* It has another hash now, by which it is known. */
			if (hf_record_save(st, r, err) < 0)
				return -1;
			continue;
		}
		if (rc == 0)
			return hf_err_set(err, HF_E_IO,
			    "the draft of handoff '%s' vanishes", r->id);
		if (err->code != HF_E_EXISTS || names++ == NAMES ||
		    rename_it(st, r, err) < 0)
			return -1;
	}
}

/* ---- the successor is entered ---- */

/* Where it is measured from now on: the draft, unless the agent took it
 * into its database. */
static char *
path_of(const struct hf_attempt *r)
{
	const struct hf_agent *a = hf_agent_by_name(hf_str(r->target.agent));
	char *path = NULL;

	if (a != NULL && a->rows != NULL && a->by_id != NULL)
		path = a->by_id(r->target.id);
	return path != NULL ? path : hf_record_path(r);
}

struct heir {
	const struct hf_attempt *r;
	bool enabled;
};

static int
enter(struct hf_main *m, void *arg, struct hf_err *err)
{
	const struct heir *h = arg;
	char *path;

	(void)err;
	if (m->from.id != NULL && strcmp(m->from.id, h->r->source.id) == 0)
		return 0;
	path = path_of(h->r);
	hf_main_set(&m->path, path);
	free(path);
	hf_main_set(&m->cwd, h->r->target.cwd);
	hf_main_place(m);
	hf_main_set(&m->from.agent, h->r->source.agent);
	hf_main_set(&m->from.id, h->r->source.id);
	m->enabled = m->enabled || h->enabled;
	return 1;
}

static int
enter_successor(struct hf_store *st, struct hf_attempt *r,
    struct hf_err *err)
{
	struct heir h = { r, false };
	struct hf_main m;
	int rc;

	if (hf_attempt_step("commit.successor-main", err) < 0)
		return -1;
	rc = hf_main_load(st, r->source.agent, r->source.id, &m, err);
	h.enabled = m.enabled;
	hf_main_release(&m);
	if (rc < 0)
		return -1;
	rc = hf_main_update(st, r->target.agent, r->target.id, &m, enter, &h,
	    err);
	hf_main_release(&m);
	return rc;
}

/* ---- the start ---- */

static int
start(struct hf_store *st, const struct hf_config *c, struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_buf doc = HF_BUF_INIT;
	struct hf_err why = { HF_OK, "" };
	int rc;

	if (hf_attempt_step("commit.start", err) < 0)
		return -1;
	hf_attempt_document(r, &doc);
	rc = hf_hook_start(c, r, hf_buf_view(&doc), &why);
	hf_buf_release(&doc);
	hf_record_fail(r, rc < 0 ? &why : NULL);
	r->phase = rc < 0 ? HF_PHASE_PENDING : HF_PHASE_STARTED;
	if (hf_attempt_step("commit.started", err) < 0 ||
	    hf_record_save(st, r, err) < 0)
		return -1;
	hf_event_attempt(rc < 0 ? "start-pending" : "started", r);
	return 0;
}

/* ---- all of it ---- */

static int
commit_record(struct hf_store *st, struct hf_attempt *r, struct hf_err *err)
{
	struct hf_buf doc = HF_BUF_INIT;

	if (r->phase != HF_PHASE_PREPARED)
		return 0;
	r->phase = HF_PHASE_COMMITTED;
	hf_record_fail(r, NULL);
	if (hf_attempt_step("commit.committed", err) < 0 ||
	    hf_record_save(st, r, err) < 0)
		return -1;
	hf_event_attempt("committed", r);
	hf_attempt_document(r, &doc);
	hf_hook_tell("switched", hf_buf_view(&doc));
	hf_buf_release(&doc);
	return 0;
}

/* Why the successor is not in its place, for status; the attempt stays
 * open whether this can be written or not. */
static void
note(struct hf_store *st, struct hf_attempt *r, const struct hf_err *why)
{
	struct hf_err ignored;

	r->phase = HF_PHASE_COMMITTED;
	hf_record_fail(r, why);
	hf_record_save(st, r, &ignored);
	hf_event_attempt("publish-pending", r);
}

int
hf_forward(struct hf_store *st, const struct hf_config *c,
    struct hf_attempt *r, struct hf_err *err)
{
	if (r->phase != HF_PHASE_PENDING && r->phase != HF_PHASE_STARTED) {
		if (publish(st, r, err) < 0) {
			note(st, r, err);
			hf_err_prefix(err, "handed off to '%s', but its "
			    "transcript is not in place", r->target.id);
			return -1;
		}
		if (r->phase == HF_PHASE_COMMITTED)
			hf_record_fail(r, NULL);
		if (commit_record(st, r, err) < 0 ||
		    enter_successor(st, r, err) < 0 ||
		    hf_inbox_drain(st, r->source.agent, r->source.id,
		    r->target.agent, r->target.id, err) < 0 ||
		    hf_late_forward(st, r, err) < 0)
			return -1;
	}
	if (r->phase != HF_PHASE_STARTED && start(st, c, r, err) < 0)
		return -1;
	if (r->phase == HF_PHASE_PENDING)
		return 0;
	if (hf_attempt_step("commit.close", err) < 0 ||
	    hf_open_remove(st, r->id, err) < 0 ||
	    hf_attempt_step("commit.closed", err) < 0)
		return -1;
	return 0;
}
