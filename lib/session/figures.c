#include <string.h>

#include "session/figures.h"

/* Where the walk is. */
struct walk {
	struct hf_fold *f;
	struct hf_figures *g;
	uint32_t i;		/* the node */
	size_t place;		/* on the branch */
	uint32_t kept;		/* of the last compaction, in the kept ids */
	size_t reset;		/* place of the last reset */
	uint32_t anchor;	/* as in struct hf_figures_at */
	enum hf_row_kind before;	/* kind of the row before that says
					 * something */
	bool ack;		/* the seed's acknowledgement was seen */
};

static void
void_context(struct hf_figures *g)
{
	g->context = -1;
	g->from = "none";
}

static void
no_group(struct hf_figures *g)
{
	g->group = HF_NONE;
	g->group_call = HF_NONE;
}

/* ---- the kinds of rows ---- */

/*
 * After a full compaction the usage before it is stale: what the
 * compaction itself recorded holds until a newer reply, else nothing (M4,
 * M15, T5).
 */
static void
compaction(struct walk *w, const struct hf_node *n)
{
	struct hf_figures *g = w->g;

	g->compactions++;
	g->visible = w->place;
	g->estimate = w->anchor = HF_NONE;
	w->kept = n->call;
	no_group(g);
	if (n->flags & HF_ROW_KEEPS_CONTEXT) {
		if (g->context > 0)
			g->from = "compaction";
	} else if (hf_fold_context(w->f, n) > 0) {
		g->context = hf_fold_context(w->f, n);
		g->from = "compaction";
	} else {
		void_context(g);
	}
}

/* Nothing before it is part of the conversation any more. */
static void
reset(struct walk *w)
{
	struct hf_figures *g = w->g;

	g->turns = g->compactions = g->micro = g->messages = 0;
	g->seeded = false;
	g->visible = w->reset = w->place;
	g->estimate = hf_branch_next(w->f, w->i);
	w->anchor = w->i;
	w->kept = HF_NONE;
	no_group(g);
	void_context(g);
}

/* What the model sees begins here. What was counted before stays counted,
 * and the last usage holds: a list is repeated when a session is resumed. */
static void
list(struct walk *w)
{
	w->g->visible = w->place;
	w->kept = HF_NONE;
	no_group(w->g);
}

static void
seed(struct walk *w)
{
	struct hf_figures *g = w->g;

	/* One in the middle is text like any other. */
	if (g->turns > 0 || g->messages > 0)
		return;
	g->seeded = true;
	w->ack = false;
	no_group(g);
}

/* Is it another row of the message at hand? Rows without a call's id are
 * one message as long as nothing stands between them. */
static bool
same_message(const struct walk *w, const struct hf_node *n)
{
	if (n->call != HF_NONE)
		return hf_fold_call(w->f, n->call)->seen;
	return w->before == HF_ROW_ASSISTANT && w->g->group != HF_NONE &&
	    w->g->group_call == HF_NONE;
}

static void
assistant(struct walk *w, const struct hf_node *n)
{
	struct hf_figures *g = w->g;
	bool same = same_message(w, n);

	if (n->flags & (HF_ROW_ERROR | HF_ROW_SYNTHETIC)) {
		/* The acknowledgement that we wrote is one of these. */
		no_group(g);
		w->ack = true;
		return;
	}
	if (n->call != HF_NONE)
		hf_fold_call(w->f, n->call)->seen = true;
	if (g->group == HF_NONE || g->group_call != n->call ||
	    (n->call == HF_NONE && !same)) {
		g->group = w->i;
		g->group_call = n->call;
	}
	if (same)
		return;
	if (g->seeded && !w->ack && g->turns == 0 && g->messages == 0)
		w->ack = true;
	else
		g->messages++;
}

static void
by_kind(struct walk *w, const struct hf_node *n)
{
	struct hf_figures *g = w->g;

	switch ((enum hf_row_kind)n->kind) {
	case HF_ROW_PROMPT:
		g->messages++;
		if (!(n->flags & HF_ROW_INHERITED))
			g->turns++;
		no_group(g);
		break;
	case HF_ROW_SEED:
		seed(w);
		break;
	case HF_ROW_INTERRUPT:
		no_group(g);
		break;
	case HF_ROW_ASSISTANT:
		assistant(w, n);
		break;
	case HF_ROW_COMPACTION:
		compaction(w, n);
		break;
	case HF_ROW_RESET:
		reset(w);
		break;
	case HF_ROW_LIST:
		list(w);
		break;
	case HF_ROW_OTHER:
	case HF_ROW_INJECTED:
	case HF_ROW_RESULT:
	case HF_ROW_SUMMARY:
	case HF_ROW_QUEUED:
		break;
	}
}

/* ---- what every row may say ---- */

/*
 * The context is that of the last call that went well; of the rows that
 * show this call the fullest one counts, wherever it stands (M1, M5).
 */
static void
context(struct walk *w, const struct hf_node *n)
{
	const struct hf_node *best = n;
	struct hf_figures *g = w->g;
	uint32_t i;

	if (hf_fold_context(w->f, n) <= 0 || n->kind == HF_ROW_COMPACTION ||
	    (n->flags & (HF_ROW_ERROR | HF_ROW_KEPT)))
		return;
	if (n->call != HF_NONE &&
	    (i = hf_fold_call(w->f, n->call)->best) != HF_NONE &&
	    hf_fold_main(w->f, hf_fold_node(w->f, i)->flags))
		best = hf_fold_node(w->f, i);
	g->context = hf_fold_context(w->f, best);
	g->from = n->flags & HF_ROW_KEEPS_CONTEXT ? "compaction" : "usage";
	g->estimate = hf_branch_next(w->f, w->i);
	w->anchor = w->i;
}

static void
turn(struct walk *w, const struct hf_node *n)
{
	struct hf_figures *g = w->g;

	switch ((enum hf_turn)n->turn) {
	case HF_TURN_NONE:
		return;
	case HF_TURN_OPEN:
		g->state = HF_STATE_BUSY;
		return;
	case HF_TURN_CLOSED:
		g->state = HF_STATE_IDLE;
		break;
	case HF_TURN_INTERRUPTED:
		g->state = HF_STATE_INTERRUPTED;
		break;
	case HF_TURN_EXIT:
		if (g->state == HF_STATE_BUSY)
			g->state = HF_STATE_INTERRUPTED;
		break;
	}
	/* Its own calls can still be open; those of a turn that another row
	 * ended cannot. */
	if (n->kind != HF_ROW_ASSISTANT)
		no_group(g);
}

static void
row(struct walk *w, const struct hf_node *n)
{
	if (!hf_fold_main(w->f, n->flags))
		return;
	if (n->flags & HF_ROW_MICRO) {
		w->g->micro++;
		return;
	}
	/* What a compaction or a replay repeated says nothing new. */
	if (n->flags & HF_ROW_KEPT)
		return;
	by_kind(w, n);
	context(w, n);
	turn(w, n);
	if (n->kind != HF_ROW_OTHER && n->kind != HF_ROW_INJECTED)
		w->before = (enum hf_row_kind)n->kind;
}

/* The place of the first row that the last compaction kept, if that is on
 * the branch and not behind a reset. */
static void
find_kept(const struct walk *w, const struct hf_branch *b)
{
	uint32_t node, i;
	size_t place = 0;

	w->g->kept = w->g->visible;
	if (w->kept == HF_NONE)
		return;
	node = hf_fold_find(w->f, w->f->kept[w->kept]);
	if (node == HF_NONE || hf_fold_node(w->f, node)->link != HF_LINK_DOWN)
		return;
	for (i = b->first; i != HF_NONE && i != node;
	    i = hf_branch_next(w->f, i))
		place++;
	if (place < w->g->visible && (w->reset == SIZE_MAX ||
	    place > w->reset))
		w->g->kept = place;
}

/* Sets the walk at its start; behind the base, if there is one. */
static void
begin(struct walk *w, const struct hf_branch *b,
    const struct hf_figures_at *base)
{
	struct hf_figures *g = w->g;

	w->kept = HF_NONE;
	w->reset = SIZE_MAX;
	w->before = HF_ROW_OTHER;
	/* Estimates from the first row on have no row that they follow. */
	w->anchor = HF_CALL_OLD;
	w->i = b->first;
	memset(g, 0, sizeof(*g));
	void_context(g);
	no_group(g);
	g->estimate = b->first;
	if (base == NULL)
		return;
	*g = base->g;
	w->anchor = base->anchor;
	w->before = (enum hf_row_kind)base->before;
	w->ack = base->ack;
	w->i = hf_branch_next(w->f, HF_NODE_BASE);
	g->estimate = base->anchor != HF_NONE ? w->i : HF_NONE;
}

static void
keep_state(const struct walk *w, struct hf_figures_at *at)
{
	at->g = *w->g;
	at->anchor = w->anchor;
	at->before = (uint8_t)w->before;
	at->ack = w->ack;
}

void
hf_figures_count(struct hf_fold *f, const struct hf_branch *b,
    const struct hf_figures_at *base, struct hf_figures *g,
    struct hf_figures_at *at, uint32_t from)
{
	struct walk w = { .f = f, .g = g };

	begin(&w, b, base);
	for (uint32_t i = 0; i < f->ncalls; i++)
		hf_fold_call(f, i)->seen = false;
	for (; w.i != HF_NONE; w.i = hf_branch_next(f, w.i)) {
		row(&w, hf_fold_node(f, w.i));
		w.place++;
		if (at != NULL && w.i >= from)
			keep_state(&w, &at[w.i - from]);
	}
	find_kept(&w, b);
}

void
hf_figures_path(const struct hf_fold *f, const struct hf_branch *b,
    const struct hf_figures *g, struct hf_path *path)
{
	const struct hf_node *n;
	struct hf_path_row *to;

	path->row = hf_reallocarray(NULL, b->n, sizeof(*path->row));
	path->n = 0;
	path->visible = g->visible;
	path->kept = g->kept;
	for (uint32_t i = b->first; i != HF_NONE; i = hf_branch_next(f, i)) {
		n = hf_fold_node(f, i);
		to = &path->row[path->n++];
		to->ref = hf_node_ref(n);
		to->kind = n->kind;
		to->flags = n->flags;
	}
}
