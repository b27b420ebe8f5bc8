/*
 * What agents make of any records: each line is parsed as a source would
 * and given to every agent's row(), its blocks, its tool calls and its
 * estimate; all records to every recognise(). The rows' text must lie in
 * the record or the scan's memory, so a sanitizer sees what does not.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "must.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS = 8 };

struct scanned {
	const struct hf_agent *agent;
	struct hf_blocks blocks;
	struct hf_actions acts;
	volatile unsigned sum;
};

/* Reads each byte. */
static void
touch(struct scanned *s, struct hf_str a)
{
	for (size_t i = 0; i < a.n; i++)
		s->sum += (unsigned char)a.s[i];
}

static void
touch_block(struct scanned *s, const struct hf_block *b)
{
	touch(s, b->text);
	touch(s, b->id);
	touch(s, b->name);
	if (b->kind != HF_BLOCK_CALL)
		return;
	hf_actions_of(s->agent, b, &s->acts);
	must(s->acts.n <= HF_ACTIONS_MAX, "too many actions");
	for (size_t i = 0; i < s->acts.n; i++) {
		touch(s, s->acts.a[i].path);
		touch(s, s->acts.a[i].path2);
		touch(s, s->acts.a[i].command);
		touch(s, s->acts.a[i].cwd);
		touch(s, s->acts.a[i].item);
		touch(s, s->acts.a[i].status);
	}
}

static void
on_row(struct hf_scan *sc, const struct hf_row *row)
{
	struct scanned *s = sc->to;

	touch(s, row->id);
	touch(s, row->parent_id);
	touch(s, row->kept);
	touch(s, row->call);
	touch(s, row->request);
	must(row->usage.input >= 0 && row->usage.output >= 0 &&
	    row->usage.cache_read >= 0 && row->usage.cache_write >= 0,
	    "a negative figure");
	must(row->context >= -1 && row->window >= 0,
	    "a figure below nothing");
	hf_blocks_clear(&s->blocks);
	s->agent->blocks(row, &s->blocks);
	for (size_t i = 0; i < s->blocks.n; i++)
		touch_block(s, &s->blocks.b[i]);
	if (s->agent->estimate != NULL)
		must(s->agent->estimate(row) >= 0, "a negative estimate");
}

static void
by_agent(const struct hf_agent *agent, struct hf_json *const *json, size_t n)
{
	const struct hf_jval *v[RECORDS] = { NULL };
	struct scanned s = { .agent = agent };
	struct hf_session session;
	struct hf_scan sc;
	struct hf_record rec;

	for (size_t i = 0; i < n; i++)
		v[i] = hf_json_root(json[i]);
	must(agent->recognise("/x/y.jsonl", v, n) <= 100, "over-sure");
	hf_session_init(&session);
	session.agent = agent;
	hf_blocks_init(&s.blocks);
	memset(&sc, 0, sizeof(sc));
	sc.session = &session;
	sc.own = calloc(1, agent->own_size + 1);
	sc.emit = on_row;
	sc.to = &s;
	hf_arena_init(&sc.arena);
	for (size_t i = 0; i < n && sc.own != NULL; i++) {
		if (hf_json_type(v[i]) != HF_J_OBJ)
			continue;
		memset(&rec, 0, sizeof(rec));
		rec.v = v[i];
		agent->row(&sc, &rec);
	}
	free(sc.own);
	hf_arena_clear(&sc.arena);
	hf_blocks_release(&s.blocks);
	hf_actions_release(&s.acts);
	hf_session_release(&session);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hf_agent *const *agents;
	struct hf_str rest = hf_strn((const char *)data, size);
	struct hf_json *json[RECORDS];
	size_t i, n = 0, count;

	while (rest.n > 0 && n < RECORDS) {
		json[n] = hf_json_parse(hf_str_line(rest, &rest),
		    HF_JSON_RAW | HF_JSON_MEND, NULL, NULL, NULL);
		n += json[n] != NULL;
	}
	agents = hf_agents(&count);
	for (i = 0; i < count; i++)
		by_agent(agents[i], json, n);
	while (n > 0)
		hf_json_free(json[--n]);
	return 0;
}
