/*
 * Walking the active branch: each of its rows with what is in it, in
 * order, once. Render, facts and grounding are consumers of one walk.
 */
#ifndef HF_SESSION_WALK_H
#define HF_SESSION_WALK_H

#include "session/metrics.h"

struct hf_walk {
	struct hf_session *session;	/* borrowed */
	struct hf_source src;
	struct hf_path path;
	size_t at;
	struct hf_scan scan;
	struct hf_blocks blocks;
	struct hf_walk_want *want;	/* internal */
	bool own_source;
};

/* Opens s->path, looks at limit bytes (the document's file.size), finds
 * the branch. */
int	hf_walk_open(struct hf_walk *w, struct hf_session *s,
	    uint64_t limit, struct hf_err *err);
/* 1 with the next row and its blocks (until the next call), 0, -1. index,
 * if not NULL, gets the place on the branch. */
int	hf_walk_next(struct hf_walk *w, struct hf_row *row,
	    const struct hf_blocks **blocks, size_t *index,
	    struct hf_err *err);
/* Goes on from place i of the branch. */
void	hf_walk_seek(struct hf_walk *w, size_t i);
void	hf_walk_close(struct hf_walk *w);

#endif
