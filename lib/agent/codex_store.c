#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/codex.h"
#include "agent/peek.h"
#include "agent/unpack.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/io.h"

enum {
	DEPTH = 3,			/* sessions/YYYY/MM/DD */
	INDEX_MAX = 1 << 20,		/* bytes of the index that are read */
	META_HEAD = 64 << 10,		/* of a file, for its first row */
	META_MAX = 8 << 20
};

static const char sessions[] = "sessions", archived[] = "archived_sessions";
static const char index_name[] = "session_index.jsonl";
static const char lock_suffix[] = ".lock";

/* ---- names ---- */

char *
hf_codex_home(struct hf_err *err)
{
	const char *dir = hf_env("CODEX_HOME"), *home;
	char *real;

	if (dir != NULL && dir[0] == '/')
		return hf_strdup(dir);
	if (dir != NULL) {
		real = realpath(dir, NULL);
		return real != NULL ? real : hf_strdup(dir);
	}
	if ((home = hf_env_home(err)) == NULL)
		return NULL;
	return hf_path_join(home, ".codex");
}

static int
hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	    c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool
is_uuid(struct hf_str a)
{
	size_t i;

	if (a.n != HF_UUID_LEN - 1)
		return false;
	for (i = 0; i < a.n; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ?
		    a.s[i] != '-' : hex(a.s[i]) < 0)
			return false;
	return true;
}

int64_t
hf_codex_time(struct hf_str id)
{
	uint64_t ms = 0;
	size_t i;

	if (!is_uuid(id) || id.s[14] != '7')
		return -1;
	for (i = 0; i < 13; i++)	/* 48 bits, and a dash */
		if (i != 8)
			ms = ms << 4 | ((unsigned)hex(id.s[i]) & 0xf);
	return (int64_t)ms;
}

static bool
is_packed(struct hf_str name)
{
	return hf_str_ends(name, ".zst");
}

/* The id in "rollout-<local time>-<uuid>.jsonl", maybe with ".zst"; none in
 * another name. */
static struct hf_str
id_of(const char *name)
{
	struct hf_str a = hf_str(name);
	size_t n = HF_UUID_LEN - 1;

	if (is_packed(a))
		a.n -= 4;
	if (!hf_str_starts(a, "rollout-") || !hf_str_ends(a, ".jsonl"))
		return HF_STR_NONE;
	a.n -= 6;
	if (a.n < n + 9 || a.s[a.n - n - 1] != '-')
		return HF_STR_NONE;
	a = hf_strn(a.s + a.n - n, n);
	return is_uuid(a) ? a : HF_STR_NONE;
}

static bool
is_number(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n == strspn(name, "0123456789");
}

/* ---- finding ---- */

struct walk {
	int (*cb)(const char *path, void *arg, struct hf_err *err);
	void *arg;
	const char *dir;
	int depth;			/* of folders that may follow */
};

static int walk_dir(const struct walk *w, struct hf_err *err);

/* While a file is being packed both are there: the plain one counts. */
static bool
is_unpacked(const char *path)
{
	char *plain = hf_strndup(path, strlen(path) - 4);
	bool there = access(plain, F_OK) == 0;

	free(plain);
	return there;
}

static int
one_name(const char *name, void *arg, struct hf_err *err)
{
	const struct walk *w = arg;
	struct walk in = *w;
	char *path = hf_path_join(w->dir, name);
	int rc = 0;

	if (id_of(name).n > 0) {
		if (!is_packed(hf_str(name)) || !is_unpacked(path))
			rc = w->cb(path, w->arg, err);
	} else if (w->depth > 0 && is_number(name)) {
		in.dir = path;
		in.depth--;
		rc = walk_dir(&in, err);
	}
	free(path);
	return rc;
}

/* What cannot be opened holds no sessions. */
static int
walk_dir(const struct walk *w, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	struct walk copy = *w;
	int rc;

	if (hf_dir_open(&d, w->dir, NULL) < 0)
		return 0;
	rc = hf_dir_each(&d, one_name, &copy, err);
	hf_dir_close(&d);
	return rc;
}

static int
walk_home(const char *home, struct walk *w, struct hf_err *err)
{
	char *open = hf_path_join(home, sessions);
	char *shut = hf_path_join(home, archived);
	int rc;

	w->dir = open;
	w->depth = DEPTH;
	rc = walk_dir(w, err);
	if (rc == 0) {
		w->dir = shut;
		w->depth = 0;
		rc = walk_dir(w, err);
	}
	free(open);
	free(shut);
	return rc;
}

int
hf_codex_each(int (*cb)(const char *path, void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct walk w = { .cb = cb, .arg = arg };
	char *home = hf_codex_home(err);
	int rc = -1;

	if (home != NULL)
		rc = walk_home(home, &w, err);
	free(home);
	return rc;
}

/* ---- by id ---- */

struct wanted {
	struct hf_str id;
	char *path;
};

static int
is_wanted(const char *path, void *arg, struct hf_err *err)
{
	struct wanted *w = arg;

	(void)err;
	if (!hf_str_ieq(id_of(hf_path_base(path)), w->id))
		return 0;
	w->path = hf_strdup(path);
	return 1;
}

/* The folder of a day, whatever the zone of the client's clock was. */
static void
look_near(const char *home, int64_t ms, struct wanted *want)
{
	struct walk w = { .cb = is_wanted, .arg = want };
	struct hf_buf dir = HF_BUF_INIT;
	struct hf_date d;
	int day;

	for (day = -1; day <= 1 && want->path == NULL; day++) {
		hf_clock_date(ms + day * (int64_t)86400000, &d);
		hf_buf_clear(&dir);
		hf_buf_printf(&dir, "%s/%s/%04d/%02d/%02d", home, sessions,
		    d.year, d.month, d.day);
		w.dir = hf_buf_cstr(&dir);
		walk_dir(&w, NULL);
	}
	hf_buf_release(&dir);
}

/* The file of a whole id in a home; the caller's, or NULL. The id has the
 * time when the session began, so one folder of a day is enough, mostly. */
static char *
find_in(const char *home, struct hf_str id)
{
	struct wanted want = { id, NULL };
	struct walk w = { .cb = is_wanted, .arg = &want };
	int64_t ms = hf_codex_time(id);

	if (!is_uuid(id))
		return NULL;
	if (ms >= 0)
		look_near(home, ms, &want);
	if (want.path == NULL)
		walk_home(home, &w, NULL);
	return want.path;
}

char *
hf_codex_by_id(const char *id)
{
	char *home = hf_codex_home(NULL), *path = NULL;

	if (home != NULL)
		path = find_in(home, hf_str(id));
	free(home);
	return path;
}

/* ---- the index of names ---- */

bool
hf_codex_tail(const char *path, size_t max, struct hf_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat sb;
	off_t size = (off_t)max;
	ssize_t n = -1;
	char *to;

	if (fd < 0)
		return false;
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode)) {
		if (sb.st_size < size)
			size = sb.st_size;
		to = hf_buf_room(out, (size_t)size);
		if (to != NULL)
			n = hf_io_pread(fd, to, (size_t)size,
			    sb.st_size - size);
	}
	close(fd);
	if (n < 0)
		return false;
	out->len += (size_t)n;
	return true;
}

/* Does the line name the session? Then out becomes its name. */
static bool
names(struct hf_str line, struct hf_str id, struct hf_buf *out)
{
	struct hf_json *j = hf_json_parse(line, HF_JSON_MEND, NULL, NULL,
	    NULL);
	const struct hf_jval *v = hf_json_root(j);
	struct hf_str name = hf_str_trim(hf_json_get_str(v, "thread_name"));
	bool is = hf_str_eq(hf_json_get_str(v, "id"), id) && name.n > 0;

	if (is) {
		hf_buf_clear(out);
		hf_buf_str(out, name);
	}
	hf_json_free(j);
	return is;
}

bool
hf_codex_name(const char *path, struct hf_str id, struct hf_buf *out)
{
	struct hf_buf tail = HF_BUF_INIT;
	struct hf_str all;
	size_t at = 0, from, to;
	bool found = false;

	if (path == NULL || id.n == 0 || !hf_codex_tail(path, INDEX_MAX,
	    &tail)) {
		hf_buf_release(&tail);
		return false;
	}
	all = hf_buf_view(&tail);
	while ((at = hf_str_find(all, id, at)) != SIZE_MAX) {
		for (from = at; from > 0 && all.s[from - 1] != '\n'; from--)
			;
		for (to = at; to < all.n && all.s[to] != '\n'; to++)
			;
		at = to;
		if (names(hf_strn(all.s + from, to - from), id, out))
			found = true;
	}
	hf_buf_release(&tail);
	return found;
}

/* The folder that holds sessions/ or archived_sessions/ with the file; the
 * caller's, NULL when it lies elsewhere. */
static char *
home_of(const char *path)
{
	char *dir = hf_path_dir(path), *up;
	const char *base;
	int left;

	for (left = DEPTH; left >= 0; left--) {
		base = hf_path_base(dir);
		if (strcmp(base, sessions) == 0 ||
		    strcmp(base, archived) == 0) {
			up = hf_path_dir(dir);
			free(dir);
			return up;
		}
		if (!is_number(base))
			break;
		up = hf_path_dir(dir);
		free(dir);
		dir = up;
	}
	free(dir);
	return NULL;
}

/* An index lies beside sessions/; of a file that was copied, beside it. */
void
hf_codex_set_name(struct hf_session *s)
{
	struct hf_buf name = HF_BUF_INIT;
	char *home, *path;

	if (s->path == NULL || s->id == NULL)
		return;
	home = home_of(s->path);
	if (home == NULL)
		home = hf_path_dir(s->path);
	path = hf_path_join(home, index_name);
	if (hf_codex_name(path, hf_str(s->id), &name)) {
		hf_session_set(&s->title, hf_buf_view(&name));
		s->titled = true;
	}
	hf_buf_release(&name);
	free(path);
	free(home);
}

void
hf_codex_by_path(struct hf_session *s)
{
	struct hf_str id;
	char *dir;

	if (s->path == NULL)
		return;
	dir = hf_path_dir(s->path);
	s->archived = strcmp(hf_path_base(dir), archived) == 0;
	free(dir);
	id = id_of(hf_path_base(s->path));
	if (id.n > 0)
		hf_session_set(&s->id, id);
	hf_codex_set_name(s);
}

/* ---- forks ---- */

/* What a fork has of its parent: its id, and so many bytes of its file. */
struct base {
	char id[HF_UUID_LEN];
	uint64_t end;
};

/* The first row of a file, at most META_MAX bytes of it. */
static int
first_row(int fd, const char *path, struct hf_buf *out)
{
	bool packed = hf_unpack_is(fd);
	size_t want = META_HEAD;
	ssize_t n;
	char *to;

	for (;; want = META_MAX) {
		hf_buf_clear(out);
		if (packed) {
			if (hf_unpack_head(fd, path, want, out, NULL) < 0)
				return -1;
		} else {
			if ((to = hf_buf_room(out, want)) == NULL ||
			    (n = hf_io_pread(fd, to, want, 0)) < 0)
				return -1;
			out->len += (size_t)n;
		}
		if (want == META_MAX || out->len < want ||
		    memchr(out->data, '\n', out->len) != NULL)
			return 0;
	}
}

static bool
read_base(const struct hf_jval *row, struct base *b)
{
	const struct hf_jval *v = hf_json_at(row, "payload.history_base");
	struct hf_str id = hf_json_get_str(v, "thread_id");
	int64_t end = hf_json_count(hf_json_get(v, "end_byte_offset"));

	if (!hf_json_is(hf_json_get(row, "type"), "session_meta") ||
	    !is_uuid(id) || end == 0)
		return false;
	memcpy(b->id, id.s, id.n);
	b->id[id.n] = '\0';
	b->end = (uint64_t)end;
	return true;
}

/* 1 and the base of the file at path, 0 if it is no fork, -1 if it cannot be
 * read. */
static int
base_of(const char *path, struct base *b)
{
	int fd = hf_peek_open(path, NULL), r = -1;
	struct hf_buf text = HF_BUF_INIT;
	struct hf_json *j;

	if (fd < 0)
		return -1;
	if (first_row(fd, path, &text) == 0) {
		j = hf_json_parse(hf_str_line(hf_buf_view(&text), NULL),
		    HF_JSON_MEND, NULL, NULL, NULL);
		r = read_base(hf_json_root(j), b);
		hf_json_free(j);
	}
	hf_buf_release(&text);
	close(fd);
	return r;
}

/* A parent's file: in the same store, beside the fork, in the user's. */
static char *
find_parent(const char *fork, const char *id)
{
	struct wanted want = { hf_str(id), NULL };
	char *home = home_of(fork), *dir = hf_path_dir(fork);
	struct walk beside = { is_wanted, &want, dir, 0 };

	if (home != NULL)
		want.path = find_in(home, want.id);
	if (want.path == NULL)
		walk_dir(&beside, NULL);
	free(dir);
	free(home);
	return want.path != NULL ? want.path : hf_codex_by_id(id);
}

struct lineage {
	char *path[HF_SOURCE_PARTS];	/* own first; the first is borrowed */
	uint64_t limit[HF_SOURCE_PARTS];
	size_t n;
};

static bool
is_in(const struct lineage *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->path[i], path) == 0)
			return true;
	return false;
}

/* Goes from fork to parent. What cannot be had is left out, and said. */
static void
trace(struct hf_source *src, struct lineage *l)
{
	struct base b;
	char *path;

	while (base_of(l->path[l->n - 1], &b) > 0) {
		path = find_parent(l->path[l->n - 1], b.id);
		if (path == NULL) {
			hf_source_note(src, "'%s': the history that it has "
			    "of session '%s' is left out: that is not there",
			    l->path[l->n - 1], b.id);
			return;
		}
		if (l->n == HF_SOURCE_PARTS || is_in(l, path)) {
			hf_source_note(src, "'%s': the history before it is "
			    "left out: %s", l->path[l->n - 1],
			    l->n == HF_SOURCE_PARTS ? "too many forks" :
			    "it is its own parent's parent");
			free(path);
			return;
		}
		l->path[l->n] = path;
		l->limit[l->n++] = b.end;
	}
}

int
hf_codex_open(struct hf_source *src, const struct hf_session *s,
    struct hf_err *err)
{
	struct lineage l = { .n = 1 };
	size_t i;
	int r = 0;

	l.path[0] = s->path;
	l.limit[0] = UINT64_MAX;
	trace(src, &l);
	for (i = l.n; i-- > 0 && r == 0;)
		r = hf_source_add(src, l.path[i], l.limit[i], i > 0, err);
	for (i = 1; i < l.n; i++)
		free(l.path[i]);
	return r;
}

/* ---- who has it open ---- */

/* The clients' folder of locks; -1 if there is none. */
static int
open_locks(struct hf_dir *d)
{
	char *home = hf_codex_home(NULL), *path;
	int r;

	if (home == NULL)
		return -1;
	path = hf_path_join(home, "thread-writer-locks");
	r = hf_dir_open(d, path, NULL);
	free(path);
	free(home);
	return r;
}

enum lock { LOCK_GONE, LOCK_FREE, LOCK_HELD };

/* A client that has the session open holds its lock. Asking for a shared
 * one does not mislead another who asks at the same time. */
static enum lock
try_lock(const struct hf_dir *d, const char *name)
{
	int fd = hf_file_open(d, name, O_RDONLY);
	enum lock is = LOCK_FREE;

	if (fd < 0)
		return LOCK_GONE;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		is = errno == EWOULDBLOCK ? LOCK_HELD : LOCK_GONE;
	close(fd);
	return is;
}

void
hf_codex_live(const struct hf_session *s, struct hf_live *out)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_buf name = HF_BUF_INIT;
	enum lock is;

	memset(out, 0, sizeof(*out));
	if (s->id == NULL || open_locks(&d) < 0)
		return;
	out->offers = true;
	hf_buf_puts(&name, s->id);
	hf_buf_puts(&name, lock_suffix);
	if (hf_path_component(hf_buf_view(&name))) {
		is = try_lock(&d, hf_buf_cstr(&name));
		out->open = is == LOCK_HELD;
		out->dead = is == LOCK_FREE;
	}
	hf_buf_release(&name);
	hf_dir_close(&d);
}

struct owning {
	const struct hf_session *s;
	const struct hf_dir *dir;
	void (*cb)(const char *id, void *arg);
	void *arg;
};

static bool
is_child(const struct hf_session *parent, const char *path)
{
	struct hf_session s;
	bool is;

	if (hf_session_peek(path, &s, NULL) < 0)
		return false;
	is = s.subagent && s.parent != NULL &&
	    strcmp(s.parent, parent->id) == 0;
	hf_session_release(&s);
	return is && hf_peek_turn(&hf_agent_codex, path) == HF_TURN_OPEN;
}

static int
on_lock(const char *name, void *arg, struct hf_err *err)
{
	const struct owning *o = arg;
	struct hf_str id = hf_str(name);
	char *text, *path;

	(void)err;
	if (!hf_str_ends(id, lock_suffix))
		return 0;
	id.n -= sizeof(lock_suffix) - 1;
	if (!is_uuid(id) || hf_str_is(id, o->s->id) ||
	    try_lock(o->dir, name) != LOCK_HELD)
		return 0;
	text = hf_strndup(id.s, id.n);
	path = hf_codex_by_id(text);
	if (path != NULL && is_child(o->s, path))
		o->cb(text, o->arg);
	free(path);
	free(text);
	return 0;
}

/* Sub-agents that are open and in a turn. */
void
hf_codex_owned(const struct hf_session *s,
    void (*cb)(const char *id, void *arg), void *arg)
{
	struct hf_dir d = HF_DIR_INIT;
	struct owning o = { s, &d, cb, arg };

	if (s->id == NULL || open_locks(&d) < 0)
		return;
	hf_dir_each(&d, on_lock, &o, NULL);
	hf_dir_close(&d);
}
