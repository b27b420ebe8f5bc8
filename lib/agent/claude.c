#include "agent/claude.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* What row() keeps from record to record. */
struct own {
	int64_t forked;		/* time of a queue-operation before all rows
				 * of the chain; 0: none */
	uint8_t title;		/* enum title */
	bool chain;		/* a row of the chain was seen */
	bool cwd;		/* so was the first folder */
};

enum title { TITLE_NONE, TITLE_PROMPT, TITLE_AI, TITLE_CUSTOM };

/* A comparison of known length becomes one of integers. */
#define IS(a, lit) ((a).n == sizeof(lit) - 1 && \
	memcmp((a).s, (lit), sizeof(lit) - 1) == 0)

/* ---- a line's members ---- */

enum type {
	TYPE_OTHER, TYPE_USER, TYPE_ASSISTANT, TYPE_ATTACHMENT, TYPE_SYSTEM,
	TYPE_QUEUE, TYPE_LAST_PROMPT, TYPE_TITLE, TYPE_AI_TITLE,
	TYPE_PERMISSION, TYPE_META, TYPE_KNOWN
};

struct line {
	struct hf_str type, uuid, cwd, subtype, version, agent, ai_title,
	    leaf, session, timestamp, operation, branch, request, parent,
	    entrypoint, title, permission, logical, parent_session, model;
	const struct hf_jval *message, *attachment, *result, *compact,
	    *origin, *parent_value, *stream;
	bool meta, sidechain, summary, error, hidden;
};

enum member_kind { STR, BOOL, VAL, PARENT };
struct member {
	const char *key;
	uint8_t n, kind;
	uint16_t off;
};
#define MEMBER(key, kind, field) \
	{ key, sizeof(key) - 1, kind, offsetof(struct line, field) }
/* By length. */
static const struct member members[] = {
	MEMBER("cwd", STR, cwd),
	MEMBER("type", STR, type),
	MEMBER("uuid", STR, uuid),
	MEMBER("model", STR, model),
	MEMBER("isMeta", BOOL, meta),
	MEMBER("origin", VAL, origin),
	MEMBER("message", VAL, message),
	MEMBER("subtype", STR, subtype),
	MEMBER("version", STR, version),
	MEMBER("agentId", STR, agent),
	MEMBER("aiTitle", STR, ai_title),
	MEMBER("leafUuid", STR, leaf),
	MEMBER("sessionId", STR, session),
	MEMBER("timestamp", STR, timestamp),
	MEMBER("operation", STR, operation),
	MEMBER("gitBranch", STR, branch),
	MEMBER("requestId", STR, request),
	MEMBER("parentUuid", PARENT, parent),
	MEMBER("entrypoint", STR, entrypoint),
	MEMBER("attachment", VAL, attachment),
	MEMBER("session_id", VAL, stream),
	MEMBER("isSidechain", BOOL, sidechain),
	MEMBER("customTitle", STR, title),
	MEMBER("toolUseResult", VAL, result),
	MEMBER("parentSession", STR, parent_session),
	MEMBER("permissionMode", STR, permission),
	MEMBER("compactMetadata", VAL, compact),
	MEMBER("isCompactSummary", BOOL, summary),
	MEMBER("logicalParentUuid", STR, logical),
	MEMBER("isApiErrorMessage", BOOL, error),
	MEMBER("isVisibleInTranscriptOnly", BOOL, hidden),
};
enum { LONGEST = 25 };

/* Where the keys of each length begin. */
static const uint8_t members_from[LONGEST + 2] = {
	0, 0, 0, 0, 1, 3, 4, 6, 11, 12, 17, 21, 23, 23, 25, 26, 27, 28, 30,
	30, 30, 30, 30, 30, 30, 30, 31
};

static void
set_member(struct line *l, const struct member *m, const struct hf_jval *v)
{
	void *at = (char *)l + m->off;

	switch ((enum member_kind)m->kind) {
	case PARENT:
		l->parent_value = v;
		__attribute__((fallthrough));
	case STR:
		*(struct hf_str *)at = hf_json_str(v);
		break;
	case BOOL:
		*(bool *)at = hf_json_true(v);
		break;
	case VAL:
		*(const struct hf_jval **)at = v;
		break;
	}
}

static void
read_line(struct line *l, const struct hf_jval *v)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	struct hf_str key;
	size_t i;

	memset(l, 0, sizeof(*l));
	hf_json_iter(&it, v);
	while ((e = hf_json_next(&it, &key)) != NULL) {
		if (key.n > LONGEST)
			continue;
		for (i = members_from[key.n]; i < members_from[key.n + 1];
		    i++)
			if (members[i].key[0] == key.s[0] &&
			    memcmp(members[i].key, key.s, key.n) == 0) {
				set_member(l, &members[i], e);
				break;
			}
	}
}

/* What is said apart from the conversation, in rows without a uuid. */
static const struct {
	const char *name;
	enum type type;
} types[] = {
	{ "queue-operation", TYPE_QUEUE },
	{ "last-prompt", TYPE_LAST_PROMPT }, { "custom-title", TYPE_TITLE },
	{ "ai-title", TYPE_AI_TITLE }, { "permission-mode", TYPE_PERMISSION },
	{ "handoff-meta", TYPE_META }, { "mode", TYPE_KNOWN },
	{ "summary", TYPE_KNOWN }, { "agent-name", TYPE_KNOWN },
	{ "file-history-snapshot", TYPE_KNOWN }, { "progress", TYPE_KNOWN },
	{ "pr-link", TYPE_KNOWN }, { "worktree-state", TYPE_KNOWN },
};

/*
 * The type of a line of a session. The stream of "claude -p" has rows of
 * the same types, but says session_id, and no line has both.
 */
static enum type
type_of(const struct line *l)
{
	enum type type;
	size_t i;

	if (l->stream != NULL)
		return TYPE_OTHER;
	if (IS(l->type, "user"))
		type = TYPE_USER;
	else if (IS(l->type, "assistant"))
		type = TYPE_ASSISTANT;
	else if (IS(l->type, "attachment"))
		type = TYPE_ATTACHMENT;
	else if (IS(l->type, "system"))
		type = TYPE_SYSTEM;
	else {
		for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (hf_str_is(l->type, types[i].name))
				return types[i].type;
		return TYPE_OTHER;
	}
	/* One that was written by hand has one of these at least. */
	if (l->parent_value == NULL && l->session.n == 0 &&
	    (l->uuid.n == 0 || l->timestamp.n == 0))
		return TYPE_OTHER;
	return type;
}

/* ---- what a user's row is ---- */

enum hf_claude_text
hf_claude_text(struct hf_str text)
{
	static const struct {
		const char *begin;
		enum hf_claude_text what;
	} begins[] = {
		{ "<command-name>", HF_CLAUDE_ECHO },
		{ "<command-message>", HF_CLAUDE_ECHO },
		{ "<local-command-", HF_CLAUDE_ECHO },
		{ "<bash-input>", HF_CLAUDE_ECHO },
		{ "<bash-stdout>", HF_CLAUDE_ECHO },
		{ "<bash-stderr>", HF_CLAUDE_ECHO },
		{ "<system-reminder>", HF_CLAUDE_ECHO },
		{ "<user-prompt-submit-hook>", HF_CLAUDE_ECHO },
		{ "<ide_opened_file>", HF_CLAUDE_ECHO },
		{ "<ide_selection>", HF_CLAUDE_ECHO },
		{ "<new-diagnostics>", HF_CLAUDE_ECHO },
		{ "<task-notification>", HF_CLAUDE_NOTICE },
		{ "<teammate-message", HF_CLAUDE_NOTICE },
		{ "[Request interrupted by user", HF_CLAUDE_INTERRUPT },
		{ "<handoff-context>", HF_CLAUDE_SEED },
	};
	size_t i;

	while (text.n > 0 && strchr(" \t\r\n", text.s[0]) != NULL) {
		text.s++;
		text.n--;
	}
	if (text.n == 0 || (text.s[0] != '<' && text.s[0] != '['))
		return HF_CLAUDE_OWN;
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (hf_str_starts(text, begins[i].begin))
			return begins[i].what;
	return HF_CLAUDE_OWN;
}

struct content {
	unsigned texts;		/* 1 << enum hf_claude_text */
	bool result, other;	/* a tool's result; a picture or the like */
	struct hf_str own;	/* the first text of the user's own */
};

static void
add_text(struct content *c, struct hf_str text)
{
	enum hf_claude_text what;

	if (hf_str_trim(text).n == 0)
		return;
	what = hf_claude_text(text);
	if (what == HF_CLAUDE_OWN && c->own.s == NULL)
		c->own = text;
	c->texts |= 1u << what;
}

/* A string, or blocks: the user's words may stand behind what an editor
 * put before them. */
static void
read_content(struct content *c, const struct hf_jval *v)
{
	const struct hf_jval *e, *type;
	struct hf_jiter it;

	memset(c, 0, sizeof(*c));
	if (hf_json_type(v) == HF_J_STR)
		add_text(c, hf_json_str(v));
	hf_json_iter(&it, hf_json_type(v) == HF_J_ARR ? v : NULL);
	while ((e = hf_json_next(&it, NULL)) != NULL) {
		type = hf_json_get(e, "type");
		if (hf_json_is(type, "text"))
			add_text(c, hf_json_get_str(e, "text"));
		else if (hf_json_is(type, "tool_result"))
			c->result = true;
		else
			c->other = true;
	}
}

static bool
has(const struct content *c, enum hf_claude_text what)
{
	return (c->texts & 1u << what) != 0;
}

/* Was it written by someone who is not the user: a task, another agent? */
static bool
not_human(const struct hf_jval *origin)
{
	struct hf_str kind = hf_json_get_str(origin, "kind");

	return kind.n > 0 && !hf_str_is(kind, "human");
}

static void
set_prompt(struct hf_scan *sc, struct hf_row *row, struct hf_str text)
{
	struct hf_session *s = sc->session;
	struct own *own = sc->own;

	row->kind = HF_ROW_PROMPT;
	if (own->title != TITLE_NONE || text.n == 0 ||
	    (row->flags & HF_ROW_SIDECHAIN))
		return;
	own->title = TITLE_PROMPT;
	if (!s->titled) {	/* who knew only the end may have guessed */
		free(s->title);
		s->title = NULL;
	}
	hf_session_title_prompt(s, text);
}

static void
by_content(struct hf_scan *sc, struct hf_row *row, const struct content *c)
{
	if (has(c, HF_CLAUDE_OWN) || c->other) {
		set_prompt(sc, row, c->own);
		row->turn = HF_TURN_OPEN;
	} else if (has(c, HF_CLAUDE_SEED)) {
		row->kind = HF_ROW_SEED;
		/* Alone at the start nobody has been asked anything yet. */
		row->turn = ((struct own *)sc->own)->chain ? HF_TURN_OPEN :
		    HF_TURN_CLOSED;
	} else {
		row->kind = HF_ROW_INJECTED;
		if (has(c, HF_CLAUDE_NOTICE))
			row->turn = HF_TURN_OPEN;
	}
}

static void
user_row(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	struct content c;

	if (l->summary) {
		row->kind = HF_ROW_SUMMARY;
		row->turn = HF_TURN_CLOSED;
		return;
	}
	read_content(&c, hf_json_get(l->message, "content"));
	if (has(&c, HF_CLAUDE_INTERRUPT)) {
		row->kind = HF_ROW_INTERRUPT;
		row->turn = HF_TURN_INTERRUPTED;
	} else if (c.result) {
		row->kind = HF_ROW_RESULT;
		row->turn = HF_TURN_OPEN;
	} else if (l->meta || l->hidden) {
		row->kind = HF_ROW_INJECTED;
	} else if (not_human(l->origin)) {
		row->kind = HF_ROW_INJECTED;
		row->turn = HF_TURN_OPEN;
	} else {
		by_content(sc, row, &c);
	}
}

/* What was typed while the model was at work is handed to it as an
 * attachment, and stands nowhere else. */
static void
attachment_row(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	const struct hf_jval *a = l->attachment;
	struct hf_str mode;
	struct content c;

	if (!hf_json_is(hf_json_get(a, "type"), "queued_command"))
		return;
	mode = hf_json_get_str(a, "commandMode");
	read_content(&c, hf_json_get(a, "prompt"));
	row->kind = HF_ROW_INJECTED;
	if ((mode.n == 0 || hf_str_is(mode, "prompt")) &&
	    !not_human(hf_json_get(a, "origin")) &&
	    !not_human(l->origin) && (has(&c, HF_CLAUDE_OWN) || c.other))
		set_prompt(sc, row, c.own);
}

/* ---- the assistant ---- */

static bool
read_usage(struct hf_usage *u, const struct hf_jval *v)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	struct hf_str key;

	hf_json_iter(&it, hf_json_type(v) == HF_J_OBJ ? v : NULL);
	while ((e = hf_json_next(&it, &key)) != NULL) {
		if (IS(key, "input_tokens"))
			u->input = hf_json_count(e);
		else if (IS(key, "output_tokens"))
			u->output = hf_json_count(e);
		else if (IS(key, "cache_read_input_tokens"))
			u->cache_read = hf_json_count(e);
		else if (IS(key, "cache_creation_input_tokens"))
			u->cache_write = hf_json_count(e);
	}
	/* Counters are at most 2^53: the sum fits. */
	return u->input + u->cache_read + u->cache_write + u->output > 0;
}

struct message {
	struct hf_str id, model, stop;
	const struct hf_jval *usage, *content;
};

static void
read_message(struct message *m, const struct hf_jval *v)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	struct hf_str key;

	memset(m, 0, sizeof(*m));
	hf_json_iter(&it, hf_json_type(v) == HF_J_OBJ ? v : NULL);
	while ((e = hf_json_next(&it, &key)) != NULL) {
		if (IS(key, "id"))
			m->id = hf_json_str(e);
		else if (IS(key, "model"))
			m->model = hf_json_str(e);
		else if (IS(key, "usage"))
			m->usage = e;
		else if (IS(key, "content"))
			m->content = e;
		else if (IS(key, "stop_reason"))
			m->stop = hf_json_str(e);
	}
}

/* Does the message go on? A stop reason alone does not tell: older clients
 * wrote none, newer ones the whole message's on each of its rows. */
static bool
goes_on(const struct message *m)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	bool thinking = false;

	if (hf_str_is(m->stop, "tool_use") || hf_str_is(m->stop, "pause_turn"))
		return true;
	hf_json_iter(&it, hf_json_type(m->content) == HF_J_ARR ? m->content :
	    NULL);
	while ((e = hf_json_next(&it, NULL)) != NULL) {
		e = hf_json_get(e, "type");
		if (hf_json_is(e, "tool_use"))
			return true;
		thinking = hf_json_is(e, "thinking");
	}
	return thinking && m->stop.n == 0;
}

static void
assistant_row(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	struct message m;
	bool made;		/* by the client */

	read_message(&m, l->message);
	row->kind = HF_ROW_ASSISTANT;
	row->turn = HF_TURN_CLOSED;
	made = hf_str_is(m.model, "<synthetic>");
	if (made)
		row->flags |= HF_ROW_SYNTHETIC;
	if (l->error)
		row->flags |= HF_ROW_ERROR;
	if (made || l->error)
		return;
	if (goes_on(&m))
		row->turn = HF_TURN_OPEN;
	row->call = m.id;
	row->request = l->request;
	row->has_usage = read_usage(&row->usage, m.usage);
	if (row->has_usage)
		row->context = row->usage.input + row->usage.cache_read +
		    row->usage.cache_write + row->usage.output;
	if (!(row->flags & HF_ROW_SIDECHAIN) && m.model.n > 0)
		hf_session_set(&sc->session->model, m.model);
}

/* ---- the others of the chain ---- */

static void
compaction(struct hf_row *row, const struct line *l)
{
	const struct hf_jval *kept;
	int64_t after;

	row->kind = HF_ROW_COMPACTION;
	row->turn = HF_TURN_CLOSED;
	if (l->parent.n == 0 && l->logical.n > 0) {
		row->parent = HF_PARENT_ID;
		row->parent_id = l->logical;
	}
	after = hf_json_count(hf_json_get(l->compact, "postTokens"));
	row->context = after > 0 ? after : -1;
	row->kept = hf_json_get_str(hf_json_get(l->compact,
	    "preservedSegment"), "headUuid");
	if (row->kept.n > 0)
		return;
	kept = hf_json_get(hf_json_get(l->compact, "preservedMessages"),
	    "uuids");
	row->kept = hf_json_str(hf_json_elem(kept, 0));
}

static void
system_row(struct hf_row *row, const struct line *l)
{
	if (hf_str_is(l->subtype, "compact_boundary"))
		compaction(row, l);
	else if (hf_str_find(l->subtype, HF_STR("compact"), 0) != SIZE_MAX)
		row->flags |= HF_ROW_MICRO;
}

/* An agent that this session started says which model it got: with a
 * suffix, when the window is the large one, which is said nowhere else. */
static void
read_window(const struct hf_scan *sc, struct hf_row *row,
    const struct line *l)
{
	static const char large[] = "[1m]";
	struct hf_str model, own = hf_str(sc->session->model);

	if (hf_json_type(l->result) != HF_J_OBJ)
		return;
	model = hf_json_get_str(l->result, "resolvedModel");
	if (!hf_str_ends(model, large))
		return;
	model.n -= sizeof(large) - 1;
	if (own.s != NULL && hf_str_eq(model, own))
		row->window = 1000000;
}

/* ---- the session ---- */

static void
learn(struct hf_scan *sc, const struct line *l)
{
	struct hf_session *s = sc->session;
	struct own *own = sc->own;

	if (s->id == NULL)
		hf_session_set(&s->id, l->session);
	if (!own->chain && l->sidechain && l->agent.n > 0)
		s->subagent = true;
	if (s->subagent && s->parent == NULL)
		hf_session_set(&s->parent, l->session);
	if (l->sidechain && !s->subagent)
		return;
	if (!own->cwd && l->cwd.n > 0) {
		own->cwd = true;
		hf_session_set(&s->cwd, l->cwd);
	}
	hf_session_set(&s->version, l->version);
	if (l->branch.n > 0)
		hf_session_set(&s->branch, l->branch);
	if (l->permission.n > 0)
		hf_session_set(&s->permission, l->permission);
	if (l->entrypoint.n > 0)
		s->headless = hf_str_starts(l->entrypoint, "sdk");
}

static void
set_title(struct hf_scan *sc, enum title level, struct hf_str title)
{
	struct own *own = sc->own;

	if (own->title > level || hf_str_trim(title).n == 0)
		return;
	own->title = (uint8_t)level;
	hf_session_set(&sc->session->title, hf_str_trim(title));
	sc->session->titled = true;
}

/*
 * A fork begins with rows of its parent. Older clients left the parent's id
 * in them; newer ones rewrite it, and then only their time tells: they are
 * older than the first prompt that was queued, which stands before them.
 * Of these the answers are not spent again, while the prompts count, since
 * nothing tells them for sure (FORMATS 2.2).
 */
static bool
inherited(const struct hf_scan *sc, const struct line *l, enum type type,
    int64_t time)
{
	const struct hf_session *s = sc->session;
	const struct own *own = sc->own;

	if (s->subagent)
		return false;
	if (l->session.n > 0 && s->id != NULL &&
	    !hf_str_eq(l->session, hf_str(s->id)))
		return true;
	return type != TYPE_USER && own->forked > 0 && time >= 0 &&
	    time < own->forked;
}

static void
set_place(struct hf_row *row, const struct line *l)
{
	row->flags |= HF_ROW_CHAIN;
	row->id = l->uuid;
	if (l->parent.n > 0) {
		row->parent = HF_PARENT_ID;
		row->parent_id = l->parent;
	} else {
		row->parent = l->parent_value != NULL ? HF_PARENT_ROOT :
		    HF_PARENT_PREV;
	}
}

static void
chain_row(struct hf_scan *sc, struct hf_row *row, const struct line *l,
    enum type type)
{
	struct own *own = sc->own;

	learn(sc, l);
	row->time = hf_clock_parse(l->timestamp);
	set_place(row, l);
	if (l->sidechain && !sc->session->subagent)
		row->flags |= HF_ROW_SIDECHAIN;
	if (inherited(sc, l, type, row->time))
		row->flags |= HF_ROW_INHERITED;
	if (type == TYPE_USER)
		user_row(sc, row, l);
	else if (type == TYPE_ASSISTANT)
		assistant_row(sc, row, l);
	else if (type == TYPE_ATTACHMENT)
		attachment_row(sc, row, l);
	else
		system_row(row, l);
	if (type == TYPE_USER)
		read_window(sc, row, l);
	own->chain = true;
}

/* ---- lines beside the chain ---- */

static void
queue_row(struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	struct own *own = sc->own;

	row->time = hf_clock_parse(l->timestamp);
	if (!own->chain && own->forked == 0 && row->time > 0)
		own->forked = row->time;
	row->kind = HF_ROW_QUEUED;
	if (hf_str_is(l->operation, "enqueue"))
		row->queue = 1;
	else if (hf_str_is(l->operation, "popAll"))
		row->queue = INT_MIN;
	else if (hf_str_is(l->operation, "dequeue") ||
	    hf_str_is(l->operation, "remove"))
		row->queue = -1;
	else
		row->kind = HF_ROW_OTHER;
}

static void
beside_row(struct hf_scan *sc, struct hf_row *row, const struct line *l,
    enum type type)
{
	struct hf_session *s = sc->session;

	if (type == TYPE_QUEUE) {
		queue_row(sc, row, l);
	} else if (type == TYPE_LAST_PROMPT) {
		if (l->leaf.n > 0) {
			row->flags |= HF_ROW_LEAF;
			row->id = l->leaf;
		}
	} else if (type == TYPE_TITLE) {
		set_title(sc, TITLE_CUSTOM, l->title);
	} else if (type == TYPE_AI_TITLE) {
		set_title(sc, TITLE_AI, l->ai_title);
	} else if (type == TYPE_PERMISSION) {
		hf_session_set(&s->permission, l->permission);
	} else if (type == TYPE_META) {
		hf_session_set(&s->parent, l->parent_session);
		if (s->model == NULL)
			hf_session_set(&s->model, l->model);
	}
}

static void
link_row(const struct hf_scan *sc, struct hf_row *row, const struct line *l)
{
	if (l->stream != NULL || l->uuid.n == 0 || l->parent.n == 0)
		return;
	set_place(row, l);
	if (l->sidechain && !sc->session->subagent)
		row->flags |= HF_ROW_SIDECHAIN;
}

static void
claude_row(struct hf_scan *sc, const struct hf_record *rec)
{
	struct hf_row row;
	struct line l;
	enum type type;

	hf_row_init(&row, rec);
	read_line(&l, rec->v);
	type = type_of(&l);
	if (type != TYPE_OTHER)
		sc->recognised = true;
	if (type >= TYPE_USER && type <= TYPE_SYSTEM)
		chain_row(sc, &row, &l, type);
	else
		beside_row(sc, &row, &l, type);
	/* A type that is not known may still be a link of the chain. */
	if (type == TYPE_KNOWN || type == TYPE_OTHER)
		link_row(sc, &row, &l);
	sc->emit(sc, &row);
}

/* ---- is it one at all? ---- */

static int
recognise(const char *path, const struct hf_jval *const *recs,
    size_t n)
{
	struct line l;
	enum type type;
	int score = 0, this;
	size_t i;

	for (i = 0; i < n; i++) {
		if (recs[i] == NULL)
			continue;
		read_line(&l, recs[i]);
		type = type_of(&l);
		if (type >= TYPE_USER && type <= TYPE_SYSTEM)
			this = l.message != NULL || l.attachment != NULL ||
			    l.subtype.n > 0 ? 90 : 30;
		else if (type == TYPE_OTHER)
			this = 0;
		else
			this = l.session.n > 0 || l.leaf.n > 0 ? 60 : 20;
		if (this > score)
			score = this;
	}
	if (path != NULL && score > 0 && (hf_claude_is_id(path) ||
	    strstr(path, "/subagents/agent-") != NULL))
		score += 5;
	return score;
}

/* ---- the agent ---- */

static const struct hf_tool tools[] = {
	{ "Read", HF_ACT_READ, "file_path", NULL },
	{ "NotebookRead", HF_ACT_READ, "notebook_path", NULL },
	{ "Write", HF_ACT_WRITE, "file_path", NULL },
	{ "Edit", HF_ACT_EDIT, "file_path", NULL },
	{ "MultiEdit", HF_ACT_EDIT, "file_path", NULL },
	{ "NotebookEdit", HF_ACT_EDIT, "notebook_path", NULL },
	{ "Bash", HF_ACT_RUN, "command", NULL },
	{ "PowerShell", HF_ACT_RUN, "command", NULL },
	{ "TodoWrite", HF_ACT_TODOS, "todos", NULL },
	{ "TaskCreate", HF_ACT_TODO_ADD, "subject|description", NULL },
	{ "TaskUpdate", HF_ACT_TODO_SET, "taskId", "status" },
	{ "AskUserQuestion", HF_ACT_ASK, "questions", NULL },
	{ "Task", HF_ACT_SPAWN, "prompt|description", NULL },
	{ "Agent", HF_ACT_SPAWN, "prompt|description", NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};

static char *
root(struct hf_err *err)
{
	return hf_claude_dir("projects", err);
}

const struct hf_agent hf_agent_claude = {
	.name = "claude",
	.label = "Claude Code",
	.program = "claude",
	.session_env = "CLAUDE_CODE_SESSION_ID",
	.leaf = HF_LEAF_HINT,
	.tools = tools,
	.own_size = sizeof(struct own),
	.root = root,
	.recognise = recognise,
	.each = hf_claude_each,
	.by_path = hf_claude_by_path,
	.by_id = hf_claude_by_id,
	.row = claude_row,
	.blocks = hf_claude_blocks,
	.live = hf_claude_live,
	.owned = hf_claude_owned,
	.new_id = hf_claude_new_id,
	.place = hf_claude_place,
	.draft = hf_claude_draft,
	.resume = hf_claude_resume,
	.title_row = hf_claude_title_row,
};
