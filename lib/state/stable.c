#include "state/stable.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- what the trigger says now ---- */

static const struct { const char *guard, *words; } words[] = {
	{ "redirected", "it was handed off already" },
	{ "archived", "it is archived" },
	{ "subagent", "it is a sub-agent's session" },
	{ "not-registered", "automatic handoff is not on for it" },
	{ "disabled", "automatic handoff was switched off" },
	{ "busy", "it is in the middle of a turn" },
	{ "too-short", "nothing to hand off (no messages yet)" },
};

const char *
hf_stable_words(const char *guard)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].guard, guard) == 0)
			return words[i].words;
	return guard;
}

static void
ask(const struct hf_stable *s, const struct hf_metrics *metrics,
    const struct hf_config *c, const struct hf_main *m,
    struct hf_trigger *out)
{
	struct hf_trigger_main main = { .known = true };
	struct hf_trigger_in in = { s->session, metrics, &main, c, s->host,
		!s->automatic, s->automatic };

	main.registered = m->stored;
	main.enabled = m->enabled;
	main.redirected = m->redirect.id != NULL;
	hf_trigger_decide(&in, out);
}

static int
refuse(const struct hf_trigger *t, enum hf_code guarded,
    enum hf_code blocked, struct hf_err *err)
{
	if (t->guard != NULL)
		return hf_err_set(err, guarded, "the session is not to be "
		    "handed off: %s", hf_stable_words(t->guard));
	if (t->nblockers > 0)
		return hf_err_set(err, blocked,
		    "the session is not at rest: %s", t->blockers[0]);
	return 0;
}

int
hf_stable_may(const struct hf_stable *s, const struct hf_config *c,
    const struct hf_main *m, struct hf_err *err)
{
	enum hf_code guarded = HF_E_REFUSED;
	struct hf_trigger t;
	int rc;

	ask(s, s->metrics, c, m, &t);
	if (t.guard != NULL && strcmp(t.guard, "busy") == 0)
		guarded = HF_E_BUSY;
	if (t.guard != NULL && strcmp(t.guard, "redirected") == 0)
		guarded = HF_E_CONFLICT;
	rc = refuse(&t, guarded, HF_E_BLOCKED, err);
	hf_trigger_release(&t);
	return rc;
}

/* ---- what the disk says now ---- */

static void
add_owned(const char *id, void *arg)
{
	struct hf_metrics *m = arg;

	if (m->nowned < HF_ACTIVITY_MAX)
		m->owned[m->nowned++] = hf_strdup(id);
}

/* The file is the same, so its rows are; its sub-agents have files of their
 * own. */
static int
same_file(const struct hf_stable *s, const struct hf_config *c,
    const struct hf_main *m, struct hf_err *err)
{
	struct hf_metrics now = *s->metrics;
	struct hf_trigger t;
	int rc;

	now.nowned = 0;
	if (s->session->agent->owned != NULL)
		s->session->agent->owned(s->session, add_owned, &now);
	ask(s, &now, c, m, &t);
	rc = refuse(&t, HF_E_CHANGED, HF_E_CHANGED, err);
	hf_trigger_release(&t);
	while (now.nowned > 0)
		free(now.owned[--now.nowned]);
	return rc;
}

static int
other_file(const struct hf_stable *s, const struct hf_config *c,
    const struct hf_main *m, struct hf_err *err)
{
	struct hf_measure how = { .config = c, .limit = UINT64_MAX,
	    .stale_check = true, .cursor = hf_str(s->metrics->cursor) };
	struct hf_metrics now;
	struct hf_session session;
	struct hf_trigger t;
	int rc;

	hf_session_init(&session);
	session.agent = s->session->agent;
	hf_session_set(&session.path, hf_str(s->session->path));
	hf_session_set(&session.id, hf_str(s->session->id));
	rc = hf_measure(&session, NULL, &how, &now, NULL, err);
	if (rc == 0) {
		if (now.seq != s->metrics->seq ||
		    strcmp(now.digest, s->metrics->digest) != 0)
			rc = hf_err_set(err, HF_E_CHANGED, "the session "
			    "went on: it is not what was summarised");
		if (rc == 0) {
			ask(s, &now, c, m, &t);
			rc = refuse(&t, HF_E_CHANGED, HF_E_CHANGED, err);
			hf_trigger_release(&t);
		}
		hf_metrics_release(&now);
	} else if (err->code != HF_E_CANCELLED)
		err->code = HF_E_CHANGED;
	hf_session_release(&session);
	return rc;
}

int
hf_stable(const struct hf_stable *s, const struct hf_config *c,
    const struct hf_main *m, struct hf_err *err)
{
	struct hf_file_id file;

	if (hf_measure_file(s->session->path, &file, err) < 0) {
		if (err->code == HF_E_NOT_FOUND) {
			hf_err_prefix(err, "the session has gone");
			err->code = HF_E_CHANGED;
		}
		return -1;
	}
	if (hf_file_id_same(&file, &s->metrics->file))
		return same_file(s, c, m, err);
	return other_file(s, c, m, err);
}
