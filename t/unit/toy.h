/*
 * A toy agent, whose rows say in short what a row can say, so that the fold
 * is tested by itself:
 *
 *	{"k":"prompt","id":"b","up":"a","turn":"open"}
 *
 * k	kind: other prompt seed injected interrupt assistant result
 *	compaction summary reset list queued
 * up	the parent's id, "^" the row before, missing: none
 * before	the id of the row that it takes the place of
 * f	flags, words; "loose": not in the chain; "leaf": names the leaf
 * turn	open closed interrupted exit
 * ctx, window, time, est, q	numbers of struct hf_row; est: tokens
 * u	[input, cacheRead, cacheWrite, output]
 * call, req, kept	strings of struct hf_row
 * calls, results	[id, ...]: tools called (by the name of the id) and
 *			tools done
 * more	rows of the same record behind it
 * sub	true: the session is a sub-agent's
 */
#ifndef HF_UNIT_TOY_H
#define HF_UNIT_TOY_H

#include <limits.h>

#include "agent/agent.h"

static inline int
toy_word(struct hf_str a, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++)
		if (hf_str_is(a, words[i]))
			return i;
	return 0;
}

static inline unsigned
toy_flags(struct hf_str a)
{
	static const struct { const char *word; unsigned flag; } table[] = {
		{ "sidechain", HF_ROW_SIDECHAIN },
		{ "inherited", HF_ROW_INHERITED }, { "error", HF_ROW_ERROR },
		{ "synthetic", HF_ROW_SYNTHETIC }, { "repeat", HF_ROW_KEPT },
		{ "replaces", HF_ROW_REPLACES }, { "leaf", HF_ROW_LEAF },
		{ "keeps", HF_ROW_KEEPS_CONTEXT }, { "micro", HF_ROW_MICRO },
		{ "growth", HF_ROW_GROWTH } };
	unsigned flags = hf_str_find(a, HF_STR("loose"), 0) == SIZE_MAX ?
	    HF_ROW_CHAIN : 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (hf_str_find(a, hf_str(table[i].word), 0) != SIZE_MAX)
			flags |= table[i].flag;
	return flags;
}

static inline int64_t
toy_num(const struct hf_jval *v, const char *key, int64_t none)
{
	int64_t n;

	return hf_json_int(hf_json_get(v, key), &n) ? n : none;
}

static inline void
toy_emit(struct hf_scan *sc, const struct hf_record *rec,
    const struct hf_jval *v, uint32_t item)
{
	static const char *const kinds[] = { "other", "prompt", "seed",
		"injected", "interrupt", "assistant", "result", "compaction",
		"summary", "reset", "list", "queued", NULL };
	static const char *const turns[] = { "none", "open", "closed",
		"interrupted", "exit", NULL };
	const struct hf_jval *u = hf_json_get(v, "u");
	struct hf_str up = hf_json_get_str(v, "up");
	struct hf_row row;

	hf_row_init(&row, rec);
	row.v = v;
	row.ref.item = item;
	row.kind = (enum hf_row_kind)toy_word(hf_json_get_str(v, "k"), kinds);
	row.turn = (enum hf_turn)toy_word(hf_json_get_str(v, "turn"), turns);
	row.flags = toy_flags(hf_json_get_str(v, "f"));
	row.id = hf_json_get_str(v, "id");
	row.parent = up.s == NULL ? HF_PARENT_ROOT : hf_str_is(up, "^") ?
	    HF_PARENT_PREV : HF_PARENT_ID;
	row.parent_id = up;
	if ((up = hf_json_get_str(v, "before")).s != NULL) {
		row.parent = HF_PARENT_BEFORE;
		row.parent_id = up;
	}
	row.kept = hf_json_get_str(v, "kept");
	row.call = hf_json_get_str(v, "call");
	row.request = hf_json_get_str(v, "req");
	row.context = toy_num(v, "ctx", -1);
	row.window = toy_num(v, "window", 0);
	row.time = toy_num(v, "time", -1);
	row.queue = (int)toy_num(v, "q", 0);
	if (row.queue == -99)
		row.queue = INT_MIN;
	if (hf_json_get(v, "est") != NULL)
		row.flags |= HF_ROW_ESTIMATE;
	row.usage.input = hf_json_count(hf_json_elem(u, 0));
	row.usage.cache_read = hf_json_count(hf_json_elem(u, 1));
	row.usage.cache_write = hf_json_count(hf_json_elem(u, 2));
	row.usage.output = hf_json_count(hf_json_elem(u, 3));
	row.has_usage = u != NULL;
	sc->emit(sc, &row);
}

static inline void
toy_row(struct hf_scan *sc, const struct hf_record *rec)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	uint32_t item = 0;

	if (hf_json_get(rec->v, "k") != NULL)
		sc->recognised = true;
	if (hf_json_get(rec->v, "later") != NULL)
		sc->unsupported = true;
	if (hf_json_true(hf_json_get(rec->v, "sub")))
		sc->session->subagent = true;
	hf_session_set(&sc->session->model, hf_json_get_str(rec->v, "model"));
	toy_emit(sc, rec, rec->v, item++);
	hf_json_iter(&it, hf_json_get(rec->v, "more"));
	while ((v = hf_json_next(&it, NULL)) != NULL)
		toy_emit(sc, rec, v, item++);
}

static inline void
toy_blocks(const struct hf_row *row, struct hf_blocks *out)
{
	static const char *const lists[] = { "calls", "results" };
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_block *b;

	for (int i = 0; i < 2; i++) {
		hf_json_iter(&it, hf_json_get(row->v, lists[i]));
		while ((v = hf_json_next(&it, NULL)) != NULL) {
			b = hf_blocks_add(out, i == 0 ? HF_BLOCK_CALL :
			    HF_BLOCK_RESULT);
			b->id = b->name = hf_json_str(v);
		}
	}
}

static inline int64_t
toy_estimate(const struct hf_row *row)
{
	return toy_num(row->v, "est", 0);
}

#define TOY_AGENT(hint) { \
	.name = "toy", .label = "Toy", .program = "toy", .leaf = (hint), \
	.row = toy_row, .blocks = toy_blocks, .estimate = toy_estimate, \
	.own_size = 1 }

#endif
