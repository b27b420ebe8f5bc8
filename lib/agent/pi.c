#include "agent/pi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "json/num.h"

/* Where a title came from; a higher one is not replaced by a lower. */
enum { TITLE_NONE, TITLE_ENTRY, TITLE_HEADER, TITLE_SLOT };

enum { VERSION_MAX = 3 };

#define IS(key, lit) \
	((key).n == sizeof(lit) - 1 && memcmp((key).s, (lit), (key).n) == 0)

/* ---- one pass over an object's members ---- */

struct entry {
	struct hf_str type, id, time, custom, attribution;
	const struct hf_jval *parent, *message, *v;
};

static void
read_entry(struct entry *e, const struct hf_jval *v)
{
	const struct hf_jval *m;
	struct hf_jiter it;
	struct hf_str key;

	memset(e, 0, sizeof(*e));
	e->v = v;
	hf_json_iter(&it, v);
	while ((m = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "type"))
			e->type = hf_json_str(m);
		else if (IS(key, "id"))
			e->id = hf_json_str(m);
		else if (IS(key, "parentId"))
			e->parent = m;
		else if (IS(key, "timestamp"))
			e->time = hf_json_str(m);
		else if (IS(key, "message"))
			e->message = m;
		else if (IS(key, "customType"))
			e->custom = hf_json_str(m);
		else if (IS(key, "attribution"))
			e->attribution = hf_json_str(m);
}

struct message {
	struct hf_str role, stop, model, provider, response, custom;
	struct hf_str attribution;
	const struct hf_jval *content, *usage, *time;
	bool synthetic, excluded, retried;
};

static void
read_message(struct message *m, const struct hf_jval *v)
{
	const struct hf_jval *f;
	struct hf_jiter it;
	struct hf_str key;

	memset(m, 0, sizeof(*m));
	hf_json_iter(&it, v);
	while ((f = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "role"))
			m->role = hf_json_str(f);
		else if (IS(key, "content"))
			m->content = f;
		else if (IS(key, "usage"))
			m->usage = f;
		else if (IS(key, "stopReason"))
			m->stop = hf_json_str(f);
		else if (IS(key, "model"))
			m->model = hf_json_str(f);
		else if (IS(key, "provider"))
			m->provider = hf_json_str(f);
		else if (IS(key, "responseId"))
			m->response = hf_json_str(f);
		else if (IS(key, "timestamp"))
			m->time = f;
		else if (IS(key, "customType"))
			m->custom = hf_json_str(f);
		else if (IS(key, "attribution"))
			m->attribution = hf_json_str(f);
		else if (IS(key, "synthetic"))
			m->synthetic = hf_json_true(f);
		else if (IS(key, "excludeFromContext"))
			m->excluded = hf_json_true(f);
		else if (IS(key, "retryRecovery"))
			m->retried = hf_json_type(f) == HF_J_OBJ;
}

/* ---- usage ---- */

/* What side requests of the same response took: no context. */
static int64_t
orchestration(const struct hf_jval *v)
{
	return hf_num_plus(hf_num_plus(hf_json_count(hf_json_get(v, "input")),
	    hf_json_count(hf_json_get(v, "output"))),
	    hf_json_count(hf_json_get(v, "cacheRead")));
}

/* Fills usage and context; what is all zero says nothing. */
static void
read_usage(struct hf_row *row, const struct hf_jval *v, enum hf_pi_dialect d)
{
	const struct hf_jval *f, *side = NULL;
	struct hf_usage *u = &row->usage;
	int64_t total = 0, stated = -1, context, sum;
	struct hf_jiter it;
	struct hf_str key;

	hf_json_iter(&it, v);
	while ((f = hf_json_next(&it, &key)) != NULL)
		if (IS(key, "input"))
			u->input = hf_json_count(f);
		else if (IS(key, "output"))
			u->output = hf_json_count(f);
		else if (IS(key, "cacheRead"))
			u->cache_read = hf_json_count(f);
		else if (IS(key, "cacheWrite"))
			u->cache_write = hf_json_count(f);
		else if (IS(key, "totalTokens"))
			total = hf_json_count(f);
		else if (d == HF_PI_OMP && IS(key, "contextTokens") &&
		    hf_json_type(f) == HF_J_NUM)
			stated = hf_json_count(f);
		else if (d == HF_PI_OMP && IS(key, "orchestration"))
			side = f;
	sum = hf_num_plus(hf_num_plus(u->input, u->output),
	    hf_num_plus(u->cache_read, u->cache_write));
	context = total > 0 ? total : sum;
	if (side != NULL)
		context -= orchestration(side);
	if (stated >= 0)
		context = stated;
	row->has_usage = sum > 0 || total > 0 || stated > 0;
	if (row->has_usage && context > 0)
		row->context = context;
}

/* ---- what the session is ---- */

static void
title(struct hf_scan *sc, struct hf_str text, int from)
{
	struct hf_pi_own *own = sc->own;
	struct hf_session *s = sc->session;

	if (text.s == NULL || from < own->title)
		return;
	text = hf_str_trim(text);
	if (text.n > 0) {
		hf_session_set(&s->title, text);
		s->titled = true;
		own->title = (uint8_t)from;
	} else if (from == own->title) {	/* the name was cleared */
		free(s->title);
		s->title = NULL;
		s->titled = false;
		own->title = TITLE_NONE;
	}
}

/* Allocates only when the name changes. */
static void
set(char **field, struct hf_str a)
{
	if (a.n > 0 && (*field == NULL || !hf_str_is(a, *field)))
		hf_session_set(field, a);
}

static void
header(struct hf_scan *sc, const struct entry *e)
{
	struct hf_pi_own *own = sc->own;
	const struct hf_jval *v = hf_json_get(e->v, "version");
	int64_t version = 1;

	if (own->version != 0 || e->id.s == NULL)
		return;		/* pi may have written it twice */
	if (v != NULL && !hf_json_int(v, &version))
		version = VERSION_MAX;
	own->version = version < 1 ? 1 : version > VERSION_MAX ?
	    VERSION_MAX + 1 : (uint8_t)version;
	sc->recognised = true;
	sc->unsupported = version > VERSION_MAX;
	set(&sc->session->id, e->id);
	set(&sc->session->cwd, hf_json_get_str(e->v, "cwd"));
	set(&sc->session->parent, hf_json_get_str(e->v, "parentSession"));
	title(sc, hf_json_get_str(e->v, "title"), TITLE_HEADER);
}

/* "provider/id" in omp, two members in pi. Only until an answer came. */
static void
model_change(struct hf_scan *sc, const struct entry *e)
{
	struct hf_pi_own *own = sc->own;
	struct hf_str both = hf_json_get_str(e->v, "model");
	struct hf_str provider = hf_json_get_str(e->v, "provider");
	struct hf_str model = hf_json_get_str(e->v, "modelId");
	struct hf_str role = hf_json_get_str(e->v, "role");
	size_t cut = hf_str_find(both, HF_STR("/"), 0);

	if (own->answered || (role.n > 0 && !hf_str_is(role, "default")))
		return;
	if (both.n > 0 && cut != SIZE_MAX) {
		provider = hf_strn(both.s, cut);
		model = hf_strn(both.s + cut + 1, both.n - cut - 1);
	}
	set(&sc->session->provider, provider);
	set(&sc->session->model, model);
}

/* ---- messages ---- */

struct hf_str
hf_pi_first_text(const struct hf_jval *content)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str text;

	if (hf_json_type(content) == HF_J_STR)
		return hf_json_str(content);
	hf_json_iter(&it, content);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if ((text = hf_json_get_str(v, "text")).s != NULL)
			return text;
	return HF_STR_NONE;
}

static bool
is_brief(const struct hf_jval *content)
{
	return hf_str_starts(hf_str_trim(hf_pi_first_text(content)),
	    "<handoff-context>");
}

static void
user(struct hf_scan *sc, struct hf_row *row, const struct message *m)
{
	row->flags |= HF_ROW_ESTIMATE;
	row->turn = HF_TURN_OPEN;
	if (is_brief(m->content))
		row->kind = HF_ROW_SEED;
	else if (m->synthetic || hf_str_is(m->attribution, "agent"))
		row->kind = HF_ROW_INJECTED;
	else
		row->kind = HF_ROW_PROMPT;
	if (row->kind == HF_ROW_PROMPT && sc->session->title == NULL)
		hf_session_title_prompt(sc->session,
		    hf_pi_first_text(m->content));
}

/* An extension's text; omp puts what the user asked of a skill, or wrote
 * from another place, into the same form. */
static void
custom(struct hf_row *row, struct hf_str type, struct hf_str attribution)
{
	row->flags |= HF_ROW_ESTIMATE;
	row->kind = HF_ROW_INJECTED;
	if (hf_str_is(type, "handoff")) {
		row->kind = HF_ROW_SEED;
	} else if (hf_str_is(attribution, "user") &&
	    (hf_str_is(type, "skill-prompt") ||
	    hf_str_is(type, "collab-prompt"))) {
		row->kind = HF_ROW_PROMPT;
		row->turn = HF_TURN_OPEN;
	}
}

static void
assistant(struct hf_scan *sc, struct hf_row *row, const struct message *m,
    enum hf_pi_dialect d)
{
	struct hf_pi_own *own = sc->own;
	bool error = hf_str_is(m->stop, "error");
	bool aborted = hf_str_is(m->stop, "aborted");

	row->kind = HF_ROW_ASSISTANT;
	row->flags |= HF_ROW_ESTIMATE;
	row->call = m->response.n > 0 ? m->response : row->id;
	row->request = row->id;
	row->turn = aborted ? HF_TURN_INTERRUPTED :
	    hf_str_is(m->stop, "toolUse") || hf_str_is(m->stop, "pending") ||
	    hf_str_is(m->stop, "deferred") ? HF_TURN_OPEN : HF_TURN_CLOSED;
	if (error || aborted || m->retried) {
		row->flags |= HF_ROW_ERROR;
		return;
	}
	read_usage(row, m->usage, d);
	if (row->has_usage) {
		set(&sc->session->model, m->model);
		set(&sc->session->provider, m->provider);
		own->answered = true;
	} else if (own->seeded) {
		row->flags |= HF_ROW_SYNTHETIC;
	}
}

static void
message(struct hf_scan *sc, struct hf_row *row, const struct entry *e,
    enum hf_pi_dialect d)
{
	struct hf_pi_own *own = sc->own;
	struct message m;

	read_message(&m, e->message);
	if (row->time < 0)
		row->time = hf_json_ms(m.time);
	if (m.role.n > 0)
		sc->recognised = true;
	if (hf_str_is(m.role, "assistant")) {
		assistant(sc, row, &m, d);
	} else if (hf_str_is(m.role, "toolResult")) {
		row->kind = HF_ROW_RESULT;
		row->turn = HF_TURN_OPEN;
		row->flags |= HF_ROW_ESTIMATE;
	} else if (hf_str_is(m.role, "user")) {
		user(sc, row, &m);
	} else if (hf_str_is(m.role, "custom") ||
	    hf_str_is(m.role, "hookMessage")) {
		custom(row, m.custom, m.attribution);
	} else if (hf_str_is(m.role, "bashExecution") ||
	    hf_str_is(m.role, "pythonExecution")) {
		/* The user's own line: a call and its result, no turn. */
		row->kind = m.excluded ? HF_ROW_INJECTED : HF_ROW_RESULT;
		row->flags |= HF_ROW_ESTIMATE;
	} else if (hf_str_is(m.role, "fileMention")) {
		row->kind = HF_ROW_RESULT;
	} else if (hf_str_is(m.role, "branchSummary") ||
	    hf_str_is(m.role, "compactionSummary")) {
		row->kind = HF_ROW_SUMMARY;
		row->flags |= HF_ROW_ESTIMATE;
	} else if (m.role.n > 0) {	/* developer, system */
		row->kind = HF_ROW_INJECTED;
		if (hf_str_is(m.role, "developer"))
			row->flags |= HF_ROW_ESTIMATE;
		if (m.synthetic)
			row->turn = HF_TURN_OPEN;
	}
	own->seeded = row->kind == HF_ROW_SEED;
}

/* ---- other entries ---- */

static void
compaction(struct hf_scan *sc, struct hf_row *row, const struct entry *e)
{
	struct hf_pi_own *own = sc->own;
	struct hf_str kept = hf_json_get_str(e->v, "firstKeptEntryId");
	int64_t index;

	row->kind = HF_ROW_COMPACTION;
	if (own->version == 1) {
		kept = HF_STR_NONE;
		if (hf_json_int(hf_json_get(e->v, "firstKeptEntryIndex"),
		    &index) && index > 0 && index < own->entry) {
			snprintf(own->kept, sizeof(own->kept), "#%u",
			    (unsigned)index);
			kept = hf_str(own->kept);
		}
	}
	if (kept.n > 0 && !hf_str_eq(kept, row->id))
		row->kept = kept;
}

static void
custom_entry(struct hf_scan *sc, struct hf_row *row, const struct entry *e)
{
	if (hf_str_is(e->custom, "tool_execution_start")) {
		row->turn = HF_TURN_OPEN;
	} else if (hf_str_is(e->custom, "session_exit")) {
		row->turn = HF_TURN_EXIT;
	} else if (hf_str_is(e->custom, "handoff") &&
	    sc->session->parent == NULL) {
		set(&sc->session->parent, hf_json_get_str(
		    hf_json_get(e->v, "data"), "parentSession"));
	}
}

static void
spent(struct hf_row *row, const struct entry *e, enum hf_pi_dialect d)
{
	read_usage(row, hf_json_get(e->v, "usage"), d);
	row->context = -1;
	row->call = row->id;
}

static void
entry(struct hf_scan *sc, struct hf_row *row, const struct entry *e,
    enum hf_pi_dialect d)
{
	struct hf_pi_own *own = sc->own;

	if (hf_str_is(e->type, "message")) {
		message(sc, row, e, d);
	} else if (hf_str_is(e->type, "custom_message")) {
		custom(row, e->custom, e->attribution);
		own->seeded = row->kind == HF_ROW_SEED;
		sc->recognised = true;
	} else if (hf_str_is(e->type, "custom")) {
		custom_entry(sc, row, e);
	} else if (hf_str_is(e->type, "compaction")) {
		compaction(sc, row, e);
		sc->recognised = true;
	} else if (hf_str_is(e->type, "branch_summary")) {
		row->kind = HF_ROW_SUMMARY;
		row->flags |= HF_ROW_ESTIMATE;
	} else if (hf_str_is(e->type, "reset_boundary")) {
		row->kind = HF_ROW_RESET;
		row->turn = HF_TURN_CLOSED;
	} else if (hf_str_is(e->type, "model_change")) {
		model_change(sc, e);
	} else if (hf_str_is(e->type, "session_info")) {
		title(sc, hf_json_get_str(e->v, "name"), TITLE_ENTRY);
	} else if (hf_str_is(e->type, "title_change")) {
		title(sc, hf_json_get_str(e->v, "title"), TITLE_ENTRY);
	} else if (hf_str_is(e->type, "session_init")) {
		sc->session->subagent = true;
	} else if (hf_str_is(e->type, "model_usage") ||
	    hf_str_is(e->type, "usage")) {
		spent(row, e, d);
	}
}

/* Its place in the tree. Entries of version 1, and those without an id, are
 * a line. */
static void
link_row(struct hf_scan *sc, struct hf_row *row, const struct entry *e)
{
	struct hf_pi_own *own = sc->own;

	row->flags |= HF_ROW_CHAIN;
	if (own->version == 1 || e->id.n == 0) {
		snprintf(own->id, sizeof(own->id), "#%u",
		    (unsigned)own->entry);
		row->id = hf_str(own->id);
		row->parent = HF_PARENT_PREV;
		return;
	}
	row->id = e->id;
	row->parent_id = hf_json_str(e->parent);
	row->parent = row->parent_id.n > 0 ? HF_PARENT_ID : HF_PARENT_ROOT;
}

void
hf_pi_row(struct hf_scan *sc, const struct hf_record *rec,
    enum hf_pi_dialect d)
{
	struct hf_pi_own *own = sc->own;
	struct hf_row row;
	struct entry e;

	hf_row_init(&row, rec);
	read_entry(&e, rec->v);
	row.v = rec->v;
	row.time = e.time.n > 0 ? hf_clock_parse(e.time) : -1;
	if (hf_str_is(e.type, "session")) {
		header(sc, &e);
	} else if (hf_str_is(e.type, "title") && e.id.n == 0) {
		title(sc, hf_json_get_str(e.v, "title"), TITLE_SLOT);
	} else if (e.type.n > 0) {
		link_row(sc, &row, &e);
		entry(sc, &row, &e, d);
	}
	own->entry++;
	sc->emit(sc, &row);
}

/* ---- whose file is it ---- */

/* Members and types that pi does not write. */
static bool
omp_record(const struct hf_jval *v, struct hf_str type)
{
	static const char *const types[] = { "title_change", "session_init",
		"reset_boundary", "mode_change", "service_tier_change",
		"ttsr_injection", "credential_pin", "model_usage" };
	static const char *const members[][2] = {
		{ "session", "title" }, { "session", "titleSource" },
		{ "session", "additionalDirectories" },
		{ "session", "previousSessionFiles" },
		{ "session", "providerPromptCacheKey" },
		{ "model_change", "model" }, { "compaction", "method" },
		{ "compaction", "shortSummary" },
		{ "compaction", "tokensAfter" },
		{ "compaction", "fromExtension" },
		{ "custom_message", "attribution" } };
	struct hf_str custom = hf_json_get_str(v, "customType");
	const struct hf_jval *m = hf_json_get(v, "message");
	struct hf_str role = hf_json_get_str(m, "role");
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (hf_str_is(type, types[i]))
			return true;
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (hf_str_is(type, members[i][0]) &&
		    hf_json_get(v, members[i][1]) != NULL)
			return true;
	if (hf_str_is(type, "custom"))
		return hf_str_is(custom, "tool_execution_start") ||
		    hf_str_is(custom, "session_exit");
	return hf_str_is(type, "message") && (hf_str_is(role, "developer") ||
	    hf_str_is(role, "pythonExecution") ||
	    hf_str_is(role, "fileMention") ||
	    hf_json_get(m, "attribution") != NULL ||
	    hf_json_get(m, "contextSnapshot") != NULL);
}

/* A message entry as both write it: what is left to go by without a
 * header. */
static bool
message_entry(const struct hf_jval *v)
{
	const struct hf_jval *m = hf_json_get(v, "message");

	return hf_json_get_str(m, "role").n > 0 &&
	    hf_json_get(m, "timestamp") != NULL &&
	    hf_json_get(v, "uuid") == NULL &&
	    hf_json_get(v, "sessionId") == NULL;
}

int
hf_pi_score(const char *path, const struct hf_jval *const *recs, size_t n,
    bool *omp)
{
	struct hf_str type;
	int score = 0, found;
	size_t i;

	*omp = path != NULL && strstr(path, "/.omp/") != NULL;
	for (i = 0; i < n; i++) {
		type = hf_json_get_str(recs[i], "type");
		found = 0;
		if (hf_str_is(type, "session") &&
		    hf_json_get_str(recs[i], "id").s != NULL)
			found = 95;
		else if (hf_str_is(type, "title") &&
		    hf_json_get(recs[i], "v") != NULL &&
		    hf_json_get(recs[i], "pad") != NULL)
			found = 90;
		else if (hf_str_is(type, "message") &&
		    message_entry(recs[i]))
			found = 70;
		if (found == 90 || (type.n > 0 && omp_record(recs[i], type)))
			*omp = true;
		score = found > score ? found : score;
	}
	return score;
}

/* ---- pi ---- */

static const struct hf_tool tools[] = {
	{ "read", HF_ACT_READ, "path|file_path", NULL },
	{ "write", HF_ACT_WRITE, "path|file_path", NULL },
	{ "edit", HF_ACT_EDIT, "path|file_path", NULL },
	{ "bash", HF_ACT_RUN, "command", NULL },
	{ "ask", HF_ACT_ASK, "questions|question", NULL },
	{ "question", HF_ACT_ASK, "questions|question", NULL },
	{ "questionnaire", HF_ACT_ASK, "questions|question", NULL },
	{ "todo_write", HF_ACT_TODOS, "todos|items", NULL },
	{ "subagent", HF_ACT_SPAWN, "task|tasks", NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};

/* PI_CODING_AGENT_SESSION_DIR holds the files themselves, the default
 * folder one folder for each place of work. */
static char *
root(struct hf_err *err)
{
	const char *dir = hf_env("PI_CODING_AGENT_SESSION_DIR");
	const char *agent = hf_env("PI_CODING_AGENT_DIR");
	char *base, *out;

	if (dir != NULL)
		return hf_pi_dir(dir, err);
	base = hf_pi_dir(agent != NULL ? agent : "~/.pi/agent", err);
	if (base == NULL)
		return NULL;
	out = hf_path_join(base, "sessions");
	free(base);
	return out;
}

static int
recognise(const char *path, const struct hf_jval *const *recs, size_t n)
{
	bool omp;
	int score = hf_pi_score(path, recs, n, &omp);

	return omp ? 0 : score;
}

static int
each(int (*cb)(const char *path, void *arg, struct hf_err *err), void *arg,
    struct hf_err *err)
{
	char *dir = root(err);
	int rc = -1;

	if (dir != NULL)
		rc = hf_pi_each(&hf_agent_pi, dir, cb, arg, err);
	free(dir);
	return rc;
}

static char *
by_id(const char *id)
{
	char *dir = root(NULL), *path = NULL;

	if (dir != NULL)
		path = hf_pi_by_id(&hf_agent_pi, dir, id);
	free(dir);
	return path;
}

static void
row(struct hf_scan *sc, const struct hf_record *rec)
{
	hf_pi_row(sc, rec, HF_PI_PLAIN);
}

static int64_t
estimate(const struct hf_row *r)
{
	return hf_pi_estimate(r, HF_PI_PLAIN);
}

static int
place(const struct hf_seed *seed, struct hf_place *out, struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	char *dir = root(err), *real, *sub;

	if (dir == NULL)
		return -1;
	if (hf_env("PI_CODING_AGENT_SESSION_DIR") == NULL) {
		real = hf_pi_real(seed->cwd);
		hf_buf_puts(&name, "--");
		hf_pi_flat(&name, real);
		hf_buf_puts(&name, "--");
		sub = hf_path_join(dir, hf_buf_cstr(&name));
		free(real);
		free(dir);
		dir = sub;
		hf_buf_release(&name);
	}
	hf_pi_place(seed, dir, out);
	return 0;
}

static int
draft(const struct hf_seed *seed, struct hf_buf *out, struct hf_err *err)
{
	return hf_pi_draft(seed, HF_PI_PLAIN, out, err);
}

static void
resume(const struct hf_session *s, const char *prompt, struct hf_argv *out)
{
	hf_pi_resume(s, "pi", "--session", prompt, out);
}

const struct hf_agent hf_agent_pi = {
	.name = "pi",
	.label = "pi",
	.program = "pi",
	.leaf = HF_LEAF_LAST,
	.tools = tools,
	.own_size = sizeof(struct hf_pi_own),
	.root = root,
	.recognise = recognise,
	.each = each,
	.by_path = hf_pi_by_path,
	.by_id = by_id,
	.row = row,
	.blocks = hf_pi_blocks,
	.estimate = estimate,
	.new_id = hf_pi_new_id,
	.place = place,
	.draft = draft,
	.resume = resume,
};
