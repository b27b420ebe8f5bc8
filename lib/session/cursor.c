#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "session/cursor.h"

/* Of the format, and of all that agents keep (hf_scan.own): one higher with
 * each change of either. */
enum { FORMAT = 1 };
enum { ENDS = 4096, SUM = 8, STR_MAX = 1 << 16, TEXT_MAX = 1 << 20 };
enum { WANT = 24, SMALL = 64 };

/* ---- base64 ---- */

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *
encode(struct hf_str a)
{
	char *out = hf_malloc((a.n + 2) / 3 * 4 + 1), *p = out;

	for (size_t i = 0; i < a.n; i += 3) {
		size_t n = a.n - i < 3 ? a.n - i : 3;
		uint32_t v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < n ? (uint8_t)a.s[i + k] : 0);
		for (size_t k = 0; k <= n; k++)
			*p++ = digits[v >> (18 - 6 * k) & 63];
	}
	*p = '\0';
	return out;
}

static bool
decode(struct hf_str a, struct hf_buf *out)
{
	uint8_t value[256];
	uint32_t v = 0;
	unsigned bits = 0;
	char *to;

	memset(value, 64, sizeof(value));
	for (uint8_t i = 0; i < 64; i++)
		value[(uint8_t)digits[i]] = i;
	if (a.n == 0 || a.n > TEXT_MAX || (to = hf_buf_room(out, a.n)) == NULL)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		uint8_t d = value[(uint8_t)a.s[i]];

		if (d == 64)
			return false;
		v = v << 6 | d;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			*to++ = (char)(v >> bits & 255);
			out->len++;
		}
	}
	return true;
}

/* ---- numbers and strings ---- */

static void
put(struct hf_buf *b, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		bytes[n++] = (char)(v | 128);
	bytes[n++] = (char)v;
	hf_buf_add(b, bytes, n);
}

/* Numbers near zero, of either sign, are short. */
static void
put_int(struct hf_buf *b, int64_t v)
{
	put(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void
put_hash(struct hf_buf *b, uint64_t v)
{
	char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(v >> (8 * i));
	hf_buf_add(b, bytes, sizeof(bytes));
}

/* None is not "". */
static void
put_str(struct hf_buf *b, struct hf_str a)
{
	put(b, a.s == NULL ? 0 : a.n + 1);
	if (a.n > 0)
		hf_buf_str(b, a);
}

static uint64_t
get(struct hf_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (c->at == c->bytes.len)
			break;
		byte = (uint8_t)c->bytes.data[c->at++];
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
	c->bad = true;
	return 0;
}

static int64_t
get_int(struct hf_cursor *c)
{
	uint64_t v = get(c);

	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

static uint64_t
get_most(struct hf_cursor *c, uint64_t max)
{
	uint64_t v = get(c);

	if (v <= max)
		return v;
	c->bad = true;
	return 0;
}

static struct hf_str
get_bytes(struct hf_cursor *c, size_t n)
{
	struct hf_str a;

	if (n > c->bytes.len - c->at) {
		c->bad = true;
		return HF_STR_NONE;
	}
	a = hf_strn(c->bytes.data + c->at, n);
	c->at += n;
	return a;
}

static uint64_t
get_hash(struct hf_cursor *c)
{
	struct hf_str a = get_bytes(c, 8);
	uint64_t v = 0;

	for (size_t i = 0; i < a.n; i++)
		v |= (uint64_t)(uint8_t)a.s[i] << (8 * i);
	return v;
}

static struct hf_str
get_str(struct hf_cursor *c)
{
	uint64_t n = get_most(c, STR_MAX);

	return n == 0 ? HF_STR_NONE : get_bytes(c, (size_t)n - 1);
}

static void
get_text(struct hf_cursor *c, char *to, size_t cap)
{
	struct hf_str a = get_str(c);

	if (a.n >= cap || (a.n > 0 && memchr(a.s, '\0', a.n) != NULL)) {
		c->bad = true;
		return;
	}
	if (a.n > 0)
		memcpy(to, a.s, a.n);
	to[a.n] = '\0';
}

static struct hf_hash128
get_hash128(struct hf_cursor *c)
{
	struct hf_hash128 h;

	h.lo = get_hash(c);
	h.hi = get_hash(c);
	return h;
}

static void
put_hash128(struct hf_buf *b, struct hf_hash128 h)
{
	put_hash(b, h.lo);
	put_hash(b, h.hi);
}

/* ---- the session and its figures ---- */

enum { FIELDS = 9 };

static void
fields_of(struct hf_session *s, char **to[FIELDS])
{
	char **const field[FIELDS] = { &s->id, &s->cwd, &s->model, &s->title,
		&s->parent, &s->provider, &s->branch, &s->permission,
		&s->version };

	memcpy(to, field, sizeof(field));
}

static void
put_session(struct hf_buf *b, struct hf_session *s)
{
	char **field[FIELDS];

	put_str(b, hf_str(s->agent->name));
	put(b, s->agent->own_size);
	fields_of(s, field);
	for (size_t i = 0; i < FIELDS; i++)
		put_str(b, hf_str(*field[i]));
	put(b, (uint64_t)s->subagent | (uint64_t)s->archived << 1 |
	    (uint64_t)s->headless << 2 | (uint64_t)s->titled << 3);
	put_int(b, s->prompted);
}

static bool
get_session(struct hf_cursor *c, struct hf_session *s)
{
	struct hf_str name = get_str(c), a[FIELDS];
	const struct hf_agent *agent = s->agent != NULL ? s->agent :
	    hf_agent_by_name(name);
	char **field[FIELDS];
	uint64_t flags;
	int64_t prompted;

	if (agent == NULL || !hf_str_is(name, agent->name) ||
	    get(c) != agent->own_size)
		return false;
	for (size_t i = 0; i < FIELDS; i++) {
		a[i] = get_str(c);
		if (a[i].n > 0 && memchr(a[i].s, '\0', a[i].n) != NULL)
			return false;
	}
	flags = get_most(c, 15);
	prompted = get_int(c);
	if (c->bad)
		return false;
	s->agent = agent;
	fields_of(s, field);
	for (size_t i = 0; i < FIELDS; i++) {
		free(*field[i]);
		*field[i] = a[i].s != NULL ? hf_strndup(a[i].s, a[i].n) :
		    NULL;
	}
	s->subagent = flags & 1;
	s->archived = flags >> 1 & 1;
	s->headless = flags >> 2 & 1;
	s->titled = flags >> 3 & 1;
	s->prompted = prompted;
	return true;
}

static const char *const from_names[] = { "usage", "compaction", "estimate",
	"none" };
enum { FROM_NONE = 3 };

static void
put_from(struct hf_buf *b, const char *from)
{
	uint64_t i = 0;

	while (i < FROM_NONE && strcmp(from, from_names[i]) != 0)
		i++;
	put(b, i);
}

static void
put_usage(struct hf_buf *b, const struct hf_usage *u)
{
	put_int(b, u->input);
	put_int(b, u->cache_read);
	put_int(b, u->cache_write);
	put_int(b, u->output);
}

static struct hf_usage
get_usage(struct hf_cursor *c)
{
	struct hf_usage u;

	u.input = get_int(c);
	u.cache_read = get_int(c);
	u.cache_write = get_int(c);
	u.output = get_int(c);
	return u;
}

static void
put_open(struct hf_buf *b, const struct hf_activity *o)
{
	put(b, o->state);
	put(b, o->torn);
	put(b, o->n);
	for (size_t i = 0; i < o->n; i++)
		put_str(b, hf_strn(o->tool[i], strnlen(o->tool[i],
		    STR_MAX / 2)));
}

static void
get_open(struct hf_cursor *c)
{
	struct hf_activity *o = &c->open;
	struct hf_str a;
	uint64_t n;

	o->state = (enum hf_state)get_most(c, HF_STATE_INTERRUPTED);
	o->torn = get_most(c, 1) != 0;
	n = get_most(c, HF_ACTIVITY_MAX);
	while (n-- > 0) {
		a = get_str(c);
		o->tool[o->n++] = hf_strndup(a.n > 0 ? a.s : "", a.n);
	}
}

static void
put_metrics(struct hf_buf *b, const struct hf_cursor_in *in)
{
	const struct hf_metrics *m = in->m;

	put(b, m->calls < 0 ? 0 : (uint64_t)m->calls);
	put_usage(b, &m->total);
	put(b, m->duplicates);
	put(b, m->sidechain);
	put(b, m->inherited);
	put(b, m->errors);
	put(b, m->seq);
	put_str(b, hf_str(m->digest));
	put_int(b, in->f->window > 0 ? in->f->window : in->window);
	put_int(b, in->f->peak);
	put_int(b, in->f->time);
	put_int(b, in->f->queue);
	put(b, m->file.dev);
	put(b, m->file.ino);
	put(b, m->file.size);
	put_int(b, m->file.mtime_ns);
	put_str(b, hf_str(m->file.tail));
	put_int(b, m->tokens);
	put_from(b, m->tokens_from);
	put_int(b, m->turns);
	put_int(b, m->compactions);
	put_int(b, m->micro);
	put_int(b, m->messages);
	put(b, m->seeded);
	put(b, m->rows);
	put(b, m->bad);
	put(b, m->mended);
	put_open(b, in->open);
}

static void
get_metrics(struct hf_cursor *c)
{
	struct hf_metrics *m = &c->m;

	m->calls = (int64_t)get_most(c, INT64_MAX);
	m->total = get_usage(c);
	m->duplicates = get(c);
	m->sidechain = get(c);
	m->inherited = get(c);
	m->errors = get(c);
	m->seq = get(c);
	get_text(c, m->digest, sizeof(m->digest));
	c->window = get_int(c);
	c->peak = get_int(c);
	c->time = get_int(c);
	c->queue = get_int(c);
	c->file.dev = get(c);
	c->file.ino = get(c);
	c->file.size = get(c);
	c->file.mtime_ns = get_int(c);
	get_text(c, c->file.tail, sizeof(c->file.tail));
	m->tokens = get_int(c);
	m->tokens_from = from_names[get_most(c, FROM_NONE)];
	m->turns = get_int(c);
	m->compactions = get_int(c);
	m->micro = get_int(c);
	m->messages = get_int(c);
	m->seeded = get_most(c, 1) != 0;
	m->rows = get(c);
	m->bad = get(c);
	m->mended = get(c);
	get_open(c);
}

/* ---- what was counted ---- */

static void
put_counts(struct hf_buf *b, const struct hf_fold *f, int64_t window)
{
	put_usage(b, &f->extra);
	put_int(b, f->extra_calls);
	put(b, f->duplicates);
	put(b, f->sidechain);
	put(b, f->inherited);
	put(b, f->errors);
	put_int(b, f->queue);
	put_int(b, f->time);
	put_int(b, f->prompted);
	put_int(b, f->window);
	put_int(b, f->peak);
	put_hash(b, f->peak_model);
	put(b, f->seq);
	put_hash128(b, f->chain);
	put_int(b, window);
}

static void
get_counts(struct hf_cursor *c, struct hf_fold *f, struct hf_scan *sc)
{
	f->extra = get_usage(c);
	f->extra_calls = get_int(c);
	f->duplicates = get(c);
	f->sidechain = get(c);
	f->inherited = get(c);
	f->errors = get(c);
	f->queue = get_int(c);
	f->time = get_int(c);
	f->prompted = get_int(c);
	f->window = get_int(c);
	f->peak = get_int(c);
	f->peak_model = get_hash(c);
	f->seq = get(c);
	f->chain = get_hash128(c);
	sc->window = get_int(c);
	sc->recognised = true;
}

/* ---- the walk at the base ---- */

static void
put_base(struct hf_buf *b, const struct hf_figures_at *at)
{
	const struct hf_figures *g = &at->g;

	put_int(b, g->turns);
	put_int(b, g->compactions);
	put_int(b, g->micro);
	put_int(b, g->messages);
	put(b, g->seeded);
	put(b, g->state);
	put_int(b, g->context);
	put_from(b, g->from);
	put(b, g->group == HF_NONE ? 0 : g->group_call == HF_NONE ? 1 : 2);
	put(b, at->anchor != HF_NONE);
	put(b, at->before);
	put(b, at->ack);
}

static void
get_base(struct hf_cursor *c)
{
	struct hf_figures_at *at = &c->base;
	struct hf_figures *g = &at->g;
	uint64_t group;

	g->turns = get_int(c);
	g->compactions = get_int(c);
	g->micro = get_int(c);
	g->messages = get_int(c);
	g->seeded = get_most(c, 1) != 0;
	g->state = (enum hf_state)get_most(c, HF_STATE_INTERRUPTED);
	g->context = get_int(c);
	g->from = from_names[get_most(c, FROM_NONE)];
	group = get_most(c, 2);
	g->group = group == 0 ? HF_NONE : HF_NODE_BASE;
	g->group_call = group == 2 ? HF_CALL_OLD : HF_NONE;
	at->anchor = get_most(c, 1) != 0 ? HF_NODE_BASE : HF_NONE;
	at->before = (uint8_t)get_most(c, HF_ROW_QUEUED);
	at->ack = get_most(c, 1) != 0;
}

/* ---- nodes and calls ---- */

/* What is written, and under which number: those behind base, or all. */
struct window {
	const struct hf_cursor_in *in;
	struct hf_buf *out;
	uint32_t base;		/* HF_NONE: all */
	uint32_t *call;		/* new number of a call; HF_NONE: left out */
	uint32_t ncalls;
	uint32_t *first, *last;	/* nodes of each call; HF_NONE */
};

static uint32_t
number(const struct window *w, uint32_t i)
{
	if (i == HF_NONE || w->base == HF_NONE)
		return i;
	return i > w->base ? i - w->base + HF_NODE_BASE :
	    i == w->base ? HF_NODE_BASE : HF_NODE_OLD;
}

static void
put_ref(struct hf_buf *b, uint32_t i)
{
	put(b, i == HF_NONE ? 0 : (uint64_t)i + 1);
}

/* Below n, or none. */
static uint32_t
get_ref(struct hf_cursor *c, uint32_t n)
{
	uint64_t v = get_most(c, n);

	return v == 0 ? HF_NONE : (uint32_t)v - 1;
}

/* A parent that is looked for by its id, and is left out or was not there,
 * will not be found. */
static void
put_link(const struct window *w, uint32_t i)
{
	const struct hf_fold *f = w->in->f;
	uint8_t link = w->in->end->link[i - w->in->end->from].link;
	uint32_t up = w->in->end->link[i - w->in->end->from].up;

	put(w->out, link);
	if (link == HF_LINK_ID)
		put_hash(w->out, f->orphan[up]);
	else if (link == HF_LINK_INDEX)
		put(w->out, number(w, up));
}

static void
put_node(const struct window *w, uint32_t i, uint64_t *off)
{
	const struct hf_fold *f = w->in->f;
	const struct hf_node *n = hf_fold_node(f, i);
	struct hf_buf *b = w->out;
	int64_t context = hf_fold_context(f, n);

	put_hash(b, n->id);
	put_int(b, (int64_t)(n->off - *off));
	*off = n->off;
	put(b, n->len);
	put(b, n->item);
	put(b, n->part);
	put(b, n->flags);
	put(b, n->kind);
	put(b, n->turn);
	put_int(b, context);
	put_ref(b, n->kind == HF_ROW_COMPACTION || n->call == HF_NONE ?
	    HF_NONE : w->call[n->call]);
	put_link(w, i);
}

static void
get_link(struct hf_cursor *c, struct hf_fold *f, struct hf_node *n,
    uint32_t nodes)
{
	n->link = get_most(c, HF_LINK_INDEX) & 3;
	if (n->link == HF_LINK_INDEX) {
		n->up = (uint32_t)get_most(c, nodes - 1);
	} else if (n->link == HF_LINK_ID) {
		n->up = f->norphans;
		hf_fold_put_orphan(f, get_hash(c));
	}
}

static void
get_node(struct hf_cursor *c, struct hf_fold *f, uint32_t nodes,
    uint32_t calls, uint64_t *off)
{
	struct hf_node n = { .id = get_hash(c) };

	n.off = *off += (uint64_t)get_int(c);
	n.len = (uint32_t)get_most(c, UINT32_MAX);
	n.item = (uint16_t)get_most(c, UINT16_MAX);
	n.part = (uint8_t)get_most(c, HF_SOURCE_PARTS - 1);
	n.flags = (uint16_t)get_most(c, UINT16_MAX);
	n.kind = (uint8_t)get_most(c, HF_ROW_QUEUED);
	n.turn = (uint8_t)get_most(c, HF_TURN_EXIT);
	n.context = hf_fold_narrow(f, get_int(c));
	n.call = get_ref(c, calls);
	get_link(c, f, &n, nodes);
	if (!c->bad)
		hf_fold_put_node(f, &n);
}

static void
put_call(const struct window *w, uint32_t i)
{
	const struct hf_call *k = hf_fold_call(w->in->f, i);
	int64_t best;
	struct hf_usage u = hf_fold_usage(w->in->f, k, &best);

	put_hash(w->out, k->call);
	put(w->out, k->request);
	put_usage(w->out, &u);
	put_int(w->out, best);
	put_ref(w->out, number(w, k->best));
	put(w->out, (uint64_t)k->side | (uint64_t)k->inherited << 1);
}

static void
get_call(struct hf_cursor *c, struct hf_fold *f, uint32_t nodes)
{
	struct hf_call k = { .call = get_hash(c) };
	struct hf_usage u;
	uint64_t flags;
	int64_t best;

	k.request = get_most(c, HF_REQUEST_MASK) & HF_REQUEST_MASK;
	u = get_usage(c);
	best = get_int(c);
	k.best = get_ref(c, nodes);
	flags = get_most(c, 3);
	k.side = flags & 1;
	k.inherited = flags >> 1 & 1;
	if (!c->bad)
		hf_fold_put_call(f, &k, &u, best);
}

/* ---- which node may be the base ---- */

void
hf_cursor_prepare(const struct hf_fold *f, struct hf_cursor_end *e)
{
	uint32_t n = f->nnodes, first = f->based ? HF_NODES_BASE : 0, i, p;
	const struct hf_node *node;

	memset(e, 0, sizeof(*e));
	e->from = n > HF_CURSOR_NODES + first ? n - HF_CURSOR_NODES : first;
	for (i = first; i < n; i++) {
		node = hf_fold_node(f, i);
		if (i >= e->from) {
			e->link[i - e->from].up = node->up;
			e->link[i - e->from].link = node->link;
		}
		if (node->link != HF_LINK_ID)
			continue;
		p = hf_fold_find(f, f->orphan[node->up]);
		if (p == HF_NONE && hf_known_has(&f->known,
		    f->orphan[node->up]))
			continue;
		if (p == HF_NONE && e->nmissing == HF_CURSOR_NODES)
			e->many = true;
		else if (p == HF_NONE) {
			e->missing[e->nmissing].node = i;
			e->missing[e->nmissing++].id = f->orphan[node->up];
		} else if (p > i && p > e->from) {
			/* A parent that came after its child. */
			e->cut[i > e->from ? i - e->from : 0]++;
			e->cut[p - e->from]--;
		}
	}
}

static void
span(struct hf_cursor_end *e, uint32_t first, uint32_t last)
{
	if (last <= e->from || first >= last)
		return;
	e->cut[first > e->from ? first - e->from : 0]++;
	e->cut[last - e->from]--;
}

/* The first and the last node of each call; no base lies between them. */
static void
span_calls(struct window *w)
{
	const struct hf_fold *f = w->in->f;
	const struct hf_node *n;
	uint32_t i, k;

	w->first = hf_reallocarray(NULL, f->ncalls, sizeof(*w->first));
	w->last = hf_reallocarray(NULL, f->ncalls, sizeof(*w->last));
	for (k = 0; k < f->ncalls; k++)
		w->first[k] = w->last[k] = hf_fold_call(f, k)->best;
	for (i = 0; i < f->nnodes; i++) {
		n = hf_fold_node(f, i);
		k = n->kind == HF_ROW_COMPACTION ? HF_NONE : n->call;
		if (k == HF_NONE)
			continue;
		if (w->first[k] == HF_NONE || i < w->first[k])
			w->first[k] = i;
		if (w->last[k] == HF_NONE || i > w->last[k])
			w->last[k] = i;
	}
	for (k = 0; k < f->ncalls; k++)
		if (w->last[k] != HF_NONE)
			span(w->in->end, w->first[k], w->last[k]);
}

/* What else a base has to be: nothing that is estimated begins before it,
 * and the calls that may be open come after it. */
static bool
fits(const struct window *w, uint32_t i)
{
	const struct hf_cursor_in *in = w->in;
	const struct hf_figures_at *at = &in->end->at[i - in->end->from];

	if (in->f->session->agent->estimate != NULL &&
	    at->anchor != HF_NONE && at->anchor != i)
		return false;
	return (in->g->group == HF_NONE || in->g->group > i) &&
	    in->f->list <= i;
}

/* The last nodes that are on the branch, in its order: those behind one in
 * this list came after it, too. */
static size_t
on_branch(const struct window *w, uint32_t list[HF_CURSOR_NODES])
{
	const struct hf_cursor_in *in = w->in;
	uint32_t i, most = 0;
	size_t n = 0;

	for (i = in->branch->first; i != HF_NONE;
	    i = hf_branch_next(in->f, i)) {
		while (n > 0 && list[n - 1] > i)
			n--;
		if (i >= in->end->from && i >= most)
			list[n++] = i;
		if (i > most)
			most = i;
	}
	return n;
}

/* The base, the last one that leaves enough rows behind it; HF_NONE. */
static uint32_t
choose(const struct window *w)
{
	struct hf_cursor_end *e = w->in->end;
	const struct hf_fold *f = w->in->f;
	uint32_t list[HF_CURSOR_NODES], near = HF_NONE;
	bool crossed[HF_CURSOR_NODES];
	size_t n = on_branch(w, list);
	int open = 0;

	for (size_t i = 0; i < HF_CURSOR_NODES; i++) {
		open += e->cut[i];
		crossed[i] = open != 0;
	}
	while (n-- > 0) {
		if (crossed[list[n] - e->from] || !fits(w, list[n]))
			continue;
		if (f->nnodes - list[n] > WANT)
			return list[n];
		near = list[n];
	}
	/* Little came since: the base may stay what it was. */
	if (f->based && w->in->branch->first == HF_NODE_BASE &&
	    f->nnodes <= HF_CURSOR_NODES && (w->in->g->group == HF_NONE ||
	    w->in->g->group > HF_NODE_BASE))
		return HF_NODE_BASE;
	return near;
}

/* ---- what is left out ---- */

static int
compare(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

enum { LEAVING = 2 * HF_KNOWN_MAX };
struct leaving {
	uint32_t *v;
	size_t n;
	bool full;
};

/* Each once, in order. */
static void
sort_leaving(struct leaving *l)
{
	size_t n = 0;

	qsort(l->v, l->n, sizeof(*l->v), compare);
	for (size_t i = 0; i < l->n; i++)
		if (n == 0 || l->v[n - 1] != l->v[i])
			l->v[n++] = l->v[i];
	l->n = n;
	l->full = l->full || n > HF_KNOWN_MAX;
}

static void
leave(struct leaving *l, uint64_t hash)
{
	if (hash != 0)
		l->v[l->n++] = (uint32_t)(hash >> (64 - HF_KNOWN_BITS));
	if (l->n == LEAVING)
		sort_leaving(l);
}

/* All ids up to the base and all calls that are over, once each. */
static void
put_known(const struct window *w)
{
	const struct hf_fold *f = w->in->f;
	struct leaving l = { .full = f->known.full };
	uint32_t before = 0;

	l.v = hf_reallocarray(NULL, LEAVING, sizeof(*l.v));
	for (uint32_t i = 0; i < f->known.n; i++)
		l.v[l.n++] = f->known.v[i];
	for (uint32_t i = 0; i <= w->base && !l.full; i++)
		leave(&l, hf_fold_node(f, i)->id);
	for (uint32_t i = 0; i < f->ncalls && !l.full; i++)
		if (w->call[i] == HF_NONE)
			leave(&l, hf_fold_call(f, i)->call);
	sort_leaving(&l);
	put(w->out, l.full);
	put(w->out, l.full ? 0 : l.n);
	for (size_t i = 0; i < l.n && !l.full; i++) {
		put(w->out, l.v[i] - before);
		before = l.v[i];
	}
	free(l.v);
}

static void
get_known(struct hf_cursor *c, struct hf_fold *f)
{
	struct hf_known *k = &f->known;
	uint64_t v = 0, n;

	k->full = get_most(c, 1) != 0;
	n = get_most(c, HF_KNOWN_MAX);
	k->v = hf_reallocarray(NULL, (size_t)n, sizeof(*k->v));
	while (k->n < n && !c->bad) {
		v += get_most(c, UINT32_MAX);
		k->v[k->n++] = (uint32_t)v;
	}
}

/* Parents that are not there, of what is left out. Too many: false. */
static bool
put_await(const struct window *w)
{
	const struct hf_cursor_end *e = w->in->end;
	const struct hf_fold *f = w->in->f;
	size_t n = f->nawait, i;

	for (i = 0; i < e->nmissing; i++)
		n += e->missing[i].node <= w->base;
	if (e->many || n > HF_AWAIT_MAX)
		return false;
	put(w->out, n);
	for (i = 0; i < f->nawait; i++)
		put_hash(w->out, f->await[i]);
	for (i = 0; i < e->nmissing; i++)
		if (e->missing[i].node <= w->base)
			put_hash(w->out, e->missing[i].id);
	return true;
}

static void
put_hint(const struct window *w)
{
	const struct hf_fold *f = w->in->f;
	bool same = f->based && f->hint == f->old_hint;
	uint32_t x = same && f->hint_old ? HF_NODE_BASE :
	    hf_fold_find(f, f->hint);
	bool none = x == HF_NONE ||
	    !hf_fold_main(f, hf_fold_node(f, x)->flags);

	put_hash(w->out, f->hint);
	put(w->out, !none && w->base != HF_NONE && x <= w->base);
	put(w->out, none);
}

/* Calls that are over are only counted from now on. */
static void
sort_calls(struct window *w)
{
	struct hf_fold *f = w->in->f;
	struct hf_call *k;
	struct hf_usage u;

	w->call = hf_reallocarray(NULL, f->ncalls, sizeof(*w->call));
	for (uint32_t i = 0; i < f->ncalls; i++) {
		k = hf_fold_call(f, i);
		if (w->base == HF_NONE || (w->last[i] != HF_NONE &&
		    w->last[i] > w->base)) {
			w->call[i] = w->ncalls++;
			continue;
		}
		w->call[i] = HF_NONE;
		u = hf_fold_usage(f, k, NULL);
		if (!k->inherited)
			hf_fold_spent(f, &u, 1);
	}
}

static void
put_at_base(const struct window *w)
{
	const struct hf_cursor_in *in = w->in;
	struct hf_figures_at at;
	struct hf_node *n = hf_fold_node(in->f, w->base);

	at = in->f->based && w->base == HF_NODE_BASE ? *in->base :
	    in->end->at[w->base - in->end->from];
	if (in->f->session->agent->estimate == NULL)
		at.anchor = HF_NONE;
	put_hash(w->out, n->id);
	put(w->out, n->flags);
	put(w->out, n->kind);
	put_base(w->out, &at);
}

static bool
put_fold(struct window *w)
{
	const struct hf_fold *f = w->in->f;
	uint32_t from = w->base == HF_NONE ? 0 : w->base + 1, i;
	uint64_t off = 0;

	put(w->out, w->base != HF_NONE);
	if (w->base != HF_NONE) {
		put_at_base(w);
		if (!put_await(w))
			return false;
		put_known(w);
	}
	put_hint(w);
	put(w->out, w->base == HF_NONE ? f->list : f->list > 0);
	put_ref(w->out, number(w, f->nnodes));
	put(w->out, w->ncalls);
	put_ref(w->out, number(w, f->last));
	put_ref(w->out, number(w, f->leaf));
	put_ref(w->out, number(w, f->last_main));
	put_ref(w->out, number(w, f->leaf_main));
	for (i = from; i < f->nnodes; i++)
		put_node(w, i, &off);
	for (i = 0; i < f->ncalls; i++)
		if (w->call[i] != HF_NONE)
			put_call(w, i);
	return true;
}

static void
get_old(struct hf_cursor *c, struct hf_fold *f)
{
	struct hf_node old = { .call = HF_NONE, .link = HF_LINK_ROOT };
	uint64_t n;

	old.context = hf_fold_narrow(f, -1);
	hf_fold_put_node(f, &old);
	old.id = get_hash(c);
	old.flags = (uint16_t)get_most(c, UINT16_MAX);
	old.kind = (uint8_t)get_most(c, HF_ROW_QUEUED);
	hf_fold_put_node(f, &old);
	get_base(c);
	n = get_most(c, HF_AWAIT_MAX);
	while (n-- > 0)
		hf_fold_await(f, get_hash(c));
	get_known(c, f);
	f->based = true;
}

static void
get_fold(struct hf_cursor *c, struct hf_fold *f)
{
	uint32_t nodes, calls;
	uint64_t off = 0;

	if (get_most(c, 1) != 0)
		get_old(c, f);
	f->hint = f->old_hint = get_hash(c);
	f->hint_old = get_most(c, 1) != 0;
	f->hint_none = get_most(c, 1) != 0;
	f->list = (uint32_t)get_most(c, HF_CURSOR_NODES);
	if (f->based && f->list > 0)
		f->list = HF_NODES_BASE;
	nodes = get_ref(c, HF_CURSOR_NODES + HF_NODES_BASE + 1);
	calls = (uint32_t)get_most(c, HF_CURSOR_NODES);
	f->last = get_ref(c, nodes);
	f->leaf = get_ref(c, nodes);
	f->last_main = get_ref(c, nodes);
	f->leaf_main = get_ref(c, nodes);
	while (f->nnodes < nodes && !c->bad)
		get_node(c, f, nodes, calls, &off);
	while (f->ncalls < calls && !c->bad)
		get_call(c, f, nodes);
	if (f->nnodes != nodes || f->ncalls != calls)
		c->bad = true;
}

/* ---- the file ---- */

static bool
hash_at(int fd, uint64_t off, size_t n, struct hf_hash128 *out)
{
	char bytes[ENDS];

	if (hf_io_pread(fd, bytes, n, (off_t)off) != (ssize_t)n)
		return false;
	*out = hf_hash128(hf_strn(bytes, n));
	return true;
}

static bool
hash_ends(int fd, uint64_t end, struct hf_hash128 *head,
    struct hf_hash128 *tail)
{
	size_t n = end < ENDS ? (size_t)end : ENDS;

	return hash_at(fd, 0, n, head) && hash_at(fd, end - n, n, tail);
}

/* Of the parts before the last; false when that lies elsewhere. */
static bool
hash_parts(const struct hf_source *src, const struct hf_session *s,
    uint64_t *out)
{
	const struct hf_source_part *p;
	uint64_t sum[HF_SOURCE_PARTS][5];
	struct stat st;
	size_t i;

	memset(sum, 0, sizeof(sum));
	for (i = 0; i + 1 < src->nparts; i++) {
		p = &src->part[i];
		if (p->path == NULL || stat(p->path, &st) < 0)
			return false;
		sum[i][0] = (uint64_t)st.st_dev;
		sum[i][1] = (uint64_t)st.st_ino;
		sum[i][2] = (uint64_t)st.st_size;
		sum[i][3] = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
		    (uint64_t)st.st_mtim.tv_nsec;
		sum[i][4] = p->limit ^ p->inherited;
	}
	*out = hf_hash(hf_strn((const char *)sum, sizeof(sum)));
	p = &src->part[i];
	return src->nparts > 0 && !p->packed && p->fd >= 0 &&
	    p->path != NULL && s->path != NULL &&
	    strcmp(p->path, s->path) == 0;
}

bool
hf_cursor_resume(const struct hf_cursor *c, struct hf_source *src,
    const struct hf_session *s)
{
	struct hf_hash128 head, tail;
	uint64_t parts;

	if (!c->resumes || src->nparts != c->nparts ||
	    !hash_parts(src, s, &parts) || parts != c->parts ||
	    !hash_ends(src->part[src->nparts - 1].fd, c->place.off, &head,
	    &tail) ||
	    head.lo != c->head.lo || head.hi != c->head.hi ||
	    tail.lo != c->tail.lo || tail.hi != c->tail.hi)
		return false;
	hf_source_resume(src, &c->place);
	return true;
}

/* ---- all of it ---- */

static void
put_place(struct hf_buf *b, const struct hf_source_place *p)
{
	put(b, p->off);
	put(b, p->lines);
	put(b, p->joining);
	put(b, p->rows);
	put(b, p->bad);
	put(b, p->mended);
	put(b, p->size);
}

static void
get_place(struct hf_cursor *c)
{
	struct hf_source_place *p = &c->place;

	p->off = get_most(c, INT64_MAX);
	p->lines = get(c);
	p->joining = get(c);
	p->rows = get(c);
	p->bad = get(c);
	p->mended = get(c);
	p->size = get(c);
}

/* What a later reading can go on from; false when there is nothing. */
static bool
put_resume(const struct hf_cursor_in *in, struct hf_buf *b)
{
	struct window w = { .in = in, .out = b, .base = HF_NONE };
	struct hf_source_place place;
	struct hf_hash128 head, tail;
	uint64_t parts;
	bool ok = false;

	if (!hf_source_tell(in->src, &place) ||
	    !hash_parts(in->src, in->f->session, &parts) ||
	    !hash_ends(in->src->part[in->src->nparts - 1].fd, place.off,
	    &head, &tail))
		return false;
	put_hash128(b, head);
	put_hash128(b, tail);
	put(b, in->src->nparts);
	put_hash(b, parts);
	put_place(b, &place);
	put_str(b, hf_strn(in->own, in->f->session->agent->own_size));
	span_calls(&w);
	if (in->f->based || in->f->nnodes > SMALL) {
		w.base = choose(&w);
		ok = w.base != HF_NONE;
	} else {
		ok = in->f->ncalls <= HF_CURSOR_NODES;
	}
	if (ok) {
		sort_calls(&w);
		put_counts(b, in->f, in->window);
		ok = put_fold(&w);
	}
	free(w.first);
	free(w.last);
	free(w.call);
	return ok;
}

char *
hf_cursor_write(const struct hf_cursor_in *in)
{
	struct hf_buf b = HF_BUF_MAX(TEXT_MAX / 2), rest = b;
	char *text = NULL;

	put(&b, FORMAT);
	put_str(&b, hf_str(HF_VERSION));
	put_session(&b, in->f->session);
	put_metrics(&b, in);
	if (put_resume(in, &rest) && !rest.full) {
		put(&b, 1);
		hf_buf_str(&b, hf_buf_view(&rest));
	} else {
		put(&b, 0);
	}
	put_hash(&b, hf_hash(hf_buf_view(&b)));
	if (!b.full)
		text = encode(hf_buf_view(&b));
	hf_buf_release(&rest);
	hf_buf_release(&b);
	return text;
}

/* The last bytes are a hash of all before them. */
static bool
check_sum(struct hf_cursor *c)
{
	size_t n = c->bytes.len;
	uint64_t sum;

	if (n < SUM)
		return false;
	sum = hf_hash(hf_strn(c->bytes.data, n - SUM));
	c->at = n - SUM;
	if (get_hash(c) != sum)
		return false;
	hf_buf_cut(&c->bytes, n - SUM);
	c->at = 0;
	return true;
}

bool
hf_cursor_open(struct hf_cursor *c, struct hf_str text, struct hf_session *s)
{
	memset(c, 0, sizeof(*c));
	if (!decode(text, &c->bytes) || !check_sum(c) || get(c) != FORMAT ||
	    !hf_str_is(get_str(c), HF_VERSION) || !get_session(c, s)) {
		hf_cursor_release(c);
		return false;
	}
	get_metrics(c);
	c->resumes = get_most(c, 1) != 0 && !c->bad;
	if (!c->resumes)
		return !c->bad;
	c->head = get_hash128(c);
	c->tail = get_hash128(c);
	c->nparts = (uint32_t)get_most(c, HF_SOURCE_PARTS);
	c->parts = get_hash(c);
	get_place(c);
	return !c->bad;
}

bool
hf_cursor_load(struct hf_cursor *c, struct hf_fold *f, struct hf_scan *sc)
{
	struct hf_str own = get_str(c);
	size_t n = f->session->agent->own_size;

	hf_fold_scan_init(f, sc);
	if (own.n != n)
		return false;
	if (n > 0)
		memcpy(sc->own, own.s, n);
	get_counts(c, f, sc);
	get_fold(c, f);
	return !c->bad;
}

void
hf_cursor_release(struct hf_cursor *c)
{
	hf_buf_release(&c->bytes);
	hf_activity_release(&c->open);
	c->at = 0;
}
