#include <stdlib.h>
#include <string.h>

#include "session/trigger.h"

enum { PPM = 1000000 };

/* ---- the threshold ---- */

/* The smallest whole number that is not below capacity · ratio, exactly:
 * tokens are whole, so comparing with it is comparing with the product. */
static int64_t
ratio_of(int64_t capacity, int64_t ppm)
{
	int64_t whole = capacity / PPM, rest = capacity % PPM, product;

	if (__builtin_mul_overflow(whole, ppm, &product) ||
	    __builtin_add_overflow(product, (rest * ppm + PPM - 1) / PPM,
	    &product))
		return INT64_MAX;
	return product;
}

int64_t
hf_trigger_threshold(const struct hf_config *c, const struct hf_metrics *m)
{
	int64_t part;

	if (m->capacity <= 0)
		return c->tokens;
	part = ratio_of(m->capacity, c->ratio_ppm);
	return part < c->tokens ? part : c->tokens;
}

/*
 * Is the figure one that a handoff may be decided by? After a compaction
 * or a seed only a newer real usage is; an estimate of what was never
 * measured is, as long as neither happened (T5).
 */
static bool
fresh(const struct hf_metrics *m)
{
	if (strcmp(m->tokens_from, "usage") == 0)
		return true;
	return strcmp(m->tokens_from, "estimate") == 0 &&
	    m->compactions == 0 && !m->seeded;
}

/* The first criterion that holds (T1). */
static const char *
reason_of(const struct hf_trigger_in *in, int64_t threshold)
{
	const struct hf_config *c = in->config;
	const struct hf_metrics *m = in->metrics;

	if (in->manual || in->main->requested)
		return "manual";
	if (m->turns < c->min_turns)
		return NULL;
	if (c->compactions > 0 && m->compactions >= c->compactions)
		return "repeated-compaction";
	if (fresh(m) && m->tokens >= threshold)
		return "context-pressure";
	return NULL;
}

/* ---- guards ---- */

/* By the clock and not by hand: the two switches and the bounds count. */
static bool
unasked(const struct hf_trigger_in *in)
{
	return in->automatic && !in->manual && !in->main->requested;
}

/* A successor's own seed and its acknowledgement are not counted as
 * messages; one message more is something to hand on. */
static bool
too_short(const struct hf_metrics *m)
{
	return m->seeded ? m->messages < 1 : m->messages < 2;
}

static const char *
guard_of(const struct hf_trigger_in *in)
{
	const struct hf_trigger_main *main = in->main;

	if (main->redirected)
		return "redirected";
	if (in->session->archived)
		return "archived";
	if (in->session->subagent)
		return "subagent";
	if (unasked(in) && !main->registered)
		return "not-registered";
	if (unasked(in) && !(main->enabled && in->config->auto_handoff))
		return "disabled";
	if (in->metrics->state == HF_STATE_BUSY)
		return "busy";
	if (too_short(in->metrics))
		return "too-short";
	return NULL;
}

/* ---- blockers ---- */

static void
block(struct hf_trigger *t, const char *kind, struct hf_str what)
{
	struct hf_buf b = HF_BUF_INIT;

	if (t->nblockers == HF_BLOCKERS_MAX)
		return;
	hf_buf_puts(&b, kind);
	hf_buf_str(&b, what);
	for (size_t i = 0; i < t->nblockers; i++)
		if (strcmp(t->blockers[i], hf_buf_cstr(&b)) == 0) {
			hf_buf_release(&b);
			return;
		}
	t->blockers[t->nblockers++] = hf_buf_steal(&b);
}

/* Modes that a successor can be started in, or begins without. One of the
 * user's own making cannot be carried over unseen. */
static bool
known_permission(struct hf_str mode)
{
	static const char *const known[] = { "default", "acceptEdits", "plan",
		"bypassPermissions", "dontAsk", "auto", "delegate",
		"untrusted", "on-failure", "on-request", "never", "granular",
		"autoEdit", "auto_edit", "yolo" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (hf_str_is(mode, known[i]))
			return true;
	return mode.n == 0;
}

/* A Stop hook lists what goes on behind the agent's back. */
static void
background(struct hf_trigger *t, const struct hf_jval *host)
{
	static const char *const over[] = { "completed", "failed", "killed",
		"stopped", "cancelled", "done", "exited" };
	const struct hf_jval *task;
	struct hf_jiter it;
	struct hf_str id, status;
	bool done;

	hf_json_iter(&it, hf_json_get(host, "background_tasks"));
	while ((task = hf_json_next(&it, NULL)) != NULL) {
		id = hf_json_str(task);
		for (const char *const *k = (const char *const[]){ "id",
		    "task_id", "taskId", "shell_id", NULL };
		    id.n == 0 && *k != NULL; k++)
			id = hf_json_get_str(task, *k);
		status = hf_json_get_str(task, "status");
		done = false;
		for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++)
			done = done || hf_str_is(status, over[i]);
		if (!done)
			block(t, "background-task:", id.n > 0 ? id :
			    HF_STR("unnamed"));
	}
}

/* What bounds only automatic handoffs. */
static bool
is_bound(struct hf_str blocker)
{
	return hf_str_is(blocker, "cooldown") ||
	    hf_str_is(blocker, "chain-limit");
}

static void
blockers_of(const struct hf_trigger_in *in, struct hf_trigger *t)
{
	const struct hf_metrics *m = in->metrics;
	struct hf_str mode = hf_json_get_str(in->host, "permission_mode");

	for (size_t i = 0; i < m->nactivity; i++) {
		if (strcmp(m->activity[i], "queued-input") == 0)
			block(t, "pending-inbox", HF_STR_NONE);
		else
			block(t, "activity:", hf_str(m->activity[i]));
	}
	for (size_t i = 0; i < m->nowned; i++)
		block(t, "owned-agent:", hf_str(m->owned[i]));
	if (mode.n == 0)
		mode = hf_str(in->session->permission);
	if (unasked(in) && !known_permission(mode))
		block(t, "custom-permissions-require-manual-transfer",
		    HF_STR_NONE);
	background(t, in->host);
	for (size_t i = 0; i < in->main->nblockers; i++)
		if (unasked(in) || !is_bound(in->main->blockers[i]))
			block(t, "", in->main->blockers[i]);
}

void
hf_trigger_decide(const struct hf_trigger_in *in, struct hf_trigger *out)
{
	memset(out, 0, sizeof(*out));
	out->threshold = hf_trigger_threshold(in->config, in->metrics);
	out->headroom = out->threshold - in->metrics->tokens;
	out->reason = reason_of(in, out->threshold);
	out->guard = guard_of(in);
	blockers_of(in, out);
	out->due = out->reason != NULL && out->guard == NULL &&
	    out->nblockers == 0;
}

void
hf_trigger_release(struct hf_trigger *t)
{
	while (t->nblockers > 0)
		free(t->blockers[--t->nblockers]);
}

/* ---- documents ---- */

/* null, false and "" are "no"; a request is an object, or just true. */
static bool
is_set(const struct hf_jval *v)
{
	switch (hf_json_type(v)) {
	case HF_J_OBJ:
	case HF_J_ARR:
		return hf_json_size(v) > 0;
	case HF_J_STR:
		return hf_json_str(v).n > 0;
	case HF_J_BOOL:
		return hf_json_true(v);
	case HF_J_NUM:
	case HF_J_NULL:
	case HF_J_NONE:
		break;
	}
	return false;
}

void
hf_trigger_main_from(const struct hf_jval *main, struct hf_trigger_main *out)
{
	const struct hf_jval *v;
	struct hf_jiter it;

	memset(out, 0, sizeof(*out));
	out->known = main != NULL;
	/* hf-state join says so; a main without a word of it is a stored
	 * one. */
	v = hf_json_get(main, "registered");
	out->registered = hf_json_type(main) == HF_J_OBJ &&
	    (hf_json_type(v) != HF_J_BOOL || hf_json_true(v));
	out->enabled = hf_json_true(hf_json_get(main, "enabled"));
	out->requested = is_set(hf_json_get(main, "requested"));
	out->redirected = is_set(hf_json_get(main, "redirect"));
	hf_json_iter(&it, hf_json_get(main, "blockers"));
	while (out->nblockers < HF_BLOCKERS_MAX &&
	    (v = hf_json_next(&it, NULL)) != NULL)
		if (hf_json_str(v).n > 0)
			out->blockers[out->nblockers++] = hf_json_str(v);
}

void
hf_trigger_to_doc(struct hf_doc *d, const struct hf_trigger *t)
{
	struct hf_jtree *tree = hf_doc_tree(d);
	struct hf_jnode *o = hf_jtree_obj(tree), *a = hf_jtree_arr(tree);

	hf_jset_cstr(tree, o, "reason", t->reason);
	hf_jset_int(tree, o, "threshold", t->threshold);
	hf_jset_int(tree, o, "headroom", t->headroom);
	hf_jset_cstr(tree, o, "guard", t->guard);
	for (size_t i = 0; i < t->nblockers; i++)
		hf_jpush_str(tree, a, hf_str(t->blockers[i]));
	hf_jset(tree, o, "blockers", a);
	hf_jset_bool(tree, o, "due", t->due);
	hf_doc_set(d, "trigger", o);
}
