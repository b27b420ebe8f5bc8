#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/gemini.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "base/sig.h"

enum {
	SLUG_MAX = 100,		/* bytes; the client has no limit */
	SLUGS_MAX = 10000,	/* tries for a free one */
	LOCK_STALE = 10,	/* seconds, as the client has it */
	LOCK_TRIES = 150, LOCK_WAIT = 100
};

static const char registry[] = "projects.json", mark[] = ".project_root";
static const char lock[] = "projects.json.lock";

void
hf_gemini_new_id(int64_t ms, char out[64])
{
	char uuid[HF_UUID_LEN];

	(void)ms;
	hf_uuid4(uuid);
	snprintf(out, 64, "%s", uuid);
}

/* ---- slugs ---- */

/* As the client resolves where it is started. */
static char *
real_cwd(const char *cwd)
{
	char *real = realpath(cwd, NULL);

	return real != NULL ? real : hf_strdup(cwd);
}

static bool
is_slug(struct hf_str a)
{
	size_t i;

	for (i = 0; i < a.n; i++)
		if (!((a.s[i] >= 'a' && a.s[i] <= 'z') || a.s[i] == '-' ||
		    (a.s[i] >= '0' && a.s[i] <= '9')))
			return false;
	return a.n > 0;
}

/* The name of the folder of work in small letters, runs of all else one
 * dash. */
static void
slugify(struct hf_buf *out, const char *cwd)
{
	const char *p;
	char c;

	for (p = hf_path_base(cwd); *p != '\0' && out->len < SLUG_MAX; p++) {
		c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			hf_buf_putc(out, c);
		else if (out->len > 0 && out->data[out->len - 1] != '-')
			hf_buf_putc(out, '-');
	}
	if (out->len > 0 && out->data[out->len - 1] == '-')
		hf_buf_cut(out, out->len - 1);
	if (out->len == 0)
		hf_buf_puts(out, "project");
}

struct slugs {
	char *home, *tmp, *history;
	const char *cwd;
	const struct hf_jval *projects;
	struct hf_json *json;
};

static int
slugs_open(struct slugs *s, const char *cwd, struct hf_err *err)
{
	char *file;

	memset(s, 0, sizeof(*s));
	s->cwd = cwd;
	if ((s->home = hf_gemini_home(err)) == NULL)
		return -1;
	s->tmp = hf_path_join(s->home, "tmp");
	s->history = hf_path_join(s->home, "history");
	file = hf_path_join(s->home, registry);
	s->projects = hf_gemini_projects(file, &s->json);
	free(file);
	return 0;
}

static void
slugs_close(struct slugs *s)
{
	hf_json_free(s->json);
	free(s->history);
	free(s->tmp);
	free(s->home);
}

/* Do the marks on the disk leave a slug to this folder of work? */
static bool
is_free(const struct slugs *s, const char *slug)
{
	const char *const dirs[] = { s->tmp, s->history };
	bool ours = true;
	char *owner;

	for (int i = 0; i < 2 && ours; i++) {
		owner = hf_gemini_owner(dirs[i], slug);
		ours = owner == NULL || strcmp(owner, s->cwd) == 0;
		free(owner);
	}
	return ours;
}

static bool
is_registered(const struct slugs *s, const char *slug)
{
	const struct hf_jval *v;
	struct hf_jiter it;

	hf_json_iter(&it, s->projects);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if (hf_json_is(v, slug))
			return true;
	return false;
}

static char *
known_slug(const struct slugs *s)
{
	struct hf_str a = hf_json_str(hf_json_getn(s->projects, s->cwd,
	    strlen(s->cwd)));
	char *slug;

	if (!is_slug(a))
		return NULL;
	slug = hf_strndup(a.s, a.n);
	if (is_free(s, slug))
		return slug;
	free(slug);
	return NULL;
}

struct marked { const struct slugs *s; char *slug; };

static int
is_marked(const char *name, void *arg, struct hf_err *err)
{
	struct marked *m = arg;
	char *owner = hf_gemini_owner(m->s->tmp, name);

	(void)err;
	if (owner != NULL && strcmp(owner, m->s->cwd) == 0 &&
	    is_slug(hf_str(name)))
		m->slug = hf_strdup(name);
	free(owner);
	return m->slug != NULL;
}

/* A folder of the store that says it is this one's. */
static char *
marked_slug(const struct slugs *s)
{
	struct marked m = { s, NULL };
	struct hf_dir d = HF_DIR_INIT;

	if (hf_dir_open(&d, s->tmp, NULL) == 0)
		hf_dir_each(&d, is_marked, &m, NULL);
	hf_dir_close(&d);
	return m.slug;
}

static char *
new_slug(const struct slugs *s, struct hf_err *err)
{
	struct hf_buf base = HF_BUF_INIT, slug = HF_BUF_INIT;
	int i;

	slugify(&base, s->cwd);
	for (i = 0; i < SLUGS_MAX; i++) {
		hf_buf_clear(&slug);
		hf_buf_str(&slug, hf_buf_view(&base));
		if (i > 0)
			hf_buf_printf(&slug, "-%d", i);
		if (!is_registered(s, hf_buf_cstr(&slug)) &&
		    is_free(s, hf_buf_cstr(&slug)))
			break;
	}
	hf_buf_release(&base);
	if (i < SLUGS_MAX)
		return hf_buf_steal(&slug);
	hf_buf_release(&slug);
	hf_err_set(err, HF_E_EXISTS, "no name is free in '%s' for '%s'",
	    s->tmp, s->cwd);
	return NULL;
}

/* ---- where ---- */

int
hf_gemini_place(const struct hf_seed *seed, struct hf_place *out,
    struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	char *cwd = real_cwd(seed->cwd), *slug = NULL, *dir;
	struct hf_date d;
	struct slugs s;

	if (slugs_open(&s, cwd, err) < 0) {
		free(cwd);
		return -1;
	}
	if ((slug = known_slug(&s)) == NULL &&
	    (slug = marked_slug(&s)) == NULL)
		slug = new_slug(&s, err);
	if (slug != NULL) {
		dir = hf_path_join(s.tmp, slug);
		out->dir = hf_path_join(dir, "chats");
		free(dir);
		hf_clock_date(seed->time, &d);
		hf_buf_printf(&name,
		    "session-%04d-%02d-%02dT%02d-%02d-%.8s.jsonl", d.year,
		    d.month, d.day, d.hour, d.minute, seed->id);
		out->name = hf_buf_steal(&name);
	}
	slugs_close(&s);
	free(cwd);
	free(slug);
	return out->dir != NULL ? 0 : -1;
}

/* ---- the content ---- */

static void
member(struct hf_buf *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	hf_buf_printf(out, ",\"%s\":", key);
	hf_json_quote(out, hf_str(value));
}

static void
header(struct hf_buf *out, const struct hf_seed *seed, const char *time)
{
	const struct hf_session *s = seed->source;
	char *cwd = real_cwd(seed->cwd);
	char hash[HF_SHA_HEX];

	hf_sha256_hex(hf_str(cwd), hash);
	free(cwd);
	hf_buf_puts(out, "{\"sessionId\":");
	hf_json_quote(out, hf_str(seed->id));
	member(out, "projectHash", hash);
	member(out, "startTime", time);
	member(out, "lastUpdated", time);
	member(out, "kind", "main");
	member(out, "summary", seed->title);
	/* Members that the client does not know are left alone. */
	hf_buf_puts(out, ",\"handoff\":{\"v\":1");
	if (s != NULL) {
		member(out, "parentSession", s->id);
		member(out, "agent", s->agent != NULL ? s->agent->name :
		    NULL);
	}
	member(out, "id", seed->attempt);
	hf_buf_puts(out, "}}\n");
}

/* Begins a message. Its id is derived from the session's, so that the same
 * seed always gives the same bytes. */
static void
begin(struct hf_buf *out, const struct hf_seed *seed, const char *time,
    const char *type)
{
	struct hf_buf text = HF_BUF_INIT;
	char hex[HF_SHA_HEX];

	hf_buf_printf(&text, "%s %s", type, seed->id);
	hf_sha256_hex(hf_buf_view(&text), hex);
	hf_buf_release(&text);
	hf_buf_printf(out, "{\"id\":\"%.8s-%.4s-4%.3s-8%.3s-%.12s\"", hex,
	    hex + 8, hex + 12, hex + 15, hex + 18);
	member(out, "timestamp", time);
	member(out, "type", type);
}

int
hf_gemini_draft(const struct hf_seed *seed, struct hf_buf *out,
    struct hf_err *err)
{
	char time[HF_TIME_LEN];

	hf_clock_format(seed->time, time);
	header(out, seed, time);
	begin(out, seed, time, "user");
	hf_buf_puts(out, ",\"content\":[{\"text\":");
	hf_json_quote(out, seed->text);
	hf_buf_puts(out, "}]}\n");
	begin(out, seed, time, "gemini");
	hf_buf_puts(out, ",\"content\":\"Handoff context received.\","
	    "\"thoughts\":[],\"tokens\":null");
	member(out, "model", seed->model);
	hf_buf_puts(out, "}\n");
	if (out->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the successor of '%s' is too large", seed->id);
	return 0;
}

/* ---- registering ---- */

/*
 * The client's own lock on its registry: a folder, which counts as left
 * behind when it is older than ten seconds. 0 when it is ours; it is held
 * for one replacement of a small file.
 */
static int
take_lock(const struct hf_dir *d, struct hf_err *err)
{
	struct stat sb;

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (mkdirat(d->fd, lock, 0700) == 0)
			return 0;
		if (errno != EEXIST)
			return hf_err_sys(err, errno, "cannot lock '%s/%s'",
			    d->path, registry);
		if (fstatat(d->fd, lock, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
		    hf_clock_now() / 1000 - (int64_t)sb.st_mtim.tv_sec >
		    LOCK_STALE)
			unlinkat(d->fd, lock, AT_REMOVEDIR);
		else if (hf_sig_sleep(LOCK_WAIT, err) < 0)
			return -1;
	}
	return hf_err_set(err, HF_E_LOCKED, "'%s/%s' is locked by the client",
	    d->path, registry);
}

/* The registry with one entry more; what else is in it stays. */
static int
write_registry(const struct hf_dir *d, const struct hf_jval *root,
    const char *cwd, const char *slug, struct hf_err *err)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = root != NULL ? hf_jtree_copy(t, root) :
	    hf_jtree_obj(t), *projects = hf_jget(o, "projects");
	struct hf_buf text = HF_BUF_INIT;
	int rc;

	if (hf_jtype(projects) != HF_J_OBJ) {
		hf_jset(t, o, "projects", hf_jtree_obj(t));
		projects = hf_jget(o, "projects");
	}
	hf_jset_cstr(t, projects, cwd, slug);
	hf_jtree_write(&text, o, true);
	rc = hf_file_replace(d, registry, hf_buf_view(&text), err);
	hf_buf_release(&text);
	hf_jtree_free(t);
	return rc;
}

/* A registry that cannot be read is one that the client makes anew, from
 * the marks in the folders. */
static int
update_registry(const struct hf_dir *d, const char *cwd, const char *slug,
    struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	const struct hf_jval *root, *had;
	struct hf_json *j = NULL;
	int rc = hf_file_read(d, registry, &text, err);

	if (rc == 0) {
		rc = write_registry(d, NULL, cwd, slug, err);
	} else if (rc > 0) {
		rc = 0;
		j = hf_json_parse(hf_buf_view(&text), HF_JSON_RAW, NULL,
		    NULL, NULL);
		root = hf_json_root(j);
		had = hf_json_get(root, "projects");
		if (hf_json_type(had) == HF_J_OBJ &&
		    !hf_json_is(hf_json_getn(had, cwd, strlen(cwd)), slug))
			rc = write_registry(d, root, cwd, slug, err);
	}
	hf_json_free(j);
	hf_buf_release(&text);
	return rc;
}

static int
in_registry(const struct slugs *s, const char *slug, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	int rc;

	if (hf_json_is(hf_json_getn(s->projects, s->cwd, strlen(s->cwd)),
	    slug))
		return 0;
	if (hf_dir_open(&d, s->home, err) < 0)
		return -1;
	rc = take_lock(&d, err);
	if (rc == 0) {
		rc = update_registry(&d, s->cwd, slug, err);
		unlinkat(d.fd, lock, AT_REMOVEDIR);
	}
	hf_dir_close(&d);
	return rc;
}

/* Marks the slug's folder as that of cwd. */
static int
put_mark(const struct slugs *s, const char *slug, struct hf_err *err)
{
	char *path = hf_path_join(s->tmp, slug);
	struct hf_err why = { HF_OK, "" };
	struct hf_dir d = HF_DIR_INIT;
	int rc = hf_dir_open(&d, path, err);

	if (rc == 0)
		rc = hf_file_create(&d, mark, hf_str(s->cwd), &why);
	if (rc < 0 && why.code != HF_OK && why.code != HF_E_EXISTS && err !=
	    NULL)
		*err = why;
	if (why.code == HF_E_EXISTS)
		rc = 0;
	hf_dir_close(&d);
	free(path);
	if (rc == 0 && !is_free(s, slug))
		rc = hf_err_set(err, HF_E_EXISTS,
		    "'%s/%s' is another folder's by now", s->tmp, slug);
	return rc;
}

int
hf_gemini_publish(const struct hf_seed *seed, const struct hf_place *p,
    struct hf_err *err)
{
	char *cwd = real_cwd(seed->cwd), *dir = hf_path_dir(p->dir);
	const char *slug = hf_path_base(dir);
	struct slugs s;
	int rc = slugs_open(&s, cwd, err);

	if (rc == 0) {
		rc = put_mark(&s, slug, err);
		if (rc == 0)
			rc = in_registry(&s, slug, err);
		slugs_close(&s);
	}
	free(dir);
	free(cwd);
	return rc;
}

/* ---- going on ---- */

void
hf_gemini_resume(const struct hf_session *s, const char *prompt,
    struct hf_argv *out)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_argv_add(out, "gemini");
	hf_argv_add(out, "--resume");
	hf_argv_add(out, s->id != NULL ? s->id : "latest");
	if (prompt == NULL)
		return;
	hf_argv_add(out, "--prompt-interactive");
	/* Behind a blank it is neither an option, a command nor a file. */
	if (strchr("-/@?!", prompt[0]) != NULL)
		hf_buf_putc(&text, ' ');
	hf_buf_puts(&text, prompt);
	hf_argv_add(out, hf_buf_cstr(&text));
	hf_buf_release(&text);
}
