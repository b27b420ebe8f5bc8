#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "json/num.h"
#include "session/fold.h"

enum { FUTURE_MS = 5 * 60 * 1000 };

void
hf_fold_init(struct hf_fold *f, struct hf_session *s,
    const struct hf_source *src)
{
	memset(f, 0, sizeof(*f));
	f->session = s;
	f->src = src;
	f->now = hf_clock_now();
	f->last = f->last_main = f->leaf = f->leaf_main = HF_NONE;
	f->time = f->prompted = -1;
}

void
hf_fold_release(struct hf_fold *f)
{
	for (size_t i = 0; i < f->nblocks; i++)
		free(f->block[i]);
	free(f->block);
	free(f->by_id.slot);
	for (size_t i = 0; i < f->ncall_blocks; i++)
		free(f->calls[i]);
	free(f->calls);
	free(f->wide);
	free(f->orphan);
	free(f->by_call.slot);
	free(f->kept);
	free(f->known.v);
	free(f->await);
	memset(f, 0, sizeof(*f));
}

bool
hf_fold_main(const struct hf_fold *f, unsigned flags)
{
	return !(flags & HF_ROW_SIDECHAIN) || f->session->subagent;
}

/* 0 is kept for "none". */
static uint64_t
hash_of(struct hf_str a)
{
	uint64_t h;

	if (a.n == 0)
		return 0;
	h = hf_hash(a);
	return h != 0 ? h : 1;
}

static void
usage_add(struct hf_usage *to, const struct hf_usage *u)
{
	to->input = hf_num_plus(to->input, u->input);
	to->cache_read = hf_num_plus(to->cache_read, u->cache_read);
	to->cache_write = hf_num_plus(to->cache_write, u->cache_write);
	to->output = hf_num_plus(to->output, u->output);
}

/* ---- numbers in 32 bits ---- */

#define WIDE	0x80000000u		/* then the place in f->wide */
#define NO_CONTEXT	UINT32_MAX

static void
append(uint64_t **list, uint32_t *n, size_t *cap, uint64_t v)
{
	if (*n == *cap) {
		*cap = *cap == 0 ? 16 : *cap * 2;
		*list = hf_reallocarray(*list, *cap, sizeof(**list));
	}
	(*list)[(*n)++] = v;
}

static uint32_t
narrow(struct hf_fold *f, int64_t v)
{
	if (v < (int64_t)WIDE)
		return v < 0 ? 0 : (uint32_t)v;
	if (f->nwide == WIDE - 2)
		return WIDE - 1;
	append(&f->wide, &f->nwide, &f->wide_cap, (uint64_t)v);
	return WIDE | (f->nwide - 1);
}

static int64_t
widen(const struct hf_fold *f, uint32_t v)
{
	return v & WIDE ? (int64_t)f->wide[v & ~WIDE] : v;
}

uint32_t
hf_fold_narrow(struct hf_fold *f, int64_t v)
{
	return v < 0 ? NO_CONTEXT : narrow(f, v);
}

int64_t
hf_fold_context(const struct hf_fold *f, const struct hf_node *n)
{
	return n->context == NO_CONTEXT ? -1 : widen(f, n->context);
}

/* ---- hash tables ---- */

static uint64_t
node_key(const struct hf_fold *f, uint32_t i)
{
	return hf_fold_node(f, i)->id;
}

static uint64_t
call_key(const struct hf_fold *f, uint32_t i)
{
	return hf_fold_call(f, i)->call;
}

static size_t
first_slot(const struct hf_slots *t, uint32_t half)
{
	return (size_t)((uint64_t)half * t->cap >> 32);
}

static size_t
next_slot(const struct hf_slots *t, size_t i)
{
	return i + 1 < t->cap ? i + 1 : 0;
}

/* The slot where key is, or the free one where it belongs; the table has a
 * free one. */
static struct hf_slot *
probe(const struct hf_fold *f, const struct hf_slots *t, uint64_t key,
    uint64_t (*key_of)(const struct hf_fold *, uint32_t))
{
	uint32_t half = (uint32_t)key;
	size_t i = first_slot(t, half);

	while (t->slot[i].index != 0 && (t->slot[i].half != half ||
	    key_of(f, t->slot[i].index - 1) != key))
		i = next_slot(t, i);
	return &t->slot[i];
}

static uint32_t
lookup(const struct hf_fold *f, const struct hf_slots *t, uint64_t key,
    uint64_t (*key_of)(const struct hf_fold *, uint32_t))
{
	const struct hf_slot *at;

	if (t->cap == 0 || key == 0)
		return HF_NONE;
	at = probe(f, t, key, key_of);
	return at->index != 0 ? at->index - 1 : HF_NONE;
}

/* Makes room for one more. */
static void
grow(struct hf_slots *t)
{
	struct hf_slots old = *t;
	size_t i, k;

	if (t->used + 1 <= t->cap / 16 * 13)
		return;
	/* Small ones double. */
	t->cap = t->cap == 0 ? 1024 : t->cap < 65536 ? t->cap * 2 :
	    t->cap + t->cap / 4;
	t->slot = hf_calloc(t->cap, sizeof(*t->slot));
	for (k = 0; k < old.cap; k++) {
		if (old.slot[k].index == 0)
			continue;
		i = first_slot(t, old.slot[k].half);
		while (t->slot[i].index != 0)
			i = next_slot(t, i);
		t->slot[i] = old.slot[k];
	}
	free(old.slot);
}

/* Puts index under key, at the slot that probe gave. */
static void
put(struct hf_slots *t, struct hf_slot *at, uint64_t key, uint32_t index)
{
	if (at->index == 0)
		t->used++;
	at->index = index + 1;
	at->half = (uint32_t)key;
}

uint32_t
hf_fold_find(const struct hf_fold *f, uint64_t id)
{
	return lookup(f, &f->by_id, id, node_key);
}

/* ---- what a cursor left out ---- */

bool
hf_known_has(const struct hf_known *k, uint64_t hash)
{
	uint32_t want = (uint32_t)(hash >> (64 - HF_KNOWN_BITS));
	uint32_t from = 0, to = k->n, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (k->v[mid] == want)
			return true;
		if (k->v[mid] < want)
			from = mid + 1;
		else
			to = mid;
	}
	return false;
}

void
hf_fold_await(struct hf_fold *f, uint64_t id)
{
	append(&f->await, &f->nawait, &f->await_cap, id);
}

void
hf_fold_put_orphan(struct hf_fold *f, uint64_t id)
{
	append(&f->orphan, &f->norphans, &f->orphan_cap, id);
}

/* An id that this fold has not seen: may it be one that was left out, or
 * one that a row there waits for? */
static void
unseen_id(struct hf_fold *f, const struct hf_row *row, uint64_t id)
{
	if (hf_known_has(&f->known, id) ||
	    (f->known.full && (row->flags & HF_ROW_REPLACES)))
		f->lost = true;
	for (uint32_t i = 0; i < f->nawait; i++)
		if (f->await[i] == id)
			f->lost = true;
}

/* The same of a call. Only side questions show one again that is long
 * over. */
static void
unseen_call(struct hf_fold *f, const struct hf_row *row, uint64_t call)
{
	if (hf_known_has(&f->known, call) ||
	    (f->known.full && (row->flags & HF_ROW_SIDECHAIN)))
		f->lost = true;
}

/* ---- calls ---- */

/*
 * The known call that a row shows again: the same id and request; the id
 * alone where either is a sidechain's, since side questions replay the
 * messages of their parent under request ids of their own (M2).
 */
static uint32_t
call_find(const struct hf_fold *f, const struct hf_row *row, uint64_t call,
    uint64_t request)
{
	uint32_t head = lookup(f, &f->by_call, call, call_key), i;

	if (row->flags & HF_ROW_SIDECHAIN)
		return head;
	for (i = head; i != HF_NONE; i = hf_fold_call(f, i)->next)
		if (hf_fold_call(f, i)->request == (request & HF_REQUEST_MASK))
			return i;
	for (i = head; i != HF_NONE; i = hf_fold_call(f, i)->next)
		if (hf_fold_call(f, i)->side)
			return i;
	return HF_NONE;
}

static void
set_usage(struct hf_fold *f, struct hf_call *c, const struct hf_usage *u)
{
	c->input = narrow(f, u->input);
	c->cache_read = narrow(f, u->cache_read);
	c->cache_write = narrow(f, u->cache_write);
	c->output = narrow(f, u->output);
}

static struct hf_call *
call_room(struct hf_fold *f)
{
	if (f->ncalls == f->ncall_blocks * HF_CALL_BLOCK) {
		f->calls = hf_reallocarray(f->calls, f->ncall_blocks + 1,
		    sizeof(struct hf_call *));
		f->calls[f->ncall_blocks++] = hf_calloc(HF_CALL_BLOCK,
		    sizeof(struct hf_call));
	}
	return hf_fold_call(f, f->ncalls);
}

static uint32_t
call_add(struct hf_fold *f, const struct hf_call *new)
{
	struct hf_slot *at;
	struct hf_call *c, *head;

	if (f->ncalls == HF_NONE - 2)
		return HF_NONE;
	grow(&f->by_call);
	at = probe(f, &f->by_call, new->call, call_key);
	c = call_room(f);
	*c = *new;
	c->next = HF_NONE;
	if (at->index == 0) {
		put(&f->by_call, at, new->call, f->ncalls);
	} else {
		head = hf_fold_call(f, at->index - 1);
		c->next = head->next;
		head->next = f->ncalls;
	}
	return f->ncalls++;
}

static uint32_t
call_new(struct hf_fold *f, const struct hf_row *row, uint64_t call,
    uint64_t request)
{
	struct hf_call c = { .call = call, .request = request & HF_REQUEST_MASK,
	    .best = HF_NONE };

	unseen_call(f, row, call);
	set_usage(f, &c, &row->usage);
	c.inherited = (row->flags & HF_ROW_INHERITED) != 0;
	c.side = (row->flags & HF_ROW_SIDECHAIN) != 0;
	return call_add(f, &c);
}

uint32_t
hf_fold_put_call(struct hf_fold *f, const struct hf_call *c,
    const struct hf_usage *u, int64_t best_output)
{
	struct hf_call new = *c;

	set_usage(f, &new, u);
	new.best_output = narrow(f, best_output);
	return call_add(f, &new);
}

struct hf_usage
hf_fold_usage(const struct hf_fold *f, const struct hf_call *c,
    int64_t *best_output)
{
	if (best_output != NULL)
		*best_output = widen(f, c->best_output);
	return (struct hf_usage){ widen(f, c->input),
	    widen(f, c->cache_read), widen(f, c->cache_write),
	    widen(f, c->output) };
}

void
hf_fold_spent(struct hf_fold *f, const struct hf_usage *u, int64_t calls)
{
	usage_add(&f->extra, u);
	f->extra_calls = hf_num_plus(f->extra_calls, calls);
}

/*
 * Counts what a row spent, once a call; of several rows the fullest one,
 * in doubt the later (M1). Gives the call, or HF_NONE. An error that was
 * charged for is spent; one without usage is no call (M5).
 */
static uint32_t
spend(struct hf_fold *f, const struct hf_row *row)
{
	uint64_t call = hash_of(row->call), request = hash_of(row->request);
	bool spent = !(row->flags & (HF_ROW_INHERITED | HF_ROW_KEPT));
	uint32_t i;
	struct hf_call *c;

	if (call == 0 || (row->flags & HF_ROW_GROWTH)) {
		if (row->has_usage && spent) {
			usage_add(&f->extra, &row->usage);
			f->extra_calls++;
		}
		return HF_NONE;
	}
	if (row->flags & HF_ROW_SYNTHETIC)
		return HF_NONE;
	if ((i = call_find(f, row, call, request)) != HF_NONE) {
		f->duplicates++;
		c = hf_fold_call(f, i);
		c->side = c->side || (row->flags & HF_ROW_SIDECHAIN);
		if (row->has_usage &&
		    row->usage.output >= widen(f, c->output))
			set_usage(f, c, &row->usage);
		return i;
	}
	if ((row->flags & HF_ROW_KEPT) ||
	    (!row->has_usage && ((row->flags & HF_ROW_ERROR) ||
	    row->kind != HF_ROW_ASSISTANT)))
		return HF_NONE;
	return call_new(f, row, call, request);
}

/* Is node i, which shows call c, the fullest of its rows? */
static void
call_best(struct hf_fold *f, uint32_t c, uint32_t i, const struct hf_row *row)
{
	struct hf_call *call = hf_fold_call(f, c);
	bool main = !(row->flags & HF_ROW_SIDECHAIN), best_main;

	if (row->context <= 0 || (row->flags & (HF_ROW_ERROR | HF_ROW_KEPT)))
		return;
	best_main = call->best != HF_NONE &&
	    !(hf_fold_node(f, call->best)->flags & HF_ROW_SIDECHAIN);
	if (best_main && !main)
		return;
	if (call->best == HF_NONE || best_main != main ||
	    row->usage.output >= widen(f, call->best_output)) {
		call->best = i;
		call->best_output = narrow(f, row->usage.output);
	}
}

void
hf_fold_total(const struct hf_fold *f, struct hf_usage *total, int64_t *calls)
{
	const struct hf_call *c;
	struct hf_usage u;

	*total = f->extra;
	*calls = f->extra_calls;
	for (uint32_t i = 0; i < f->ncalls; i++) {
		c = hf_fold_call(f, i);
		if (c->inherited)
			continue;
		u = hf_fold_usage(f, c, NULL);
		usage_add(total, &u);
		++*calls;
	}
}

/* ---- nodes ---- */

static uint32_t
node_new(struct hf_fold *f)
{
	if (f->nnodes == HF_NONE - 1)
		return HF_NONE;
	if (f->nnodes == f->nblocks * HF_NODE_BLOCK) {
		f->block = hf_reallocarray(f->block, f->nblocks + 1,
		    sizeof(struct hf_node *));
		f->block[f->nblocks++] = hf_calloc(HF_NODE_BLOCK,
		    sizeof(struct hf_node));
	}
	return f->nnodes++;
}

static uint32_t
keep(struct hf_fold *f, struct hf_str id)
{
	if (id.n == 0)
		return HF_NONE;
	append(&f->kept, &f->nkept, &f->kept_cap, hash_of(id));
	return f->nkept - 1;
}

static void
link_to(struct hf_node *n, uint32_t up)
{
	n->link = up == HF_NONE ? HF_LINK_ROOT : HF_LINK_INDEX;
	n->up = up;
}

/* Puts n in the place of the row that has an id, and so that one and what
 * is behind it off the branch. */
static void
link_before(struct hf_fold *f, struct hf_node *n, struct hf_str id)
{
	uint32_t i = hf_fold_find(f, hash_of(id));

	link_to(n, HF_NONE);
	if (f->based && (i == HF_NONE || i == HF_NODE_BASE))
		f->lost = true;
	if (i == HF_NONE)
		return;
	n->link = hf_fold_node(f, i)->link;
	n->up = hf_fold_node(f, i)->up;
}

/* Mostly the parent is the row before, else one that is known; one that
 * comes later, or never, is looked for at the end. */
static void
link_id(struct hf_fold *f, struct hf_node *n, uint64_t id)
{
	uint32_t i = HF_NONE;

	if (f->last != HF_NONE && hf_fold_node(f, f->last)->id == id)
		i = f->last;
	if (i != HF_NONE) {
		link_to(n, i);
		return;
	}
	append(&f->orphan, &f->norphans, &f->orphan_cap, id);
	n->link = HF_LINK_ID;
	n->up = f->norphans - 1;
}

/* The row's parent, as it is known so far. same: the node of an earlier
 * item of this record with the same id, or HF_NONE. */
static void
set_parent(struct hf_fold *f, struct hf_node *n,
    const struct hf_row *row, uint32_t same)
{
	if (same != HF_NONE) {
		link_to(n, same);
	} else if (row->parent == HF_PARENT_PREV) {
		link_to(n, row->flags & HF_ROW_SIDECHAIN ? f->last :
		    f->last_main);
	} else if (row->parent == HF_PARENT_ID && row->parent_id.n > 0) {
		link_id(f, n, hash_of(row->parent_id));
	} else if (row->parent == HF_PARENT_BEFORE) {
		link_before(f, n, row->parent_id);
	} else {
		link_to(n, HF_NONE);
	}
}

static void
fill(struct hf_fold *f, struct hf_node *n, const struct hf_row *row,
    uint32_t call)
{
	n->off = row->ref.off;
	n->len = row->ref.len;
	n->part = (uint8_t)row->ref.part;
	n->item = (uint16_t)row->ref.item;
	n->kind = (uint8_t)row->kind;
	n->turn = (uint8_t)row->turn;
	n->flags = (uint16_t)row->flags;
	n->context = row->context < 0 ? NO_CONTEXT :
	    narrow(f, row->context);
	n->call = row->kind == HF_ROW_COMPACTION ? keep(f, row->kept) : call;
}

/* A later form of an answer may leave out what it spent: that holds. */
static void
refill(struct hf_fold *f, struct hf_node *n, const struct hf_row *row,
    uint32_t call)
{
	struct hf_node old = *n;

	fill(f, n, row, call);
	if (old.kind != HF_ROW_ASSISTANT || n->kind != HF_ROW_ASSISTANT ||
	    n->context != NO_CONTEXT || (n->flags & HF_ROW_ERROR))
		return;
	n->context = old.context;
	n->call = old.call;
}

/*
 * Gives the row its node. A row whose id is known takes the place of the
 * one that had it (files that are updated in place, rows written twice),
 * unless a new list began since, or both are parts of one record: then
 * they follow each other, and children belong to the last.
 */
static uint32_t
place(struct hf_fold *f, const struct hf_row *row, uint32_t call)
{
	uint64_t id = hash_of(row->id);
	uint32_t i = HF_NONE, same = HF_NONE;
	struct hf_slot *at = NULL;
	struct hf_node *n;

	if (id != 0) {
		grow(&f->by_id);
		at = probe(f, &f->by_id, id, node_key);
	}
	if (at != NULL && at->index != 0) {
		i = at->index - 1;
		n = hf_fold_node(f, i);
		if (f->based && i == HF_NODE_BASE)
			f->lost = true;
		if (n->off == row->ref.off && n->part == row->ref.part) {
			same = i;
			i = HF_NONE;
		} else if (i < f->list) {
			i = HF_NONE;
		}
	}
	if (i != HF_NONE) {
		n = hf_fold_node(f, i);
		if (row->parent == HF_PARENT_ID)
			set_parent(f, n, row, HF_NONE);
		refill(f, n, row, call);
		return i;
	}
	if (id != 0 && at->index == 0)
		unseen_id(f, row, id);
	if ((i = node_new(f)) == HF_NONE)
		return HF_NONE;
	n = hf_fold_node(f, i);
	n->id = id;
	set_parent(f, n, row, same);
	fill(f, n, row, call);
	if (at != NULL)
		put(&f->by_id, at, id, i);
	return i;
}

uint32_t
hf_fold_put_node(struct hf_fold *f, const struct hf_node *node)
{
	uint32_t i = node_new(f);
	struct hf_slot *at;

	if (i == HF_NONE)
		return HF_NONE;
	*hf_fold_node(f, i) = *node;
	if (node->id == 0)
		return i;
	grow(&f->by_id);
	at = probe(f, &f->by_id, node->id, node_key);
	put(&f->by_id, at, node->id, i);
	return i;
}

/* ---- one record ---- */

void
hf_fold_begin(struct hf_fold *f, const struct hf_record *rec)
{
	f->ref = rec->ref;
	f->seen = 0;
	f->means = false;
}

/* A context above the window that is assumed proves a larger one, but only
 * for the model that it was measured with. */
static void
measure_peak(struct hf_fold *f, const struct hf_row *row)
{
	uint64_t model;

	if (row->context <= 0 || row->kind == HF_ROW_COMPACTION ||
	    (row->flags & (HF_ROW_ERROR | HF_ROW_KEPT)) ||
	    !hf_fold_main(f, row->flags))
		return;
	model = hash_of(hf_str(f->session->model));
	if (model != f->peak_model) {
		f->peak_model = model;
		f->peak = 0;
	}
	if (row->context > f->peak)
		f->peak = row->context;
}

/*
 * A new row is the end of a list, and the leaf. One that took the place of
 * another is the leaf of a tree, where the last row of the file names it,
 * but changes nothing in a list.
 */
static void
set_last(struct hf_fold *f, const struct hf_row *row, uint32_t i)
{
	bool main = !(row->flags & HF_ROW_SIDECHAIN);

	if (f->last == HF_NONE || i > f->last)
		f->last = i;
	if (main && (f->last_main == HF_NONE || i > f->last_main))
		f->last_main = i;
	if (i != f->last && row->parent != HF_PARENT_ID)
		return;
	f->leaf = i;
	if (main)
		f->leaf_main = i;
}

static void
queue(struct hf_fold *f, int n)
{
	if (n == INT_MIN)
		f->queue = 0;
	else if ((f->queue = hf_num_plus(f->queue, n)) < 0)
		f->queue = 0;
}

/* What a row says beside its place in the chain. */
static void
note(struct hf_fold *f, const struct hf_row *row)
{
	bool kept = (row->flags & HF_ROW_KEPT) != 0;

	if ((row->kind != HF_ROW_OTHER && row->kind != HF_ROW_INJECTED &&
	    row->kind != HF_ROW_LIST && !kept) ||
	    row->parent == HF_PARENT_BEFORE)
		f->means = true;
	f->seen |= row->flags & (HF_ROW_SIDECHAIN | HF_ROW_INHERITED);
	if (!kept)
		f->seen |= row->flags & HF_ROW_ERROR;
	if (row->time > f->time && row->time <= f->now + FUTURE_MS)
		f->time = row->time;
	if (row->kind == HF_ROW_PROMPT && !kept && row->time >= 0 &&
	    row->time <= f->now + FUTURE_MS && hf_fold_main(f, row->flags))
		f->prompted = row->time;
	if (row->window > 0 && hf_fold_main(f, row->flags))
		f->window = row->window;
	if (row->kind == HF_ROW_QUEUED && !(row->flags & HF_ROW_INHERITED))
		queue(f, row->queue);
}

/*
 * In a list that began anew a row with a known id is repeated: it was
 * counted where it stood first. A later form of it that brings usage has
 * something to say.
 */
static bool
repeated(const struct hf_fold *f, const struct hf_row *row)
{
	uint32_t i;

	if (f->list == 0 || row->id.n == 0 || !(row->flags & HF_ROW_CHAIN))
		return false;
	i = hf_fold_find(f, hash_of(row->id));
	return i != HF_NONE && (i < f->list || (!row->has_usage &&
	    (hf_fold_node(f, i)->flags & HF_ROW_KEPT)));
}

void
hf_fold_row(struct hf_fold *f, const struct hf_row *given)
{
	struct hf_row row = *given;
	uint32_t call, i;

	if (row.flags & HF_ROW_LEAF) {
		f->hint = hash_of(row.id);
		return;
	}
	if (f->src != NULL && row.ref.part < f->src->nparts &&
	    f->src->part[row.ref.part].inherited)
		row.flags |= HF_ROW_INHERITED;
	if (row.kind == HF_ROW_LIST)
		f->list = f->nnodes;
	else if (repeated(f, &row))
		row.flags |= HF_ROW_KEPT;
	note(f, &row);
	measure_peak(f, &row);
	call = spend(f, &row);
	if (!(row.flags & HF_ROW_CHAIN))
		return;
	if ((i = place(f, &row, call)) == HF_NONE)
		return;
	if (call != HF_NONE)
		call_best(f, call, i, &row);
	set_last(f, &row, i);
}

static void
le64(uint8_t *to, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(v >> (8 * i));
}

/* A record that several rows were made of counts once. */
void
hf_fold_end(struct hf_fold *f, const struct hf_record *rec)
{
	struct hf_hash128 h;
	uint8_t both[32];

	if (f->seen & HF_ROW_SIDECHAIN)
		f->sidechain++;
	if (f->seen & HF_ROW_INHERITED)
		f->inherited++;
	if (f->seen & HF_ROW_ERROR)
		f->errors++;
	if (!f->means)
		return;
	h = hf_hash128(rec->raw);
	le64(both, f->chain.lo);
	le64(both + 8, f->chain.hi);
	le64(both + 16, h.lo);
	le64(both + 24, h.hi);
	f->chain = hf_hash128(hf_strn((const char *)both, sizeof(both)));
	f->seq++;
}

void
hf_fold_digest(const struct hf_fold *f, char out[HF_DIGEST_LEN])
{
	uint8_t all[24];

	le64(all, f->chain.lo);
	le64(all + 8, f->chain.hi);
	le64(all + 16, f->seq);
	memcpy(out, "sha256:", 7);
	hf_sha256_hex(hf_strn((const char *)all, sizeof(all)), out + 7);
}

/* ---- all records ---- */

static void
emit(struct hf_scan *sc, const struct hf_row *row)
{
	hf_fold_row(sc->to, row);
}

void
hf_fold_scan_release(struct hf_scan *sc)
{
	free(sc->own);
	hf_arena_clear(&sc->arena);
	memset(sc, 0, sizeof(*sc));
}

/* Nothing recognised is an error, never zeros (M9). */
static int
recognised(const struct hf_fold *f, const struct hf_scan *sc,
    const struct hf_source *src, struct hf_err *err)
{
	const char *path = f->session->path != NULL ? f->session->path :
	    "standard input";

	if (sc->unsupported)
		return hf_err_set(err, HF_E_UNSUPPORTED, "'%s' is of a later "
		    "version of %s's format", path, f->session->agent->label);
	if (sc->recognised)
		return 0;
	if (src->rows == 0 && src->bad == 0 && !src->torn)
		return hf_err_set(err, HF_E_EMPTY, "'%s' is empty", path);
	return hf_err_set(err, HF_E_NOT_A_SESSION,
	    "'%s' holds no row of a %s session", path,
	    f->session->agent->label);
}

void
hf_fold_scan_init(struct hf_fold *f, struct hf_scan *sc)
{
	memset(sc, 0, sizeof(*sc));
	hf_arena_init(&sc->arena);
	sc->session = f->session;
	sc->own = hf_calloc(1, f->session->agent->own_size);
	sc->emit = emit;
	sc->to = f;
}

int
hf_fold_run(struct hf_fold *f, struct hf_scan *sc, struct hf_source *src,
    struct hf_err *err)
{
	const struct hf_agent *agent = f->session->agent;
	struct hf_record rec;
	int rc = 0;

	while (!f->lost && (rc = hf_source_next(src, &rec, err)) > 0) {
		hf_fold_begin(f, &rec);
		agent->row(sc, &rec);
		hf_fold_end(f, &rec);
	}
	if (f->lost)
		return 0;
	return rc < 0 ? -1 : recognised(f, sc, src, err);
}
