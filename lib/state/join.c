#include "state/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "state/hooks.h"
#include "state/record.h"

enum {
	BLOCKERS = 32,
	BREAKER = 3,		/* failures in a row */
	DAY_MS = 24 * 3600 * 1000
};

struct blockers { char *line[BLOCKERS]; size_t n; };

static void
block(struct blockers *b, const char *what)
{
	if (b->n < BLOCKERS)
		b->line[b->n++] = hf_strdup(what);
}

/* ---- the bounds of automatic handoffs ---- */

/* One attempt a revision; one that failed for a reason that passes may be
 * repeated, but not for ever. */
static int
tried_already(struct hf_store *st, const struct hf_main *m,
    struct hf_err *err)
{
	struct hf_attempt r;
	bool passes;
	int rc;

	if (m->attempt == NULL || m->failures >= BREAKER)
		return 1;
	rc = hf_record_load(st, m->attempt, &r, err);
	passes = rc > 0 && r.phase == HF_PHASE_FAILED &&
	    r.error_code != NULL &&
	    hf_code_retry(hf_code_parse(r.error_code)) &&
	    strcmp(r.error_code, "cancelled") != 0;
	hf_record_release(&r);
	return rc < 0 ? -1 : !passes;
}

static int
cooldown(struct hf_store *st, const struct hf_main *m, int64_t seq,
    struct hf_err *err)
{
	int64_t now = hf_clock_now();

	/* A clock that was far ahead must not lock a session out. */
	if (m->retry_at > now && m->retry_at <= now + DAY_MS)
		return 1;
	if (m->last_seq < 0 || m->last_seq != seq)
		return 0;
	return tried_already(st, m, err);
}

/* How many handoffs of this chain lie within a day? */
static int
chain_is_long(struct hf_store *st, const struct hf_config *c,
    const struct hf_main *m, struct hf_err *err)
{
	int64_t since = hf_clock_now() - DAY_MS, n = 0;
	char *agent = NULL, *id = NULL;
	int rc = 0;

	hf_main_set(&agent, m->from.agent);
	hf_main_set(&id, m->from.id);
	while (rc >= 0 && agent != NULL && id != NULL && n < c->max_chain) {
		struct hf_main a;

		rc = hf_main_load(st, agent, id, &a, err);
		if (rc <= 0 || a.redirect.id == NULL || a.redirect.at < since)
			hf_main_set(&id, NULL);
		else {
			n++;
			hf_main_set(&agent, a.from.agent);
			hf_main_set(&id, a.from.id);
		}
		hf_main_release(&a);
	}
	free(agent);
	free(id);
	return rc < 0 ? -1 : n >= c->max_chain;
}

/* ---- all of it ---- */

static int
collect(struct hf_store *st, const struct hf_config *c,
    const struct hf_doc *d, const struct hf_main *m, struct blockers *b,
    struct hf_err *err)
{
	struct hf_buf line = HF_BUF_INIT;
	int64_t seq = -1;
	int rc;

	if (!hf_json_int(hf_json_at(hf_doc_get(d, "metrics"),
	    "revision.seq"), &seq))
		seq = -1;
	if (hf_main_busy(st, m))
		block(b, "attempt-in-progress");
	if ((rc = cooldown(st, m, seq, err)) < 0)
		return -1;
	if (rc > 0)
		block(b, "cooldown");
	if ((rc = chain_is_long(st, c, m, err)) < 0)
		return -1;
	if (rc > 0)
		block(b, "chain-limit");
	hf_doc_line(d, &line);
	rc = hf_hook_blockers(hf_buf_view(&line), b->line, &b->n, BLOCKERS,
	    err);
	hf_buf_release(&line);
	return rc;
}

static void
set_main(struct hf_doc *d, const struct hf_main *m,
    const struct blockers *b)
{
	struct hf_jtree *t = hf_doc_tree(d);
	struct hf_jnode *o = hf_main_to_json(t, m), *a = hf_jtree_arr(t);

	hf_jset_bool(t, o, "registered", m->stored);
	for (size_t i = 0; i < b->n; i++)
		hf_jpush_str(t, a, hf_str(b->line[i]));
	hf_jset(t, o, "blockers", a);
	hf_doc_set(d, "main", o);
}

int
hf_join(struct hf_store *st, const struct hf_config *c, struct hf_doc *d,
    struct hf_err *err)
{
	const struct hf_jval *s = hf_doc_get(d, "session");
	struct hf_str agent = hf_json_get_str(s, "agent");
	struct hf_str id = hf_json_get_str(s, "id");
	struct blockers b = { { NULL }, 0 };
	struct hf_main m;
	char *a, *i;
	int rc;

	if (agent.n == 0 || id.n == 0)
		return hf_err_set(err, HF_E_MISSING, "the document names no "
		    "session with its agent and id: hf-metrics does");
	a = hf_strndup(agent.s, agent.n);
	i = hf_strndup(id.s, id.n);
	rc = hf_main_load(st, a, i, &m, err);
	if (rc >= 0)
		rc = collect(st, c, d, &m, &b, err);
	if (rc >= 0)
		set_main(d, &m, &b);
	hf_main_release(&m);
	while (b.n > 0)
		free(b.line[--b.n]);
	free(a);
	free(i);
	return rc < 0 ? -1 : 0;
}
