/*
 * The cursor: what a measuring knew at its end, so that a later one reads
 * only what was appended and says the same as if it had read all.
 *
 * It holds the figures themselves, which stand while the file is the same;
 * and, to go on from, what was counted, what the agent keeps, and the last
 * rows of the chain with their calls. Of the rows before, one on the branch
 * is the base: the walk along the branch begins there again, with what it
 * knew. A later row that refers to what was left out (another parent, an id
 * or a call that was there before) is noticed, and all is read afresh. So is
 * a file that is another one, has become shorter, or differs at its
 * beginning or where the reading ended.
 *
 * The text is base64 of a format of its own with a checksum; nothing but
 * this reads it. At most some 30 KB, mostly a few. Internal to lib/session.
 */
#ifndef HF_SESSION_CURSOR_H
#define HF_SESSION_CURSOR_H

#include "session/activity.h"

struct hf_cursor {
	struct hf_buf bytes;
	size_t at;			/* read so far */
	bool bad;

	struct hf_file_id file;
	struct hf_metrics m;		/* what depends on the file alone */
	struct hf_activity open;
	int64_t window, peak, time, queue;	/* as in struct hf_fold */

	bool resumes;			/* what follows is there, too */
	struct hf_hash128 head, tail;	/* the first bytes, the last before
					 * place.off */
	uint32_t nparts;
	uint64_t parts;			/* hash of what the parts before the
					 * last are the same by */
	struct hf_source_place place;
	struct hf_figures_at base;	/* if the fold is based */
};

/* Reads text; s gets what it says of the session, its agent, if it is not
 * set, and its id among that. False: it is no cursor of ours, or another
 * agent's; s is not changed then. */
bool	hf_cursor_open(struct hf_cursor *c, struct hf_str text,
	    struct hf_session *s);
/* The rest of it. f and sc are made ready for the session. False, and both
 * are to be released, when it is damaged. */
bool	hf_cursor_load(struct hf_cursor *c, struct hf_fold *f,
	    struct hf_scan *sc);
void	hf_cursor_release(struct hf_cursor *c);

/* Does src, opened anew, begin with what was read? Then it goes on there. */
bool	hf_cursor_resume(const struct hf_cursor *c, struct hf_source *src,
	    const struct hf_session *s);

/* What is needed of a fold before its branch is found, for its last nodes,
 * and of its figures. */
enum { HF_CURSOR_NODES = 384 };
struct hf_cursor_end {
	uint32_t from;			/* the first of the last nodes */
	struct { uint32_t up; uint8_t link; } link[HF_CURSOR_NODES];
	int cut[HF_CURSOR_NODES + 1];	/* changes of: how many things lie on
					 * both sides of a node, which so
					 * cannot be the base */
	struct { uint32_t node; uint64_t id; } missing[HF_CURSOR_NODES];
	size_t nmissing;		/* parents that are not there */
	bool many;			/* more of them */
	struct hf_figures_at at[HF_CURSOR_NODES];
};
void	hf_cursor_prepare(const struct hf_fold *f, struct hf_cursor_end *e);

/* What is to be written. */
struct hf_cursor_in {
	struct hf_fold *f;		/* changed by it */
	const struct hf_branch *branch;
	const struct hf_figures *g;
	struct hf_cursor_end *end;
	const struct hf_figures_at *base;	/* of f, if it is based */
	const struct hf_source *src;	/* read to its end */
	const struct hf_metrics *m;
	const struct hf_activity *open;
	const void *own;		/* what the agent kept, and the window
					 * that it stated, at the end */
	int64_t window;
};
/* The text, the caller's; NULL when it would be too long. */
char	*hf_cursor_write(const struct hf_cursor_in *in);

#endif
