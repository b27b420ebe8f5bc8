#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/opencode.h"
#include "agent/sqlite.h"
#include "agent/unpack.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/sig.h"
#include "config/home.h"

enum {
	TRIES = 8, TRY_MS = 40,	/* while the client works on its database */
	CHUNK = 256 << 10,
	FUTURE_MS = 5 * 60 * 1000,
	STALE_MS = 3600 * 1000	/* nobody works on that for so long */
};

/* ---- names ---- */

char *
hf_opencode_data(struct hf_err *err)
{
	char *base = hf_env_xdg("XDG_DATA_HOME", ".local/share", err), *data;

	if (base == NULL)
		return NULL;
	data = hf_path_join(base, "opencode");
	free(base);
	return data;
}

/* OPENCODE_DB is a path, or a name in the folder. */
static char *
database(struct hf_err *err)
{
	const char *name = hf_env("OPENCODE_DB");
	char *data, *path;

	if (name != NULL && name[0] == '/')
		return hf_strdup(name);
	if ((data = hf_opencode_data(err)) == NULL)
		return NULL;
	path = hf_path_join(data, name != NULL && strcmp(name, ":memory:") !=
	    0 ? name : "opencode.db");
	free(data);
	return path;
}

char *
hf_opencode_root(struct hf_err *err)
{
	char *db = database(err), *dir;

	if (db == NULL)
		return NULL;
	dir = hf_path_dir(db);
	free(db);
	return dir;
}

/* "…/opencode.db#ses_dd0bec9dbffeGJr8AvCIzwcGZU" */
static char *
join(const char *db, struct hf_str id)
{
	struct hf_buf path = HF_BUF_INIT;

	hf_buf_puts(&path, db);
	hf_buf_putc(&path, '#');
	hf_buf_str(&path, id);
	return hf_buf_steal(&path);
}

/* The id in such a path; NULL for the path of a file. */
static const char *
id_in(const char *path)
{
	const char *mark = strrchr(path, '#'), *p;

	if (mark == NULL || !hf_str_ends(hf_strn(path, (size_t)(mark - path)),
	    ".db") || strncmp(mark, "#ses", 4) != 0)
		return NULL;
	for (p = mark + 1; *p != '\0'; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9') || *p == '_'))
			return NULL;
	return mark + 1;
}

static bool
is_rows(const char *path)
{
	return id_in(path) != NULL;
}

/* ---- a reading of the database ---- */

/* Has it all that is asked of it? */
static int
check(struct hf_sqlite *db, const char *path, struct hf_err *err)
{
	static const char sql[] = "SELECT s.id, s.parent_id, s.directory, "
	    "s.title, s.time_updated, m.id, m.session_id, m.time_created, "
	    "m.time_updated, m.data, p.id, p.message_id, p.session_id, "
	    "p.time_updated, p.data FROM session s, message m, part p LIMIT 0";
	struct hf_err why;
	struct hf_sqlite_stmt *st = hf_sqlite_query(db, sql, HF_STR_NONE,
	    &why);
	const char *said;

	hf_sqlite_done(st);
	if (st != NULL)
		return 0;
	if (why.code != HF_E_UNSUPPORTED) {
		*err = why;
		return -1;
	}
	said = strstr(why.msg, "': ");
	return hf_err_set(err, HF_E_UNSUPPORTED, "cannot read '%s': it is of "
	    "no opencode that is known (%s)", path, said != NULL ? said + 3 :
	    why.msg);
}

/*
 * Calls work on the database until it stayed the same meanwhile; work begins
 * anew each time. 0, or -1.
 */
static int
reading(const char *path, int (*work)(struct hf_sqlite *db, void *arg,
    struct hf_err *err), void *arg, struct hf_err *err)
{
	struct hf_sqlite *db;
	struct hf_err why;
	bool same;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		why.code = HF_OK;
		db = hf_sqlite_open(path, &why);
		rc = db != NULL && check(db, path, &why) == 0 ?
		    work(db, arg, &why) : -1;
		same = db != NULL && hf_sqlite_same(db);
		hf_sqlite_close(db);
		if (rc == 0 && same)
			return 0;
		if (rc < 0 && why.code != HF_E_CHANGED)
			break;
		if (hf_sig_sleep(TRY_MS, err) < 0)
			return -1;
	}
	if (why.code == HF_OK)
		return hf_err_set(err, HF_E_BUSY,
		    "'%s' changes faster than it can be read", path);
	if (why.code == HF_E_CHANGED)	/* it stays so: it is damaged */
		why.code = HF_E_IO;
	if (err != NULL)
		*err = why;
	return -1;
}

/* ---- rows as an export has them ---- */

/* A member that is a string, or JSON as it stands. */
static void
member(struct hf_buf *out, const char *key, struct hf_str value, bool json)
{
	if (value.n == 0)
		return;
	hf_buf_printf(out, ",\"%s\":", key);
	if (json)
		hf_buf_str(out, value);
	else
		hf_json_quote(out, value);
}

static void
time_member(struct hf_buf *out, const char *key, int64_t ms)
{
	if (ms >= 0)
		hf_buf_printf(out, ",\"%s\":%lld", key, (long long)ms);
}

/* The session's own row, as an export without messages. */
static void
add_session(struct hf_buf *out, const struct hf_sqlite_stmt *st)
{
	hf_buf_puts(out, "{\"info\":{\"id\":");
	hf_json_quote(out, hf_sqlite_text(st, "id"));
	member(out, "parentID", hf_sqlite_text(st, "parent_id"), false);
	member(out, "directory", hf_sqlite_text(st, "directory"), false);
	member(out, "title", hf_sqlite_text(st, "title"), false);
	member(out, "version", hf_sqlite_text(st, "version"), false);
	member(out, "metadata", hf_sqlite_text(st, "metadata"), true);
	member(out, "revert", hf_sqlite_text(st, "revert"), true);
	hf_buf_puts(out, ",\"time\":{\"v\":1");
	time_member(out, "created", hf_sqlite_int(st, "time_created", -1));
	time_member(out, "updated", hf_sqlite_int(st, "time_updated", -1));
	time_member(out, "archived", hf_sqlite_int(st, "time_archived", -1));
	hf_buf_puts(out, "}},\"messages\":[]}\n");
}

/* A row's data with its id in front: the client keeps that apart. On one
 * line, whatever is in it. */
static void
add_data(struct hf_buf *out, const struct hf_sqlite_stmt *st)
{
	struct hf_str a = hf_str_trim(hf_sqlite_text(st, "data"));
	size_t from = out->len, i;

	hf_buf_puts(out, "{\"id\":");
	hf_json_quote(out, hf_sqlite_text(st, "id"));
	if (a.n > 1 && a.s[0] == '{') {
		a = hf_str_trim(hf_strn(a.s + 1, a.n - 1));
		if (a.s[0] != '}')
			hf_buf_putc(out, ',');
		hf_buf_str(out, a);
	} else {
		hf_buf_putc(out, '}');
	}
	for (i = from; i < out->len; i++)
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = ' ';
}

/* A message with its parts. */
static int
add_message(struct hf_sqlite *db, struct hf_buf *out,
    const struct hf_sqlite_stmt *message, struct hf_err *err)
{
	struct hf_sqlite_stmt *st = hf_sqlite_query(db,
	    "SELECT id, data FROM part WHERE message_id = ? ORDER BY id",
	    hf_sqlite_text(message, "id"), err);
	bool first = true;
	int rc = -1;

	if (st == NULL)
		return -1;
	hf_buf_puts(out, "{\"info\":");
	add_data(out, message);
	hf_buf_puts(out, ",\"parts\":[");
	while ((rc = hf_sqlite_step(st, err)) > 0) {
		if (!first)
			hf_buf_putc(out, ',');
		first = false;
		add_data(out, st);
	}
	hf_buf_puts(out, "]}\n");
	hf_sqlite_done(st);
	return rc;
}

/* Appends the session's row; HF_E_NOT_FOUND. */
static int
read_session(struct hf_sqlite *db, const char *id, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_sqlite_stmt *st = hf_sqlite_query(db,
	    "SELECT * FROM session WHERE id = ?", hf_str(id), err);
	int rc = st != NULL ? hf_sqlite_step(st, err) : -1;

	if (rc > 0)
		add_session(out, st);
	else if (rc == 0)
		hf_err_set(err, HF_E_NOT_FOUND,
		    "opencode has no session '%s'", id);
	hf_sqlite_done(st);
	return rc > 0 ? 0 : -1;
}

/* ---- a whole session ---- */

struct spool { const char *id; int fd; };

static int
flush(struct spool *s, struct hf_buf *b, struct hf_err *err)
{
	if (b->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "a message of session '%s' is too large", s->id);
	if (hf_io_write(s->fd, b->data, b->len) < 0)
		return hf_err_sys(err, errno,
		    "cannot store session '%s' for reading", s->id);
	hf_buf_clear(b);
	return hf_sig_check(err);
}

static int
spool(struct hf_sqlite *db, void *arg, struct hf_err *err)
{
	struct spool *s = arg;
	struct hf_sqlite_stmt *st = NULL;
	struct hf_buf b = HF_BUF_INIT;
	int rc = -1;

	if (ftruncate(s->fd, 0) < 0 || lseek(s->fd, 0, SEEK_SET) < 0) {
		hf_err_sys(err, errno, "cannot use a temporary file");
		goto out;
	}
	if (read_session(db, s->id, &b, err) < 0)
		goto out;
	st = hf_sqlite_query(db, "SELECT id, data FROM message WHERE "
	    "session_id = ? ORDER BY time_created, id", hf_str(s->id), err);
	if (st == NULL)
		goto out;
	while ((rc = hf_sqlite_step(st, err)) > 0)
		if (add_message(db, &b, st, err) < 0 || (b.len > CHUNK &&
		    flush(s, &b, err) < 0)) {
			rc = -1;
			break;
		}
	if (rc == 0)
		rc = flush(s, &b, err);
out:
	hf_sqlite_done(st);
	hf_buf_release(&b);
	return rc;
}

int
hf_opencode_open(struct hf_source *src, const struct hf_session *s,
    struct hf_err *err)
{
	struct spool sp = { id_in(s->path), -1 };
	char *db;
	int rc;

	if (sp.id == NULL)
		return hf_source_add(src, s->path, UINT64_MAX, false, err);
	if ((sp.fd = hf_unpack_temp(err)) < 0)
		return -1;
	db = hf_session_file(s->path);
	rc = reading(db, spool, &sp, err);
	free(db);
	if (rc < 0) {
		close(sp.fd);
		return -1;
	}
	return hf_source_add_fd(src, sp.fd, s->path, err);
}

/* ---- what it is the same by ---- */

struct figures { const char *id; int64_t n, newest; char text[256]; };

static int
count(struct hf_sqlite *db, const char *sql, struct figures *f,
    struct hf_buf *text, struct hf_err *err)
{
	struct hf_sqlite_stmt *st = hf_sqlite_query(db, sql, hf_str(f->id),
	    err);
	int rc = st != NULL ? hf_sqlite_step(st, err) : -1;
	int64_t n, newest;

	if (rc > 0) {
		n = hf_sqlite_int(st, "n", 0);
		newest = hf_sqlite_int(st, "newest", 0);
		hf_buf_printf(text, "%lld %lld %lld\n", (long long)n,
		    (long long)newest, (long long)hf_sqlite_int(st,
		    "times", 0));
		f->n += n;
		if (newest > f->newest)
			f->newest = newest;
	}
	hf_sqlite_done(st);
	return rc < 0 ? -1 : 0;
}

/* The times of all, so that a row that was rewritten shows too. */
#define FIGURES_OF(table, column) \
	"SELECT count(*) AS n, max(time_updated) AS newest, " \
	"sum(time_updated & 4294967295) AS times FROM " table \
	" WHERE " column " = ?"

static int
figures(struct hf_sqlite *db, void *arg, struct hf_err *err)
{
	static const char *const sql[] = {
		FIGURES_OF("session", "id"), FIGURES_OF("message",
		    "session_id"), FIGURES_OF("part", "session_id") };
	struct hf_buf text = HF_BUF_MAX(sizeof(((struct figures *)0)->text) -
	    1);
	struct figures *f = arg;
	int rc = 0;

	f->n = 0;
	f->newest = -1;
	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]) && rc == 0; i++) {
		rc = count(db, sql[i], f, &text, err);
		if (rc == 0 && i == 0 && f->n == 0)
			rc = hf_err_set(err, HF_E_NOT_FOUND,
			    "opencode has no session '%s'", f->id);
	}
	memcpy(f->text, hf_buf_cstr(&text), text.len + 1);
	hf_buf_release(&text);
	return rc;
}

static int
identify(const char *path, struct hf_file_id *out, struct hf_err *err)
{
	struct figures f = { .id = id_in(path) };
	char *db = hf_session_file(path);
	struct stat sb = { 0 };
	int rc = reading(db, figures, &f, err);

	if (rc == 0 && stat(db, &sb) < 0)
		rc = hf_err_open(err, errno, "cannot open '%s'", db);
	free(db);
	if (rc < 0)
		return -1;
	memset(out, 0, sizeof(*out));
	out->dev = (uint64_t)sb.st_dev;
	out->ino = (uint64_t)sb.st_ino;
	out->size = (uint64_t)f.n;
	if (f.newest > INT64_MAX / 1000000)
		f.newest = INT64_MAX / 1000000;
	out->mtime_ns = f.newest > 0 ? f.newest * 1000000 : 0;
	memcpy(out->tail, "sha256:", 7);
	hf_sha256_hex(hf_str(f.text), out->tail + 7);
	return 0;
}

/* ---- a look at a session ---- */

struct glance {
	const char *id;
	struct hf_buf text;
	int64_t updated;
};

/* The messages that a query of the session gives, in its order. */
static int
add_messages(struct hf_sqlite *db, struct glance *g, const char *query,
    struct hf_err *err)
{
	struct hf_sqlite_stmt *st = hf_sqlite_query(db, query, hf_str(g->id),
	    err);
	int rc = -1;

	while (st != NULL && (rc = hf_sqlite_step(st, err)) > 0)
		if (add_message(db, &g->text, st, err) < 0)
			break;
	hf_sqlite_done(st);
	return rc == 0 ? 0 : -1;
}

static int
add_last(struct hf_sqlite *db, struct glance *g, struct hf_err *err)
{
	return add_messages(db, g, "SELECT * FROM ("
	    "SELECT id, data, time_created FROM message WHERE session_id = ? "
	    "ORDER BY time_created DESC, id DESC LIMIT 16) "
	    "ORDER BY time_created, id", err);
}

/* The first ones tell a session's title where it was given none. */
static int
add_first(struct hf_sqlite *db, struct glance *g, struct hf_err *err)
{
	return add_messages(db, g, "SELECT id, data FROM message "
	    "WHERE session_id = ? ORDER BY time_created, id LIMIT 2", err);
}

static int
glance(struct hf_sqlite *db, void *arg, struct hf_err *err)
{
	struct glance *g = arg;

	hf_buf_clear(&g->text);
	if (read_session(db, g->id, &g->text, err) < 0 ||
	    add_first(db, g, err) < 0 || add_last(db, g, err) < 0)
		return -1;
	if (g->text.full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "a message of session '%s' is too large", g->id);
	return 0;
}

struct seen { int64_t now, prompted, oldest; };

static void
on_row(struct hf_scan *sc, const struct hf_row *row)
{
	struct seen *s = sc->to;

	if (!(row->flags & HF_ROW_CHAIN) || row->time < 0 ||
	    row->time > s->now + FUTURE_MS)
		return;
	if (s->oldest < 0)
		s->oldest = row->time;
	if (row->kind == HF_ROW_PROMPT && row->time > s->prompted)
		s->prompted = row->time;
}

/* Gives the records of text to row(). */
static void
scan(struct hf_session *s, struct hf_str text)
{
	struct hf_opencode_own own = { 0 };
	struct seen seen = { hf_clock_now(), -1, -1 };
	struct hf_scan sc = { .session = s, .own = &own, .emit = on_row,
	    .to = &seen };
	struct hf_record rec = { .line = 0 };
	struct hf_json *j;

	hf_arena_init(&sc.arena);
	while (text.n > 0) {
		rec.raw = hf_str_line(text, &text);
		j = hf_json_parse(rec.raw, HF_JSON_MEND, NULL, NULL, NULL);
		rec.v = hf_json_root(j);
		if (rec.v != NULL)
			hf_opencode_row(&sc, &rec);
		hf_json_free(j);
	}
	hf_arena_clear(&sc.arena);
	s->prompted = seen.prompted >= 0 ? seen.prompted : seen.oldest;
}

static int
peek(const char *path, struct hf_session *s, struct hf_err *err)
{
	struct glance g = { .id = id_in(path), .text = HF_BUF_INIT };
	char *db = hf_session_file(path), *real;
	struct hf_json *j;
	struct hf_str first;
	int rc = reading(db, glance, &g, err);

	if (rc == 0) {
		s->agent = &hf_agent_opencode;
		real = realpath(db, NULL);
		s->path = join(real != NULL ? real : db, hf_str(g.id));
		free(real);
		first = hf_str_line(hf_buf_view(&g.text), NULL);
		j = hf_json_parse(first, HF_JSON_MEND, NULL, NULL, NULL);
		s->mtime = hf_json_ms(hf_json_at(hf_json_root(j),
		    "info.time.updated"));
		hf_json_free(j);
		scan(s, hf_buf_view(&g.text));
	}
	hf_buf_release(&g.text);
	free(db);
	return rc;
}

const struct hf_rows hf_opencode_rows = { is_rows, peek, identify };

/* ---- finding ---- */

/* Ids, or another column, that a query gives. */
struct names {
	const char *sql;
	struct hf_str arg;
	char **v;
	size_t n, cap;
};

static void
names_clear(struct names *l)
{
	while (l->n > 0)
		free(l->v[--l->n]);
}

static int
names(struct hf_sqlite *db, void *arg, struct hf_err *err)
{
	struct names *l = arg;
	struct hf_sqlite_stmt *st = hf_sqlite_query(db, l->sql, l->arg, err);
	struct hf_str name;
	int rc = -1;

	names_clear(l);
	while (st != NULL && (rc = hf_sqlite_step(st, err)) > 0) {
		name = hf_sqlite_text(st, "name");
		if (name.n == 0 || memchr(name.s, '\0', name.n) != NULL)
			continue;
		if (l->n == l->cap) {
			l->cap = l->cap == 0 ? 64 : l->cap * 2;
			l->v = hf_reallocarray(l->v, l->cap, sizeof(*l->v));
		}
		l->v[l->n++] = hf_strndup(name.s, name.n);
	}
	hf_sqlite_done(st);
	return rc;
}

static void
names_release(struct names *l)
{
	names_clear(l);
	free(l->v);
	l->v = NULL;
}

int
hf_opencode_each(int (*cb)(const char *path, void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct names l = { .sql = "SELECT id AS name FROM session WHERE "
	    "parent_id IS NULL" };
	char *db = database(err), *path;
	struct hf_err why;
	int rc = 0;

	if (db == NULL)
		return -1;
	if (reading(db, names, &l, &why) < 0 &&
	    why.code != HF_E_NOT_FOUND) {
		*err = why;
		rc = -1;
	}
	for (size_t i = 0; i < l.n && rc == 0; i++) {
		path = join(db, hf_str(l.v[i]));
		if (is_rows(path))
			rc = cb(path, arg, err);
		free(path);
	}
	names_release(&l);
	free(db);
	return rc;
}

char *
hf_opencode_by_id(const char *id)
{
	struct names l = { .sql = "SELECT id AS name FROM session WHERE "
	    "id = ?", .arg = hf_str(id) };
	char *db, *path = NULL;

	if (strncmp(id, "ses", 3) != 0 || (db = database(NULL)) == NULL)
		return NULL;
	if (reading(db, names, &l, NULL) == 0 && l.n > 0)
		path = join(db, hf_str(id));
	names_release(&l);
	free(db);
	return path;
}

bool
hf_opencode_has_part(const char *id)
{
	struct names l = { .sql = "SELECT id AS name FROM part WHERE id = ?",
	    .arg = hf_str(id) };
	char *db = database(NULL);
	bool there = db != NULL && reading(db, names, &l, NULL) == 0 &&
	    l.n > 0;

	names_release(&l);
	free(db);
	return there;
}

/* Where a successor of ours is that was imported from the file at path; NULL
 * for any other file. */
static char *
imported(const char *path)
{
	char *state = hf_home_state(NULL), *ours = NULL, *dir, *id;
	struct hf_str name = hf_str(hf_path_base(path));
	char *out = NULL;

	if (state == NULL || !hf_str_starts(name, "ses") ||
	    !hf_str_ends(name, ".json")) {
		free(state);
		return NULL;
	}
	ours = hf_path_join(state, "imports");
	dir = hf_path_dir(path);
	id = hf_strndup(name.s, name.n - strlen(".json"));
	if (strcmp(dir, ours) == 0)
		out = hf_opencode_by_id(id);
	free(id);
	free(dir);
	free(ours);
	free(state);
	return out;
}

void
hf_opencode_by_path(struct hf_session *s)
{
	const char *id;
	char *other;

	if (s->path == NULL)
		return;
	if ((other = imported(s->path)) != NULL) {
		free(s->path);
		s->path = other;
	}
	if ((id = id_in(s->path)) != NULL)
		hf_session_set(&s->id, hf_str(id));
}

int
hf_opencode_last_model(struct hf_buf *out, struct hf_err *err)
{
	struct names l = { .sql = "SELECT model AS name FROM session WHERE "
	    "model IS NOT NULL ORDER BY time_updated DESC LIMIT 1" };
	char *db = database(err);
	int rc = db != NULL ? reading(db, names, &l, err) : -1;

	if (rc == 0 && l.n > 0)
		hf_buf_puts(out, l.v[0]);
	else if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "opencode has no session yet");
	names_release(&l);
	free(db);
	return rc;
}

/* ---- sub-agents ---- */

/* Does the last message of a session say that its turn goes on? */
static int
goes_on(struct hf_sqlite *db, void *arg, struct hf_err *err)
{
	struct glance *g = arg;
	struct hf_sqlite_stmt *st = hf_sqlite_query(db, "SELECT data, "
	    "time_updated FROM message WHERE session_id = ? "
	    "ORDER BY time_created DESC, id DESC LIMIT 1", hf_str(g->id), err);
	int rc = st != NULL ? hf_sqlite_step(st, err) : -1;

	hf_buf_clear(&g->text);
	if (rc > 0) {
		hf_buf_str(&g->text, hf_sqlite_text(st, "data"));
		g->updated = hf_sqlite_int(st, "time_updated", 0);
	}
	hf_sqlite_done(st);
	return rc < 0 ? -1 : 0;
}

static bool
is_running(const char *db, const char *id)
{
	struct glance g = { .id = id, .text = HF_BUF_INIT };
	struct hf_json *j = NULL;
	const struct hf_jval *v;
	bool open = false;

	if (reading(db, goes_on, &g, NULL) == 0 && g.text.len > 0 &&
	    hf_clock_now() - g.updated < STALE_MS) {
		j = hf_json_parse(hf_buf_view(&g.text), HF_JSON_MEND, NULL,
		    NULL, NULL);
		v = hf_json_root(j);
		open = hf_json_is(hf_json_get(v, "role"), "user") ||
		    hf_json_is(hf_json_get(v, "finish"), "tool-calls") ||
		    hf_json_get(hf_json_get(v, "time"), "completed") == NULL;
	}
	hf_json_free(j);
	hf_buf_release(&g.text);
	return open;
}

void
hf_opencode_owned(const struct hf_session *s,
    void (*cb)(const char *id, void *arg), void *arg)
{
	struct names l = { .sql = "SELECT id AS name FROM session WHERE "
	    "parent_id = ?", .arg = hf_str(s->id) };
	char *db;

	if (s->id == NULL || s->path == NULL || !is_rows(s->path))
		return;
	db = hf_session_file(s->path);
	if (reading(db, names, &l, NULL) == 0)
		for (size_t i = 0; i < l.n; i++)
			if (is_running(db, l.v[i]))
				cb(l.v[i], arg);
	names_release(&l);
	free(db);
}
