#include "agent/gemini.h"

#include <string.h>

#include "base/clock.h"
#include "base/hmac.h"
#include "json/num.h"

/* The rows of a list: first the list itself and the compaction that it may
 * be, so that a message has the same number whatever was known before. */
enum { ITEM_LIST, ITEM_COMPACTION, ITEM_MESSAGE, ITEMS_MAX = 65000 };
/* The answer to a summary is the client's, and short. */
enum { ACK_MAX = 100 };

#define IS(key, lit) \
	((key).n == sizeof(lit) - 1 && memcmp((key).s, (lit), (key).n) == 0)

/* ---- one pass over a record's members ---- */

struct record {
	struct hf_str id, time, type, model, session, hash, rewind;
	const struct hf_jval *content, *tokens, *calls, *set, *messages, *v;
};

static void
read_record(struct record *r, const struct hf_jval *v)
{
	const struct hf_jval *m;
	struct hf_jiter it;
	struct hf_str key;

	memset(r, 0, sizeof(*r));
	r->v = v;
	hf_json_iter(&it, v);
	while ((m = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "id"))
			r->id = hf_json_str(m);
		else if (IS(key, "timestamp"))
			r->time = hf_json_str(m);
		else if (IS(key, "type"))
			r->type = hf_json_str(m);
		else if (IS(key, "content"))
			r->content = m;
		else if (IS(key, "tokens"))
			r->tokens = m;
		else if (IS(key, "model"))
			r->model = hf_json_str(m);
		else if (IS(key, "toolCalls"))
			r->calls = m;
		else if (IS(key, "$set"))
			r->set = m;
		else if (IS(key, "$rewindTo"))
			r->rewind = hf_json_str(m);
		else if (IS(key, "sessionId"))
			r->session = hf_json_str(m);
		else if (IS(key, "projectHash"))
			r->hash = hf_json_str(m);
		else if (IS(key, "messages"))
			r->messages = m;
}

/* ---- usage ---- */

/* What is cached is part of the input. What is all zero says nothing. */
static void
read_tokens(struct hf_row *row, const struct hf_jval *v)
{
	struct hf_usage *u = &row->usage;
	int64_t input = hf_json_count(hf_json_get(v, "input"));
	int64_t cached = hf_json_count(hf_json_get(v, "cached"));
	int64_t total = hf_json_count(hf_json_get(v, "total"));

	u->cache_read = cached;
	u->input = hf_num_plus(input > cached ? input - cached : 0,
	    hf_json_count(hf_json_get(v, "tool")));
	u->output = hf_num_plus(hf_json_count(hf_json_get(v, "output")),
	    hf_json_count(hf_json_get(v, "thoughts")));
	row->context = total > 0 ? total :
	    hf_num_plus(hf_num_plus(u->input, u->cache_read), u->output);
	row->has_usage = row->context > 0;
	if (!row->has_usage)
		row->context = -1;
}

/* ---- messages ---- */

static uint64_t
hash_of(struct hf_str id)
{
	uint64_t h = hf_hash(id);

	return h != 0 ? h : 1;
}

/* Is it what the client put in front of the talk, or a hook? */
static bool
is_context(struct hf_str text)
{
	return hf_str_starts(text, "<session_context>") ||
	    hf_str_starts(text, "<hook_context>");
}

static enum hf_row_kind
user_kind(const struct record *r, enum hf_turn *turn)
{
	const struct hf_jval *response = hf_gemini_part(r->content,
	    "functionResponse");
	struct hf_str text = hf_str_trim(hf_gemini_text(r->content));

	*turn = HF_TURN_OPEN;
	if (response != NULL) {
		if (hf_gemini_cancelled(response))
			*turn = HF_TURN_INTERRUPTED;
		return HF_ROW_RESULT;
	}
	if (hf_str_starts(text, "<handoff-context>"))
		return HF_ROW_SEED;
	if (text.n > 0 && !is_context(text) &&
	    !hf_str_starts(text, "<state_snapshot>"))
		return HF_ROW_PROMPT;
	*turn = HF_TURN_NONE;
	/* Else the summary of a compression. */
	return text.n == 0 || is_context(text) ? HF_ROW_INJECTED :
	    HF_ROW_SUMMARY;
}

/* Calls are written when they have ended: while one runs, the message that
 * made it is empty. What they gave goes back to the model. */
static enum hf_turn
gemini_turn(const struct record *r)
{
	return hf_json_size(r->calls) > 0 ||
	    hf_gemini_part(r->content, "functionCall") != NULL ||
	    hf_gemini_text(r->content).n == 0 ? HF_TURN_OPEN :
	    HF_TURN_CLOSED;
}

static void
gemini(struct hf_scan *sc, struct hf_row *row, const struct record *r)
{
	struct hf_gemini_own *own = sc->own;

	row->kind = HF_ROW_ASSISTANT;
	row->turn = gemini_turn(r);
	read_tokens(row, r->tokens);
	if (row->has_usage)
		row->call = row->id;
	else if (own->seeded)
		row->flags |= HF_ROW_SYNTHETIC;
	if (r->model.n > 0 && !(row->flags & HF_ROW_SYNTHETIC))
		hf_session_set(&sc->session->model, r->model);
	own->seeded = false;
}

/* Fills a row with a message; false if it is none. */
static bool
message(struct hf_scan *sc, struct hf_row *row, const struct record *r)
{
	struct hf_gemini_own *own = sc->own;

	row->v = r->v;
	row->id = r->id;
	row->time = r->time.n > 0 ? hf_clock_parse(r->time) : -1;
	if (r->id.n == 0)	/* the client drops it too */
		return false;
	row->flags |= HF_ROW_CHAIN | HF_ROW_REPLACES;
	row->parent = HF_PARENT_PREV;
	if (hf_str_is(r->type, "user")) {
		row->kind = user_kind(r, &row->turn);
		own->seeded = row->kind == HF_ROW_SEED;
		if (row->kind == HF_ROW_PROMPT)
			hf_session_title_prompt(sc->session,
			    hf_gemini_text(r->content));
	} else if (hf_str_is(r->type, "gemini")) {
		gemini(sc, row, r);
	} else if (hf_str_is(r->type, "error")) {
		row->turn = HF_TURN_CLOSED;
	}
	if (row->kind != HF_ROW_OTHER)
		sc->recognised = true;
	if (own->first == 0 && row->kind != HF_ROW_OTHER &&
	    row->kind != HF_ROW_INJECTED)
		own->first = hash_of(r->id);
	return true;
}

/* ---- lists ---- */

/* The list's first messages of the talk: a summary of what was, if the list
 * is a compression, and the client's answer to it. */
struct opening { struct record summary, answer; };

static void
read_opening(struct opening *o, const struct hf_jval *messages)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	int most = 4;		/* the client's own are in front */

	memset(o, 0, sizeof(*o));
	hf_json_iter(&it, messages);
	while (most-- > 0 && (v = hf_json_next(&it, NULL)) != NULL) {
		read_record(&o->answer, v);
		if (o->summary.id.n > 0)
			return;
		if (hf_str_is(o->answer.type, "user") &&
		    !is_context(hf_str_trim(hf_gemini_text(
		    o->answer.content))))
			o->summary = o->answer;
	}
	memset(&o->answer, 0, sizeof(o->answer));
}

/*
 * A compression leaves a summary in the user's place, an answer that no
 * model gave, and perhaps the last messages, all under new ids. A replay of
 * a session keeps the ids.
 */
static bool
is_compaction(const struct hf_gemini_own *own, const struct opening *o)
{
	struct hf_str ack = hf_gemini_text(o->answer.content);

	return own->first != 0 && o->answer.id.n > 0 &&
	    hash_of(o->summary.id) != own->first &&
	    hf_gemini_text(o->summary.content).n > 0 &&
	    hf_str_is(o->answer.type, "gemini") &&
	    hf_json_size(o->answer.tokens) == 0 && ack.n <= ACK_MAX &&
	    hf_str_starts(ack, "Got it.");
}

/* What the last message says of the turn is what the list says. */
static enum hf_turn
list_turn(const struct hf_jval *messages)
{
	size_t n = hf_json_size(messages);
	enum hf_turn turn = HF_TURN_NONE;
	struct record r;

	if (n == 0)
		return HF_TURN_CLOSED;
	read_record(&r, hf_json_elem(messages, n - 1));
	if (hf_str_is(r.type, "user"))
		user_kind(&r, &turn);
	else if (hf_str_is(r.type, "gemini"))
		turn = gemini_turn(&r);
	return turn == HF_TURN_NONE ? HF_TURN_CLOSED : turn;
}

static void
list_heads(struct hf_scan *sc, const struct hf_record *rec,
    const struct hf_jval *messages, bool compaction)
{
	struct hf_row row;

	hf_row_init(&row, rec);
	row.kind = HF_ROW_LIST;
	row.flags = HF_ROW_CHAIN;
	row.parent = HF_PARENT_PREV;
	row.turn = list_turn(messages);
	row.ref.item = ITEM_LIST;
	sc->emit(sc, &row);
	if (!compaction)
		return;
	row.kind = HF_ROW_COMPACTION;
	row.turn = HF_TURN_NONE;
	row.ref.item = ITEM_COMPACTION;
	sc->emit(sc, &row);
}

/* One message of a list. Behind a compaction nothing is new. */
static void
list_message(struct hf_scan *sc, const struct hf_record *rec,
    const struct hf_jval *v, uint32_t item, const struct opening *o)
{
	struct hf_row row;
	struct record r;

	hf_row_init(&row, rec);
	row.ref.item = item;
	read_record(&r, v);
	message(sc, &row, &r);
	if (o != NULL && hf_str_eq(r.id, o->summary.id)) {
		row.kind = HF_ROW_SUMMARY;
		row.turn = HF_TURN_NONE;
	} else if (o != NULL) {
		row.flags |= HF_ROW_KEPT;
	}
	sc->emit(sc, &row);
}

static void
list(struct hf_scan *sc, const struct hf_record *rec,
    const struct hf_jval *messages)
{
	struct hf_gemini_own *own = sc->own;
	size_t n = hf_json_size(messages);
	size_t skip = n > ITEMS_MAX ? n - ITEMS_MAX : 0;
	uint32_t item = ITEM_MESSAGE;
	const struct hf_jval *v;
	struct opening o;
	struct hf_jiter it;
	bool compaction;

	if (sc->only && sc->item >= ITEM_MESSAGE) {
		v = hf_json_elem(messages, skip + sc->item - ITEM_MESSAGE);
		if (v != NULL)
			list_message(sc, rec, v, sc->item, NULL);
		return;
	}
	read_opening(&o, messages);
	compaction = is_compaction(own, &o);
	list_heads(sc, rec, messages, compaction);
	own->first = 0;
	own->seeded = false;
	hf_json_iter(&it, messages);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if (skip > 0)
			skip--;
		else
			list_message(sc, rec, v, item++,
			    compaction ? &o : NULL);
}

/* ---- what is said of the session ---- */

static void
find_cwd(struct hf_scan *sc, struct hf_str hash)
{
	struct hf_gemini_own *own = sc->own;
	struct hf_session *s = sc->session;

	if (s->cwd != NULL || own->looked || hash.n == 0)
		return;
	own->looked = true;
	s->cwd = hf_gemini_cwd(s->path, hash);
}

/* Of a header, or of what "$set" changes in one. */
static void
about(struct hf_scan *sc, const struct record *r)
{
	const struct hf_jval *origin = hf_json_get(r->v, "handoff");
	struct hf_str summary = hf_json_get_str(r->v, "summary");
	struct hf_session *s = sc->session;

	if (r->session.n > 0)
		hf_session_set(&s->id, r->session);
	if (hf_json_is(hf_json_get(r->v, "kind"), "subagent"))
		s->subagent = true;
	if (hf_str_trim(summary).n > 0) {
		hf_session_set(&s->title, summary);
		s->titled = true;
	}
	if (s->parent == NULL)
		hf_session_set(&s->parent, hf_json_get_str(origin,
		    "parentSession"));
	find_cwd(sc, r->hash);
}

/* ---- records ---- */

static void
rewind(struct hf_scan *sc, struct hf_row *row, struct hf_str id)
{
	struct hf_gemini_own *own = sc->own;

	row->flags = HF_ROW_CHAIN;
	row->parent = HF_PARENT_BEFORE;
	row->parent_id = id;
	row->turn = HF_TURN_CLOSED;
	if (own->first == hash_of(id))
		own->first = 0;
}

static void
translate(struct hf_scan *sc, const struct hf_record *rec)
{
	struct hf_row row;
	struct record r;

	hf_row_init(&row, rec);
	read_record(&r, rec->v);
	if (r.rewind.n > 0) {
		rewind(sc, &row, r.rewind);
	} else if (r.id.n > 0) {
		message(sc, &row, &r);
	} else if (r.set != NULL) {
		read_record(&r, r.set);
		about(sc, &r);
	} else if (r.session.n > 0) {
		about(sc, &r);
		if (r.hash.n > 0)
			sc->recognised = true;
	}
	if (hf_json_type(r.messages) == HF_J_ARR && r.id.n == 0)
		list(sc, rec, r.messages);
	else
		sc->emit(sc, &row);
}

/* ---- whose file is it ---- */

static int
recognise(const char *path, const struct hf_jval *const *recs, size_t n)
{
	bool named = path != NULL && strstr(path, "/.gemini/") != NULL;
	int score = 0, found;
	struct record r;
	size_t i;

	for (i = 0; i < n; i++) {
		read_record(&r, recs[i]);
		found = 0;
		if (r.session.n > 0 && r.hash.n > 0)
			found = 95;
		else if (r.id.n > 0 && r.content != NULL &&
		    hf_json_get(recs[i], "uuid") == NULL &&
		    (hf_str_is(r.type, "gemini") ||
		    (named && hf_str_is(r.type, "user"))))
			found = 70;
		else if (hf_json_type(r.set) == HF_J_OBJ)
			found = 60;
		score = found > score ? found : score;
	}
	return score;
}

/* ---- the agent ---- */

static const struct hf_tool tools[] = {
	{ "write_file", HF_ACT_WRITE, "file_path|path", NULL },
	{ "replace", HF_ACT_EDIT, "file_path|path", NULL },
	{ "edit", HF_ACT_EDIT, "file_path|path", NULL },
	{ "read_file", HF_ACT_READ, "file_path|absolute_path|path", NULL },
	{ "read_many_files", HF_ACT_READ, "include|paths", NULL },
	{ "run_shell_command", HF_ACT_RUN, "command", NULL },
	{ "write_todos", HF_ACT_TODOS, "todos", NULL },
	{ "ask_user", HF_ACT_ASK, "questions|question", NULL },
	{ "invoke_agent", HF_ACT_SPAWN, "prompt|objective", NULL },
	{ "save_memory", HF_ACT_OTHER, NULL, NULL },
	{ "list_directory", HF_ACT_OTHER, NULL, NULL },
	{ "glob", HF_ACT_OTHER, NULL, NULL },
	{ "search_file_content", HF_ACT_OTHER, NULL, NULL },
	{ "grep_search", HF_ACT_OTHER, NULL, NULL },
	{ "google_web_search", HF_ACT_OTHER, NULL, NULL },
	{ "web_fetch", HF_ACT_OTHER, NULL, NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};

const struct hf_agent hf_agent_gemini = {
	.name = "gemini",
	.label = "Gemini CLI",
	.program = "gemini",
	.leaf = HF_LEAF_LAST,
	.tools = tools,
	.own_size = sizeof(struct hf_gemini_own),
	.root = hf_gemini_root,
	.recognise = recognise,
	.each = hf_gemini_each,
	.by_path = hf_gemini_by_path,
	.by_id = hf_gemini_by_id,
	.open = hf_gemini_open,
	.row = translate,
	.blocks = hf_gemini_blocks,
	.owned = hf_gemini_owned,
	.new_id = hf_gemini_new_id,
	.place = hf_gemini_place,
	.draft = hf_gemini_draft,
	.publish = hf_gemini_publish,
	.resume = hf_gemini_resume,
};
