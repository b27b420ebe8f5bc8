#include "agent/opencode.h"

#include <string.h>

#include "base/clock.h"
#include "base/hmac.h"
#include "json/num.h"

/* The rows of an export: itself, then its messages. */
enum { ITEM_MESSAGE = 1, ITEMS_MAX = 65000 };

#define IS(key, lit) \
	((key).n == sizeof(lit) - 1 && memcmp((key).s, (lit), (key).n) == 0)

/* ---- one pass over what is said of a message ---- */

struct info {
	struct hf_str id, role, mode, agent, model, provider, finish;
	const struct hf_jval *time, *tokens, *error, *parts, *v;
	bool summary;
};

static void
read_info(struct info *o, const struct hf_jval *message)
{
	const struct hf_jval *m, *info = hf_json_get(message, "info");
	struct hf_jiter it;
	struct hf_str key;

	memset(o, 0, sizeof(*o));
	o->v = message;
	o->parts = hf_json_get(message, "parts");
	hf_json_iter(&it, info);
	while ((m = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "id"))
			o->id = hf_json_str(m);
		else if (IS(key, "role"))
			o->role = hf_json_str(m);
		else if (IS(key, "mode"))
			o->mode = hf_json_str(m);
		else if (IS(key, "agent"))
			o->agent = hf_json_str(m);
		else if (IS(key, "modelID"))
			o->model = hf_json_str(m);
		else if (IS(key, "providerID"))
			o->provider = hf_json_str(m);
		else if (IS(key, "finish"))
			o->finish = hf_json_str(m);
		else if (IS(key, "time"))
			o->time = m;
		else if (IS(key, "tokens"))
			o->tokens = m;
		else if (IS(key, "error"))
			o->error = hf_json_type(m) != HF_J_NULL ? m : NULL;
		else if (IS(key, "summary"))
			o->summary = hf_json_true(m);
		else if (IS(key, "model") && o->model.n == 0) {
			o->model = hf_json_get_str(m, "modelID");
			o->provider = hf_json_get_str(m, "providerID");
		}
}

/* ---- usage ---- */

/* Older versions have no total. What is all zero says nothing. */
static void
read_tokens(struct hf_row *row, const struct hf_jval *v)
{
	const struct hf_jval *cache = hf_json_get(v, "cache");
	struct hf_usage *u = &row->usage;
	int64_t total = hf_json_count(hf_json_get(v, "total"));

	u->input = hf_json_count(hf_json_get(v, "input"));
	u->output = hf_num_plus(hf_json_count(hf_json_get(v, "output")),
	    hf_json_count(hf_json_get(v, "reasoning")));
	u->cache_read = hf_json_count(hf_json_get(cache, "read"));
	u->cache_write = hf_json_count(hf_json_get(cache, "write"));
	row->context = total > 0 ? total :
	    hf_num_plus(hf_num_plus(u->input, u->output),
	    hf_num_plus(u->cache_read, u->cache_write));
	row->has_usage = row->context > 0;
	if (!row->has_usage)
		row->context = -1;
}

/* ---- messages ---- */

/* What the user asks for keeps the last mode and model for a successor. */
static void
user(struct hf_scan *sc, struct hf_row *row, const struct info *o)
{
	const struct hf_jval *part = hf_opencode_part(o->parts,
	    "compaction");
	struct hf_str text = hf_str_trim(hf_opencode_text(o->parts));

	row->turn = HF_TURN_OPEN;
	hf_session_set(&sc->session->permission, o->agent);
	if (part != NULL) {
		row->kind = HF_ROW_COMPACTION;
		row->kept = hf_json_get_str(part, "tail_start_id");
	} else if (hf_str_starts(text, "<handoff-context>")) {
		row->kind = HF_ROW_SEED;
		row->turn = HF_TURN_CLOSED;
	} else if (text.n > 0 || hf_opencode_part(o->parts, "file") != NULL ||
	    hf_opencode_part(o->parts, "subtask") != NULL) {
		row->kind = HF_ROW_PROMPT;
		hf_session_title_prompt(sc->session, text);
	} else {
		row->kind = HF_ROW_INJECTED;	/* "go on", by the client */
	}
}

/* While the model calls tools its messages end one by one, and the turn
 * goes on. */
static enum hf_turn
assistant_turn(const struct info *o)
{
	if (hf_json_is(hf_json_get(o->error, "name"),
	    "MessageAbortedError"))
		return HF_TURN_INTERRUPTED;
	if (hf_json_ms(hf_json_get(o->time, "completed")) < 0)
		return HF_TURN_OPEN;
	if (o->error == NULL && (hf_str_is(o->finish, "tool-calls") ||
	    hf_str_is(o->finish, "unknown")))
		return HF_TURN_OPEN;
	return HF_TURN_CLOSED;
}

static void
assistant(struct hf_scan *sc, struct hf_row *row, const struct info *o)
{
	row->kind = HF_ROW_ASSISTANT;
	row->turn = assistant_turn(o);
	row->call = row->id;
	read_tokens(row, o->tokens);
	if (o->summary || hf_str_is(o->mode, "compaction")) {
		/* Spent, but by a request of its own. */
		row->kind = HF_ROW_SUMMARY;
		row->context = -1;
	}
	if (o->error != NULL) {
		row->flags |= HF_ROW_ERROR;
		row->context = -1;
	}
	if (row->kind == HF_ROW_SUMMARY || o->error != NULL)
		return;
	hf_session_set(&sc->session->model, o->model);
	hf_session_set(&sc->session->provider, o->provider);
}

/* Fills a row with a message. */
static void
message(struct hf_scan *sc, struct hf_row *row, const struct hf_jval *v)
{
	struct hf_opencode_own *own = sc->own;
	struct info o;

	read_info(&o, v);
	row->v = v;
	row->id = o.id;
	row->time = hf_json_ms(hf_json_get(o.time, "created"));
	if (own->reverted != 0 && o.id.n > 0 && hf_hash(o.id) ==
	    own->reverted)
		own->gone = true;
	if (o.role.n == 0)
		return;
	sc->recognised = true;
	if (own->gone) {
		/* No part of the talk, but it was spent. */
		row->call = row->id;
		read_tokens(row, o.tokens);
		row->context = -1;
		return;
	}
	row->flags |= HF_ROW_CHAIN | HF_ROW_REPLACES;
	row->parent = HF_PARENT_PREV;
	if (hf_str_is(o.role, "user")) {
		user(sc, row, &o);
		if (sc->session->model == NULL) {
			hf_session_set(&sc->session->model, o.model);
			hf_session_set(&sc->session->provider, o.provider);
		}
	} else if (hf_str_is(o.role, "assistant")) {
		assistant(sc, row, &o);
	}
}

/* ---- sessions ---- */

/* "New session - 2026-11-30T21:32:27.232Z": nobody chose it. */
static bool
is_default_title(struct hf_str title)
{
	static const char *const leads[] = { "New session - ",
		"Child session - " };
	size_t i, n;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		n = strlen(leads[i]);
		if (hf_str_starts(title, leads[i]))
			return hf_clock_parse(hf_strn(title.s + n,
			    title.n - n)) >= 0;
	}
	return false;
}

static void
about(struct hf_scan *sc, const struct hf_jval *info)
{
	const struct hf_jval *meta = hf_json_get(hf_json_get(info,
	    "metadata"), "handoff");
	struct hf_str title = hf_json_get_str(info, "title");
	struct hf_str parent = hf_json_get_str(info, "parentID");
	struct hf_str back = hf_json_get_str(hf_json_get(info, "revert"),
	    "messageID");
	struct hf_opencode_own *own = sc->own;
	struct hf_session *s = sc->session;

	hf_session_set(&s->id, hf_json_get_str(info, "id"));
	if (s->cwd == NULL && hf_json_get_str(info, "directory").n > 0)
		hf_session_set(&s->cwd, hf_json_get_str(info, "directory"));
	hf_session_set(&s->version, hf_json_get_str(info, "version"));
	if (title.n > 0 && !is_default_title(title)) {
		hf_session_set(&s->title, title);
		s->titled = true;
	}
	if (parent.n > 0) {
		s->subagent = true;
		hf_session_set(&s->parent, parent);
	} else if (s->parent == NULL) {
		hf_session_set(&s->parent, hf_json_get_str(meta,
		    "parentSession"));
	}
	if (hf_json_ms(hf_json_at(info, "time.archived")) > 0)
		s->archived = true;
	own->reverted = back.n > 0 ? hf_hash(back) : 0;
	own->gone = false;
}

static void
one_message(struct hf_scan *sc, const struct hf_record *rec,
    const struct hf_jval *v, uint32_t item)
{
	struct hf_row row;

	hf_row_init(&row, rec);
	row.ref.item = item;
	message(sc, &row, v);
	sc->emit(sc, &row);
}

static void
export(struct hf_scan *sc, const struct hf_record *rec,
    const struct hf_jval *messages)
{
	size_t n = hf_json_size(messages);
	size_t skip = n > ITEMS_MAX ? n - ITEMS_MAX : 0;
	uint32_t item = ITEM_MESSAGE;
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_row row;

	if (sc->only && sc->item >= ITEM_MESSAGE) {
		v = hf_json_elem(messages, skip + sc->item - ITEM_MESSAGE);
		if (v != NULL)
			one_message(sc, rec, v, sc->item);
		return;
	}
	hf_row_init(&row, rec);
	sc->emit(sc, &row);
	hf_json_iter(&it, messages);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if (skip > 0)
			skip--;
		else
			one_message(sc, rec, v, item++);
}

static bool
is_session(const struct hf_jval *v)
{
	return hf_str_starts(hf_json_get_str(hf_json_get(v, "info"), "id"),
	    "ses") && hf_json_type(hf_json_get(v, "messages")) == HF_J_ARR;
}

void
hf_opencode_row(struct hf_scan *sc, const struct hf_record *rec)
{
	if (is_session(rec->v)) {
		if (!sc->only)
			about(sc, hf_json_get(rec->v, "info"));
		sc->recognised = true;
		export(sc, rec, hf_json_get(rec->v, "messages"));
	} else {
		one_message(sc, rec, rec->v, 0);
	}
}

/* ---- whose file is it ---- */

static int
recognise(const char *path, const struct hf_jval *const *recs, size_t n)
{
	struct info o;
	int score = 0;
	size_t i;

	(void)path;
	for (i = 0; i < n && score < 95; i++) {
		if (is_session(recs[i]))
			score = 95;
		else if (hf_json_type(hf_json_get(recs[i], "parts")) ==
		    HF_J_ARR) {
			read_info(&o, recs[i]);
			if (hf_str_starts(o.id, "msg") && o.role.n > 0)
				score = 80;
		}
	}
	return score;
}

/* ---- the agent ---- */

static const struct hf_tool tools[] = {
	{ "bash", HF_ACT_RUN, "command", NULL },
	{ "read", HF_ACT_READ, "filePath|path", NULL },
	{ "write", HF_ACT_WRITE, "filePath|path", NULL },
	{ "edit", HF_ACT_EDIT, "filePath|path", NULL },
	{ "multiedit", HF_ACT_EDIT, "filePath|path", NULL },
	{ "patch", HF_ACT_EDIT, "patchText|patch|input", NULL },
	{ "apply_patch", HF_ACT_EDIT, "patchText|patch|input", NULL },
	{ "todowrite", HF_ACT_TODOS, "todos", NULL },
	{ "question", HF_ACT_ASK, "questions|question", NULL },
	{ "task", HF_ACT_SPAWN, "prompt", NULL },
	{ "todoread", HF_ACT_OTHER, NULL, NULL },
	{ "glob", HF_ACT_OTHER, NULL, NULL },
	{ "grep", HF_ACT_OTHER, NULL, NULL },
	{ "list", HF_ACT_OTHER, NULL, NULL },
	{ "webfetch", HF_ACT_OTHER, NULL, NULL },
	{ "websearch", HF_ACT_OTHER, NULL, NULL },
	{ "skill", HF_ACT_OTHER, NULL, NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};

const struct hf_agent hf_agent_opencode = {
	.name = "opencode",
	.label = "opencode",
	.program = "opencode",
	.leaf = HF_LEAF_LAST,
	.tools = tools,
	.own_size = sizeof(struct hf_opencode_own),
	.rows = &hf_opencode_rows,
	.root = hf_opencode_root,
	.recognise = recognise,
	.each = hf_opencode_each,
	.by_path = hf_opencode_by_path,
	.by_id = hf_opencode_by_id,
	.open = hf_opencode_open,
	.row = hf_opencode_row,
	.blocks = hf_opencode_blocks,
	.owned = hf_opencode_owned,
	.new_id = hf_opencode_new_id,
	.place = hf_opencode_place,
	.draft = hf_opencode_draft,
	.publish = hf_opencode_publish,
	.resume = hf_opencode_resume,
};
