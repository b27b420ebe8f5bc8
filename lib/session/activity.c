#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/activity.h"

/* An open turn without a process is given up after this. */
enum { STALE_SECONDS = 3600, NAME_MAX_BYTES = 100 };
enum { FUTURE_MS = 5 * 60 * 1000 };

static void
add(struct hf_metrics *m, const char *kind, struct hf_str what)
{
	struct hf_buf b = HF_BUF_INIT;
	struct hf_buf safe = HF_BUF_INIT;

	if (m->nactivity == HF_ACTIVITY_MAX)
		return;
	hf_buf_puts(&b, kind);
	if (what.n > 0) {
		what.n = hf_utf8_cut(what, NAME_MAX_BYTES);
		hf_text_safe(&safe, what, false);
		hf_buf_putc(&b, ':');
		hf_buf_str(&b, hf_buf_view(&safe));
		hf_buf_release(&safe);
	}
	for (size_t i = 0; i < m->nactivity; i++)
		if (strcmp(m->activity[i], hf_buf_cstr(&b)) == 0) {
			hf_buf_release(&b);
			return;
		}
	m->activity[m->nactivity++] = hf_buf_steal(&b);
}

void
hf_activity_release(struct hf_activity *o)
{
	while (o->n > 0)
		free(o->tool[--o->n]);
}

/* ---- calls without results ---- */

enum { CALLS_MAX = 128, ROWS_MAX = 1024 };

struct open_call {
	uint64_t id;
	bool done;
	char *name;
};
struct open_calls {
	struct open_call call[CALLS_MAX];
	size_t n;
	size_t rows;		/* read again so far */
	struct hf_blocks blocks;
};

static void
call_made(struct open_calls *o, const struct hf_block *b)
{
	if (o->n == CALLS_MAX || b->id.n == 0)
		return;
	o->call[o->n].id = hf_hash(b->id);
	o->call[o->n].done = false;
	o->call[o->n].name = hf_strndup(b->name.n > 0 ? b->name.s : "",
	    b->name.n);
	o->n++;
}

static void
call_done(struct open_calls *o, const struct hf_block *b)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->call[i].id == hf_hash(b->id))
			o->call[i].done = true;
}

/* Looks at the calls, or at the results, of one row. */
static int
look(struct open_calls *o, const struct hf_node *n, struct hf_reread *again,
    enum hf_block_kind kind, struct hf_err *err)
{
	const struct hf_row *row;

	if (o->rows == ROWS_MAX)
		return 0;
	o->rows++;
	if (hf_reread(again, hf_node_ref(n), &row, err) < 0)
		return -1;
	hf_blocks_clear(&o->blocks);
	again->scan->session->agent->blocks(row, &o->blocks);
	for (size_t i = 0; i < o->blocks.n; i++) {
		if (o->blocks.b[i].kind != kind)
			continue;
		if (kind == HF_BLOCK_CALL)
			call_made(o, &o->blocks.b[i]);
		else
			call_done(o, &o->blocks.b[i]);
	}
	return 0;
}

/*
 * The calls of the last message, then the results behind it. These are
 * looked for in the whole file: with several calls at once the results of
 * some are beside the branch. Some agents put them into the message itself.
 */
static int
find_open(struct open_calls *o, const struct hf_fold *f,
    const struct hf_figures *g, struct hf_reread *again, struct hf_err *err)
{
	const struct hf_node *n;
	uint32_t i;

	for (i = g->group; i != HF_NONE; i = hf_branch_next(f, i)) {
		n = hf_fold_node(f, i);
		if (n->kind == HF_ROW_ASSISTANT && n->call == g->group_call &&
		    look(o, n, again, HF_BLOCK_CALL, err) < 0)
			return -1;
	}
	for (i = g->group; o->n > 0 && i < f->nnodes; i++) {
		n = hf_fold_node(f, i);
		if ((n->kind == HF_ROW_RESULT || (n->kind ==
		    HF_ROW_ASSISTANT && n->call == g->group_call)) &&
		    hf_fold_main(f, n->flags) &&
		    look(o, n, again, HF_BLOCK_RESULT, err) < 0)
			return -1;
	}
	return 0;
}

int
hf_activity_open(const struct hf_fold *f, const struct hf_figures *g,
    struct hf_reread *again, struct hf_activity *out, struct hf_err *err)
{
	struct open_calls *o;
	int rc;

	out->state = g->state;
	out->torn = again->src->torn;
	if (g->group == HF_NONE)
		return 0;
	o = hf_calloc(1, sizeof(*o));
	hf_blocks_init(&o->blocks);
	rc = find_open(o, f, g, again, err);
	for (size_t i = 0; i < o->n; i++) {
		if (!o->call[i].done && out->n < HF_ACTIVITY_MAX)
			out->tool[out->n++] = o->call[i].name;
		else
			free(o->call[i].name);
	}
	hf_blocks_release(&o->blocks);
	free(o);
	return rc;
}

/* ---- time and processes ---- */

/* Times are not trusted: what lies in the future is unknown. */
static int64_t
quiet_seconds(const struct hf_fold *f, const struct hf_metrics *m)
{
	int64_t last = f->time, mtime = m->file.mtime_ns / 1000000;

	if (mtime > last && mtime <= f->now + FUTURE_MS)
		last = mtime;
	if (last <= 0)
		return -1;
	return last < f->now ? (f->now - last) / 1000 : 0;
}

/* Is nobody there any more who could finish what is unfinished? */
static bool
given_up(const struct hf_metrics *m, const struct hf_measure *how)
{
	if (!how->stale_check || m->live.open)
		return false;
	return m->live.dead || m->quiet > STALE_SECONDS;
}

static void
clear(struct hf_metrics *m)
{
	while (m->nactivity > 0)
		free(m->activity[--m->nactivity]);
}

static void
owned(const char *id, void *arg)
{
	struct hf_metrics *m = arg;

	if (m->nowned < HF_ACTIVITY_MAX)
		m->owned[m->nowned++] = hf_strdup(id);
}

void
hf_activity(const struct hf_fold *f, const struct hf_activity *o,
    const struct hf_measure *how, struct hf_metrics *m)
{
	const struct hf_session *s = f->session;

	m->state = o->state;
	if (m->state == HF_STATE_BUSY)
		add(m, "turn", HF_STR_NONE);
	for (size_t i = 0; i < o->n; i++)
		add(m, "tool", hf_str(o->tool[i]));
	/* What is proven unfinished is never idle (M13). */
	if (o->n > 0 || o->torn)
		m->state = HF_STATE_BUSY;
	if (m->state == HF_STATE_BUSY)
		add(m, "turn", HF_STR_NONE);
	if (f->queue > 0)
		add(m, "queued-input", HF_STR_NONE);
	if (o->torn)
		add(m, "torn-tail", HF_STR_NONE);
	m->quiet = quiet_seconds(f, m);
	if (how->stale_check && s->agent->live != NULL)
		s->agent->live(s, &m->live);
	if (given_up(m, how)) {
		if (m->state == HF_STATE_BUSY)
			m->state = HF_STATE_INTERRUPTED;
		clear(m);
	}
	if (m->live.open && strcmp(m->live.status, "waiting") == 0)
		add(m, "waiting", hf_str(m->live.waiting[0] != '\0' ?
		    m->live.waiting : "input"));
	if (s->agent->owned != NULL && s->path != NULL)
		s->agent->owned(s, owned, m);
}
