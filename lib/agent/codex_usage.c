#include "agent/codex.h"

#include <string.h>

#define IS(key, lit) \
	((key).n == sizeof(lit) - 1 && memcmp((key).s, (lit), (key).n) == 0)

static void
read_counts(struct hf_codex_counts *c, const struct hf_jval *v)
{
	const struct hf_jval *m;
	struct hf_jiter it;
	struct hf_str key;

	memset(c, 0, sizeof(*c));
	hf_json_iter(&it, v);
	while ((m = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "input_tokens"))
			c->in = hf_json_count(m);
		else if (IS(key, "cached_input_tokens"))
			c->cached = hf_json_count(m);
		else if (IS(key, "cache_write_input_tokens"))
			c->written = hf_json_count(m);
		else if (IS(key, "output_tokens"))
			c->out = hf_json_count(m);
}

static bool
equal(const struct hf_codex_counts *a, const struct hf_codex_counts *b)
{
	return a->in == b->in && a->cached == b->cached &&
	    a->written == b->written && a->out == b->out;
}

static int64_t
less(int64_t a, int64_t b)
{
	return a > b ? a - b : 0;
}

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * From where the counter has grown to total, the last call's share being
 * now. A counter that begins, or begins again, may hold what a parent spent:
 * the last call alone is this session's then.
 */
static struct hf_codex_counts
baseline(const struct hf_codex_own *own, const struct hf_codex_counts *total,
    const struct hf_codex_counts *now)
{
	const struct hf_codex_counts *old = &own->total;
	bool fell = total->in < old->in || total->out < old->out;
	struct hf_codex_counts zero = { 0, 0, 0, 0 };

	if (own->counted && !fell && !(own->at_fork && equal(total, now) &&
	    !equal(total, old)))
		return own->total;
	if (!own->counted && !own->forked && own->meta != HF_CODEX_META_NONE)
		return zero;
	return (struct hf_codex_counts){ less(total->in, now->in),
	    less(total->cached, now->cached),
	    less(total->written, now->written), less(total->out, now->out) };
}

/* The input's cached part is in the input: it is spent once. */
static void
grow(struct hf_codex_own *own, struct hf_row *row,
    const struct hf_codex_counts *total, const struct hf_codex_counts *now)
{
	struct hf_usage *u = &row->usage;
	struct hf_codex_counts base;

	if (total->in == 0 && total->out == 0)
		return;
	base = baseline(own, total, now);
	u->input = less(total->in, base.in);
	u->output = less(total->out, base.out);
	u->cache_read = smaller(less(total->cached, base.cached), u->input);
	u->input -= u->cache_read;
	u->cache_write = smaller(less(total->written, base.written),
	    u->input);
	u->input -= u->cache_write;
	own->total = *total;
	own->counted = true;
	own->at_fork = false;
	if (u->input + u->output + u->cache_read + u->cache_write > 0) {
		row->has_usage = true;
		row->flags |= HF_ROW_GROWTH;
	}
}

void
hf_codex_usage(struct hf_codex_own *own, struct hf_row *row,
    const struct hf_jval *info)
{
	const struct hf_jval *last = hf_json_get(info, "last_token_usage");
	struct hf_codex_counts total, now;
	int64_t context = hf_json_count(hf_json_get(last, "total_tokens"));

	read_counts(&total, hf_json_get(info, "total_token_usage"));
	read_counts(&now, last);
	row->window = hf_json_count(hf_json_get(info,
	    "model_context_window"));
	grow(own, row, &total, &now);
	if (context == 0)
		return;
	row->context = context;
	/* After a compaction it is the client's own estimate. */
	own->estimated = now.in == 0 && now.out == 0;
	if (own->estimated)
		row->flags |= HF_ROW_KEEPS_CONTEXT;
}
