#include "state/settle.h"

#include <string.h>

#include "base/clock.h"
#include "base/sig.h"
#include "session/metrics.h"

enum {
	FAST_MS = 150,		/* between two looks, at first … */
	SLOW_MS = 2000,		/* … and after a while */
	FAST_FOR_MS = 10000,
	LOOK_MS = 2000,		/* is it still wanted? */
	/* So long an agent that calls itself busy is believed, though its
	 * transcript is at rest. */
	BELIEVED_MS = 8000,
	AGAIN_MS = 30000	/* without a change: a turn is given up on */
};

int
hf_settle_wanted(struct hf_store *st, const struct hf_config *c,
    const char *agent, const char *id, struct hf_err *err)
{
	struct hf_main m;
	int rc = hf_main_load(st, agent, id, &m, err);

	if (rc >= 0)
		rc = m.redirect.id == NULL && (m.requested.on ||
		    (m.enabled && c->auto_handoff));
	hf_main_release(&m);
	return rc;
}

int
hf_settle_busy(const struct hf_config *c, const char *path,
    struct hf_err *err)
{
	struct hf_measure how = { .config = c, .limit = UINT64_MAX,
	    .stale_check = true };
	struct hf_session s;
	struct hf_metrics m;
	int rc = hf_session_peek(path, &s, err);

	if (rc == 0) {
		rc = hf_measure(&s, NULL, &how, &m, NULL, err);
		if (rc == 0) {
			rc = m.state == HF_STATE_BUSY || m.nactivity > 0;
			hf_metrics_release(&m);
		}
	}
	hf_session_release(&s);
	return rc;
}

struct watch {
	struct hf_store *st;
	const struct hf_session *s;
	struct hf_file_id seen;
	bool busy;			/* when it was measured … */
	int64_t measured;		/* … at that time */
	int64_t since;			/* it has not changed */
};

static bool
says_busy(const struct hf_session *s)
{
	struct hf_live live = { 0 };

	if (s->agent->live == NULL)
		return false;
	s->agent->live(s, &live);
	return live.open && strcmp(live.status, "busy") == 0;
}

/* 1 at rest since the last look, 0 not yet. A large transcript takes a
 * while to measure, so it is not done without a reason. */
static int
look(struct watch *w, const struct hf_config *c, struct hf_err *err)
{
	int64_t now = hf_clock_boot();
	struct hf_file_id file;
	bool same;
	int rc;

	if (hf_measure_file(w->s->path, &file, err) < 0)
		return -1;
	same = hf_file_id_same(&file, &w->seen);
	w->seen = file;
	if (!same || (w->busy && now - w->measured >= AGAIN_MS)) {
		if ((rc = hf_settle_busy(c, w->s->path, err)) < 0)
			return -1;
		w->busy = rc > 0;
		w->measured = now;
	}
	if (!same)
		w->since = now;
	if (w->busy || !same)
		return 0;
	return !says_busy(w->s) || now - w->since >= BELIEVED_MS;
}

/* The switches and the configuration as they are now. */
static int
wanted_now(struct watch *w, struct hf_err *err)
{
	struct hf_config c;
	int rc;

	if (hf_config_load(&c, err) < 0)
		return -1;
	rc = hf_settle_wanted(w->st, &c, w->s->agent->name, w->s->id, err);
	hf_config_release(&c);
	return rc;
}

int
hf_settle(struct hf_store *st, const struct hf_session *s, int64_t seconds,
    struct hf_err *err)
{
	struct watch w = { .st = st, .s = s };
	int64_t begin = hf_clock_boot(), asked = 0, now;
	struct hf_config c;
	int rc = 1;

	memset(&w.seen, 0, sizeof(w.seen));
	if (hf_config_load(&c, err) < 0)
		return -1;
	for (;;) {
		now = hf_clock_boot();
		if (asked == 0 || now - asked >= LOOK_MS) {
			asked = now;
			if ((rc = wanted_now(&w, err)) <= 0)
				break;
		}
		if ((rc = look(&w, &c, err)) != 0)
			break;
		if (now - begin >= seconds * 1000) {
			rc = hf_err_set(err, HF_E_TIMEOUT, "session '%s' did "
			    "not come to rest within %lld seconds", s->id,
			    (long long)seconds);
			break;
		}
		if ((rc = hf_sig_sleep(now - begin < FAST_FOR_MS ? FAST_MS :
		    SLOW_MS, err)) < 0)
			break;
	}
	hf_config_release(&c);
	return rc;
}
