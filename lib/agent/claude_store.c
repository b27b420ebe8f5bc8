#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claude.h"
#include "agent/peek.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/proc.h"

enum {
	UNITS_MAX = 200,	/* of a folder's name before the hash */
	LIVE_MAX = 64 << 10,	/* bytes of a process's file */
	STALE_MS = 3600 * 1000	/* nobody works on that for so long */
};

static const char suffix[] = ".jsonl";

/* ---- names ---- */

char *
hf_claude_dir(const char *name, struct hf_err *err)
{
	const char *dir = hf_env("CLAUDE_CONFIG_DIR");
	const char *home;
	char *base, *path;

	if (dir != NULL) {
		base = hf_strdup(dir);
	} else {
		if ((home = hf_env_home(err)) == NULL)
			return NULL;
		base = hf_path_join(home, ".claude");
	}
	path = hf_path_join(base, name);
	free(base);
	return path;
}

static bool
is_uuid(struct hf_str a)
{
	size_t i;
	char c;

	if (a.n != HF_UUID_LEN - 1)
		return false;
	for (i = 0; i < a.n; i++) {
		c = a.s[i];
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (c != '-')
				return false;
		} else if (!((c >= '0' && c <= '9') ||
		    (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) {
			return false;
		}
	}
	return true;
}

/* The file's name without its suffix; none if that is another one. */
static struct hf_str
stem(const char *path)
{
	struct hf_str base = hf_str(hf_path_base(path));

	if (!hf_str_ends(base, suffix))
		return HF_STR_NONE;
	base.n -= sizeof(suffix) - 1;
	return base;
}

bool
hf_claude_is_id(const char *path)
{
	return is_uuid(stem(path));
}

/* The session in whose folder a sub-agent's file lies; none. */
static struct hf_str
owner_of(const char *path)
{
	static const char below[] = "/subagents/";
	struct hf_str p = hf_str(path);
	size_t end, from;

	end = hf_str_find(p, hf_str(below), 0);
	if (end == SIZE_MAX)
		return HF_STR_NONE;
	for (from = end; from > 0 && path[from - 1] != '/'; from--)
		;
	return hf_strn(path + from, end - from);
}

void
hf_claude_by_path(struct hf_session *s)
{
	struct hf_str name = stem(s->path), owner = owner_of(s->path);

	if (is_uuid(name)) {
		hf_session_set(&s->id, name);
	} else if (hf_str_starts(name, "agent-")) {
		hf_session_set(&s->id, name);
		s->subagent = true;
		if (is_uuid(owner))
			hf_session_set(&s->parent, owner);
	}
}

/* The UTF-16 units of what stands at text, one or two; *n its bytes. What
 * is no UTF-8 is U+FFFD. */
static size_t
units_at(struct hf_str text, uint16_t unit[2], size_t *n)
{
	uint32_t cp;

	*n = hf_utf8_at(text.s, text.n, &cp);
	if (*n == 0) {
		*n = 1;
		cp = 0xfffd;
	}
	if (cp < 0x10000) {
		unit[0] = (uint16_t)cp;
		return 1;
	}
	cp -= 0x10000;
	unit[0] = (uint16_t)(0xd800 + (cp >> 10));
	unit[1] = (uint16_t)(0xdc00 + (cp & 0x3ff));
	return 2;
}

static void
base36(struct hf_buf *out, uint32_t n)
{
	char digits[8];
	size_t i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
		n /= 36;
	} while (n > 0);
	hf_buf_add(out, digits + i, sizeof(digits) - i);
}

static bool
is_plain(uint16_t u)
{
	return (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') ||
	    (u >= 'A' && u <= 'Z');
}

void
hf_claude_encode(struct hf_buf *out, struct hf_str path)
{
	uint16_t unit[2];
	uint32_t hash = 0;
	size_t i, k, n, units = 0;

	for (i = 0; i < path.n; i += n) {
		size_t count = units_at(hf_strn(path.s + i, path.n - i), unit,
		    &n);

		for (k = 0; k < count; k++) {
			hash = (hash << 5) - hash + unit[k];
			if (units++ < UNITS_MAX)
				hf_buf_putc(out, is_plain(unit[k]) ?
				    (char)unit[k] : '-');
		}
	}
	if (units <= UNITS_MAX)
		return;
	hf_buf_putc(out, '-');
	/* The absolute value of the same 32 bits with a sign. */
	base36(out, hash > INT32_MAX ? 0 - hash : hash);
}

/* ---- finding ---- */

struct walker {
	int (*cb)(const char *path, void *arg, struct hf_err *err);
	void *arg;
	const struct hf_dir *dir;	/* where the names are */
};

static int
on_name(const char *name, void *arg, struct hf_err *err)
{
	const struct walker *w = arg;
	char *path;
	int r;

	if (!hf_claude_is_id(name))
		return 0;
	path = hf_path_join(w->dir->path, name);
	r = w->cb(path, w->arg, err);
	free(path);
	return r;
}

static int
on_project(const char *name, void *arg, struct hf_err *err)
{
	struct walker w = *(const struct walker *)arg;
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err e;
	int r;

	if (name[0] == '.')
		return 0;
	if (hf_dir_sub(&d, w.dir, name, false, &e) < 0) {
		if (e.code != HF_E_NOT_FOUND)	/* one folder, not all */
			hf_warn_err(&e);
		return 0;
	}
	w.dir = &d;
	r = hf_dir_each(&d, on_name, &w, err);
	hf_dir_close(&d);
	return r;
}

/* Opens a folder of the client's; 0 when it is not there, -1. */
static int
open_dir(struct hf_dir *d, const char *name, struct hf_err *err)
{
	char *path = hf_claude_dir(name, err);
	struct hf_err e;
	int r = 1;

	if (path == NULL)
		return -1;
	if (hf_dir_open(d, path, &e) < 0) {
		r = e.code == HF_E_NOT_FOUND ? 0 : -1;
		if (r < 0 && err != NULL)
			*err = e;
	}
	free(path);
	return r;
}

int
hf_claude_each(int (*cb)(const char *path, void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct hf_dir projects = HF_DIR_INIT;
	struct walker w = { cb, arg, &projects };
	int r = open_dir(&projects, "projects", err);

	if (r <= 0)
		return r;
	r = hf_dir_each(&projects, on_project, &w, err);
	hf_dir_close(&projects);
	return r;
}

struct by_id {
	const struct hf_dir *projects;
	char *name;
	char *path;
	bool twice;
};

static int
on_candidate(const char *project, void *arg, struct hf_err *err)
{
	struct by_id *b = arg;
	char *dir = hf_path_join(b->projects->path, project);
	char *path = hf_path_join(dir, b->name);

	(void)err;
	free(dir);
	if (access(path, F_OK) != 0) {
		free(path);
		return 0;
	}
	b->twice = b->path != NULL;
	free(b->path);
	b->path = path;
	return b->twice;
}

char *
hf_claude_by_id(const char *id)
{
	struct hf_dir projects = HF_DIR_INIT;
	struct by_id b = { &projects, NULL, NULL, false };
	struct hf_buf name = HF_BUF_INIT;

	if (!is_uuid(hf_str(id)) || open_dir(&projects, "projects", NULL) <= 0)
		return NULL;
	hf_buf_printf(&name, "%s%s", id, suffix);
	b.name = hf_buf_steal(&name);
	if (hf_dir_each(&projects, on_candidate, &b, NULL) < 0 || b.twice) {
		free(b.path);
		b.path = NULL;
	}
	free(b.name);
	hf_dir_close(&projects);
	return b.path;
}

/* ---- who has it open ---- */

struct living {
	const struct hf_session *s;
	const struct hf_dir *dir;
	struct hf_live *out;
};

static void
copy(char *to, size_t size, struct hf_str a)
{
	struct hf_buf safe = HF_BUF_INIT;
	struct hf_str s;

	hf_text_safe(&safe, a, false);
	s = hf_buf_view(&safe);
	s.n = hf_utf8_cut(s, size - 1);
	memcpy(to, s.s, s.n);
	to[s.n] = '\0';
	hf_buf_release(&safe);
}

/* A process number may have been given anew: the start time tells. */
static bool
lives(const struct hf_jval *v, int64_t pid)
{
	struct hf_str want = hf_json_get_str(v, "procStart");
	unsigned long long start;
	char text[32];
	bool alive;

	start = hf_proc_start((long)pid, &alive);
	if (!alive || start == 0 || want.n == 0)
		return alive;
	snprintf(text, sizeof(text), "%llu", start);
	return hf_str_is(want, text);
}

static void
by_process(struct living *l, const struct hf_jval *v)
{
	struct hf_live *out = l->out;
	int64_t pid;

	if (!hf_json_is(hf_json_get(v, "sessionId"), l->s->id) ||
	    !hf_json_int(hf_json_get(v, "pid"), &pid) || pid <= 0 ||
	    pid > INT_MAX || out->open)
		return;
	if (!lives(v, pid)) {
		out->dead = true;
		return;
	}
	out->open = true;
	out->dead = false;
	out->pid = (long)pid;
	copy(out->status, sizeof(out->status), hf_json_get_str(v, "status"));
	copy(out->waiting, sizeof(out->waiting),
	    hf_json_get_str(v, "waitingFor"));
}

static int
on_process(const char *name, void *arg, struct hf_err *err)
{
	struct living *l = arg;
	struct hf_buf text = HF_BUF_MAX(LIVE_MAX);
	struct hf_json *j = NULL;

	(void)err;
	/* One that goes away, or is being written, tells nothing. */
	if (name[0] != '.' && hf_str_ends(hf_str(name), ".json") &&
	    hf_file_read(l->dir, name, &text, NULL) > 0)
		j = hf_json_parse(hf_buf_view(&text), HF_JSON_MEND, NULL,
		    NULL, NULL);
	if (j != NULL)
		by_process(l, hf_json_root(j));
	hf_json_free(j);
	hf_buf_release(&text);
	return 0;
}

void
hf_claude_live(const struct hf_session *s, struct hf_live *out)
{
	struct hf_dir d = HF_DIR_INIT;
	struct living l = { s, &d, out };

	memset(out, 0, sizeof(*out));
	if (s->id == NULL || s->subagent ||
	    open_dir(&d, "sessions", NULL) <= 0)
		return;
	out->offers = true;
	hf_dir_each(&d, on_process, &l, NULL);
	hf_dir_close(&d);
}

struct owning {
	const struct hf_dir *dir;
	void (*cb)(const char *id, void *arg);
	void *arg;
};

static int
on_child(const char *name, void *arg, struct hf_err *err)
{
	const struct owning *o = arg;
	struct hf_str id = stem(name);
	struct stat sb;
	char *path, *text;

	(void)err;
	if (!hf_str_starts(id, "agent-"))
		return 0;
	id = hf_strn(id.s + 6, id.n - 6);
	path = hf_path_join(o->dir->path, name);
	if (stat(path, &sb) == 0 && (int64_t)sb.st_mtime * 1000 >
	    hf_clock_now() - STALE_MS &&
	    hf_peek_turn(&hf_agent_claude, path) == HF_TURN_OPEN) {
		text = hf_strndup(id.s, id.n);
		o->cb(text, o->arg);
		free(text);
	}
	free(path);
	return 0;
}

/* Sub-agents that left their turn open and were at work within the hour;
 * none of a client that was killed. */
void
hf_claude_owned(const struct hf_session *s,
    void (*cb)(const char *id, void *arg), void *arg)
{
	struct hf_dir d = HF_DIR_INIT;
	struct owning o = { &d, cb, arg };
	struct hf_live live = { .offers = false };
	struct hf_str name = stem(s->path);
	struct hf_buf path = HF_BUF_INIT;

	if (name.n == 0 || s->subagent)
		return;
	hf_buf_add(&path, s->path, strlen(s->path) - sizeof(suffix) + 1);
	hf_buf_puts(&path, "/subagents");
	if (hf_dir_open(&d, hf_buf_cstr(&path), NULL) == 0) {
		hf_claude_live(s, &live);
		if (!live.dead)
			hf_dir_each(&d, on_child, &o, NULL);
		hf_dir_close(&d);
	}
	hf_buf_release(&path);
}

/* ---- a successor ---- */

void
hf_claude_new_id(int64_t ms, char out[64])
{
	(void)ms;
	hf_uuid4(out);
}

/* The folder of a session in the same working folder, if that is what the
 * client made of it: beyond 200 units its suffix depends on the version. */
static char *
folder_of_source(const struct hf_seed *seed, const char *projects,
    struct hf_str name)
{
	const struct hf_session *s = seed->source;
	char *dir, *up = NULL, *found = NULL;

	if (name.n <= UNITS_MAX || s == NULL ||
	    s->agent != &hf_agent_claude || s->path == NULL ||
	    s->cwd == NULL || strcmp(s->cwd, seed->cwd) != 0)
		return NULL;
	dir = hf_path_dir(s->path);
	up = hf_path_dir(dir);
	if (strcmp(up, projects) == 0 && strncmp(hf_path_base(dir), name.s,
	    UNITS_MAX + 1) == 0)
		found = hf_strdup(dir);
	free(up);
	free(dir);
	return found;
}

int
hf_claude_place(const struct hf_seed *seed, struct hf_place *out,
    struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	char *projects, *real;

	if (seed->cwd == NULL || seed->cwd[0] != '/')
		return hf_err_set(err, HF_E_MISSING,
		    "the session's working folder is not known");
	if ((projects = hf_claude_dir("projects", err)) == NULL)
		return -1;
	real = realpath(seed->cwd, NULL);
	hf_claude_encode(&name, hf_str(real != NULL ? real : seed->cwd));
	out->dir = folder_of_source(seed, projects, hf_buf_view(&name));
	if (out->dir == NULL)
		out->dir = hf_path_join(projects, hf_buf_cstr(&name));
	hf_buf_clear(&name);
	hf_buf_printf(&name, "%s%s", seed->id, suffix);
	out->name = hf_buf_steal(&name);
	free(real);
	free(projects);
	return 0;
}

/* A row's id, from the session's and a word: a draft that is made again is
 * the same to the byte. */
static void
row_id(const struct hf_seed *seed, const char *word, char out[HF_UUID_LEN])
{
	char text[128], hex[HF_SHA_HEX];

	snprintf(text, sizeof(text), "%s %s", seed->id, word);
	hf_sha256_hex(hf_str(text), hex);
	snprintf(out, HF_UUID_LEN, "%.8s-%.4s-4%.3s-a%.3s-%.12s", hex,
	    hex + 8, hex + 12, hex + 15, hex + 18);
}

struct draft {
	const struct hf_seed *seed;
	struct hf_jtree *t;
	struct hf_buf *out;
	char time[HF_TIME_LEN];
};

static struct hf_jnode *
begin_row(const struct draft *d, const char *type)
{
	struct hf_jnode *row = hf_jtree_obj(d->t);

	hf_jset_cstr(d->t, row, "type", type);
	return row;
}

static void
end_row(const struct draft *d, struct hf_jnode *row)
{
	hf_jset_cstr(d->t, row, "sessionId", d->seed->id);
	hf_jtree_write(d->out, row, false);
	hf_buf_putc(d->out, '\n');
}

static void
meta_rows(const struct draft *d)
{
	const struct hf_seed *seed = d->seed;
	const struct hf_session *s = seed->source;
	struct hf_jnode *row;

	if (seed->title != NULL) {
		row = begin_row(d, "custom-title");
		hf_jset_cstr(d->t, row, "customTitle", seed->title);
		end_row(d, row);
	}
	row = begin_row(d, "handoff-meta");
	hf_jset_cstr(d->t, row, "parentSession", s != NULL ? s->id : NULL);
	hf_jset_cstr(d->t, row, "parentAgent",
	    s != NULL && s->agent != NULL ? s->agent->name : NULL);
	hf_jset_cstr(d->t, row, "handoff", seed->attempt);
	if (seed->model != NULL)
		hf_jset_cstr(d->t, row, "model", seed->model);
	end_row(d, row);
	if (seed->permission != NULL) {
		row = begin_row(d, "permission-mode");
		hf_jset_cstr(d->t, row, "permissionMode", seed->permission);
		end_row(d, row);
	}
}

/* A row of the chain; parent NULL for the first. */
static void
chain_row(const struct draft *d, const char *type, const char *id,
    const char *parent, struct hf_jnode *message)
{
	const struct hf_session *s = d->seed->source;
	bool same = s != NULL && s->agent == &hf_agent_claude;
	struct hf_jnode *row = hf_jtree_obj(d->t);

	hf_jset_cstr(d->t, row, "parentUuid", parent);
	hf_jset_bool(d->t, row, "isSidechain", false);
	hf_jset_cstr(d->t, row, "userType", "external");
	hf_jset_cstr(d->t, row, "cwd", d->seed->cwd);
	hf_jset_cstr(d->t, row, "version",
	    same && s->version != NULL ? s->version : "2.1.197");
	hf_jset_cstr(d->t, row, "gitBranch",
	    same && s->branch != NULL ? s->branch : "");
	hf_jset_cstr(d->t, row, "type", type);
	hf_jset(d->t, row, "message", message);
	hf_jset_cstr(d->t, row, "uuid", id);
	hf_jset_cstr(d->t, row, "timestamp", d->time);
	end_row(d, row);
}

/* Without a model in it the client hangs, with a string as content it
 * crashes, and without any answer it makes one up (FORMATS 3). */
static struct hf_jnode *
acknowledgement(const struct draft *d)
{
	struct hf_jnode *m = hf_jtree_obj(d->t), *u = hf_jtree_obj(d->t);
	struct hf_jnode *content = hf_jtree_arr(d->t);
	struct hf_jnode *text = hf_jtree_obj(d->t);

	hf_jset_cstr(d->t, text, "type", "text");
	hf_jset_cstr(d->t, text, "text", "Handoff context received.");
	hf_jpush(content, text);
	hf_jset_int(d->t, u, "input_tokens", 0);
	hf_jset_int(d->t, u, "output_tokens", 0);
	hf_jset_int(d->t, u, "cache_creation_input_tokens", 0);
	hf_jset_int(d->t, u, "cache_read_input_tokens", 0);
	hf_jset_cstr(d->t, m, "id", "msg_handoff_seed");
	hf_jset_cstr(d->t, m, "type", "message");
	hf_jset_cstr(d->t, m, "role", "assistant");
	hf_jset_cstr(d->t, m, "model", "<synthetic>");
	hf_jset(d->t, m, "content", content);
	hf_jset_cstr(d->t, m, "stop_reason", "end_turn");
	hf_jset_null(d->t, m, "stop_sequence");
	hf_jset(d->t, m, "usage", u);
	return m;
}

int
hf_claude_draft(const struct hf_seed *seed, struct hf_buf *out,
    struct hf_err *err)
{
	struct draft d = { .seed = seed, .t = hf_jtree_new(), .out = out };
	char user[HF_UUID_LEN], answer[HF_UUID_LEN];
	struct hf_jnode *m = hf_jtree_obj(d.t);

	hf_clock_format(seed->time, d.time);
	row_id(seed, "seed", user);
	row_id(seed, "answer", answer);
	meta_rows(&d);
	hf_jset_cstr(d.t, m, "role", "user");
	hf_jset_str(d.t, m, "content", seed->text);
	chain_row(&d, "user", user, NULL, m);
	chain_row(&d, "assistant", answer, user, acknowledgement(&d));
	hf_jtree_free(d.t);
	if (out->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the successor's file is too large");
	return 0;
}

void
hf_claude_resume(const struct hf_session *s, const char *prompt,
    struct hf_argv *out)
{
	hf_argv_add(out, "claude");
	hf_argv_add(out, "--resume");
	hf_argv_add(out, s->id);
	if (prompt != NULL)
		hf_argv_add(out, prompt);
}

void
hf_claude_title_row(const struct hf_session *s, struct hf_str title,
    struct hf_buf *out)
{
	struct hf_seed seed = { .id = s->id };
	struct draft d = { .seed = &seed, .t = hf_jtree_new(), .out = out };
	struct hf_jnode *row = begin_row(&d, "custom-title");

	hf_jset_str(d.t, row, "customTitle", title);
	end_row(&d, row);
	hf_jtree_free(d.t);
}
