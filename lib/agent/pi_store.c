#include "agent/pi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"

enum { SLOT = 256 };		/* oh-my-pi's title row, its LF too */

/* ---- names ---- */

char *
hf_pi_dir(const char *value, struct hf_err *err)
{
	const char *home;

	if (value[0] != '~' || (value[1] != '/' && value[1] != '\0'))
		return hf_strdup(value);
	if ((home = hf_env_home(err)) == NULL)
		return NULL;
	if (value[1] == '\0')
		return hf_strdup(home);
	return hf_path_join(home, value + 2);
}

void
hf_pi_flat(struct hf_buf *out, const char *path)
{
	if (*path == '/' || *path == '\\')
		path++;
	for (; *path != '\0'; path++)
		hf_buf_putc(out, *path == '/' || *path == '\\' ||
		    *path == ':' ? '-' : *path);
}

char *
hf_pi_real(const char *path)
{
	char *real = realpath(path, NULL);

	return real != NULL ? real : hf_strdup(path);
}

/* "2026-01-15T09-00-00-000Z_" at the start of a name: its length, else 0. */
static size_t
stamp(const char *name)
{
	static const char form[] = "dddd-dd-ddTdd-dd-dd-dddZ_";
	size_t i;

	for (i = 0; form[i] != '\0'; i++)
		if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' :
		    name[i] != form[i])
			return 0;
	return i;
}

/* The id in a file's name, without end; none if it is no session's. */
static struct hf_str
id_of(const char *name, const char *end)
{
	struct hf_str whole = hf_str(name);
	size_t from = stamp(name), tail = strlen(end);

	if (from == 0 || !hf_str_ends(whole, end) || whole.n <= from + tail)
		return HF_STR_NONE;
	return hf_strn(name + from, whole.n - from - tail);
}

void
hf_pi_by_path(struct hf_session *s)
{
	char *dir;
	struct hf_str id;

	if (s->path == NULL)
		return;
	id = id_of(hf_path_base(s->path), ".jsonl");
	if (id.n > 0) {
		hf_session_set(&s->id, id);
		return;
	}
	dir = hf_path_dir(s->path);
	id = id_of(hf_path_base(dir), "");
	if (id.n > 0) {
		s->subagent = true;
		hf_session_set(&s->parent, id);
	}
	free(dir);
}

/* ---- finding ---- */

struct walk {
	const struct hf_agent *only;	/* NULL: all are the agent's */
	int (*cb)(const char *path, void *arg, struct hf_err *err);
	void *arg;
	const char *dir;
	bool nested;
};

/* One variable moves both clients' folders, to the same place. */
static bool
shared(void)
{
	return hf_env("PI_CODING_AGENT_DIR") != NULL;
}

static bool
is_of(const struct hf_agent *agent, const char *path)
{
	struct hf_session s;
	bool own;

	if (hf_session_peek(path, &s, NULL) < 0)
		return false;
	own = s.agent == agent;
	hf_session_release(&s);
	return own;
}

static int walk_dir(struct walk *w, struct hf_err *err);

/* Temporary files and backups have other endings or begin with a dot. */
static int
one_name(const char *name, void *arg, struct hf_err *err)
{
	struct walk *w = arg, in;
	char *path;
	int rc = 0;

	if (name[0] == '.')
		return 0;
	path = hf_path_join(w->dir, name);
	if (hf_str_ends(hf_str(name), ".jsonl")) {
		if (w->only == NULL || is_of(w->only, path))
			rc = w->cb(path, w->arg, err);
	} else if (!w->nested) {
		/* A folder's name may hold dots, as the path of work may. */
		in = *w;
		in.dir = path;
		in.nested = true;
		rc = walk_dir(&in, err);
	}
	free(path);
	return rc;
}

/* What cannot be opened (a file that is no folder) holds no sessions. */
static int
walk_dir(struct walk *w, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	int rc;

	if (hf_dir_open(&d, w->dir, NULL) < 0)
		return 0;
	rc = hf_dir_each(&d, one_name, w, err);
	hf_dir_close(&d);
	return rc;
}

int
hf_pi_each(const struct hf_agent *agent, const char *root,
    int (*cb)(const char *path, void *arg, struct hf_err *err), void *arg,
    struct hf_err *err)
{
	struct walk w = { shared() ? agent : NULL, cb, arg, root, false };

	return walk_dir(&w, err);
}

struct wanted {
	const struct hf_agent *agent;
	const char *id;
	char *path;
};

static int
is_wanted(const char *path, void *arg, struct hf_err *err)
{
	struct wanted *w = arg;

	(void)err;
	if (!hf_str_is(id_of(hf_path_base(path), ".jsonl"), w->id) ||
	    (shared() && !is_of(w->agent, path)))
		return 0;
	w->path = hf_strdup(path);
	return 1;
}

char *
hf_pi_by_id(const struct hf_agent *agent, const char *root, const char *id)
{
	struct wanted w = { agent, id, NULL };
	struct walk all = { NULL, is_wanted, &w, root, false };

	if (walk_dir(&all, NULL) < 0) {
		free(w.path);
		return NULL;
	}
	return w.path;
}

/* ---- a successor ---- */

void
hf_pi_new_id(int64_t ms, char out[64])
{
	char uuid[HF_UUID_LEN];

	hf_uuid7(ms, uuid);
	snprintf(out, 64, "%s", uuid);
}

void
hf_pi_place(const struct hf_seed *seed, char *dir, struct hf_place *out)
{
	struct hf_buf name = HF_BUF_INIT;
	char time[HF_TIME_LEN];
	char *p;

	hf_clock_format(seed->time, time);
	for (p = time; *p != '\0'; p++)
		if (*p == ':' || *p == '.')
			*p = '-';
	hf_buf_printf(&name, "%s_%s.jsonl", time, seed->id);
	out->dir = dir;
	out->name = hf_buf_steal(&name);
}

/*
 * A draft in the making. Ids are derived from the session's, so that the
 * same seed always gives the same bytes.
 */
struct draft {
	const struct hf_seed *seed;
	struct hf_buf *out;
	char time[HF_TIME_LEN];
	uint32_t base, n;		/* entries so far */
};

/* Begins an entry: type, id, parent, time; its own members follow. */
static void
begin(struct draft *d, const char *type)
{
	uint32_t id = d->base + d->n * 0x9e3779b1U;

	hf_buf_printf(d->out, "{\"type\":\"%s\",\"id\":\"%08x\",", type,
	    (unsigned)id);
	if (d->n == 0)
		hf_buf_puts(d->out, "\"parentId\":null");
	else
		hf_buf_printf(d->out, "\"parentId\":\"%08x\"",
		    (unsigned)(id - 0x9e3779b1U));
	hf_buf_printf(d->out, ",\"timestamp\":\"%s\"", d->time);
	d->n++;
}

/* A member that is a string; nothing for NULL. */
static void
member(struct hf_buf *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	hf_buf_printf(out, ",\"%s\":", key);
	hf_json_quote(out, hf_str(value));
}

/* oh-my-pi's first row: exactly 256 bytes, the title cut to fit. */
static void
slot(struct draft *d)
{
	struct hf_str view = d->seed->title != NULL ?
	    hf_str(d->seed->title) : HF_STR("");
	struct hf_buf text = HF_BUF_INIT;
	size_t room, pad;

	if (view.n > SLOT)
		view.n = hf_utf8_cut(view, SLOT);
	for (;;) {
		hf_buf_clear(&text);
		hf_buf_puts(&text, "{\"type\":\"title\",\"v\":1,\"title\":");
		hf_json_quote(&text, view);
		if (view.n > 0)
			hf_buf_puts(&text, ",\"source\":\"user\"");
		hf_buf_printf(&text, ",\"updatedAt\":\"%s\",\"pad\":\"",
		    d->time);
		room = SLOT - sizeof("\"}\n") + 1;
		if (text.len <= room)
			break;
		view.n = hf_utf8_cut(view, view.n - 1);
	}
	for (pad = room - text.len; pad > 0; pad--)
		hf_buf_putc(&text, ' ');
	hf_buf_puts(&text, "\"}\n");
	hf_buf_str(d->out, hf_buf_view(&text));
	hf_buf_release(&text);
}

/* At most 512 bytes where the folder's name allows it: pi does not find a
 * longer one as its most recent. So metadata is in an entry of its own. */
static void
header(struct draft *d)
{
	hf_buf_puts(d->out, "{\"type\":\"session\",\"version\":3");
	member(d->out, "id", d->seed->id);
	member(d->out, "timestamp", d->time);
	member(d->out, "cwd", d->seed->cwd);
	hf_buf_puts(d->out, "}\n");
}

/* The source's model, when its provider is known too: without that the
 * client could not find it. */
static bool
has_model(const struct hf_seed *seed, enum hf_pi_dialect d)
{
	const struct hf_session *s = seed->source;
	const struct hf_agent *same = d == HF_PI_OMP ? &hf_agent_omp :
	    &hf_agent_pi;

	return s != NULL && s->agent == same && seed->model != NULL &&
	    s->provider != NULL;
}

static void
model(struct draft *d, enum hf_pi_dialect dialect)
{
	const struct hf_seed *seed = d->seed;
	struct hf_buf both = HF_BUF_INIT;

	if (!has_model(seed, dialect))
		return;
	begin(d, "model_change");
	if (dialect == HF_PI_OMP) {
		hf_buf_printf(&both, "%s/%s", seed->source->provider,
		    seed->model);
		member(d->out, "model", hf_buf_cstr(&both));
		hf_buf_release(&both);
	} else {
		member(d->out, "provider", seed->source->provider);
		member(d->out, "modelId", seed->model);
	}
	hf_buf_puts(d->out, "}\n");
}

static void
origin(struct draft *d)
{
	const struct hf_session *s = d->seed->source;

	begin(d, "custom");
	hf_buf_puts(d->out, ",\"customType\":\"handoff\",\"data\":{\"v\":1");
	if (s != NULL) {
		member(d->out, "parentSession", s->id);
		member(d->out, "agent", s->agent != NULL ? s->agent->name :
		    NULL);
	}
	member(d->out, "handoff", d->seed->attempt);
	hf_buf_puts(d->out, "}}\n");
}

static void
brief_message(struct draft *d)
{
	begin(d, "message");
	hf_buf_puts(d->out, ",\"message\":{\"role\":\"user\",\"content\":"
	    "[{\"type\":\"text\",\"text\":");
	hf_json_quote(d->out, d->seed->text);
	hf_buf_printf(d->out, "}],\"timestamp\":%lld}}\n",
	    (long long)d->seed->time);
}

static void
brief_custom(struct draft *d)
{
	begin(d, "custom_message");
	hf_buf_puts(d->out, ",\"customType\":\"handoff\",\"content\":");
	hf_json_quote(d->out, d->seed->text);
	hf_buf_puts(d->out,
	    ",\"display\":true,\"attribution\":\"agent\"}\n");
}

/* pi writes a file without an answer anew at the first one, and an answer
 * without a whole usage ends it. A model that it does not know is replaced
 * by the user's own, with a word about it. */
static void
acknowledge(struct draft *d)
{
	const struct hf_seed *seed = d->seed;
	bool known = has_model(seed, HF_PI_PLAIN);

	begin(d, "message");
	hf_buf_puts(d->out, ",\"message\":{\"role\":\"assistant\",\"content\":"
	    "[{\"type\":\"text\",\"text\":\"Handoff context received.\"}],"
	    "\"api\":\"openai-completions\"");
	member(d->out, "provider", known ? seed->source->provider : "handoff");
	member(d->out, "model", known ? seed->model : "handoff");
	hf_buf_printf(d->out, ",\"usage\":{\"input\":0,\"output\":0,"
	    "\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,"
	    "\"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,"
	    "\"cacheWrite\":0,\"total\":0}},\"stopReason\":\"stop\","
	    "\"timestamp\":%lld}}\n", (long long)seed->time);
}

static void
name(struct draft *d)
{
	if (d->seed->title == NULL)
		return;
	begin(d, "session_info");
	member(d->out, "name", d->seed->title);
	hf_buf_puts(d->out, "}\n");
}

int
hf_pi_draft(const struct hf_seed *seed, enum hf_pi_dialect dialect,
    struct hf_buf *out, struct hf_err *err)
{
	struct draft d = { seed, out, "", 0, 0 };
	uint64_t hash = hf_hash(hf_str(seed->id));

	d.base = (uint32_t)(hash ^ hash >> 32);
	hf_clock_format(seed->time, d.time);
	if (dialect == HF_PI_OMP)
		slot(&d);
	header(&d);
	model(&d, dialect);
	origin(&d);
	if (dialect == HF_PI_OMP) {
		brief_custom(&d);
	} else {
		brief_message(&d);
		acknowledge(&d);
		name(&d);
	}
	if (out->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the successor of '%s' is too large", seed->id);
	return 0;
}

/* ---- going on ---- */

void
hf_pi_resume(const struct hf_session *s, const char *program,
    const char *flag, const char *prompt, struct hf_argv *out)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_argv_add(out, program);
	hf_argv_add(out, flag);
	hf_argv_add(out, s->path != NULL ? s->path : s->id);
	if (prompt == NULL)
		return;
	/* Behind a blank it is neither an option nor a file to attach. */
	if (prompt[0] == '-' || prompt[0] == '@')
		hf_buf_putc(&text, ' ');
	hf_buf_puts(&text, prompt);
	hf_argv_add(out, hf_buf_cstr(&text));
	hf_buf_release(&text);
}
