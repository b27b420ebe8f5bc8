#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/gemini.h"
#include "agent/peek.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/io.h"

enum {
	HEAD = 16 << 10,	/* bytes in which a file tells its id */
	MARK_MAX = 16 << 10,	/* of a folder's mark */
	REGISTRY_MAX = 16 << 20,
	ID_PART = 8,		/* of the id in a file's name */
	ABOVE = 3,		/* from chats/ to the registry */
	STALE_MS = 3600 * 1000	/* nobody works on that for so long */
};

static const char registry[] = "projects.json", mark[] = ".project_root";
static const char chats[] = "chats";

/* ---- folders ---- */

char *
hf_gemini_home(struct hf_err *err)
{
	const char *home = hf_env("GEMINI_CLI_HOME");

	if (home == NULL && (home = hf_env_home(err)) == NULL)
		return NULL;
	return hf_path_join(home, ".gemini");
}

char *
hf_gemini_root(struct hf_err *err)
{
	char *home = hf_gemini_home(err), *root;

	if (home == NULL)
		return NULL;
	root = hf_path_join(home, "tmp");
	free(home);
	return root;
}

/* The folder that path lies in, levels above it; the caller's. */
static char *
above(const char *path, int levels)
{
	char *dir = hf_path_dir(path), *up;

	while (levels-- > 0) {
		up = hf_path_dir(dir);
		free(dir);
		dir = up;
	}
	return dir;
}

static bool
is_called(const char *dir, const char *name)
{
	return strcmp(hf_path_base(dir), name) == 0;
}

/* ---- names ---- */

/* The part of the id in a session file's name, session-<minute>-<part>.json
 * or .jsonl; none for another name. */
static struct hf_str
id_part(const char *name)
{
	struct hf_str a = hf_str(name);
	size_t i;

	if (!hf_str_starts(a, "session-"))
		return HF_STR_NONE;
	if (hf_str_ends(a, ".jsonl"))
		a.n -= strlen(".jsonl");
	else if (hf_str_ends(a, ".json"))
		a.n -= strlen(".json");
	else
		return HF_STR_NONE;
	for (i = a.n; i > 0 && a.s[i - 1] != '-'; i--)
		;
	return i < a.n ? hf_strn(a.s + i, a.n - i) : HF_STR_NONE;
}

/* The id that the beginning of a file tells; the caller's, NULL: none. The
 * header may be spread over lines, or damaged: what is looked for is the
 * member alone. */
static char *
id_inside(const char *path)
{
	static const char key[] = "\"sessionId\"";
	struct hf_buf head = HF_BUF_INIT;
	struct hf_str a;
	size_t i, end;
	ssize_t n = -1;
	char *id = NULL, *p;
	int fd = hf_peek_open(path, NULL);

	if (fd < 0)
		return NULL;
	if ((p = hf_buf_room(&head, HEAD)) != NULL)
		n = hf_io_pread(fd, p, HEAD, 0);
	close(fd);
	head.len = n > 0 ? (size_t)n : 0;
	a = hf_buf_view(&head);
	i = hf_str_find(a, hf_str(key), 0);
	if (i != SIZE_MAX) {
		for (i += sizeof(key) - 1; i < a.n && (a.s[i] == ' ' ||
		    a.s[i] == ':'); i++)
			;
		end = hf_str_find(a, HF_STR("\""), i + 1);
		if (i < a.n && a.s[i] == '"' && end != SIZE_MAX &&
		    end > i + 1)
			id = hf_strndup(a.s + i + 1, end - i - 1);
	}
	hf_buf_release(&head);
	return id;
}

/* ---- the files of a session ---- */

struct files {
	char **name;
	size_t n, cap;
	const char *dir;
	const char *id;		/* NULL: all sessions */
	struct hf_str part;	/* of the id; none: all */
};

static void
files_release(struct files *f)
{
	while (f->n > 0)
		free(f->name[--f->n]);
	free(f->name);
	f->name = NULL;
}

static int
add_name(const char *name, void *arg, struct hf_err *err)
{
	struct files *f = arg;
	struct hf_str part = id_part(name);
	char *path, *id;
	bool wanted = true;

	(void)err;
	if (part.n == 0 || (f->part.n > 0 && !hf_str_eq(part, f->part)))
		return 0;
	if (f->id != NULL) {
		path = hf_path_join(f->dir, name);
		id = id_inside(path);
		wanted = id != NULL && strcmp(id, f->id) == 0;
		free(id);
		free(path);
	}
	if (!wanted)
		return 0;
	if (f->n == f->cap) {
		f->cap = f->cap == 0 ? 16 : f->cap * 2;
		f->name = hf_reallocarray(f->name, f->cap, sizeof(*f->name));
	}
	f->name[f->n++] = hf_strdup(name);
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in dir that f asks for, oldest first. A folder that cannot be
 * read has none. */
static void
files_read(struct files *f)
{
	struct hf_dir d = HF_DIR_INIT;

	if (hf_dir_open(&d, f->dir, NULL) == 0)
		hf_dir_each(&d, add_name, f, NULL);
	hf_dir_close(&d);
	if (f->n > 1)
		qsort(f->name, f->n, sizeof(*f->name), by_name);
}

/* At most so much of an id is in a file's name. */
static struct hf_str
part_of(const char *id)
{
	size_t n = strlen(id);

	return hf_strn(id, n < ID_PART ? n : ID_PART);
}

/* ---- all sessions ---- */

struct walk {
	int (*cb)(const char *path, void *arg, struct hf_err *err);
	void *arg;
	const char *root;
};

/* Is file i one of an older time of the same session as a later one? */
static bool
is_older(const struct files *f, size_t i)
{
	struct hf_str part = id_part(f->name[i]);
	char *path, *own = NULL, *other;
	bool same = false;

	for (size_t k = f->n; k-- > i + 1 && !same;) {
		if (!hf_str_eq(id_part(f->name[k]), part))
			continue;
		if (own == NULL) {
			path = hf_path_join(f->dir, f->name[i]);
			own = id_inside(path);
			free(path);
		}
		path = hf_path_join(f->dir, f->name[k]);
		other = id_inside(path);
		same = own != NULL && other != NULL && strcmp(own, other) == 0;
		free(other);
		free(path);
	}
	free(own);
	return same;
}

static int
one_folder(const struct walk *w, const char *dir, struct hf_err *err)
{
	struct files f = { .dir = dir };
	char *path;
	int rc = 0;

	files_read(&f);
	for (size_t i = 0; i < f.n && rc == 0; i++) {
		if (is_older(&f, i))
			continue;
		path = hf_path_join(dir, f.name[i]);
		rc = w->cb(path, w->arg, err);
		free(path);
	}
	files_release(&f);
	return rc;
}

static int
one_slug(const char *name, void *arg, struct hf_err *err)
{
	const struct walk *w = arg;
	char *slug, *dir;
	int rc;

	if (name[0] == '.')
		return 0;
	slug = hf_path_join(w->root, name);
	dir = hf_path_join(slug, chats);
	rc = one_folder(w, dir, err);
	free(dir);
	free(slug);
	return rc;
}

int
hf_gemini_each(int (*cb)(const char *path, void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	char *root = hf_gemini_root(err);
	struct walk w = { cb, arg, root };
	struct hf_dir d = HF_DIR_INIT;
	int rc = 0;

	if (root == NULL)
		return -1;
	if (hf_dir_open(&d, root, NULL) == 0)
		rc = hf_dir_each(&d, one_slug, &w, err);
	hf_dir_close(&d);
	free(root);
	return rc;
}

struct wanted { const char *id; char *path; };

static int
in_slug(const char *name, void *arg, struct hf_err *err)
{
	struct walk *w = arg;
	struct wanted *want = w->arg;
	struct files f = { .id = want->id, .part = part_of(want->id) };
	char *slug = hf_path_join(w->root, name);
	char *dir = hf_path_join(slug, chats);

	(void)err;
	f.dir = dir;
	files_read(&f);
	if (f.n > 0)
		want->path = hf_path_join(dir, f.name[f.n - 1]);
	files_release(&f);
	free(dir);
	free(slug);
	return want->path != NULL;
}

char *
hf_gemini_by_id(const char *id)
{
	char *root = hf_gemini_root(NULL);
	struct wanted want = { id, NULL };
	struct walk w = { NULL, &want, root };
	struct hf_dir d = HF_DIR_INIT;

	if (root == NULL)
		return NULL;
	if (hf_dir_open(&d, root, NULL) == 0)
		hf_dir_each(&d, in_slug, &w, NULL);
	hf_dir_close(&d);
	free(root);
	return want.path;
}

/* ---- the folder of work ---- */

const struct hf_jval *
hf_gemini_projects(const char *file, struct hf_json **j)
{
	struct hf_buf text = HF_BUF_MAX(REGISTRY_MAX);
	const struct hf_jval *v;

	*j = NULL;
	if (hf_io_slurp_path(file, &text, NULL) == 0)
		*j = hf_json_parse(hf_buf_view(&text), HF_JSON_RAW, NULL,
		    NULL, NULL);
	hf_buf_release(&text);
	v = hf_json_get(hf_json_root(*j), "projects");
	return hf_json_type(v) == HF_J_OBJ ? v : NULL;
}

char *
hf_gemini_owner(const char *folder, const char *slug)
{
	struct hf_buf text = HF_BUF_MAX(MARK_MAX);
	char *dir = hf_path_join(folder, slug);
	char *file = hf_path_join(dir, mark), *owner = NULL;
	struct hf_str a;

	if (hf_io_slurp_path(file, &text, NULL) == 0) {
		a = hf_str_trim(hf_buf_view(&text));
		if (a.n > 0 && memchr(a.s, '\0', a.n) == NULL)
			owner = hf_strndup(a.s, a.n);
	}
	hf_buf_release(&text);
	free(file);
	free(dir);
	return owner;
}

/* The folder that a registry has for a slug, or whose hash is one. */
static char *
registered(const char *dir, struct hf_str slug, struct hf_str hash)
{
	char *file = hf_path_join(dir, registry), *cwd = NULL;
	char hex[HF_SHA_HEX];
	const struct hf_jval *v;
	struct hf_json *j;
	struct hf_jiter it;
	struct hf_str key;

	hf_json_iter(&it, hf_gemini_projects(file, &j));
	while (cwd == NULL && (v = hf_json_next(&it, &key)) != NULL) {
		if (key.n == 0 || memchr(key.s, '\0', key.n) != NULL)
			continue;
		hf_sha256_hex(key, hex);
		if ((slug.n > 0 && hf_str_eq(hf_json_str(v), slug)) ||
		    (hash.n > 0 && hf_str_is(hash, hex)))
			cwd = hf_strndup(key.s, key.n);
	}
	hf_json_free(j);
	free(file);
	return cwd;
}

char *
hf_gemini_cwd(const char *path, struct hf_str hash)
{
	char *home = hf_gemini_home(NULL), *dir, *cwd = NULL;

	for (int i = 0; path != NULL && cwd == NULL && i <= ABOVE; i++) {
		dir = above(path, i);
		cwd = registered(dir, HF_STR_NONE, hash);
		free(dir);
	}
	if (cwd == NULL && home != NULL)
		cwd = registered(home, HF_STR_NONE, hash);
	free(home);
	return cwd;
}

/* Of a file in the store: what its folder's mark, or else the registry,
 * says. A folder's name is never decoded. */
static char *
cwd_in_store(const char *path)
{
	char *slug = above(path, 1), *tmp = above(path, 2);
	char *home = above(path, ABOVE);
	char *cwd = hf_gemini_owner(tmp, hf_path_base(slug));

	if (cwd == NULL)
		cwd = registered(home, hf_str(hf_path_base(slug)),
		    HF_STR_NONE);
	free(home);
	free(tmp);
	free(slug);
	return cwd;
}

/* ---- what a path tells ---- */

/* The newest file of the session whose file path is; NULL: it is. */
static char *
newest(const char *path, const char *dir)
{
	const char *name = hf_path_base(path);
	struct files all = { .dir = dir, .part = id_part(name) };
	struct files same = all;
	char *id, *out = NULL;

	if (all.part.n == 0)
		return NULL;
	files_read(&all);
	if (all.n > 1 && (id = id_inside(path)) != NULL) {
		same.id = id;
		files_read(&same);
		if (same.n > 0 && strcmp(same.name[same.n - 1], name) > 0)
			out = hf_path_join(dir, same.name[same.n - 1]);
		free(id);
	}
	files_release(&same);
	files_release(&all);
	return out;
}

void
hf_gemini_by_path(struct hf_session *s)
{
	char *dir = hf_path_dir(s->path), *up = hf_path_dir(dir);
	char *other;

	if (is_called(dir, chats)) {
		if ((other = newest(s->path, dir)) != NULL) {
			free(s->path);
			s->path = other;
		}
		if (s->cwd == NULL)
			s->cwd = cwd_in_store(s->path);
	} else if (is_called(up, chats)) {
		/* chats/<session>/<sub-agent>.jsonl */
		s->subagent = true;
		hf_session_set(&s->parent, hf_str(hf_path_base(dir)));
		if (s->cwd == NULL)
			s->cwd = cwd_in_store(dir);
	}
	free(up);
	free(dir);
}

/* ---- reading ---- */

int
hf_gemini_open(struct hf_source *src, const struct hf_session *s,
    struct hf_err *err)
{
	char *dir = hf_path_dir(s->path), *path;
	struct files f = { .dir = dir, .id = s->id };
	size_t i = 0;
	int rc = 0;

	f.part = id_part(hf_path_base(s->path));
	if (s->id != NULL && f.part.n > 0)
		files_read(&f);
	while (f.n > 0 && strcmp(f.name[f.n - 1],
	    hf_path_base(s->path)) >= 0)
		free(f.name[--f.n]);
	if (f.n >= HF_SOURCE_PARTS) {
		/* Each repeats what the model saw when it began. */
		i = f.n - (HF_SOURCE_PARTS - 1);
		hf_source_note(src, "'%s': the %zu oldest files of this "
		    "session are not read", s->path, i);
	}
	for (; i < f.n && rc == 0; i++) {
		path = hf_path_join(dir, f.name[i]);
		rc = hf_source_add(src, path, UINT64_MAX, false, err);
		free(path);
	}
	if (rc == 0)
		rc = hf_source_add(src, s->path, UINT64_MAX, false, err);
	files_release(&f);
	free(dir);
	return rc;
}

/* ---- sub-agents ---- */

struct children {
	const char *dir;
	void (*cb)(const char *id, void *arg);
	void *arg;
};

static int
one_child(const char *name, void *arg, struct hf_err *err)
{
	const struct children *c = arg;
	struct hf_str a = hf_str(name);
	char *path, *id;
	struct stat sb;
	int64_t age;

	(void)err;
	if (!hf_str_ends(a, ".jsonl"))
		return 0;
	path = hf_path_join(c->dir, name);
	if (stat(path, &sb) == 0) {
		age = hf_clock_now() - (int64_t)sb.st_mtim.tv_sec * 1000;
		if (age < STALE_MS && hf_peek_turn(&hf_agent_gemini, path) ==
		    HF_TURN_OPEN) {
			id = hf_strndup(a.s, a.n - strlen(".jsonl"));
			c->cb(id, c->arg);
			free(id);
		}
	}
	free(path);
	return 0;
}

void
hf_gemini_owned(const struct hf_session *s,
    void (*cb)(const char *id, void *arg), void *arg)
{
	struct hf_dir d = HF_DIR_INIT;
	char *dir, *sub;
	struct children c = { NULL, cb, arg };

	if (s->id == NULL || !hf_path_component(hf_str(s->id)))
		return;
	dir = hf_path_dir(s->path);
	sub = hf_path_join(dir, s->id);
	c.dir = sub;
	if (hf_dir_open(&d, sub, NULL) == 0)
		hf_dir_each(&d, one_child, &c, NULL);
	hf_dir_close(&d);
	free(sub);
	free(dir);
}
