#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/peek.h"
#include "agent/unpack.h"
#include "base/io.h"
#include "json/jsonl.h"

/*
 * One reader goes over the parts in turn. Parts in memory are written by
 * our own code, so their lines are split here without the care that files
 * need.
 */
struct hf_source_state {
	struct hf_jsonl reader;		/* of part at, if reading */
	bool reading;
	size_t at;
	uint64_t off;			/* where part at begins, or goes on */
	uint64_t line;			/* in a part in memory */
	struct hf_json *json;		/* the record of a part in memory */
	struct hf_json *again;		/* what hf_source_at gave, of that */
	struct hf_ref again_ref;
	struct hf_buf scratch;
	uint64_t rows, bad, mended, size;	/* of the parts before */
	struct hf_source_place place;	/* to begin at; or, at the end, where
					 * the last part ended */
	bool open;			/* that may still change */
	uint64_t why_line;		/* first damage, for strict */
	char why[128];
	struct hf_buf note;		/* to be said before the first record */
};

static void
source_init(struct hf_source *src, const struct hf_agent *agent)
{
	memset(src, 0, sizeof(*src));
	src->agent = agent;
	src->state = hf_calloc(1, sizeof(*src->state));
}

/* ---- parts ---- */

static struct hf_source_part *
add_part(struct hf_source *src, const char *name)
{
	struct hf_source_part *part;

	if (src->nparts == HF_SOURCE_PARTS)
		return NULL;
	part = &src->part[src->nparts++];
	memset(part, 0, sizeof(*part));
	part->fd = -1;
	part->limit = UINT64_MAX;
	part->path = name != NULL ? hf_strdup(name) : NULL;
	return part;
}

/* What has the rows of fd, which may become another; -1. */
static int
plain_rows(int *fd, const char *name, bool *packed, struct hf_err *err)
{
	int plain = -1, rc;

	*packed = hf_unpack_is(*fd);
	if (*packed) {
		plain = hf_unpack(*fd, name, err);
		rc = plain < 0 ? -1 : 0;
	} else {
		rc = hf_unpack_document(*fd, name, &plain, err);
		*packed = rc > 0;
	}
	if (rc >= 0 && !*packed)
		return 0;
	close(*fd);
	*fd = plain;
	return rc < 0 ? -1 : 0;
}

/* Gives fd to a new part, unpacked if need be. */
static int
add_fd(struct hf_source *src, int fd, const char *name, struct hf_err *err)
{
	struct hf_source_part *part;
	bool packed;

	if (plain_rows(&fd, name, &packed, err) < 0)
		return -1;
	part = add_part(src, name);
	if (part == NULL) {
		close(fd);
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the history of '%s' is in more than %d files", name,
		    HF_SOURCE_PARTS);
	}
	part->fd = fd;
	part->packed = packed;
	return 0;
}

int
hf_source_add_fd(struct hf_source *src, int fd, const char *name,
    struct hf_err *err)
{
	if (add_fd(src, fd, name, err) < 0)
		return -1;
	src->part[src->nparts - 1].packed = true;
	return 0;
}

int
hf_source_add(struct hf_source *src, const char *path, uint64_t limit,
    bool inherited, struct hf_err *err)
{
	int fd = hf_peek_open(path, err);

	if (fd < 0 || add_fd(src, fd, path, err) < 0)
		return -1;
	src->part[src->nparts - 1].limit = limit;
	src->part[src->nparts - 1].inherited = inherited;
	return 0;
}

void
hf_source_add_text(struct hf_source *src, char *text, size_t n)
{
	struct hf_source_part *part = add_part(src, NULL);

	if (part == NULL)	/* an agent's mistake */
		abort();
	part->own_text = text;
	part->text = hf_strn(text, n);
}

void
hf_source_note(struct hf_source *src, const char *fmt, ...)
{
	va_list ap;

	hf_buf_clear(&src->state->note);
	va_start(ap, fmt);
	hf_buf_vprintf(&src->state->note, fmt, ap);
	va_end(ap);
}

int
hf_source_open(struct hf_source *src, const struct hf_session *s,
    uint64_t limit, struct hf_err *err)
{
	struct hf_source_part *part;
	size_t i;
	int r;

	source_init(src, s->agent);
	if (s->path == NULL)
		r = hf_err_set(err, HF_E_NOT_FOUND,
		    "session '%s' has no transcript",
		    s->id != NULL ? s->id : "");
	else if (s->agent != NULL && s->agent->open != NULL)
		r = s->agent->open(src, s, err);
	else
		r = hf_source_add(src, s->path, UINT64_MAX, false, err);
	if (r < 0) {
		hf_source_close(src);
		return -1;
	}
	for (i = 0; i < src->nparts; i++) {
		part = &src->part[i];
		if (!part->inherited && !part->packed &&
		    part->path != NULL && s->path != NULL &&
		    strcmp(part->path, s->path) == 0 &&
		    part->limit > limit)
			part->limit = limit;
	}
	return 0;
}

int
hf_source_fd(struct hf_source *src, int fd, const char *name,
    struct hf_err *err)
{
	struct stat sb;
	int own;

	source_init(src, NULL);
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) &&
	    lseek(fd, 0, SEEK_CUR) == 0) {
		own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (own < 0)
			hf_err_sys(err, errno, "cannot read %s", name);
	} else {
		own = hf_unpack_spool(fd, name, err);
	}
	if (own < 0 || add_fd(src, own, name, err) < 0) {
		hf_source_close(src);
		return -1;
	}
	return 0;
}

static void
free_part(struct hf_source_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	free(part->path);
	free(part->own_text);
}

void
hf_source_close(struct hf_source *src)
{
	struct hf_source_state *st = src->state;

	if (st != NULL) {
		if (st->reading)
			hf_jsonl_release(&st->reader);
		hf_json_free(st->json);
		hf_json_free(st->again);
		hf_buf_release(&st->scratch);
		hf_buf_release(&st->note);
		free(st);
	}
	src->state = NULL;
	while (src->nparts > 0)
		free_part(&src->part[--src->nparts]);
}

/* ---- reading on ---- */

void
hf_source_from(struct hf_source *src, size_t part, uint64_t off)
{
	src->state->at = part;
	src->state->off = off;
}

bool
hf_source_tell(const struct hf_source *src, struct hf_source_place *out)
{
	const struct hf_source_state *st = src->state;

	if (st->at < src->nparts || src->nparts == 0 || st->open ||
	    src->part[src->nparts - 1].fd < 0)
		return false;
	*out = st->place;
	out->rows = src->rows;
	out->bad = src->bad;
	out->mended = src->mended;
	return true;
}

void
hf_source_resume(struct hf_source *src, const struct hf_source_place *at)
{
	struct hf_source_state *st = src->state;

	st->at = src->nparts - 1;
	st->off = at->off;
	st->place = *at;
	st->rows = src->rows = at->rows;
	st->bad = src->bad = at->bad;
	st->mended = src->mended = at->mended;
	st->size = src->size = at->size;
}

static const char *
part_name(const struct hf_source_part *part)
{
	return part->path != NULL ? part->path : "session";
}

/* The reader calls it for what it drops or mends. */
static void
explain(uint64_t line, uint64_t off, const char *why, void *arg)
{
	struct hf_source *src = arg;
	struct hf_source_state *st = src->state;
	size_t n = strlen(why);

	(void)off;
	if (src->explain)
		hf_warn("'%s' line %" PRIu64 ": %s",
		    part_name(&src->part[st->at]), line, why);
	if (st->why_line != 0)
		return;
	st->why_line = line;
	if (n >= sizeof(st->why))
		n = sizeof(st->why) - 1;
	memcpy(st->why, why, n);
	st->why[n] = '\0';
}

static int
strict_error(const struct hf_source *src, struct hf_err *err)
{
	const struct hf_source_state *st = src->state;

	return hf_err_set(err, HF_E_INVALID, "'%s' line %" PRIu64 ": %s",
	    part_name(&src->part[st->at]), st->why_line,
	    st->why[0] != '\0' ? st->why : "damaged");
}

static void
count(struct hf_source *src, const struct hf_jsonl_stats *stats)
{
	const struct hf_source_state *st = src->state;

	src->rows = st->rows + stats->rows;
	src->bad = st->bad + stats->bad;
	src->mended = st->mended + stats->mended;
	src->size = st->size + stats->bytes;
	if (!src->part[st->at].inherited)
		src->torn = stats->torn;
}

/* 1 with the next row of a file, 0 at its end, -1. */
static int
next_row(struct hf_source *src, struct hf_record *rec, struct hf_err *err)
{
	struct hf_source_state *st = src->state;
	struct hf_source_part *part = &src->part[st->at];
	struct hf_jsonl_row row;
	int r;

	if (!st->reading) {
		hf_jsonl_init(&st->reader, part->fd, part_name(part),
		    st->off, part->limit);
		if (src->explain || src->strict) {
			st->reader.explain = explain;
			st->reader.explain_arg = src;
		}
		st->reader.skim = src->skim;
		st->reader.stats.lines = st->place.lines;
		st->reader.stats.joining = st->place.joining;
		st->reading = true;
	}
	r = hf_jsonl_next(&st->reader, &row, err);
	count(src, &st->reader.stats);
	if (r > 0 && row.mended && src->strict)
		explain(row.line, row.off, "bad UTF-8, an unpaired surrogate "
		    "or a raw line end in a string", src);
	if (r >= 0 && src->strict && src->bad + src->mended > 0)
		return strict_error(src, err);
	if (r <= 0)
		return r;
	rec->v = row.v;
	rec->raw = row.raw;
	rec->line = row.line;
	rec->ref = (struct hf_ref){ .off = row.off,
	    .len = (uint32_t)row.raw.n, .part = (uint32_t)st->at };
	return 1;
}

/* The same of a part in memory. */
static int
next_text(struct hf_source *src, struct hf_record *rec, struct hf_err *err)
{
	struct hf_source_state *st = src->state;
	struct hf_str text = src->part[st->at].text, line, rest;

	while (st->off < text.n) {
		rest = hf_strn(text.s + st->off, text.n - (size_t)st->off);
		line = hf_str_line(rest, &rest);
		rec->ref = (struct hf_ref){ .off = st->off,
		    .len = (uint32_t)line.n, .part = (uint32_t)st->at };
		rec->raw = line;
		rec->line = ++st->line;
		st->off = text.n - rest.n;
		src->size += (uint64_t)(st->off - rec->ref.off);
		if (hf_str_trim(line).n == 0)
			continue;
		hf_json_free(st->json);
		st->json = hf_json_parse(line, HF_JSON_MEND, NULL, NULL, err);
		if (st->json == NULL)
			return -1;
		rec->v = hf_json_root(st->json);
		src->rows++;
		return 1;
	}
	return 0;
}

static void
next_part(struct hf_source *src)
{
	struct hf_source_state *st = src->state;

	memset(&st->place, 0, sizeof(st->place));
	if (st->reading) {
		st->place.off = st->reader.stats.end;
		st->place.size = st->size + (st->place.off - st->off);
		st->place.lines = st->reader.stats.lines;
		st->place.joining = st->reader.stats.joining;
		st->open = st->reader.stats.open;
		hf_jsonl_release(&st->reader);
	}
	if (st->at + 1 < src->nparts)
		memset(&st->place, 0, sizeof(st->place));
	st->reading = false;
	st->rows = src->rows;
	st->bad = src->bad;
	st->mended = src->mended;
	st->size = src->size;
	st->off = st->line = 0;
	st->at++;
}

int
hf_source_next(struct hf_source *src, struct hf_record *rec,
    struct hf_err *err)
{
	struct hf_source_state *st = src->state;
	int r;

	if (src->explain && st->note.len > 0)
		hf_warn("%s", hf_buf_cstr(&st->note));
	hf_buf_clear(&st->note);
	for (; st->at < src->nparts; next_part(src)) {
		r = src->part[st->at].fd >= 0 ? next_row(src, rec, err) :
		    next_text(src, rec, err);
		if (r != 0)
			return r;
	}
	return 0;
}

/* Reads the record at ref into st->again. */
static int
read_again(struct hf_source *src, struct hf_ref ref, struct hf_err *err)
{
	struct hf_source_state *st = src->state;
	struct hf_source_part *part = &src->part[ref.part];

	hf_json_free(st->again);
	st->again = NULL;
	if (part->fd >= 0)
		st->again = hf_jsonl_at(part->fd, ref.off, ref.len,
		    &st->scratch, err);
	else if (ref.off <= part->text.n && ref.len <= part->text.n - ref.off)
		st->again = hf_json_parse(hf_strn(part->text.s + ref.off,
		    ref.len), HF_JSON_MEND, NULL, NULL, err);
	else
		hf_err_set(err, HF_E_INTERNAL, "no such record");
	st->again_ref = ref;
	return st->again != NULL ? 0 : -1;
}

int
hf_source_at(struct hf_source *src, struct hf_ref ref,
    struct hf_record *rec, struct hf_err *err)
{
	struct hf_source_state *st = src->state;
	const struct hf_ref *had = &st->again_ref;

	if (ref.part >= src->nparts)
		return hf_err_set(err, HF_E_INTERNAL, "no such part");
	/* A record can give thousands of rows, asked for one by one. */
	if ((st->again == NULL || had->off != ref.off ||
	    had->len != ref.len || had->part != ref.part) &&
	    read_again(src, ref, err) < 0)
		return -1;
	rec->raw = src->part[ref.part].fd >= 0 ?
	    hf_strn(st->scratch.data, ref.len) :
	    hf_strn(src->part[ref.part].text.s + ref.off, ref.len);
	rec->v = hf_json_root(st->again);
	rec->ref = ref;
	rec->ref.item = 0;
	rec->line = 0;
	return 0;
}
