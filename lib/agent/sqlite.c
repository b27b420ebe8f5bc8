#include "agent/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/file.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sig.h"

enum {
	BUSY_MS = 1000,		/* a writer without a log holds its lock */
	LOG_HEAD = 32,		/* of the log: tells when it begins anew */
	STEPS = 10000		/* between two looks at the signals */
};

/* ---- files that are only read ---- */

/* The index of a log, in pieces as SQLite asks for them. */
struct index {
	void **piece;
	int n;
};

/* In front of the file that SQLite's own layer makes, in one allocation. */
struct file {
	sqlite3_file base;
	bool empty;		/* a log that is not there */
	struct index index;
};

static sqlite3_file *
real(sqlite3_file *f)
{
	return (sqlite3_file *)((struct file *)f + 1);
}

static bool
is_empty(const sqlite3_file *f)
{
	return ((const struct file *)f)->empty;
}

static int
no_index(sqlite3_file *f, int drop)
{
	struct index *x = &((struct file *)f)->index;

	(void)drop;
	while (x->n > 0)
		free(x->piece[--x->n]);
	free(x->piece);
	x->piece = NULL;
	return SQLITE_OK;
}

static int
x_close(sqlite3_file *f)
{
	no_index(f, 0);
	return is_empty(f) ? SQLITE_OK : real(f)->pMethods->xClose(real(f));
}

static int
x_read(sqlite3_file *f, void *to, int n, sqlite3_int64 off)
{
	if (!is_empty(f))
		return real(f)->pMethods->xRead(real(f), to, n, off);
	memset(to, 0, (size_t)n);
	return SQLITE_IOERR_SHORT_READ;
}

static int
x_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 off)
{
	(void)f, (void)from, (void)n, (void)off;
	return SQLITE_READONLY;
}

static int
x_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	(void)f, (void)size;
	return SQLITE_READONLY;
}

static int
x_sync(sqlite3_file *f, int flags)
{
	(void)f, (void)flags;
	return SQLITE_OK;
}

static int
x_size(sqlite3_file *f, sqlite3_int64 *size)
{
	if (!is_empty(f))
		return real(f)->pMethods->xFileSize(real(f), size);
	*size = 0;
	return SQLITE_OK;
}

/* One that is shared keeps a writer without a log off; it does no harm. */
static int
x_lock(sqlite3_file *f, int level)
{
	if (is_empty(f))
		return SQLITE_OK;
	return level > SQLITE_LOCK_SHARED ? SQLITE_BUSY :
	    real(f)->pMethods->xLock(real(f), level);
}

static int
x_unlock(sqlite3_file *f, int level)
{
	return is_empty(f) ? SQLITE_OK :
	    real(f)->pMethods->xUnlock(real(f), level);
}

static int
x_reserved(sqlite3_file *f, int *out)
{
	*out = 0;
	return is_empty(f) ? SQLITE_OK :
	    real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int
x_control(sqlite3_file *f, int op, void *arg)
{
	return is_empty(f) ? SQLITE_NOTFOUND :
	    real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int
x_sector(sqlite3_file *f)
{
	return is_empty(f) ? 4096 : real(f)->pMethods->xSectorSize(real(f));
}

static int
x_device(sqlite3_file *f)
{
	return is_empty(f) ? 0 :
	    real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int
x_map(sqlite3_file *f, int i, int size, int extend, void volatile **out)
{
	struct index *x = &((struct file *)f)->index;

	*out = NULL;
	if (i >= x->n && !extend)
		return SQLITE_OK;
	while (i >= x->n) {
		x->piece = hf_reallocarray(x->piece, (size_t)x->n + 1,
		    sizeof(*x->piece));
		x->piece[x->n++] = hf_calloc(1, (size_t)size);
	}
	*out = x->piece[i];
	return SQLITE_OK;
}

static int
x_map_lock(sqlite3_file *f, int from, int n, int flags)
{
	(void)f, (void)from, (void)n, (void)flags;
	return SQLITE_OK;
}

static void
x_barrier(sqlite3_file *f)
{
	(void)f;
}

static const sqlite3_io_methods methods = {
	2, x_close, x_read, x_write, x_truncate, x_sync, x_size, x_lock,
	x_unlock, x_reserved, x_control, x_sector, x_device, x_map,
	x_map_lock, x_barrier, no_index, NULL, NULL
};

/* ---- the layer ---- */

/* One of its own for each database; no two have the same name. */
struct layer {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	char name[48];
};

static int
x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
    int *out)
{
	struct layer *l = vfs->pAppData;
	struct file *own = (struct file *)f;
	int got = 0, rc;

	memset(own, 0, sizeof(*own));
	/* Temporary files are not needed: there is nothing to be sorted. */
	if (name == NULL || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL |
	    SQLITE_OPEN_MAIN_JOURNAL)))
		return SQLITE_CANTOPEN;
	flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
	    SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_EXCLUSIVE);
	flags |= SQLITE_OPEN_READONLY;
	rc = l->real->xOpen(l->real, name, real(f), flags, &got);
	if (rc != SQLITE_OK && (flags & SQLITE_OPEN_WAL) &&
	    access(name, F_OK) < 0 && errno == ENOENT) {
		own->empty = true;
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_OK)
		return rc;
	if (out != NULL)
		*out = flags;
	own->base.pMethods = &methods;
	return SQLITE_OK;
}

static int
x_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_READONLY;
}

static struct layer *
layer_new(void)
{
	struct layer *l = hf_calloc(1, sizeof(*l));

	l->real = sqlite3_vfs_find(NULL);
	if (l->real == NULL) {
		free(l);
		return NULL;
	}
	l->vfs = *l->real;
	snprintf(l->name, sizeof(l->name), "hf-%p", (void *)l);
	l->vfs.zName = l->name;
	l->vfs.pNext = NULL;
	l->vfs.pAppData = l;
	l->vfs.szOsFile = (int)sizeof(struct file) + l->real->szOsFile;
	l->vfs.xOpen = x_open;
	l->vfs.xDelete = x_delete;
	if (sqlite3_vfs_register(&l->vfs, 0) == SQLITE_OK)
		return l;
	free(l);
	return NULL;
}

static void
layer_free(struct layer *l)
{
	if (l == NULL)
		return;
	sqlite3_vfs_unregister(&l->vfs);
	free(l);
}

/* ---- is it still the same ---- */

struct stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	char log[LOG_HEAD];
};

struct hf_sqlite {
	sqlite3 *db;
	struct layer *layer;
	char *path, *log;
	struct stamp stamp;
};

static int
look(const struct hf_sqlite *db, struct stamp *out)
{
	struct stat sb;
	int fd;

	memset(out, 0, sizeof(*out));
	if (stat(db->path, &sb) < 0)
		return -1;
	out->dev = sb.st_dev;
	out->ino = sb.st_ino;
	out->size = sb.st_size;
	out->mtime = sb.st_mtim;
	fd = open(db->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		/* A log that is cut short leaves zeros here. */
		hf_io_pread(fd, out->log, LOG_HEAD, 0);
		close(fd);
	}
	return 0;
}

bool
hf_sqlite_same(const struct hf_sqlite *db)
{
	struct stamp now;

	return look(db, &now) == 0 && now.dev == db->stamp.dev &&
	    now.ino == db->stamp.ino && now.size == db->stamp.size &&
	    now.mtime.tv_sec == db->stamp.mtime.tv_sec &&
	    now.mtime.tv_nsec == db->stamp.mtime.tv_nsec &&
	    memcmp(now.log, db->stamp.log, LOG_HEAD) == 0;
}

/* ---- opening ---- */

static int
fail(struct hf_sqlite *db, int rc, struct hf_err *err)
{
	enum hf_code code = HF_E_IO;

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		code = HF_E_BUSY;
		break;
	case SQLITE_NOTADB:
		code = HF_E_NOT_A_SESSION;
		break;
	case SQLITE_CORRUPT:	/* also what changed under our eyes */
		code = HF_E_CHANGED;
		break;
	case SQLITE_ERROR:	/* in the query: it is another schema */
		code = HF_E_UNSUPPORTED;
		break;
	case SQLITE_INTERRUPT:
		if (hf_sig_check(err) < 0)
			return -1;
		break;
	case SQLITE_NOMEM:
		code = HF_E_OVERFLOW;
		break;
	}
	return hf_err_set(err, code, "cannot read '%s': %s", db->path,
	    db->db != NULL ? sqlite3_errmsg(db->db) : sqlite3_errstr(rc));
}

static int
on_steps(void *arg)
{
	(void)arg;
	return hf_sig_got() != 0;
}

/* Opens it and reads the first page, and with it the log's index. */
static int
begin(struct hf_sqlite *db, struct hf_err *err)
{
	int rc;

	if (look(db, &db->stamp) < 0)
		return hf_err_open(err, errno, "cannot open '%s'", db->path);
	rc = sqlite3_open_v2(db->path, &db->db, SQLITE_OPEN_READONLY |
	    SQLITE_OPEN_NOMUTEX, db->layer->name);
	if (rc == SQLITE_OK) {
		sqlite3_db_config(db->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
		    NULL);
		/* A schema is data too: it must not run anything. */
		sqlite3_db_config(db->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
		    NULL);
		sqlite3_busy_timeout(db->db, BUSY_MS);
		sqlite3_progress_handler(db->db, STEPS, on_steps, NULL);
		rc = sqlite3_exec(db->db, "PRAGMA temp_store = MEMORY; BEGIN; "
		    "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
	}
	return rc == SQLITE_OK ? 0 : fail(db, rc, err);
}

struct hf_sqlite *
hf_sqlite_open(const char *path, struct hf_err *err)
{
	struct hf_sqlite *db = hf_calloc(1, sizeof(*db));
	size_t n = strlen(path);

	db->path = hf_strdup(path);
	db->log = hf_malloc(n + sizeof("-wal"));
	memcpy(db->log, path, n);
	memcpy(db->log + n, "-wal", sizeof("-wal"));
	db->layer = layer_new();
	if (db->layer == NULL)
		hf_err_set(err, HF_E_IO, "SQLite does not start");
	else if (begin(db, err) == 0)
		return db;
	hf_sqlite_close(db);
	return NULL;
}

void
hf_sqlite_close(struct hf_sqlite *db)
{
	if (db == NULL)
		return;
	sqlite3_close(db->db);
	layer_free(db->layer);
	free(db->log);
	free(db->path);
	free(db);
}

/* ---- queries ---- */

struct hf_sqlite_stmt {
	struct hf_sqlite *db;
	sqlite3_stmt *st;
};

struct hf_sqlite_stmt *
hf_sqlite_query(struct hf_sqlite *db, const char *sql, struct hf_str arg,
    struct hf_err *err)
{
	struct hf_sqlite_stmt *st = hf_calloc(1, sizeof(*st));
	int rc = sqlite3_prepare_v2(db->db, sql, -1, &st->st, NULL);

	st->db = db;
	if (rc == SQLITE_OK && arg.s != NULL)
		rc = sqlite3_bind_text(st->st, 1, arg.s, (int)arg.n,
		    SQLITE_TRANSIENT);
	if (rc == SQLITE_OK)
		return st;
	fail(db, rc, err);
	hf_sqlite_done(st);
	return NULL;
}

int
hf_sqlite_step(struct hf_sqlite_stmt *st, struct hf_err *err)
{
	int rc = sqlite3_step(st->st);

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : fail(st->db, rc, err);
}

void
hf_sqlite_done(struct hf_sqlite_stmt *st)
{
	if (st == NULL)
		return;
	sqlite3_finalize(st->st);
	free(st);
}

/* -1: there is no such column. */
static int
find_column(const struct hf_sqlite_stmt *st, const char *name)
{
	int n = sqlite3_column_count(st->st);
	const char *other;

	while (n-- > 0)
		if ((other = sqlite3_column_name(st->st, n)) != NULL &&
		    strcmp(other, name) == 0)
			return n;
	return -1;
}

struct hf_str
hf_sqlite_text(const struct hf_sqlite_stmt *st, const char *column)
{
	int i = find_column(st, column), n;
	const unsigned char *s;

	if (i < 0 || sqlite3_column_type(st->st, i) == SQLITE_NULL ||
	    (s = sqlite3_column_text(st->st, i)) == NULL)
		return HF_STR_NONE;
	n = sqlite3_column_bytes(st->st, i);
	return hf_strn((const char *)s, n > 0 ? (size_t)n : 0);
}

int64_t
hf_sqlite_int(const struct hf_sqlite_stmt *st, const char *column,
    int64_t none)
{
	int i = find_column(st, column);

	if (i < 0 || sqlite3_column_type(st->st, i) != SQLITE_INTEGER)
		return none;
	return (int64_t)sqlite3_column_int64(st->st, i);
}
