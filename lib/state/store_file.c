/*
 * The store in files: one value a file, so that cat, jq and grep work and
 * a write costs the same however many there are.
 *
 *	<dir>/mains/<name>.json  records/…  open/<attempt>  inbox/<name>/…
 *	<dir>/locks/…
 *
 * A revision is a hash of the content. Reading takes no lock: a file is
 * only ever replaced whole. Changing takes the key's lock, reads, compares
 * and replaces: short, and nothing else happens inside.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/file.h"
#include "base/hmac.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/sig.h"
#include "state/store.h"

/* Folders that stay open; inbox/<name> is opened when it is asked for. */
enum { FOLDERS_MAX = 16, WATCH_TICK_MS = 250, LOCK_STRIPES = 64,
	STALE_SECONDS = 24 * 3600 };

struct folder {
	char *name;
	struct hf_dir dir;
};

struct file_store {
	struct hf_store store;		/* first: this is one */
	char *path;
	struct hf_dir root;
	bool writable;			/* its modes have been looked at */
	struct folder folder[FOLDERS_MAX];
	size_t nfolders;
};

static struct file_store *
self(struct hf_store *s)
{
	return (struct file_store *)(void *)s;
}

/* ---- the folder ---- */

/* Has it been used as a state folder before? */
static bool
is_ours(const struct file_store *fs)
{
	struct stat st;

	return fstatat(fs->root.fd, "locks", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	    fstatat(fs->root.fd, "mains", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int
any_name(const char *name, void *arg, struct hf_err *err)
{
	(void)name, (void)arg, (void)err;
	return 1;
}

/* Nobody else may read it. A folder that was made by hand is closed, but
 * not one that plainly is something else: HANDOFF_HOME=/tmp is a mistake. */
static int
make_private(struct file_store *fs, const struct stat *st,
    struct hf_err *err)
{
	int used;

	if ((st->st_mode & 077) == 0)
		return 0;
	if (!is_ours(fs)) {
		used = hf_dir_each(&fs->root, any_name, NULL, err);
		if (used < 0)
			return -1;
		if (used > 0)
			return hf_err_set(err, HF_E_CONFIG, "the state folder "
			    "'%s' is open to others and holds something else",
			    fs->path);
	}
	if (fchmod(fs->root.fd, 0700) < 0)
		return hf_err_sys(err, errno, "cannot close '%s' to others",
		    fs->path);
	return 0;
}

static int
check_root(struct file_store *fs, struct hf_err *err)
{
	const char *force = hf_env("HANDOFF_ALLOW_NETWORK_FS");
	struct stat st;

	if (fstat(fs->root.fd, &st) < 0)
		return hf_err_sys(err, errno, "cannot look at '%s'", fs->path);
	if (st.st_uid != geteuid())
		return hf_err_set(err, HF_E_REFUSED,
		    "the state folder '%s' belongs to another user", fs->path);
	if (hf_file_network(&fs->root) &&
	    (force == NULL || strcmp(force, "1") != 0))
		return hf_err_set(err, HF_E_REFUSED, "the state folder '%s' is "
		    "on a network file system, where locks between machines "
		    "cannot be relied on "
		    "(HANDOFF_ALLOW_NETWORK_FS=1 forces it)",
		    fs->path);
	return 0;
}

/* 1 it is open, 0 it is not there. */
static int
open_root(struct file_store *fs, bool create, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct stat st;

	if (fs->root.fd < 0) {
		if (!create) {
			if (hf_dir_open(&fs->root, fs->path, &why) < 0) {
				if (why.code == HF_E_NOT_FOUND)
					return 0;
				*err = why;
				return -1;
			}
		} else if (hf_dir_make(&fs->root, fs->path, err) < 0) {
			/* Something on the way is no folder. */
			if (err->code == HF_E_NOT_FOUND)
				err->code = HF_E_IO;
			return -1;
		}
		if (check_root(fs, err) < 0) {
			hf_dir_close(&fs->root);
			return -1;
		}
	}
	if (create && !fs->writable) {
		if (fstat(fs->root.fd, &st) < 0)
			return hf_err_sys(err, errno, "cannot look at '%s'",
			    fs->path);
		if (make_private(fs, &st, err) < 0)
			return -1;
		fs->writable = true;
	}
	return 1;
}

/* A folder right below the root, which stays open. 1, 0 not there, -1. */
static int
open_top(struct file_store *fs, struct hf_str name, bool create,
    struct hf_dir **out, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct folder *f;
	int rc;

	for (size_t i = 0; i < fs->nfolders; i++)
		if (hf_str_eq(hf_str(fs->folder[i].name), name)) {
			*out = &fs->folder[i].dir;
			return 1;
		}
	if ((rc = open_root(fs, create, err)) <= 0)
		return rc;
	if (fs->nfolders == FOLDERS_MAX)
		return hf_err_set(err, HF_E_INTERNAL, "too many folders");
	f = &fs->folder[fs->nfolders];
	f->name = hf_strndup(name.s, name.n);
	f->dir = (struct hf_dir)HF_DIR_INIT;
	if (hf_dir_sub(&f->dir, &fs->root, f->name, create, &why) < 0) {
		free(f->name);
		if (!create && why.code == HF_E_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	fs->nfolders++;
	*out = &f->dir;
	return 1;
}

/* Where a key's value is: the folder, and the name in it. */
struct place {
	struct hf_dir *dir;
	struct hf_dir own;		/* dir, when it does not stay open */
	char name[256];
};

static void
place_close(struct place *p)
{
	hf_dir_close(&p->own);
}

static int
sub_folder(struct place *p, struct hf_str name, bool create,
    struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	char *s = hf_strndup(name.s, name.n);
	int rc = hf_dir_sub(&p->own, p->dir, s, create, &why);

	free(s);
	if (rc < 0) {
		if (!create && why.code == HF_E_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	p->dir = &p->own;
	return 1;
}

/* Opens the folder of a path of components; with is_key the last one is a
 * name in it. 1, 0 not there, -1. */
static int
place_open(struct file_store *fs, const char *path, bool is_key,
    bool create, struct place *p, struct hf_err *err)
{
	struct hf_str rest = hf_str(path);
	size_t at = hf_str_find(rest, HF_STR("/"), 0);
	struct hf_str top = hf_strn(rest.s, at == SIZE_MAX ? rest.n : at);
	int rc;

	p->own = (struct hf_dir)HF_DIR_INIT;
	p->name[0] = '\0';
	if (is_key && at == SIZE_MAX)
		return hf_err_set(err, HF_E_INVALID, "'%s' is no key", path);
	if ((rc = open_top(fs, top, create, &p->dir, err)) <= 0)
		return rc;
	while (at != SIZE_MAX) {
		struct hf_str part;

		rest = hf_strn(rest.s + at + 1, rest.n - at - 1);
		at = hf_str_find(rest, HF_STR("/"), 0);
		part = hf_strn(rest.s, at == SIZE_MAX ? rest.n : at);
		if (at == SIZE_MAX && is_key) {
			bool bare = hf_str_is(top, "open");
			size_t n = part.n + (bare ? 0 : 5);

			if (n >= sizeof(p->name))
				return hf_err_set(err, HF_E_INVALID,
				    "'%s' is too long for a key", path);
			memcpy(p->name, part.s, part.n);
			memcpy(p->name + part.n, ".json", 5);
			p->name[n] = '\0';
		} else if ((rc = sub_folder(p, part, create, err)) <= 0)
			return rc;
	}
	return 1;
}

/* ---- values ---- */

static void
rev_of(struct hf_str val, struct hf_rev *rev)
{
	struct hf_hash128 h = hf_hash128(val);
	struct hf_buf hex = HF_BUF_INIT;

	hf_text_hex(&hex, &h, sizeof(h));
	memcpy(rev->s, hex.data, hex.len + 1);
	hf_buf_release(&hex);
}

static int
read_value(const struct place *p, struct hf_buf *out, struct hf_rev *rev,
    struct hf_err *err)
{
	struct hf_buf val = HF_BUF_MAX(HF_STORE_VALUE_MAX + 1);
	int rc = hf_file_read(p->dir, p->name, &val, err);

	rev->s[0] = '\0';
	if (rc > 0) {
		rev_of(hf_buf_view(&val), rev);
		if (out != NULL)
			hf_buf_str(out, hf_buf_view(&val));
	}
	hf_buf_release(&val);
	return rc;
}

static int
file_get(struct hf_store *s, const char *key, struct hf_buf *out,
    struct hf_rev *rev, struct hf_err *err)
{
	struct place p;
	int rc = place_open(self(s), key, true, false, &p, err);

	rev->s[0] = '\0';
	if (rc > 0)
		rc = read_value(&p, out, rev, err);
	place_close(&p);
	return rc;
}

/* Mains have a lock each: what holds one up must not hold up another. The
 * rest is hardly ever fought over and shares a few. */
static int
lock_key(struct file_store *fs, const char *key, struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	struct hf_dir *locks;
	size_t slash = hf_str_find(hf_str(key), HF_STR("/"), 0);
	int fd = -1;

	if (open_top(fs, HF_STR("locks"), true, &locks, err) < 0)
		return -1;
	if (hf_str_starts(hf_str(key), "mains/"))
		hf_buf_puts(&name, key + slash + 1);
	else
		hf_buf_printf(&name, "%.*s-%02u", (int)slash, key,
		    (unsigned)(hf_hash(hf_str(key)) % LOCK_STRIPES));
	fd = hf_lock(locks, hf_buf_cstr(&name), HF_STORE_WAIT_MS, err);
	hf_buf_release(&name);
	return fd;
}

static int
changed(const char *key, struct hf_err *err)
{
	return hf_err_set(err, HF_E_CHANGED,
	    "'%s' was changed by another process", key);
}

static int
file_create(struct hf_store *s, const char *key, struct hf_str val,
    struct hf_rev *now, struct hf_err *err)
{
	struct place p;
	int rc = place_open(self(s), key, true, true, &p, err);

	if (rc > 0)
		rc = hf_file_create(p.dir, p.name, val, err);
	if (rc == 0)
		rev_of(val, now);
	place_close(&p);
	return rc;
}

/* Under the key's lock. */
static int
replace_value(const struct place *p, const char *key, struct hf_str val,
    const struct hf_rev *was, struct hf_err *err)
{
	struct hf_rev is;

	if (read_value(p, NULL, &is, err) < 0)
		return -1;
	if (strcmp(is.s, was->s) != 0)
		return changed(key, err);
	return hf_file_replace(p->dir, p->name, val, err);
}

static int
file_put(struct hf_store *s, const char *key, struct hf_str val,
    const struct hf_rev *was, const struct hf_lease *under,
    struct hf_rev *now, struct hf_err *err)
{
	struct place p;
	int rc, lock;

	(void)under;
	/* Without the lock, creating must not replace what another one
	 * creates: a link does not. */
	if (was->s[0] == '\0') {
		rc = file_create(s, key, val, now, err);
		if (rc < 0 && err->code == HF_E_EXISTS)
			changed(key, err);
		return rc;
	}
	rc = place_open(self(s), key, true, true, &p, err);
	if (rc > 0) {
		lock = lock_key(self(s), key, err);
		rc = lock < 0 ? -1 : replace_value(&p, key, val, was, err);
		hf_unlock(lock);
	}
	if (rc == 0)
		rev_of(val, now);
	place_close(&p);
	return rc;
}

static int
file_remove(struct hf_store *s, const char *key, const struct hf_rev *was,
    struct hf_err *err)
{
	struct hf_rev is;
	struct place p;
	int rc = place_open(self(s), key, true, false, &p, err);
	int lock;

	if (rc > 0 && was == NULL) {
		rc = hf_file_remove(p.dir, p.name, err);
	} else if (rc > 0) {
		lock = lock_key(self(s), key, err);
		rc = lock < 0 ? -1 : read_value(&p, NULL, &is, err);
		if (rc > 0 && strcmp(is.s, was->s) != 0)
			rc = changed(key, err);
		if (rc > 0)
			rc = hf_file_remove(p.dir, p.name, err);
		hf_unlock(lock);
	}
	place_close(&p);
	return rc;
}

/* ---- lists ---- */

struct listing {
	const char *prefix, *after;
	bool bare;
	struct hf_keys *out;
	size_t cap;
};

/* Names with a dot in front are somebody's temporary files. */
static int
list_name(const char *name, void *arg, struct hf_err *err)
{
	struct listing *l = arg;
	struct hf_str a = hf_str(name);
	struct hf_buf key = HF_BUF_INIT;

	(void)err;
	if (name[0] == '.')
		return 0;
	if (!l->bare) {
		if (!hf_str_ends(a, ".json"))
			return 0;
		a.n -= 5;
	}
	hf_buf_puts(&key, l->prefix);
	hf_buf_putc(&key, '/');
	hf_buf_str(&key, a);
	if (l->after != NULL && strcmp(hf_buf_cstr(&key), l->after) <= 0) {
		hf_buf_release(&key);
		return 0;
	}
	if (l->out->n == l->cap) {
		l->cap = l->cap > 0 ? l->cap * 2 : 64;
		l->out->key = hf_reallocarray(l->out->key, l->cap,
		    sizeof(l->out->key[0]));
	}
	l->out->key[l->out->n++] = hf_buf_steal(&key);
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int
file_list(struct hf_store *s, const char *prefix, const char *after,
    size_t max, struct hf_keys *out, struct hf_err *err)
{
	struct listing l = { prefix, after, hf_str_is(hf_str(prefix), "open"),
		out, 0 };
	struct place p;
	int rc = place_open(self(s), prefix, false, false, &p, err);

	if (rc > 0)
		rc = hf_dir_each(p.dir, list_name, &l, err);
	place_close(&p);
	if (rc < 0)
		return -1;
	if (out->n > 1)
		qsort(out->key, out->n, sizeof(out->key[0]), by_name);
	out->more = out->n > max;
	while (out->n > max)
		free(out->key[--out->n]);
	return 0;
}

/* A folder's time changes with each replacement in it. */
static int64_t
folder_stamp(struct file_store *fs, const char *prefix, struct hf_err *err)
{
	struct stat st;
	struct place p;
	int64_t stamp = 0;
	int rc = place_open(fs, prefix, false, false, &p, err);

	if (rc > 0 && fstat(p.dir->fd, &st) == 0)
		stamp = (int64_t)st.st_mtim.tv_sec * 1000000000 +
		    st.st_mtim.tv_nsec;
	place_close(&p);
	return rc < 0 ? -1 : stamp;
}

static int
file_watch(struct hf_store *s, const char *prefix, long ms,
    struct hf_err *err)
{
	int64_t end = hf_clock_boot() + ms;
	int64_t was = folder_stamp(self(s), prefix, err), is, left;

	if (was < 0)
		return -1;
	while ((left = end - hf_clock_boot()) > 0) {
		if (hf_sig_sleep(left < WATCH_TICK_MS ? (long)left :
		    WATCH_TICK_MS, err) < 0)
			return -1;
		if ((is = folder_stamp(self(s), prefix, err)) < 0)
			return -1;
		if (is != was)
			return 1;
	}
	return 0;
}

/* ---- the rest ---- */

static int
file_lock(struct hf_store *s, const char *name, long wait_ms,
    struct hf_err *err)
{
	struct hf_dir *locks;

	if (open_top(self(s), HF_STR("locks"), true, &locks, err) < 0)
		return -1;
	return hf_lock(locks, name, wait_ms, err);
}

static void
file_unlock(struct hf_store *s, int lock)
{
	(void)s;
	hf_unlock(lock);
}

static int
file_lease(struct hf_store *s, int64_t seconds, long pid,
    struct hf_lease *out, struct hf_err *err)
{
	(void)s, (void)err;
	hf_lease_take(out, seconds, pid);
	return 0;
}

static enum hf_lease_state
file_look(struct hf_store *s, const struct hf_lease *l)
{
	(void)s;
	return hf_lease_look(l);
}

/* ".name.RANDOM.tmp" in a folder of ours, and old. */
static int
tidy_name(const char *name, void *arg, struct hf_err *err)
{
	const struct hf_dir *d = arg;
	int64_t now = hf_clock_now() / 1000;
	struct stat st;

	if (name[0] != '.' || !hf_str_ends(hf_str(name), ".tmp") ||
	    fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_mtim.tv_sec > now - STALE_SECONDS)
		return 0;
	return hf_file_remove(d, name, err) < 0 ? -1 : 0;
}

static int
file_tidy(struct hf_store *s, struct hf_err *err)
{
	static const char *const folders[] = { "mains", "records", "open" };
	struct hf_dir *d;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int rc = open_top(self(s), hf_str(folders[i]), false, &d,
		    err);

		if (rc > 0)
			rc = hf_dir_each(d, tidy_name, d, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static void
file_close(struct hf_store *s)
{
	struct file_store *fs = self(s);

	for (size_t i = 0; i < fs->nfolders; i++) {
		free(fs->folder[i].name);
		hf_dir_close(&fs->folder[i].dir);
	}
	hf_dir_close(&fs->root);
	free(fs->path);
	free(fs);
}

static const struct hf_store_ops file_ops = {
	file_get, file_put, file_create, file_remove, file_list, NULL,
	file_watch, file_lock, file_unlock, file_lease, file_look, file_tidy,
	file_close
};

int
hf_store_file_open(const char *dir, struct hf_store **out,
    struct hf_err *err)
{
	struct file_store *fs = hf_calloc(1, sizeof(*fs));

	fs->store.ops = &file_ops;
	fs->path = hf_strdup(dir);
	fs->root = (struct hf_dir)HF_DIR_INIT;
	/* What is wrong with a folder that is there is said at once. */
	if (open_root(fs, false, err) < 0) {
		file_close(&fs->store);
		return -1;
	}
	*out = &fs->store;
	return 0;
}
