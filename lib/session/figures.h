/*
 * What the active branch says: one walk along it, from the root to the
 * leaf. Internal to lib/session.
 */
#ifndef HF_SESSION_FIGURES_H
#define HF_SESSION_FIGURES_H

#include "session/branch.h"

struct hf_figures {
	int64_t turns, compactions, micro, messages;
	bool seeded;
	enum hf_state state;

	/* The context: of the last row that states one and holds. */
	int64_t context;		/* -1: none */
	const char *from;		/* "usage", "compaction", "none" */
	/* Rows from this node on are estimated and added; HF_NONE: none
	 * may be (after a compaction only a newer usage counts). */
	uint32_t estimate;

	/* The last assistant message, if the turn did not end after it. */
	uint32_t group;			/* its first node; HF_NONE */
	uint32_t group_call;

	size_t visible, kept;		/* as in struct hf_path */
};

/* How far the walk had come behind a row: enough to go on from there. */
struct hf_figures_at {
	struct hf_figures g;	/* visible and kept say nothing */
	uint32_t anchor;	/* g.estimate is what follows this node;
				 * HF_NONE: nothing is estimated */
	uint8_t before;		/* enum hf_row_kind */
	bool ack;
};
/* A group that begins among the rows that a cursor left out. */
#define HF_CALL_OLD	(HF_NONE - 1)

/* b as hf_branch_find made it. base: where to go on behind HF_NODE_BASE, if
 * f is based and the branch leads there; else NULL. at, if not NULL, gets
 * the last of the nodes from index from on, and their states: an entry for
 * each node, of which those on the branch are set. */
void	hf_figures_count(struct hf_fold *f, const struct hf_branch *b,
	    const struct hf_figures_at *base, struct hf_figures *g,
	    struct hf_figures_at *at, uint32_t from);
/* The branch as a list, the caller's. */
void	hf_figures_path(const struct hf_fold *f, const struct hf_branch *b,
	    const struct hf_figures *g, struct hf_path *path);

#endif
