#include "state/recover.h"

#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sig.h"
#include "state/draft.h"
#include "state/forward.h"

struct recover {
	struct hf_store *st;
	const struct hf_config *config;
	struct hf_recovered *out;
	void (*done)(const struct hf_attempt *r, void *arg);
	void *arg;
};

static const struct hf_err ended = { HF_E_CANCELLED,
	"the process that was at it has ended" };

static bool
is(const char *a, const char *b)
{
	return a != NULL && strcmp(a, b) == 0;
}

/* ---- completing ---- */

struct take { struct recover *rc; const struct hf_attempt *r; };

/* One process at a time goes on with it: who has the lease. */
static int
take(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct take *t = arg;

	if (!is(m->redirect.attempt, t->r->id))
		return hf_err_set(err, HF_E_CHANGED,
		    "the route of handoff '%s' was removed", t->r->id);
	if (is(m->attempt, t->r->id) && hf_main_busy(t->rc->st, m))
		return hf_err_set(err, HF_E_BUSY,
		    "another process is at handoff '%s'", t->r->id);
	hf_main_set(&m->attempt, t->r->id);
	return hf_store_lease(t->rc->st, hf_attempt_seconds(t->rc->config),
	    (long)getpid(), &m->lease, err) < 0 ? -1 : 1;
}

static int
complete(struct recover *rc, struct hf_attempt *r, struct hf_err *err)
{
	struct take t = { rc, r };
	struct hf_main m;
	enum hf_phase was = r->phase;
	int got = hf_main_update(rc->st, r->source.agent, r->source.id, &m,
	    take, &t, err);

	hf_main_release(&m);
	if (got < 0)
		return -1;
	if (r->phase == HF_PHASE_SUMMARIZING || r->phase == HF_PHASE_FAILED)
		return hf_err_set(err, HF_E_INTERNAL,
		    "handoff '%s' is committed, but its record says '%s'",
		    r->id, hf_phase_name(r->phase));
	if (hf_forward(rc->st, rc->config, r, err) < 0) {
		rc->out->pending++;
		return -1;
	}
	if (r->phase == HF_PHASE_PENDING) {
		rc->out->pending++;
		hf_warn("%s", r->error);
		if (was == HF_PHASE_PENDING)
			return 0;
	} else
		rc->out->completed++;
	if (rc->done != NULL)
		rc->done(r, rc->arg);
	return 0;
}

/* ---- one ---- */

static int
undo(struct recover *rc, struct hf_attempt *r, struct hf_err *err)
{
	if (hf_attempt_undo(rc->st, r, &ended, err) < 0)
		return -1;
	rc->out->undone++;
	if (rc->done != NULL)
		rc->done(r, rc->arg);
	return 0;
}

/* The record is there. */
static int
decide(struct recover *rc, struct hf_attempt *r, const struct hf_open *o,
    struct hf_err *err)
{
	struct hf_main m;
	bool ours, busy, redirected, here;
	int got = hf_main_load(rc->st, o->agent, o->id, &m, err);

	ours = is(m.attempt, r->id);
	redirected = is(m.redirect.attempt, r->id);
	busy = ours ? hf_main_busy(rc->st, &m) :
	    hf_store_look(rc->st, &o->lease) == HF_LEASE_LIVE;
	hf_main_release(&m);
	if (got < 0)
		return -1;
	/* A main that never heard of it is not marked yet: then the mark of
	 * the open attempt says who is at it. */
	if (busy) {
		rc->out->running++;
		return 0;
	}
	here = hf_record_here(rc->st, r);
	if (redirected && here)
		return complete(rc, r, err);
	if (!redirected && (r->phase == HF_PHASE_SUMMARIZING ||
	    r->phase == HF_PHASE_PREPARED))
		return undo(rc, r, err);
	/* The rest is for the machine that has the transcript. */
	if (!here)
		return 0;
	/* It is over: failed, or its route was taken back. Another machine
	 * that undid it could not reach the draft. */
	if (r->phase == HF_PHASE_FAILED && hf_draft_remove(r, err) < 0)
		return -1;
	return hf_open_remove(rc->st, r->id, err) < 0 ? -1 : 0;
}

static int
recover_one(struct recover *rc, const char *attempt, struct hf_err *err)
{
	struct hf_attempt r;
	struct hf_open o;
	int got = hf_open_load(rc->st, attempt, &o, err);

	if (got <= 0)
		return got;
	got = hf_record_load(rc->st, attempt, &r, err);
	if (got > 0)
		got = decide(rc, &r, &o, err);
	else if (got == 0 && hf_store_look(rc->st, &o.lease) == HF_LEASE_LIVE)
		rc->out->running++;
	else if (got == 0)
		/* It was killed before there was anything to it. */
		got = hf_open_remove(rc->st, attempt, err);
	hf_record_release(&r);
	hf_open_release(&o);
	return got < 0 ? -1 : 0;
}

int
hf_recover(struct hf_store *st, const struct hf_config *c,
    struct hf_recovered *out,
    void (*done)(const struct hf_attempt *r, void *arg), void *arg,
    struct hf_err *err)
{
	struct recover rc = { st, c, out, done, arg };
	struct hf_keys keys;
	int status = 0;

	memset(out, 0, sizeof(*out));
	if (hf_open_list(st, &keys, err) < 0)
		return -1;
	for (size_t i = 0; i < keys.n && status == 0; i++) {
		struct hf_err why = { HF_OK, "" };

		if (recover_one(&rc, keys.key[i], &why) == 0)
			continue;
		if (why.code == HF_E_CANCELLED || hf_sig_check(err) < 0) {
			*err = why;
			status = -1;
		} else if (why.code == HF_E_BUSY ||
		    why.code == HF_E_CHANGED || why.code == HF_E_LOCKED)
			/* Somebody else is at it by now. */
			out->running++;
		else {
			out->failed++;
			hf_warn("handoff '%s': %s", keys.key[i], why.msg);
		}
	}
	hf_keys_release(&keys);
	return status;
}
