/*
 * Rows of a transcript: JSON Lines as agents and crashes leave them.
 *
 * Only LF ends a row (CR before it, a byte order mark at the start, blank
 * lines and a missing last LF are no damage). A damaged row costs that row
 * at most (FORMATS 2.1, CASES M8, M9):
 *  - bad UTF-8, unpaired surrogates, wrong escapes and control bytes in
 *    strings are mended; it counts unless it is where a skimmer does not
 *    look (skim.h), in what is long;
 *  - a line that does not parse, or has something behind a row, is searched
 *    for whole records ({"parentUuid", {"type", {"timestamp" and the other
 *    keys that rows of the six formats begin with): each one is a row, each
 *    piece between them is bad. What may be a part of the row around it is
 *    none. The search is bounded: 4096 tries, eight times the line;
 *  - runs of NUL bytes are stepped over, each of them bad;
 *  - a string split by raw newlines is joined again, over at most 64 lines;
 *  - a last line without LF that does not parse, or NUL bytes at the end,
 *    are a torn tail, not bad;
 *  - a line over 256 MiB is skipped and bad.
 * Memory: twice the longest row that is kept, and its values.
 */
#ifndef HF_JSON_JSONL_H
#define HF_JSON_JSONL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"

enum { HF_JSONL_MAX = 256 << 20, HF_JSONL_JOIN = 64 };

struct hf_jsonl_row {
	const struct hf_jval *v;	/* an object; until the next call */
	struct hf_str raw;		/* its bytes in the file */
	uint64_t off;			/* where they begin */
	uint64_t line;			/* from 1 */
	bool mended;			/* or joined */
};

struct hf_jsonl_stats {
	uint64_t rows, bad, mended;	/* mended: of the rows */
	uint64_t bytes;		/* read so far, torn tail included */
	uint64_t lines;		/* whole ones before end; a caller that goes
				 * on from end may set it back after init */
	uint64_t end;		/* offset where a later reading goes on:
				 * behind the last whole line or row */
	uint64_t joining;	/* bytes that joining has looked at; to be set
				 * back like lines */
	bool torn;		/* the last line is torn */
	bool open;		/* what follows the last byte may still change
				 * what was read: a row without its LF, a
				 * string that goes on in the next line */
};

struct hf_jsonl {
	int fd;
	const char *name;	/* for messages */
	uint64_t limit;		/* bytes to look at from the start */
	struct hf_jsonl_stats stats;
	/* What is dropped and why, one call each; NULL: silent. */
	void (*explain)(uint64_t line, uint64_t off, const char *why,
	    void *arg);
	void *explain_arg;
	/* May be set after init: rows are skimmed where that is simple (long
	 * strings of v are cut), which is much faster; raw is whole. What is
	 * counted and dropped is the same. */
	bool skim;
	/* Bytes of the file, from known_off on, that need not be read. */
	struct hf_str known;
	uint64_t known_off;
	struct hf_jsonl_state *state;	/* internal */
};

/* Reads fd (positioned reads) from off up to limit (UINT64_MAX: its end).
 * The descriptor stays the caller's. */
void	hf_jsonl_init(struct hf_jsonl *r, int fd, const char *name,
	    uint64_t off, uint64_t limit);
void	hf_jsonl_release(struct hf_jsonl *r);
/* 1 and the next row, 0 at the end, -1 (I/O, cancelled). Arrays and
 * scalars alone on a line count as bad. A file that shrinks while it is read
 * just ends. */
int	hf_jsonl_next(struct hf_jsonl *r, struct hf_jsonl_row *row,
	    struct hf_err *err);
/* A row again by its place: parses len bytes at off the same way; scratch
 * is used for them. HF_E_CHANGED when there is no such row any more. */
struct hf_json *hf_jsonl_at(int fd, uint64_t off, uint64_t len,
	    struct hf_buf *scratch, struct hf_err *err);

#endif
