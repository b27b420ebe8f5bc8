#include "json/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/sig.h"
#include "json/lex.h"
#include "json/skim.h"

enum {
	CHUNK = 256 << 10,	/* stays in a core's cache */
	STEP = 4 << 20,
	TRIES = 4096, EFFORT = 8,
	JOIN_FREE = 16 << 20, JOIN_EFFORT = 4
};

/*
 * The buffer holds bytes of the file from offset base on. The line at hand,
 * or what is left of it, is [pos, end); behind its LF is next. Indices, not
 * pointers: more() moves and grows the buffer.
 */
struct hf_jsonl_state {
	char *buf;
	size_t cap, len;
	size_t pos, end, next;
	uint64_t base;
	bool eof, whole;	/* whole: the line has its LF */
	bool open;		/* there is a line at hand … */
	bool fresh;		/* … and nothing of it was tried */
	bool behind_row;	/* a row stands directly before pos */
	unsigned tries;
	size_t effort;		/* bytes that the search may still look at */
	struct hf_json *json, *glance;
	struct hf_err why;	/* what is wrong with the line */
};

/* ---- bytes ---- */

void
hf_jsonl_init(struct hf_jsonl *r, int fd, const char *name, uint64_t off,
    uint64_t limit)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->name = name;
	r->limit = limit;
	r->stats.end = off;
	r->state = hf_calloc(1, sizeof(*r->state));
	r->state->base = off;
	/* Only advice: what it returns does not matter. */
	(void)posix_fadvise(fd, (off_t)off, 0, POSIX_FADV_SEQUENTIAL);
}

void
hf_jsonl_release(struct hf_jsonl *r)
{
	if (r->state == NULL)
		return;
	hf_json_free(r->state->json);
	hf_json_free(r->state->glance);
	free(r->state->buf);
	free(r->state);
	r->state = NULL;
}

static uint64_t
offset(const struct hf_jsonl_state *s, size_t at)
{
	return s->base + at;
}

/* Drops what is before pos. */
static void
shift(struct hf_jsonl_state *s)
{
	size_t by = s->pos;

	if (by == 0)
		return;
	s->len -= by;
	memmove(s->buf, s->buf + by, s->len);
	s->base += by;
	s->pos = 0;
	if (s->open) {
		s->end -= by;
		s->next -= by;
	}
}

/* The file's bytes at off, from memory where they are known. */
static ssize_t
bytes_at(const struct hf_jsonl *r, char *to, size_t n, uint64_t off)
{
	uint64_t skip = off - r->known_off;

	if (off < r->known_off || skip >= r->known.n)
		return hf_io_pread(r->fd, to, n, (off_t)off);
	if (n > r->known.n - skip)
		n = (size_t)(r->known.n - skip);
	memcpy(to, r->known.s + skip, n);
	return (ssize_t)n;
}

static void
resize(struct hf_jsonl_state *s, size_t cap)
{
	s->cap = cap;
	s->buf = hf_reallocarray(s->buf, s->cap + HF_SKIM_PAD, 1);
}

/* What the buffer grows to with so many bytes left: for a row of many
 * megabytes not to twice the size. */
static size_t
larger(const struct hf_jsonl_state *s, uint64_t left)
{
	if (s->cap == 0)
		return left < CHUNK ? (size_t)left : CHUNK;
	return s->cap < STEP ? s->cap * 2 : s->cap + STEP;
}

/* Reads more behind what is there, keeping all from pos on. 1, 0 at the
 * end, -1. */
static int
more(struct hf_jsonl *r, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	uint64_t off = offset(s, s->len);
	size_t want;
	ssize_t n;

	if (s->eof || off >= r->limit) {
		s->eof = true;
		return 0;
	}
	if (hf_sig_check(err) < 0)
		return -1;
	shift(s);
	/* What one row of many megabytes took is given back. */
	if (s->cap > 4 * STEP && s->len < CHUNK)
		resize(s, CHUNK);
	if (s->len == s->cap)
		resize(s, larger(s, r->limit - off));
	want = s->cap - s->len;
	if (want > r->limit - off)
		want = (size_t)(r->limit - off);
	n = bytes_at(r, s->buf + s->len, want, off);
	if (n < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", r->name);
	s->len += (size_t)n;
	r->stats.bytes += (uint64_t)n;
	s->eof = n == 0;
	return n > 0;
}

/* ---- what is wrong ---- */

static void
explain(struct hf_jsonl *r, uint64_t off, const char *why)
{
	if (r->explain != NULL)
		r->explain(r->stats.lines + 1, off, why, r->explain_arg);
}

static void
bad(struct hf_jsonl *r, uint64_t off, const char *why)
{
	r->stats.bad++;
	explain(r, off, why);
}

static void
torn(struct hf_jsonl *r, uint64_t off)
{
	r->stats.torn = true;
	explain(r, off, "half written");
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
blank(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p == end;
}

/* The piece of the line before index at is no row. */
static void
bad_piece(struct hf_jsonl *r, size_t at)
{
	struct hf_jsonl_state *s = r->state;

	if (blank(s->buf + s->pos, s->buf + at))
		return;
	bad(r, offset(s, s->pos), s->why.code != HF_OK ? s->why.msg :
	    "a piece of a row");
}

/* ---- lines ---- */

/* Steps over NUL bytes at the start of a line, however many. At the end of
 * the file they may still become something. */
static int
skip_nuls(struct hf_jsonl *r, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	uint64_t from = offset(s, s->pos);
	int k = 1;

	do {
		while (s->pos < s->len && s->buf[s->pos] == '\0')
			s->pos++;
		if (s->pos < s->len)
			break;
		k = more(r, err);
	} while (k > 0);
	if (k < 0)
		return -1;
	if (offset(s, s->pos) == from)
		return 0;
	if (k == 0) {
		torn(r, from);
	} else {
		bad(r, from, "NUL bytes");
		r->stats.end = offset(s, s->pos);
	}
	return 0;
}

/* Gives up on the line at pos: on to the next, in bounded memory. 1, 0 at
 * the end, -1. */
static int
skip_long(struct hf_jsonl *r, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	uint64_t from = offset(s, s->pos);
	const char *lf;
	int k;

	while ((lf = memchr(s->buf + s->pos, '\n', s->len - s->pos)) == NULL) {
		s->base = offset(s, s->len);
		s->pos = s->len = 0;
		resize(s, CHUNK);
		k = more(r, err);
		if (k == 0)
			torn(r, from);
		if (k <= 0)
			return k;
	}
	bad(r, from, "longer than 256 MiB");
	s->pos = (size_t)(lf - s->buf) + 1;
	r->stats.lines++;
	r->stats.end = offset(s, s->pos);
	return 1;
}

/* Finds the LF at or behind byte from of the line. 1 and *lf, counted from
 * pos; 0 none up to the end of the file, or none that a row may reach
 * (then more than that is there); -1. */
static int
find_lf(struct hf_jsonl *r, size_t from, size_t *lf, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	int k;

	for (;;) {
		const char *p = s->buf + s->pos;
		const char *q = memchr(p + from, '\n', s->len - s->pos - from);

		if (q != NULL) {
			*lf = (size_t)(q - p);
			return *lf <= HF_JSONL_MAX;
		}
		from = s->len - s->pos;
		if (from > HF_JSONL_MAX)
			return 0;
		k = more(r, err);
		if (k <= 0)
			return k;
	}
}

/* The next line, long ones skipped. 1, 0 at the end, -1. */
static int
open_line(struct hf_jsonl *r, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	size_t lf;
	int k;

	do {
		if (skip_nuls(r, err) < 0)
			return -1;
		if (s->pos == s->len)
			return 0;
		k = find_lf(r, 0, &lf, err);
		if (k != 0 || s->len - s->pos <= HF_JSONL_MAX)
			break;
		k = skip_long(r, err);
		if (k == 0)
			return 0;
	} while (k > 0);
	if (k < 0)
		return -1;
	s->whole = k > 0;
	s->end = s->whole ? s->pos + lf : s->len;
	s->next = s->whole ? s->end + 1 : s->len;
	if (offset(s, s->pos) == 0 && s->end >= 3 &&
	    memcmp(s->buf, "\xef\xbb\xbf", 3) == 0)
		s->pos = 3;
	while (s->pos < s->end && is_blank(s->buf[s->pos]))
		s->pos++;
	s->open = s->fresh = true;
	s->behind_row = false;
	s->why.code = HF_OK;
	return 1;
}

static void
close_line(struct hf_jsonl *r)
{
	struct hf_jsonl_state *s = r->state;

	if (s->whole) {
		bad_piece(r, s->end);
		r->stats.lines++;
		r->stats.end = offset(s, s->next);
	} else if (!blank(s->buf + s->pos, s->buf + s->end)) {
		torn(r, offset(s, s->pos));
	}
	s->pos = s->next;
	s->open = false;
}

/* ---- rows ---- */

/* Is what was mended in the n bytes at index at where nobody looks? */
static bool
unseen(struct hf_jsonl_state *s, size_t at, size_t n)
{
	return hf_json_skim(&s->glance, hf_strn(s->buf + at, n)) == n;
}

/* The n bytes at index at are the row that was parsed last. */
static int
give(struct hf_jsonl *r, struct hf_jsonl_row *row, size_t at, size_t n,
    bool mended)
{
	struct hf_jsonl_state *s = r->state;

	bad_piece(r, at);
	mended = mended && !unseen(s, at, n);
	row->v = hf_json_root(s->json);
	row->raw = hf_strn(s->buf + at, n);
	row->off = offset(s, at);
	row->line = r->stats.lines + 1;
	row->mended = mended;
	s->pos = at + n;
	s->behind_row = true;
	s->why.code = HF_OK;
	r->stats.rows++;
	r->stats.mended += mended;
	r->stats.open |= !s->whole;
	r->stats.end = offset(s, s->pos);
	return 1;
}

/* Parses n bytes at index at; true if they are an object. */
static bool
parse(struct hf_jsonl_state *s, size_t at, size_t n, unsigned flags,
    size_t *used, bool *mended, struct hf_err *err)
{
	if (hf_json_again(&s->json, hf_strn(s->buf + at, n),
	    HF_JSON_RAW | HF_JSON_MEND | HF_JSON_ESCAPES | flags, used, mended,
	    err) < 0)
		return false;
	if (hf_json_type(hf_json_root(s->json)) == HF_J_OBJ)
		return true;
	hf_err_set(err, HF_E_INVALID, "not an object");
	return false;
}

/* Does a row of one of the formats begin here? Quotes inside strings are
 * escaped, so none of these is found in what a row quotes. */
static bool
is_head(const char *p, const char *end)
{
	static const char *const heads[] = {
		"{\"parentUuid\"", "{\"type\"", "{\"timestamp\"", "{\"id\"",
		"{\"sessionId\"", "{\"$set\"", "{\"$rewindTo\"",
		"{\"record_type\"", "{\"leafUuid\"", "{\"isSidechain\"",
	};
	struct hf_str a = hf_strn(p, (size_t)(end - p));

	if (a.n < 2 || p[0] != '{' || p[1] != '"')
		return false;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (hf_str_starts(a, heads[i]))
			return true;
	return false;
}

static const char *
next_head(const char *p, const char *end)
{
	while (p < end) {
		p = memchr(p, '{', (size_t)(end - p));
		if (p == NULL || is_head(p, end))
			return p;
		p++;
	}
	return NULL;
}

/* Has it what nested objects that begin like a row do not have? */
static bool
has_mark(const struct hf_jval *v)
{
	return hf_json_get(v, "timestamp") != NULL ||
	    hf_json_get(v, "sessionId") != NULL ||
	    hf_json_get(v, "$set") != NULL;
}

enum place { INSIDE, DOUBTFUL, ALONE };

/* Is the value [p, q) of the line a part of the row around it? */
static enum place
place_of(const struct hf_jsonl_state *s, const char *p, const char *q)
{
	const char *start = s->buf + s->pos, *end = s->buf + s->end;

	while (p > start && (is_blank(p[-1]) || p[-1] == '\0'))
		p--;
	while (q < end && (is_blank(*q) || *q == '\0'))
		q++;
	if (p == start)
		return ALONE;
	if (q < end && strchr(",]}", *q) != NULL)
		return INSIDE;
	if (strchr("[:,", p[-1]) == NULL)
		return ALONE;
	/* The last value so far of a row that is being written? */
	return q == end && !s->whole ? INSIDE : DOUBTFUL;
}

/* The next whole record in what is left of a damaged line. */
static bool
search(struct hf_jsonl *r, struct hf_jsonl_row *row)
{
	struct hf_jsonl_state *s = r->state;
	const char *p = s->buf + s->pos, *end = s->buf + s->end;

	/* Behind a row another may follow, however it begins. */
	while (s->behind_row && p < end && is_blank(*p))
		p++;
	if (!s->behind_row || p == end || *p != '{')
		p = next_head(p, end);
	for (; p != NULL && s->tries > 0; p = next_head(p + 1, end)) {
		struct hf_lex lex = { 0, false, false };
		size_t n = hf_lex_value(&lex, p, (size_t)(end - p));
		size_t cost = n != SIZE_MAX ? n : (size_t)(end - p);
		size_t at = (size_t)(p - s->buf);
		enum place place;
		bool mended;

		s->tries--;
		if (s->effort < cost)
			return false;
		s->effort -= cost;
		place = n != SIZE_MAX ? place_of(s, p, p + n) : INSIDE;
		if (place == INSIDE)
			continue;
		s->effort -= s->effort < n ? s->effort : n;
		if (parse(s, at, n, 0, NULL, &mended, NULL) &&
		    (place == ALONE || has_mark(hf_json_root(s->json))))
			return give(r, row, at, n, mended);
	}
	return false;
}

/* A string of the line at hand goes on in the next: puts them together up
 * to where the object ends. 1 and the row, 0 if that gives none, -1. */
static int
join(struct hf_jsonl *r, struct hf_jsonl_row *row, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	struct hf_lex lex = { 0, false, false };
	size_t at = s->next - s->pos, lf, n;
	int k;

	if (hf_lex_value(&lex, s->buf + s->pos, at) != SIZE_MAX ||
	    !lex.string)
		return 0;
	for (unsigned lines = 1; lines < HF_JSONL_JOIN; lines++) {
		const char *p;

		k = find_lf(r, at, &lf, err);
		if (k < 0)
			return -1;
		if (k == 0)
			lf = s->len - s->pos;
		p = s->buf + s->pos;
		r->stats.joining += lf - at;
		if (lf > HF_JSONL_MAX || r->stats.joining > JOIN_FREE +
		    JOIN_EFFORT * offset(s, s->len) || is_head(p + at, p + lf))
			return 0;
		n = hf_lex_value(&lex, p + at, lf + (k > 0) - at);
		if (n != SIZE_MAX) {
			if (!parse(s, s->pos, at + n, 0, NULL, NULL, NULL))
				return 0;
			s->end = s->pos + lf;
			s->next = s->end + (k > 0);
			s->whole = k > 0;
			give(r, row, s->pos, at + n, true);
			r->stats.lines += lines;
			return 1;
		}
		if (k == 0) {
			r->stats.open = true;
			return 0;
		}
		at = lf + 1;
	}
	return 0;
}

/* The whole line as a row that is skimmed: its length, 0 where it is no
 * ordinary one. */
static size_t
take_skimmed(struct hf_jsonl *r)
{
	struct hf_jsonl_state *s = r->state;
	size_t n = hf_json_skim(&s->json, hf_strn(s->buf + s->pos,
	    s->end - s->pos));

	return blank(s->buf + s->pos + n, s->buf + s->end) ? n : 0;
}

/* The same of a line that nothing is known of yet but that it begins where
 * the last one ended: most lines end here, and are gone over once. */
static bool
take_line(struct hf_jsonl *r, struct hf_jsonl_row *row)
{
	struct hf_jsonl_state *s = r->state;
	size_t n, end;

	if (s->pos == s->len || s->buf[s->pos] != '{')
		return false;
	n = hf_json_skim(&s->json, hf_strn(s->buf + s->pos,
	    s->len - s->pos));
	for (end = s->pos + n; n > 0 && end < s->len &&
	    s->buf[end] != '\n' && is_blank(s->buf[end]); end++)
		;
	if (n == 0 || end == s->len || s->buf[end] != '\n' ||
	    end - s->pos > HF_JSONL_MAX)
		return false;
	s->whole = true;
	s->why.code = HF_OK;
	give(r, row, s->pos, n, false);
	r->stats.lines++;
	s->pos = end + 1;
	r->stats.end = offset(s, s->pos);
	return true;
}

/* The first row of a line; most lines are one. 1, 0, -1. */
static int
take_first(struct hf_jsonl *r, struct hf_jsonl_row *row, struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	size_t used;
	bool mended;
	int k;

	s->fresh = false;
	if (s->pos == s->end)
		return 0;
	if (r->skim && (used = take_skimmed(r)) > 0)
		return give(r, row, s->pos, used, false);
	s->tries = TRIES;
	s->effort = (s->end - s->pos) * EFFORT;
	if (parse(s, s->pos, s->end - s->pos, HF_JSON_PREFIX, &used, &mended,
	    &s->why))
		return give(r, row, s->pos, used, mended);
	if (s->whole) {
		k = join(r, row, err);
		if (k != 0)
			return k;
	}
	return search(r, row);
}

int
hf_jsonl_next(struct hf_jsonl *r, struct hf_jsonl_row *row,
    struct hf_err *err)
{
	struct hf_jsonl_state *s = r->state;
	int k;

	for (;;) {
		if (!s->open) {
			if (r->skim && take_line(r, row))
				return 1;
			k = open_line(r, err);
			if (k <= 0)
				return k;
		}
		if (s->fresh)
			k = take_first(r, row, err);
		else if (s->pos < s->end)
			k = search(r, row);
		else
			k = 0;
		if (k != 0)
			return k;
		close_line(r);
	}
}

struct hf_json *
hf_jsonl_at(int fd, uint64_t off, uint64_t len, struct hf_buf *scratch,
    struct hf_err *err)
{
	struct hf_json *j = NULL;
	char *to;
	ssize_t n;

	hf_buf_clear(scratch);
	to = len <= HF_JSONL_MAX ? hf_buf_room(scratch, (size_t)len) : NULL;
	if (to == NULL) {
		hf_err_set(err, HF_E_OVERFLOW, "a row is too long");
		return NULL;
	}
	n = hf_io_pread(fd, to, (size_t)len, (off_t)off);
	if (n < 0) {
		hf_err_sys(err, errno, "cannot read a row again");
		return NULL;
	}
	if ((uint64_t)n == len)
		j = hf_json_parse(hf_strn(to, (size_t)n),
		    HF_JSON_RAW | HF_JSON_MEND | HF_JSON_ESCAPES, NULL, NULL,
		    NULL);
	if (j == NULL)
		hf_err_set(err, HF_E_CHANGED, "a row at byte %llu has "
		    "changed since it was read", (unsigned long long)off);
	return j;
}
