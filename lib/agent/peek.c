#include "agent/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/unpack.h"
#include "base/clock.h"
#include "base/io.h"
#include "json/jsonl.h"
#include "json/skim.h"

/*
 * The beginning tells whose a session is, its folder and its first prompt;
 * the end its last prompt, title and model. What lies between is not read.
 * A row that is longer than an end is read whole at the beginning, where
 * nothing is known without it, and so are instructions in front of the first
 * prompt; at the end more is looked at in steps.
 */
enum {
	END = (32 << 10) - 64,	/* bytes of an end */
	END_MAX = 64 * END,	/* of one whose last rows are long */
	HEAD_MAX = 512 << 10,	/* of a beginning without a prompt */
	FIRST_MAX = 64 << 20,	/* of a long first row */
	RECS = 8,		/* records that recognise() gets */
	PACKED_HEAD = 256 << 10,
	FUTURE_MS = 5 * 60 * 1000
};

struct peek {
	struct hf_session *s;
	struct hf_scan scan;
	int fd;				/* plain bytes */
	const char *name;
	uint64_t size;			/* of what fd has */
	uint64_t head;			/* bytes of the beginning: whole rows */
	bool packed;			/* fd has the beginning only */
	uint64_t first_max;		/* longest first row that is read */
	int64_t now;
	int64_t prompted, oldest;	/* times of rows; -1 */
	enum hf_turn turn;		/* what the last row said */
	char *text;			/* the n bytes at off: read once */
	uint64_t off;
	size_t n;
};

/* Has the bytes at off in memory, n of them or as many as there are. */
static int
fetch(struct peek *pk, uint64_t off, size_t n, struct hf_err *err)
{
	ssize_t got;

	if (pk->text != NULL && off >= pk->off &&
	    off - pk->off <= pk->n && n <= pk->n - (off - pk->off))
		return 0;
	free(pk->text);
	pk->text = hf_malloc(n + HF_SKIM_PAD);
	pk->off = off;
	pk->n = 0;
	got = hf_io_pread(pk->fd, pk->text, n, (off_t)off);
	if (got < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", pk->name);
	pk->n = (size_t)got;
	return 0;
}

static void
reader_init(struct peek *pk, struct hf_jsonl *r, uint64_t from, uint64_t to)
{
	hf_jsonl_init(r, pk->fd, pk->name, from, to);
	r->skim = true;
	r->known = hf_strn(pk->text, pk->n);
	r->known_off = pk->off;
}

/* ---- rows ---- */

static void
on_row(struct hf_scan *sc, const struct hf_row *row)
{
	struct peek *pk = sc->to;

	if (row->turn != HF_TURN_NONE && !(row->flags & HF_ROW_SIDECHAIN))
		pk->turn = row->turn;
	if (!(row->flags & HF_ROW_CHAIN) || row->time < 0 ||
	    row->time > pk->now + FUTURE_MS)
		return;
	if (pk->oldest < 0 || row->time < pk->oldest)
		pk->oldest = row->time;
	if (row->kind == HF_ROW_PROMPT &&
	    !(row->flags & (HF_ROW_SIDECHAIN | HF_ROW_KEPT)))
		pk->prompted = row->time;
}

/* Gives the records of a range of the file to the agent; *end, if not NULL,
 * gets the place behind them. */
static int
scan_range(struct peek *pk, uint64_t from, uint64_t to, size_t max,
    uint64_t *end, struct hf_err *err)
{
	struct hf_jsonl reader;
	struct hf_jsonl_row row;
	struct hf_record rec;
	int r = 1;

	reader_init(pk, &reader, from, to);
	while (max-- > 0 && (r = hf_jsonl_next(&reader, &row, err)) > 0) {
		rec = (struct hf_record){ .v = row.v, .raw = row.raw,
		    .line = row.line, .ref = { .off = row.off,
		    .len = (uint32_t)row.raw.n } };
		pk->s->agent->row(&pk->scan, &rec);
	}
	if (end != NULL)
		*end = reader.stats.end;
	hf_jsonl_release(&reader);
	return r < 0 ? -1 : 0;
}

/* ---- whose is it ---- */

/*
 * Where a row begins among the want bytes at off: behind their last line
 * end, or with first behind the first one. None: off, with first the end
 * of them.
 */
static int
row_start(struct peek *pk, uint64_t off, uint64_t want, bool first,
    uint64_t *out, struct hf_err *err)
{
	const char *chunk;
	ssize_t n, i;

	if (fetch(pk, off, (size_t)want, err) < 0)
		return -1;
	chunk = pk->text + (off - pk->off);
	n = (ssize_t)(pk->n - (off - pk->off));
	if (n > (ssize_t)want)
		n = (ssize_t)want;
	if (first) {
		for (i = 0; i < n && chunk[i] != '\n'; i++)
			;
		*out = off + (uint64_t)(i < n ? i + 1 : i);
	} else {
		for (i = n; i > 0 && chunk[i - 1] != '\n'; i--)
			;
		*out = off + (uint64_t)(i > 0 ? i : 0);
	}
	return 0;
}

/* A record, whose strings may lie in what is in memory. */
static struct hf_json *
rec_of(const struct peek *pk, const struct hf_jsonl_row *row)
{
	struct hf_json *j = NULL;
	struct hf_str text = row->raw;

	if (row->off >= pk->off && row->off + text.n <= pk->off + pk->n) {
		text.s = pk->text + (row->off - pk->off);
		if (hf_json_skim(&j, text) == text.n)
			return j;
		hf_json_free(j);
	}
	return hf_json_parse(text, HF_JSON_RAW | HF_JSON_MEND |
	    HF_JSON_ESCAPES, NULL, NULL, NULL);
}

struct recs {
	struct hf_json *json[RECS];
	const struct hf_jval *v[RECS];
	size_t n;
	bool blank;		/* nothing was there at all */
};

static void
recs_release(struct recs *rs)
{
	while (rs->n > 0)
		hf_json_free(rs->json[--rs->n]);
}

/* The first records of the file, up to byte to. */
static int
recs_read(struct peek *pk, uint64_t to, struct recs *rs, struct hf_err *err)
{
	struct hf_jsonl reader;
	struct hf_jsonl_row row;
	int r = 1;

	memset(rs, 0, sizeof(*rs));
	reader_init(pk, &reader, 0, to);
	while (rs->n < RECS && (r = hf_jsonl_next(&reader, &row, err)) > 0) {
		/* The reader's memory ends with the row. */
		rs->json[rs->n] = rec_of(pk, &row);
		rs->v[rs->n] = hf_json_root(rs->json[rs->n]);
		rs->n++;
	}
	rs->blank = rs->n == 0 && reader.stats.bad == 0 &&
	    !reader.stats.torn;
	hf_jsonl_release(&reader);
	return r < 0 ? -1 : 0;
}

static const struct hf_agent *
recognise(const char *path, const struct recs *rs)
{
	const struct hf_agent *const *agents, *best = NULL;
	size_t i, n;
	int score, top = 0;

	agents = hf_agents(&n);
	for (i = 0; i < n; i++) {
		if (agents[i]->recognise == NULL)
			continue;
		score = agents[i]->recognise(path, rs->v, rs->n);
		if (score > top) {
			top = score;
			best = agents[i];
		}
	}
	return best;
}

static int
not_a_session(const struct peek *pk, struct hf_err *err)
{
	return hf_err_set(err, HF_E_NOT_A_SESSION,
	    "'%s' is not a session of a known agent", pk->name);
}

/* Sets the session's agent. */
static int
find_agent(struct peek *pk, const char *path, struct hf_err *err)
{
	struct recs rs;
	bool more = pk->head < pk->size;
	bool blank;

	if (recs_read(pk, pk->head > 0 ? pk->head : END, &rs, err) < 0)
		return -1;
	if (rs.n == 0 && more && !pk->packed) {
		recs_release(&rs);
		if (recs_read(pk, pk->first_max, &rs, err) < 0)
			return -1;
		more = pk->size > pk->first_max;
	}
	pk->s->agent = recognise(path, &rs);
	blank = rs.blank && !more;
	recs_release(&rs);
	if (blank)
		return hf_err_set(err, HF_E_EMPTY, "'%s' is empty", pk->name);
	return pk->s->agent != NULL ? 0 : not_a_session(pk, err);
}

/* ---- the two ends ---- */

static int
scan_head(struct peek *pk, struct hf_err *err)
{
	uint64_t from, len, left;
	int r;

	if (pk->head == 0)
		r = scan_range(pk, 0, pk->first_max, 1, &pk->head, err);
	else
		r = scan_range(pk, 0, pk->head, SIZE_MAX, NULL, err);
	for (len = END; r == 0 && pk->s->title == NULL &&
	    pk->head + END < pk->size && len < HEAD_MAX; len *= 2) {
		from = pk->head;
		left = pk->size - END - from;
		if (row_start(pk, from, len < left ? len : left, false,
		    &pk->head, err) < 0)
			return -1;
		r = scan_range(pk, from, pk->head, SIZE_MAX, NULL, err);
	}
	return r;
}

static int
scan_tail(struct peek *pk, struct hf_err *err)
{
	uint64_t len, from;
	int64_t oldest = pk->oldest, prompted = pk->prompted;

	if (pk->packed || pk->head >= pk->size)
		return 0;
	for (len = END;; len *= 8) {
		pk->oldest = pk->prompted = -1;
		from = pk->size > pk->head + len ? pk->size - len : pk->head;
		if (from > pk->head &&
		    row_start(pk, from, len, true, &from, err) < 0)
			return -1;
		if (scan_range(pk, from, pk->size, SIZE_MAX, NULL, err) < 0)
			return -1;
		if (pk->oldest >= 0 || from <= pk->head || len >= END_MAX)
			break;
	}
	if (pk->oldest < 0) {
		pk->oldest = oldest;
		pk->prompted = prompted;
	} else if (pk->prompted < 0 && from <= pk->head) {
		/* Nothing was left out: what the beginning said holds. */
		pk->prompted = prompted;
	}
	return 0;
}

static int
scan_ends(struct peek *pk, struct hf_err *err)
{
	struct hf_session *s = pk->s;

	pk->scan.session = s;
	pk->scan.emit = on_row;
	pk->scan.to = pk;
	pk->scan.own = hf_calloc(1, s->agent->own_size + 1);
	hf_arena_init(&pk->scan.arena);
	if (scan_head(pk, err) < 0 || scan_tail(pk, err) < 0)
		return -1;
	if (pk->scan.unsupported)
		return hf_err_set(err, HF_E_UNSUPPORTED,
		    "'%s' is of a later version of %s than is known",
		    pk->name, s->agent->label);
	if (!pk->scan.recognised)
		return not_a_session(pk, err);
	s->prompted = pk->prompted >= 0 ? pk->prompted : pk->oldest;
	return 0;
}

static void
release_scan(struct peek *pk)
{
	free(pk->scan.own);
	free(pk->text);
	hf_arena_clear(&pk->scan.arena);
}

/* Everything from fd, which has size bytes; path is NULL for stdin. */
static int
peek(struct peek *pk, const char *path, struct hf_err *err)
{
	int r = 0;

	pk->now = hf_clock_now();
	pk->prompted = pk->oldest = -1;
	pk->head = pk->size;
	if (pk->size == 0)
		return hf_err_set(err, HF_E_EMPTY, "'%s' is empty", pk->name);
	if (pk->packed || pk->size > END)
		r = row_start(pk, 0, pk->packed ? pk->size : END, false,
		    &pk->head, err);
	else
		r = fetch(pk, 0, (size_t)pk->size, err);
	if (r == 0)
		r = find_agent(pk, path, err);
	if (r == 0 && pk->s->path != NULL && pk->s->agent->by_path != NULL)
		pk->s->agent->by_path(pk->s);
	if (r == 0)
		r = scan_ends(pk, err);
	release_scan(pk);
	return r;
}

/* ---- files ---- */

static char *
absolute(const char *path)
{
	char *cwd, *full;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '/')
		return hf_strdup(path);
	cwd = realpath(".", NULL);
	if (cwd == NULL)
		return hf_strdup(path);
	full = hf_path_join(cwd, path);
	free(cwd);
	return full;
}

/* The beginning of a compressed file, unpacked: a descriptor. */
static int
plain_head(int fd, const char *name, struct hf_err *err)
{
	struct hf_buf head = HF_BUF_INIT;
	int to = -1;

	if (hf_unpack_head(fd, name, PACKED_HEAD, &head, err) == 0 &&
	    (to = hf_unpack_temp(err)) >= 0 &&
	    hf_io_write(to, head.data, head.len) < 0) {
		hf_err_sys(err, errno, "cannot store '%s' for reading", name);
		close(to);
		to = -1;
	}
	hf_buf_release(&head);
	return to;
}

static int
set_size(struct peek *pk, struct hf_err *err)
{
	struct stat sb;

	if (fstat(pk->fd, &sb) < 0)
		return hf_err_sys(err, errno, "cannot look at '%s'",
		    pk->name);
	pk->size = (uint64_t)sb.st_size;
	return 0;
}

static int
peek_fd(int fd, const char *path, struct hf_session *s, struct hf_err *err)
{
	struct peek pk = { .s = s, .fd = fd, .name = path,
	    .first_max = FIRST_MAX };
	struct stat sb;
	int r = -1;

	if (fstat(fd, &sb) < 0)
		return hf_err_sys(err, errno, "cannot look at '%s'", path);
	s->path = absolute(path);
	s->size = (int64_t)sb.st_size;
	s->mtime = (int64_t)sb.st_mtim.tv_sec * 1000 +
	    sb.st_mtim.tv_nsec / 1000000;
	if (hf_unpack_is(fd)) {
		pk.packed = true;
		if ((pk.fd = plain_head(fd, path, err)) < 0)
			return -1;
	} else if ((r = hf_unpack_document(fd, path, &pk.fd, err)) < 0) {
		return -1;
	} else if (r > 0) {
		pk.first_max = HF_JSONL_MAX;
	}
	r = -1;
	if (set_size(&pk, err) == 0)
		r = peek(&pk, s->path, err);
	if (pk.fd != fd)
		close(pk.fd);
	return r;
}

int
hf_session_peek(const char *path, struct hf_session *s, struct hf_err *err)
{
	const struct hf_agent *agent = hf_agent_of_rows(path);
	int fd, r;

	hf_session_init(s);
	if (agent != NULL) {
		r = agent->rows->peek(path, s, err);
	} else {
		if ((fd = hf_peek_open(path, err)) < 0)
			return -1;
		r = peek_fd(fd, path, s, err);
		close(fd);
	}
	if (r < 0)
		hf_session_release(s);
	return r;
}

int
hf_session_peek_source(struct hf_source *src, struct hf_session *s,
    struct hf_err *err)
{
	struct peek pk = { .s = s, .fd = src->part[0].fd,
	    .name = src->part[0].path, .first_max = HF_JSONL_MAX };
	int r = -1;

	hf_session_init(s);
	if (set_size(&pk, err) == 0)
		r = peek(&pk, NULL, err);
	if (r < 0) {
		hf_session_release(s);
		return -1;
	}
	s->size = (int64_t)pk.size;
	src->agent = s->agent;
	return 0;
}

int
hf_peek_open(const char *path, struct hf_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat sb;

	if (fd < 0)
		return hf_err_open(err, errno, "cannot open '%s'", path);
	if (fstat(fd, &sb) < 0)
		hf_err_sys(err, errno, "cannot look at '%s'", path);
	else if (S_ISDIR(sb.st_mode))
		hf_err_set(err, HF_E_NOT_A_SESSION,
		    "'%s' is a folder, not a session", path);
	else if (!S_ISREG(sb.st_mode))
		hf_err_set(err, HF_E_NOT_A_SESSION,
		    "'%s' is not a regular file", path);
	else
		return fd;
	close(fd);
	return -1;
}

enum hf_turn
hf_peek_turn(const struct hf_agent *agent, const char *path)
{
	struct hf_session s;
	struct peek pk = { .s = &s, .name = path, .prompted = -1,
	    .oldest = -1, .first_max = FIRST_MAX };

	hf_session_init(&s);
	s.agent = agent;
	if ((pk.fd = hf_peek_open(path, NULL)) < 0)
		return HF_TURN_NONE;
	if (set_size(&pk, NULL) < 0 || scan_ends(&pk, NULL) < 0)
		pk.turn = HF_TURN_NONE;
	release_scan(&pk);
	close(pk.fd);
	hf_session_release(&s);
	return pk.turn;
}
