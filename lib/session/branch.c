#include "session/branch.h"

/* Does a row descend from the one that names the leaf? */
enum { MARK_NONE, MARK_YES, MARK_NO, MARK_PATH, MARK_LOST };
/* Calls of one message that are looked over. */
enum { RESULTS_MAX = 64 };

static uint32_t
parent(const struct hf_fold *f, uint32_t i)
{
	const struct hf_node *n = hf_fold_node(f, i);
	uint32_t up = HF_NONE;

	if (n->link == HF_LINK_ID) {
		up = hf_fold_find(f, f->orphan[n->up]);
		/* It may be among what a cursor left out. */
		if (up == HF_NONE && f->based)
			up = HF_NODE_OLD;
	} else if (n->link == HF_LINK_INDEX)
		up = n->up;
	return up != i ? up : HF_NONE;
}

/*
 * Marks the rows from i upwards, to the first that is known. Each row is
 * marked once over all calls, which keeps the search linear; one that is
 * met again on its own way is a cycle and descends from nothing.
 */
static bool
descends(struct hf_fold *f, uint32_t from)
{
	uint32_t i;
	unsigned mark;

	for (i = from; i != HF_NONE; i = parent(f, i)) {
		if (hf_fold_node(f, i)->mark != MARK_NONE)
			break;
		hf_fold_node(f, i)->mark = MARK_PATH;
	}
	mark = i != HF_NONE && hf_fold_node(f, i)->mark == MARK_YES ?
	    MARK_YES : MARK_NO;
	if (i != HF_NONE && hf_fold_node(f, i)->mark == MARK_LOST)
		f->lost = true;
	for (i = from; i != HF_NONE; i = parent(f, i)) {
		if (hf_fold_node(f, i)->mark != MARK_PATH)
			break;
		hf_fold_node(f, i)->mark = mark & 7;
	}
	return mark == MARK_YES;
}

/* The node that the hint names, as far as it is known. */
static uint32_t
hint_node(struct hf_fold *f)
{
	bool same = f->hint == f->old_hint;
	uint32_t x = same && f->hint_old ? HF_NODE_BASE :
	    hf_fold_find(f, f->hint);

	if (f->based && x == HF_NONE && !(same && f->hint_none))
		f->lost = true;
	return x;
}

/*
 * The newest row that descends from the hint, itself if none does. When that
 * was left out, rows that come from elsewhere may or may not.
 */
static uint32_t
hinted(struct hf_fold *f)
{
	uint32_t x = hint_node(f), i;

	if (x == HF_NONE || !hf_fold_main(f, hf_fold_node(f, x)->flags))
		return HF_NONE;
	hf_fold_node(f, x)->mark = MARK_YES;
	if (f->based && x == HF_NODE_BASE)
		hf_fold_node(f, HF_NODE_OLD)->mark = MARK_LOST;
	for (i = f->nnodes; i-- > 0; ) {
		if (!hf_fold_main(f, hf_fold_node(f, i)->flags))
			continue;
		if (descends(f, i) || f->lost)
			return i;
	}
	return x;
}

/* Does the message of a call go on at node i, or behind some results
 * there? */
static bool
goes_on(const struct hf_fold *f, uint32_t call, uint32_t i)
{
	int most = RESULTS_MAX;

	while (i != HF_NONE && hf_fold_node(f, i)->kind == HF_ROW_RESULT &&
	    most-- > 0)
		i = hf_branch_next(f, i);
	return i != HF_NONE && hf_fold_node(f, i)->kind == HF_ROW_ASSISTANT &&
	    hf_fold_node(f, i)->call == call;
}

/*
 * Of several calls at once each has its result as a child of its own row,
 * and only one of these leads on. The others are part of the branch all the
 * same: each goes in behind the row that it answers.
 */
static void
side_results(struct hf_fold *f, struct hf_branch *b)
{
	struct hf_node *n, *up;
	uint32_t i, p, next;

	for (i = f->nnodes; i-- > 0; ) {
		n = hf_fold_node(f, i);
		if (n->kind != HF_ROW_RESULT || n->link == HF_LINK_DOWN ||
		    !hf_fold_main(f, n->flags))
			continue;
		p = parent(f, i);
		if (p == HF_NONE)
			continue;
		up = hf_fold_node(f, p);
		next = hf_branch_next(f, p);
		if (up->kind != HF_ROW_ASSISTANT || up->call == HF_NONE ||
		    next == HF_NONE || !goes_on(f, up->call, next))
			continue;
		n->link = HF_LINK_DOWN;
		n->up = next;
		up->up = i;
		b->n++;
	}
}

void
hf_branch_find(struct hf_fold *f, struct hf_branch *b)
{
	struct hf_node *n;
	uint32_t i, up, below = HF_NONE;

	b->leaf = HF_NONE;
	if (f->session->agent->leaf == HF_LEAF_HINT && f->hint != 0)
		b->leaf = hinted(f);
	if (b->leaf == HF_NONE)
		b->leaf = f->session->subagent ? f->leaf : f->leaf_main;
	for (i = 0; i < f->nnodes; i++)
		hf_fold_node(f, i)->mark = MARK_NONE;
	b->first = HF_NONE;
	b->n = 0;
	for (i = b->leaf; i != HF_NONE; i = up) {
		n = hf_fold_node(f, i);
		if (n->mark == MARK_PATH)
			break;
		up = parent(f, i);
		n->mark = MARK_PATH;
		n->link = HF_LINK_DOWN;
		n->up = below;
		b->first = below = i;
		b->n++;
	}
	side_results(f, b);
}

uint32_t
hf_branch_next(const struct hf_fold *f, uint32_t i)
{
	const struct hf_node *n = hf_fold_node(f, i);

	return n->link == HF_LINK_DOWN ? n->up : HF_NONE;
}
