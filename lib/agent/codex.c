#include "agent/codex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hmac.h"

enum {
	KEPT_MAX = 4096,	/* items behind a compaction that are looked
				 * at */
	COPY_MS = 1000		/* a fork's copies are written in one go,
				 * without a pause */
};

#define IS(key, lit) \
	((key).n == sizeof(lit) - 1 && memcmp((key).s, (lit), (key).n) == 0)

/* ---- one pass over an object's members ---- */

struct line {
	struct hf_str type, time, kind;
	const struct hf_jval *payload, *metadata;
};

static void
read_line(struct line *l, const struct hf_jval *v)
{
	const struct hf_jval *m;
	struct hf_jiter it;
	struct hf_str key;

	memset(l, 0, sizeof(*l));
	hf_json_iter(&it, v);
	while ((m = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "type"))
			l->type = hf_json_str(m);
		else if (IS(key, "timestamp"))
			l->time = hf_json_str(m);
		else if (IS(key, "payload"))
			l->payload = m;
		else if (IS(key, "metadata"))
			l->metadata = m;
	l->kind = hf_json_get_str(l->payload, "type");
}

/* ---- rows ---- */

/* Gives the row its place in the list. */
static void
chain(struct hf_codex_own *own, struct hf_row *row)
{
	snprintf(own->id, sizeof(own->id), "#%u", (unsigned)own->rows++);
	row->id = hf_str(own->id);
	row->parent = HF_PARENT_PREV;
	row->flags |= HF_ROW_CHAIN;
}

/* A turn that a parent left open is not this session's. */
static void
emit(struct hf_scan *sc, struct hf_row *row)
{
	const struct hf_codex_own *own = sc->own;

	if (own->inherited) {
		row->flags |= HF_ROW_INHERITED;
		if (row->turn == HF_TURN_OPEN)
			row->turn = HF_TURN_NONE;
	}
	sc->emit(sc, row);
}

/* What an item says of the turn counts only where turns are not marked. */
static void
turn(const struct hf_codex_own *own, struct hf_row *row, enum hf_turn t)
{
	if (!own->tasks)
		row->turn = t;
}

/* Allocates only when it changes. */
static void
set(char **field, struct hf_str a)
{
	if (a.n > 0 && (*field == NULL || !hf_str_is(a, *field)))
		hf_session_set(field, a);
}

static uint64_t
hash_of(struct hf_str a)
{
	uint64_t h = a.n > 0 ? hf_hash(a) : 1;

	return h != 0 ? h : 1;
}

/* ---- what the session is ---- */

/* "cli", "exec", "vscode" and others, or what made a thread of its own. */
static struct hf_str
read_source(struct hf_session *s, const struct hf_jval *meta)
{
	const struct hf_jval *v = hf_json_get(meta, "source");
	const struct hf_jval *sub = hf_json_get(v, "subagent");

	s->headless = hf_json_is(v, "exec");
	s->subagent = sub != NULL || hf_json_get(v, "internal") != NULL ||
	    hf_json_is(hf_json_get(meta, "thread_source"), "subagent");
	return hf_json_get_str(hf_json_get(sub, "thread_spawn"),
	    "parent_thread_id");
}

static void
read_meta(struct hf_scan *sc, const struct hf_jval *v, bool mine)
{
	struct hf_codex_own *own = sc->own;
	struct hf_session *s = sc->session;
	struct hf_str parent = read_source(s, v);
	struct hf_str fork = hf_json_get_str(v, "forked_from_id");

	set(&s->cwd, hf_json_get_str(v, "cwd"));
	set(&s->version, hf_json_get_str(v, "cli_version"));
	set(&s->provider, hf_json_get_str(v, "model_provider"));
	set(&s->branch, hf_json_get_str(hf_json_get(v, "git"), "branch"));
	own->forked = fork.n > 0 || s->subagent;
	own->began = hf_clock_parse(hf_json_get_str(v, "timestamp"));
	if (parent.n == 0)
		parent = fork;
	if (mine && parent.n == 0) {
		free(s->parent);
		s->parent = NULL;
	}
	set(&s->parent, parent);
}

/*
 * Only the file's own counts: a fork has its parent's too, in the file that
 * is read before its own, or copied behind it.
 */
static void
session_meta(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	struct hf_codex_own *own = sc->own;
	struct hf_session *s = sc->session;
	struct hf_str id = hf_json_get_str(l->payload, "id");
	bool mine;

	if (id.n == 0)
		return;
	mine = s->id == NULL || hf_str_is(id, s->id);
	if (own->meta == HF_CODEX_META_OWN) {
		if (!mine) {
			own->copying = own->inherited = true;
			if (row->time > own->copied)
				own->copied = row->time;
		}
		return;
	}
	if (mine) {
		if (s->id == NULL) {	/* the file's name has none */
			hf_session_set(&s->id, id);
			hf_codex_set_name(s);
		}
		own->at_fork = own->counted;
		own->copied = row->time;
		if (own->rows > 0) {	/* a parent's part ends here */
			chain(own, row);
			row->turn = HF_TURN_EXIT;
		}
	}
	own->meta = mine ? HF_CODEX_META_OWN : HF_CODEX_META_OTHER;
	read_meta(sc, l->payload, mine);
}

static void
turn_context(struct hf_scan *sc, const struct line *l)
{
	struct hf_session *s = sc->session;
	const struct hf_jval *v = hf_json_get(l->payload, "approval_policy");
	struct hf_str policy = hf_json_str(v);
	struct hf_jiter it;

	set(&s->model, hf_json_get_str(l->payload, "model"));
	if (s->cwd == NULL)
		set(&s->cwd, hf_json_get_str(l->payload, "cwd"));
	if (hf_json_type(v) == HF_J_OBJ) {	/* {"granular":{...}} */
		hf_json_iter(&it, v);
		hf_json_next(&it, &policy);
	}
	set(&s->permission, policy);
}

/* ---- copies in a fork ---- */

/* Is a row that is no copy reached? The ids of turns have their time. */
static bool
copies_end(const struct hf_codex_own *own, const struct hf_row *row,
    const struct line *l)
{
	int64_t ms = hf_codex_time(hf_json_get_str(l->payload, "turn_id"));

	if (ms >= 0)
		return ms >= own->began;
	return row->time > own->copied + COPY_MS;
}

static bool
is_copy(struct hf_codex_own *own, const struct hf_row *row,
    const struct line *l)
{
	if (own->meta != HF_CODEX_META_OWN)
		return false;
	if (own->copying && copies_end(own, row, l)) {
		own->copying = false;
		own->turn = 0;
	}
	if (own->copying && row->time > own->copied)
		own->copied = row->time;
	return own->copying || (own->forked && row->time >= 0 &&
	    row->time < own->began);
}

/* ---- prompts ---- */

static void
remember(struct hf_codex_own *own, const struct hf_codex_mark *m)
{
	uint32_t i = own->prompts % HF_CODEX_PROMPTS;

	if (own->prompts++ - own->lost == HF_CODEX_PROMPTS)
		own->lost++;
	own->prompt[i].hash = m->hash[0];
	own->prompt[i].row = own->rows;
}

static bool
was_asked(const struct hf_codex_own *own, const struct hf_codex_mark *m)
{
	uint32_t i;

	for (i = 0; i < HF_CODEX_PROMPTS && i < own->prompts; i++)
		if (own->prompt[i].hash == m->hash[0])
			return true;
	return false;
}

/* Is it the other of two rows for one prompt? */
static bool
is_other(struct hf_codex_own *own, const struct hf_codex_mark *m, bool event)
{
	if (!own->waits || own->by_event == event ||
	    !hf_codex_same(&own->waiting, m))
		return false;
	own->waits = false;
	return true;
}

/* An item or an event that shows one. Both are written, in either order;
 * the first of them is the row. */
static void
prompt(struct hf_scan *sc, struct hf_row *row,
    const struct hf_jval *content, bool event)
{
	struct hf_codex_own *own = sc->own;
	struct hf_str text = hf_codex_first_text(content);
	struct hf_codex_mark m;

	hf_codex_mark(&m, content);
	if (is_other(own, &m, event))
		return;
	row->kind = hf_codex_text(text) == HF_CODEX_SEED ? HF_ROW_SEED :
	    HF_ROW_PROMPT;
	if (!event && own->compacted && was_asked(own, &m)) {
		chain(own, row);	/* the client says it again */
		row->flags |= HF_ROW_KEPT;
		return;
	}
	own->waiting = m;
	own->waits = true;
	own->by_event = event;
	own->seeded = row->kind == HF_ROW_SEED;
	turn(own, row, own->seeded ? HF_TURN_CLOSED : HF_TURN_OPEN);
	if (!own->seeded) {
		remember(own, &m);
		hf_session_title_prompt(sc->session, text);
	}
	if (event)
		own->compacted = false;
	chain(own, row);
}

/* The newest clients say where each part of a message is from. */
static bool
is_harness(const struct hf_jval *item)
{
	const struct hf_jval *list = hf_json_at(item,
	    "internal_chat_message_metadata_passthrough."
	    "content_item_metadata"), *v;
	struct hf_jiter it;
	struct hf_str type;
	bool said = false;

	hf_json_iter(&it, list);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		type = hf_json_get_str(hf_json_get(v, "provenance"), "type");
		if (hf_str_is(type, "user"))
			return false;
		said = said || hf_str_is(type, "harness");
	}
	return said;
}

static void
user_item(struct hf_scan *sc, struct hf_row *row)
{
	const struct hf_jval *content = hf_json_get(row->v, "content");

	switch (hf_codex_text(hf_codex_first_text(content))) {
	case HF_CODEX_SHELL:
		row->kind = HF_ROW_RESULT;
		chain(sc->own, row);
		break;
	case HF_CODEX_HARNESS:
	case HF_CODEX_SUMMARY:
		row->kind = HF_ROW_INJECTED;
		break;
	case HF_CODEX_OWN:
	case HF_CODEX_SEED:
		if (is_harness(row->v))
			row->kind = HF_ROW_INJECTED;
		else
			prompt(sc, row, content, false);
		break;
	}
}

/* Old clients told the other texts by the same event, with a kind. */
static void
user_event(struct hf_scan *sc, struct hf_row *row,
    const struct hf_jval *content, struct hf_str kind)
{
	enum hf_codex_text is = hf_codex_text(hf_codex_first_text(content));

	if ((kind.n == 0 || hf_str_is(kind, "plain")) &&
	    (is == HF_CODEX_OWN || is == HF_CODEX_SEED))
		prompt(sc, row, content, true);
}

/* ---- other items ---- */

static void
answer(struct hf_codex_own *own, struct hf_row *row, const struct line *l)
{
	bool summary = hf_json_true(hf_json_get(l->metadata,
	    "compaction_output")) || hf_json_true(hf_json_at(row->v,
	    "metadata.compaction_output"));

	row->kind = summary ? HF_ROW_SUMMARY : HF_ROW_ASSISTANT;
	chain(own, row);
	if (summary)
		return;
	turn(own, row, HF_TURN_CLOSED);
	if (own->seeded)	/* the acknowledgement that we wrote */
		row->flags |= HF_ROW_SYNTHETIC;
	own->seeded = own->compacted = own->waits = false;
}

static void
called(struct hf_codex_own *own, const struct hf_jval *v)
{
	struct hf_str id = hf_json_get_str(v, "call_id");

	if (id.n > 0)
		own->call[own->calls++ % HF_CODEX_CALLS] = hf_hash(id);
}

static bool
was_called(const struct hf_codex_own *own, struct hf_str id)
{
	uint32_t i;

	for (i = 0; i < HF_CODEX_CALLS && i < own->calls; i++)
		if (own->call[i] == hf_hash(id))
			return true;
	return false;
}

/* What the client did. Of a call that is an item, that tells it; calls that
 * a script made are told here alone. */
static void
done_item(struct hf_codex_own *own, struct hf_row *row, const struct hf_jval *v)
{
	struct hf_str type = hf_json_get_str(v, "type");

	if ((!hf_str_is(type, "CommandExecution") &&
	    !hf_str_is(type, "FileChange")) ||
	    hf_json_is(hf_json_get(v, "source"), "user_shell") ||
	    was_called(own, hf_json_get_str(v, "id")))
		return;
	row->kind = HF_ROW_RESULT;
	chain(own, row);
}

static void
item(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	struct hf_codex_own *own = sc->own;
	struct hf_str role;

	switch (hf_codex_item(l->kind)) {
	case HF_CODEX_MESSAGE:
		role = hf_json_get_str(row->v, "role");
		if (hf_str_is(role, "user"))
			user_item(sc, row);
		else if (hf_str_is(role, "assistant"))
			answer(own, row, l);
		else
			row->kind = HF_ROW_INJECTED;
		break;
	case HF_CODEX_REASONING:
	case HF_CODEX_CALL:
	case HF_CODEX_DONE:
		row->kind = HF_ROW_ASSISTANT;
		turn(own, row, HF_TURN_OPEN);
		own->seeded = own->compacted = own->waits = false;
		called(own, row->v);
		chain(own, row);
		break;
	case HF_CODEX_OUTPUT:
		row->kind = HF_ROW_RESULT;
		turn(own, row, HF_TURN_OPEN);
		chain(own, row);
		break;
	case HF_CODEX_OTHER:
	case HF_CODEX_SEALED:
		break;
	}
}

/* ---- turns ---- */

static void
task_started(struct hf_codex_own *own, struct hf_row *row)
{
	own->turn = hash_of(hf_json_get_str(row->v, "turn_id"));
	own->tasks = true;
	own->seeded = own->waits = false;
	row->turn = HF_TURN_OPEN;
	row->window = hf_json_count(hf_json_get(row->v,
	    "model_context_window"));
	chain(own, row);
}

/* The end of another turn than the open one ends nothing. */
static void
task_ended(struct hf_codex_own *own, struct hf_row *row, bool aborted)
{
	struct hf_str id = hf_json_get_str(row->v, "turn_id");

	if (own->turn != 0 && id.n > 0 && own->turn != hash_of(id))
		return;
	own->turn = 0;
	row->turn = HF_TURN_CLOSED;
	if (aborted && !hf_json_is(hf_json_get(row->v, "reason"),
	    "review_ended")) {
		row->kind = HF_ROW_INTERRUPT;
		row->turn = HF_TURN_INTERRUPTED;
	}
	chain(own, row);
}

/* The user took the last prompts back. */
static void
rolled_back(struct hf_codex_own *own, struct hf_row *row)
{
	int64_t n = hf_json_count(hf_json_get(row->v, "num_turns"));
	int64_t known = (int64_t)own->prompts - own->lost;

	if (n == 0 || known == 0)
		return;
	if (n > known)
		n = known;
	own->prompts -= (uint32_t)n;
	own->turn = 0;
	own->waits = false;
	snprintf(own->up, sizeof(own->up), "#%u",
	    (unsigned)own->prompt[own->prompts % HF_CODEX_PROMPTS].row);
	chain(own, row);
	row->turn = HF_TURN_CLOSED;
	row->parent = HF_PARENT_BEFORE;
	row->parent_id = hf_str(own->up);
}

/* The index beside the store is newer than what the file tells. */
static void
thread_name(struct hf_scan *sc, struct hf_str name)
{
	struct hf_codex_own *own = sc->own;
	struct hf_session *s = sc->session;

	name = hf_str_trim(name);
	if (name.n == 0 || own->inherited || (s->titled && !own->named))
		return;
	set(&s->title, name);
	s->titled = own->named = true;
}

static void
event(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	struct hf_codex_own *own = sc->own;
	const struct hf_jval *v;

	if (IS(l->kind, "token_count")) {
		hf_codex_usage(own, row, hf_json_get(row->v, "info"));
		if (row->context > 0)
			chain(own, row);
	} else if (IS(l->kind, "user_message")) {
		user_event(sc, row, hf_json_get(row->v, "message"),
		    hf_json_get_str(row->v, "kind"));
	} else if (IS(l->kind, "item_completed")) {
		v = hf_json_get(row->v, "item");
		if (hf_json_is(hf_json_get(v, "type"), "UserMessage"))
			user_event(sc, row, hf_json_get(v, "content"),
			    HF_STR_NONE);
		else
			done_item(own, row, v);
	} else if (IS(l->kind, "task_started") ||
	    IS(l->kind, "turn_started")) {
		task_started(own, row);
	} else if (IS(l->kind, "task_complete") ||
	    IS(l->kind, "turn_complete")) {
		task_ended(own, row, false);
	} else if (IS(l->kind, "turn_aborted")) {
		task_ended(own, row, true);
	} else if (IS(l->kind, "thread_rolled_back")) {
		rolled_back(own, row);
	} else if (IS(l->kind, "error")) {
		row->flags |= HF_ROW_ERROR;
	} else if (IS(l->kind, "thread_name_updated")) {
		thread_name(sc, hf_json_get_str(row->v, "thread_name"));
	}
}

/* ---- compactions ---- */

static void
kept_items(struct hf_scan *sc, const struct hf_row *at)
{
	const struct hf_jval *v;
	struct hf_str summary = hf_json_get_str(at->v, "message");
	struct hf_row row;
	struct hf_jiter it;
	int left = KEPT_MAX;
	uint32_t item = at->ref.item;

	hf_json_iter(&it, hf_json_get(at->v, "replacement_history"));
	while (left-- > 0 && (v = hf_json_next(&it, NULL)) != NULL) {
		memset(&row, 0, sizeof(row));
		row.kind = hf_codex_kept(v, summary);
		if (row.kind == HF_ROW_OTHER)
			continue;
		row.ref = at->ref;
		row.ref.item = ++item;
		if (sc->only && item != sc->item)
			continue;
		row.v = v;
		row.context = -1;
		row.time = at->time;
		row.flags = HF_ROW_KEPT;
		chain(sc->own, &row);
		emit(sc, &row);
	}
}

/*
 * A summary that cannot be read stands for nothing: what it was made of is
 * shown instead, from the last one that can be.
 */
static void
compacted(struct hf_scan *sc, struct hf_row *row)
{
	struct hf_codex_own *own = sc->own;
	bool sealed = hf_codex_sealed(row->v);

	row->kind = HF_ROW_COMPACTION;
	if (own->estimated)
		row->flags |= HF_ROW_KEEPS_CONTEXT;
	own->compacted = true;
	own->waits = false;
	if (sealed) {
		snprintf(own->up, sizeof(own->up), "#%u",
		    (unsigned)own->readable);
		row->kept = hf_str(own->up);
	} else {
		own->readable = own->rows;
	}
	chain(own, row);
	emit(sc, row);
	if (!sealed)
		kept_items(sc, row);
}

/* ---- all rows ---- */

/* Where the reading jumped to another place or file, nothing is known to be
 * open. */
static void
follow(struct hf_codex_own *own, const struct hf_record *rec)
{
	if (rec->line > 0 && rec->line < own->line)
		own->turn = 0;
	own->line = rec->line;
}

static void
row(struct hf_scan *sc, const struct hf_record *rec)
{
	struct hf_codex_own *own = sc->own;
	struct hf_row r;
	struct line l;

	hf_row_init(&r, rec);
	read_line(&l, rec->v);
	if (l.payload != NULL)
		r.v = l.payload;
	r.time = l.time.n > 0 ? hf_clock_parse(l.time) : -1;
	follow(own, rec);
	own->inherited = is_copy(own, &r, &l);
	if (hf_json_type(l.payload) != HF_J_OBJ) {
		emit(sc, &r);
		return;
	}
	if (IS(l.type, "compacted")) {
		sc->recognised = true;
		compacted(sc, &r);
		return;
	}
	if (IS(l.type, "response_item")) {
		sc->recognised = true;
		item(sc, &r, &l);
	} else if (IS(l.type, "event_msg")) {
		sc->recognised = true;
		event(sc, &r, &l);
	} else if (IS(l.type, "turn_context")) {
		sc->recognised = true;
		turn_context(sc, &l);
	} else if (IS(l.type, "session_meta")) {
		sc->recognised = true;
		session_meta(sc, &r, &l);
	} else if (IS(l.type, "handoff_meta") && sc->session->parent == NULL) {
		set(&sc->session->parent, hf_json_get_str(l.payload,
		    "parent_session"));
	}
	emit(sc, &r);
}

/* ---- whose file is it ---- */

static int
recognise(const char *path, const struct hf_jval *const *recs, size_t n)
{
	static const char *const types[] = { "response_item", "event_msg",
		"turn_context", "compacted" };
	const struct hf_jval *payload;
	struct hf_str type;
	size_t i, k;
	int score = 0;

	(void)path;
	for (i = 0; i < n; i++) {
		type = hf_json_get_str(recs[i], "type");
		payload = hf_json_get(recs[i], "payload");
		if (hf_json_type(payload) != HF_J_OBJ)
			continue;
		if (hf_str_is(type, "session_meta"))
			return 95;
		for (k = 0; k < sizeof(types) / sizeof(types[0]); k++)
			if (hf_str_is(type, types[k]))
				score = 85;
	}
	return score;
}

/* ---- the agent ---- */

static const struct hf_tool tools[] = {
	{ "exec_command", HF_ACT_RUN, "cmd|command", NULL },
	{ "shell", HF_ACT_RUN, "command|cmd", NULL },
	{ "shell_command", HF_ACT_RUN, "command|cmd", NULL },
	{ "local_shell", HF_ACT_RUN, "command", NULL },
	{ "container.exec", HF_ACT_RUN, "cmd|command", NULL },
	{ "apply_patch", HF_ACT_EDIT, "input|patch", NULL },
	{ "read_file", HF_ACT_READ, "file_path|path", NULL },
	{ "view_image", HF_ACT_READ, "path", NULL },
	{ "update_plan", HF_ACT_TODOS, "plan", NULL },
	{ "request_user_input", HF_ACT_ASK, "questions|question", NULL },
	{ "spawn_agent", HF_ACT_SPAWN, "message|task", NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};

const struct hf_agent hf_agent_codex = {
	.name = "codex",
	.label = "Codex",
	.program = "codex",
	.session_env = "CODEX_THREAD_ID",
	.leaf = HF_LEAF_LAST,
	.tools = tools,
	.own_size = sizeof(struct hf_codex_own),
	.root = hf_codex_home,
	.recognise = recognise,
	.each = hf_codex_each,
	.by_path = hf_codex_by_path,
	.by_id = hf_codex_by_id,
	.open = hf_codex_open,
	.row = row,
	.blocks = hf_codex_blocks,
	.live = hf_codex_live,
	.owned = hf_codex_owned,
	.new_id = hf_codex_new_id,
	.place = hf_codex_place,
	.draft = hf_codex_draft,
	.publish = hf_codex_publish,
	.resume = hf_codex_resume,
};
