/*
 * The fold: one pass over a session's records gives its figures and its
 * active branch (DESIGN section 2, FORMATS 2.2, CASES M1 to M22).
 *
 * Per row of the chain one small node is kept (id, parent, place, kind,
 * context, a few dozen bytes); the branch is walked at the end from the
 * leaf, guarded against cycles. Rows at its end that need a closer look
 * (unfinished tool calls, estimates behind the anchor) are read again.
 */
#ifndef HF_SESSION_METRICS_H
#define HF_SESSION_METRICS_H

#include "agent/agent.h"
#include "config/config.h"
#include "json/doc.h"

enum hf_state { HF_STATE_UNKNOWN, HF_STATE_IDLE, HF_STATE_BUSY,
	HF_STATE_INTERRUPTED };
const char *hf_state_name(enum hf_state s);

enum { HF_ACTIVITY_MAX = 32 };

struct hf_metrics {
	int64_t tokens, capacity;
	const char *tokens_from;	/* usage compaction estimate none */
	const char *capacity_from;	/* transcript option host config table
					 * usage unknown */
	int64_t turns, compactions, micro, messages;
	bool seeded;			/* begins with a brief; turns and
					 * messages count what came after */
	enum hf_state state;
	char *activity[HF_ACTIVITY_MAX];	/* own */
	size_t nactivity;
	char *owned[HF_ACTIVITY_MAX];	/* running sub-agents; own */
	size_t nowned;
	struct hf_live live;
	int64_t quiet;			/* seconds; -1 unknown */
	int64_t calls;
	struct hf_usage total;
	uint64_t rows, duplicates, sidechain, inherited, errors, bad, mended;
	uint64_t seq;			/* meaningful rows */
	char digest[HF_DIGEST_LEN];	/* "sha256:…" over them */
	struct hf_file_id file;
	char *cursor;			/* own; NULL: none */
};
void	hf_metrics_release(struct hf_metrics *m);

/* The active branch, root first. */
struct hf_path_row {
	struct hf_ref ref;
	uint8_t kind;			/* enum hf_row_kind */
	uint16_t flags;			/* HF_ROW_* */
};
struct hf_path {
	struct hf_path_row *row;
	size_t n;
	size_t visible;		/* the model sees from here: the last
				 * compaction or reset */
	size_t kept;		/* rows [kept, visible) are seen behind the
				 * summary; kept == visible: none */
};
void	hf_path_release(struct hf_path *p);

struct hf_measure {
	const struct hf_config *config;	/* NULL: no model table of one's own */
	int64_t capacity_option;	/* 0: none */
	int64_t capacity_host;		/* hook or statusline; 0: none */
	uint64_t limit;			/* bytes of the file; 0: all */
	bool strict, explain;
	bool stale_check;	/* ask live marks and quiet time, if the
				 * transcript lies in its agent's own store:
				 * a copy elsewhere says nothing of that */
	struct hf_str cursor;	/* of an earlier measuring; none. One that is
				 * of no use is as good as none */
	bool keep;		/* make a cursor for the next time */
};

/* Measures s (path set), and completes it. The result is the same with a
 * cursor and without. Every out parameter may be
 * NULL. src NULL: opens s->path. Errors: HF_E_NOT_A_SESSION (nothing
 * recognised: never zeros), HF_E_EMPTY, HF_E_UNSUPPORTED, HF_E_IO,
 * HF_E_INVALID (strict). */
int	hf_measure(struct hf_session *s, struct hf_source *src,
	    const struct hf_measure *how, struct hf_metrics *m,
	    struct hf_path *path, struct hf_err *err);

/* Only the file's identity: the cheap half of "is it unchanged?". */
int	hf_measure_file(const char *path, struct hf_file_id *out,
	    struct hf_err *err);
bool	hf_file_id_same(const struct hf_file_id *a,
	    const struct hf_file_id *b);

/* Sets "session" of a document. */
void	hf_session_to_doc(struct hf_doc *d, const struct hf_session *s);
/* Sets "session" and "metrics" of a document. */
void	hf_metrics_to_doc(struct hf_doc *d, const struct hf_session *s,
	    const struct hf_metrics *m);
/* Reads them back, both the caller's: HF_E_MISSING when a member that is
 * needed is not there or of another type (nothing is to be released then).
 * session->agent NULL for a name that is none. */
int	hf_metrics_from_doc(const struct hf_doc *d, struct hf_session *s,
	    struct hf_metrics *m, struct hf_err *err);

#endif
