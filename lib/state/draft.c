#include "state/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/mem.h"
#include "brief/brief.h"
#include "state/attempt.h"
#include "state/main.h"

enum { DRAFT_MAX = 16 << 20 };

static char *
temp_name(const struct hf_attempt *r)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_printf(&b, ".handoff-%s.tmp", r->id);
	return hf_buf_steal(&b);
}

/* ---- the content ---- */

/* The source as far as it still can be told. */
static void
read_source(const struct hf_attempt *r, struct hf_session *s)
{
	struct hf_session seen;
	struct hf_err ignored;

	hf_session_init(s);
	hf_session_init(&seen);
	if (r->source.path != NULL &&
	    hf_session_peek(r->source.path, &seen, &ignored) == 0) {
		hf_session_release(s);
		*s = seen;
	} else
		hf_session_release(&seen);
	s->agent = hf_agent_by_name(hf_str(r->source.agent));
	hf_session_set(&s->id, hf_str(r->source.id));
	hf_session_set(&s->path, hf_str(r->source.path));
	if (r->target.cwd != NULL)
		hf_session_set(&s->cwd, hf_str(r->target.cwd));
}

static void
fill_seed(const struct hf_attempt *r, const struct hf_session *source,
    struct hf_str text, struct hf_seed *seed)
{
	memset(seed, 0, sizeof(*seed));
	seed->source = source;
	seed->id = r->target.id;
	seed->attempt = r->id;
	seed->cwd = r->target.cwd;
	seed->model = r->target.model;
	seed->title = r->target.title;
	seed->permission = r->target.permission;
	seed->text = text;
	seed->time = r->target.time;
}

static const struct hf_agent *
target_agent(const struct hf_attempt *r, struct hf_err *err)
{
	const struct hf_agent *a = hf_agent_by_name(hf_str(r->target.agent));

	if (a == NULL)
		hf_err_set(err, HF_E_UNSUPPORTED,
		    "the agent '%s' is not known",
		    r->target.agent != NULL ? r->target.agent : "");
	else if (a->new_id == NULL || a->place == NULL || a->draft == NULL)
		hf_err_set(err, HF_E_UNSUPPORTED,
		    "sessions of %s cannot be written", a->label);
	else
		return a;
	return NULL;
}

/* The text of the seed, from the record's brief. */
static int
seed_text(const struct hf_attempt *r, struct hf_buf *out,
    struct hf_err *err)
{
	const struct hf_agent *from;
	struct hf_seed_info info;
	struct hf_json *j = NULL;
	struct hf_brief b;
	int rc = -1;

	hf_brief_init(&b);
	if (r->brief == NULL) {
		hf_err_set(err, HF_E_MISSING, "handoff '%s' has no brief",
		    r->id);
		goto out;
	}
	if ((j = hf_json_parse(hf_str(r->brief), 0, NULL, NULL, err)) ==
	    NULL || hf_brief_from_json(&b, hf_json_root(j), err) < 0)
		goto out;
	from = hf_agent_by_name(hf_str(r->source.agent));
	info.attempt = r->id;
	info.from_agent = from != NULL ? from->label : r->source.agent;
	info.from_id = r->source.id;
	info.other_agent = strcmp(r->source.agent, r->target.agent) != 0;
	hf_brief_seed(out, &b, &info);
	rc = 0;
out:
	hf_json_free(j);
	hf_brief_release(&b);
	return rc;
}

static int
make_content(const struct hf_attempt *r, struct hf_buf *out,
    struct hf_err *err)
{
	const struct hf_agent *a = target_agent(r, err);
	struct hf_buf text = HF_BUF_INIT;
	struct hf_session source;
	struct hf_seed seed;
	int rc;

	if (a == NULL)
		return -1;
	read_source(r, &source);
	rc = seed_text(r, &text, err);
	if (rc == 0) {
		fill_seed(r, &source, hf_buf_view(&text), &seed);
		rc = a->draft(&seed, out, err);
	}
	if (rc == 0 && out->full)
		rc = hf_err_set(err, HF_E_OVERFLOW,
		    "the successor would be too large");
	hf_session_release(&source);
	hf_buf_release(&text);
	return rc;
}

/* ---- where ---- */

int
hf_draft_place(struct hf_attempt *r, struct hf_err *err)
{
	const struct hf_agent *a = target_agent(r, err);
	struct hf_place place = { NULL, NULL };
	struct hf_session source;
	struct hf_seed seed;
	char id[64];
	int rc;

	if (a == NULL)
		return -1;
	a->new_id(r->target.time, id);
	hf_main_set(&r->target.id, id);
	read_source(r, &source);
	fill_seed(r, &source, HF_STR(""), &seed);
	rc = a->place(&seed, &place, err);
	if (rc == 0) {
		hf_main_set(&r->target.dir, place.dir);
		hf_main_set(&r->target.name, place.name);
	}
	hf_place_release(&place);
	hf_session_release(&source);
	return rc;
}

/* 1 open, 0 it is not there, -1. */
static int
open_folder(const struct hf_attempt *r, bool make, struct hf_dir *d,
    struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	if (r->target.dir == NULL)
		return make ? hf_err_set(err, HF_E_MISSING,
		    "handoff '%s' has no place for its successor", r->id) : 0;
	if (make)
		return hf_dir_make(d, r->target.dir, err) < 0 ? -1 : 1;
	if (hf_dir_open(d, r->target.dir, &why) == 0)
		return 1;
	if (why.code == HF_E_NOT_FOUND)
		return 0;
	*err = why;
	return -1;
}

int
hf_draft_free(const struct hf_attempt *r, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	struct stat st;
	int rc = open_folder(r, false, &d, err);

	if (rc == 0)
		return 1;
	if (rc > 0 && fstatat(d.fd, r->target.name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0)
		rc = 0;
	else if (rc > 0 && errno != ENOENT)
		rc = hf_err_sys(err, errno, "cannot look at '%s/%s'", d.path,
		    r->target.name);
	hf_dir_close(&d);
	return rc;
}

/* ---- writing ---- */

static void
hash_of(struct hf_str content, struct hf_attempt *r)
{
	struct hf_buf b = HF_BUF_INIT;
	char hex[HF_SHA_HEX];

	hf_sha256_hex(content, hex);
	hf_buf_printf(&b, "sha256:%s", hex);
	free(r->draft);
	r->draft = hf_buf_steal(&b);
	r->draft_size = (int64_t)content.n;
}

static int
write_errno(const struct hf_dir *d, const char *name, struct hf_err *err)
{
	int e = errno;

	if (e == ENOSPC || e == EDQUOT)
		return hf_err_set(err, HF_E_IO,
		    "cannot write '%s/%s': no space left on the disk", d->path,
		    name);
	return hf_err_sys(err, e, "cannot write '%s/%s'", d->path, name);
}

/* The name is one that nobody reads, and the record that vouches for it
 * comes later: so it is written in its place. */
static int
write_file(const struct hf_dir *d, const char *name, struct hf_str content,
    struct hf_err *err)
{
	int fd = hf_file_open(d, name, O_WRONLY | O_CREAT | O_EXCL);
	int rc = 0;

	if (fd < 0)
		return write_errno(d, name, err);
	if (hf_step("draft.write") < 0 ||
	    hf_io_write(fd, content.s, content.n) < 0 ||
	    hf_step("draft.fsync") < 0 || fsync(fd) < 0)
		rc = write_errno(d, name, err);
	if (close(fd) < 0 && rc == 0)
		rc = write_errno(d, name, err);
	if (rc == 0 && hf_step("draft.dirsync") < 0)
		rc = write_errno(d, name, err);
	if (rc == 0)
		rc = hf_dir_sync(d, err);
	if (rc < 0)
		unlinkat(d->fd, name, 0);
	return rc;
}

static int
write_in(const struct hf_dir *d, struct hf_attempt *r, struct hf_err *err)
{
	struct hf_buf content = HF_BUF_MAX(DRAFT_MAX);
	char *temp = temp_name(r);
	int rc = make_content(r, &content, err);

	if (rc == 0)
		rc = hf_file_remove(d, temp, err);
	if (rc >= 0)
		rc = write_file(d, temp, hf_buf_view(&content), err);
	if (rc == 0)
		hash_of(hf_buf_view(&content), r);
	free(temp);
	hf_buf_release(&content);
	return rc;
}

int
hf_draft_write(struct hf_attempt *r, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	int rc;

	if (open_folder(r, true, &d, err) < 0)
		return -1;
	rc = write_in(&d, r, err);
	hf_dir_close(&d);
	return rc;
}

int
hf_draft_remove(const struct hf_attempt *r, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	char *temp;
	int rc = open_folder(r, false, &d, err);

	if (rc <= 0)
		return rc;
	temp = temp_name(r);
	rc = hf_file_remove(&d, temp, err);
	free(temp);
	hf_dir_close(&d);
	return rc < 0 ? -1 : 0;
}

/* ---- publishing ---- */

/* Does the file begin with our draft? The agent may have appended to it by
 * now. 1, 0 (also when it is not there), -1. */
static int
is_ours(const struct hf_dir *d, const char *name, bool whole,
    const struct hf_attempt *r, struct hf_err *err)
{
	struct hf_attempt seen = { 0 };
	struct hf_buf b = HF_BUF_MAX(DRAFT_MAX + 1);
	struct stat st;
	ssize_t n;
	char *p;
	int fd, rc = 0;

	if (r->draft == NULL || r->draft_size <= 0 ||
	    r->draft_size > DRAFT_MAX)
		return 0;
	fd = hf_file_open(d, name, O_RDONLY);
	if (fd < 0)
		/* A link, a folder or a socket there is not ours. */
		return errno == ENOENT || errno == ELOOP || errno == ENXIO ||
		    errno == ENOTDIR ? 0 : hf_err_sys(err, errno,
		    "cannot open '%s/%s'", d->path, name);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= r->draft_size &&
	    (!whole || st.st_size == r->draft_size) &&
	    (p = hf_buf_room(&b, (size_t)r->draft_size)) != NULL) {
		n = hf_io_pread(fd, p, (size_t)r->draft_size, 0);
		if (n < 0)
			rc = hf_err_sys(err, errno, "cannot read '%s/%s'",
			    d->path, name);
		else {
			hash_of(hf_strn(p, (size_t)n), &seen);
			rc = strcmp(seen.draft, r->draft) == 0;
		}
	}
	free(seen.draft);
	close(fd);
	hf_buf_release(&b);
	return rc;
}

/* 1 it is published, 0 there is no sound draft to publish, -1. */
static int
publish_in(const struct hf_dir *d, const char *temp,
    const struct hf_attempt *r, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	int rc = is_ours(d, r->target.name, false, r, err);

	if (rc < 0)
		return -1;
	if (rc > 0)
		return hf_file_remove(d, temp, err) < 0 ? -1 : 1;
	rc = is_ours(d, temp, true, r, err);
	if (rc <= 0)
		return rc;
	if (hf_file_publish(d, temp, r->target.name, &why) == 0)
		return 1;
	if (why.code == HF_E_NOT_FOUND)
		return 0;
	*err = why;
	return -1;
}

/* What the agent itself wants done with a file that has its name. */
static int
register_it(const struct hf_attempt *r, struct hf_err *err)
{
	const struct hf_agent *a = target_agent(r, err);
	struct hf_place place = { r->target.dir, r->target.name };
	struct hf_session source;
	struct hf_seed seed;
	int rc;

	if (a == NULL)
		return -1;
	if (a->publish == NULL)
		return 0;
	read_source(r, &source);
	fill_seed(r, &source, HF_STR(""), &seed);
	rc = a->publish(&seed, &place, err);
	hf_session_release(&source);
	return rc;
}

int
hf_draft_publish(struct hf_attempt *r, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	char *temp = temp_name(r);
	int rc = open_folder(r, true, &d, err), free_name;

	if (rc > 0)
		rc = publish_in(&d, temp, r, err);
	if (rc > 0)
		rc = register_it(r, err) < 0 ? -1 : 1;
	else if (rc == 0) {
		free_name = hf_draft_free(r, err);
		if (free_name == 0)
			rc = hf_err_set(err, HF_E_EXISTS,
			    "'%s/%s' is there already", d.path,
			    r->target.name);
		else
			rc = free_name < 0 ? -1 : write_in(&d, r, err);
	}
	hf_dir_close(&d);
	free(temp);
	return rc;
}
