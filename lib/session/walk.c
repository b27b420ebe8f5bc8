#include <stdlib.h>
#include <string.h>

#include "session/figures.h"
#include "session/reread.h"
#include "session/walk.h"

struct hf_walk_want {
	struct hf_reread again;
};

/* Reads everything once for the branch; the source and the scan stay, to
 * read its rows again. */
static int
find(struct hf_walk *w, struct hf_err *err)
{
	struct hf_fold fold;
	struct hf_branch branch;
	struct hf_figures figures;
	int rc;

	hf_fold_init(&fold, w->session, &w->src);
	hf_fold_scan_init(&fold, &w->scan);
	rc = hf_fold_run(&fold, &w->scan, &w->src, err);
	if (rc == 0) {
		hf_branch_find(&fold, &branch);
		hf_figures_count(&fold, &branch, NULL, &figures, NULL, 0);
		hf_figures_path(&fold, &branch, &figures, &w->path);
	}
	hf_fold_release(&fold);
	return rc;
}

int
hf_walk_open(struct hf_walk *w, struct hf_session *s, uint64_t limit,
    struct hf_err *err)
{
	memset(w, 0, sizeof(*w));
	w->session = s;
	hf_blocks_init(&w->blocks);
	if (s->agent == NULL && s->path != NULL &&
	    hf_session_peek(s->path, s, err) < 0)
		return -1;
	if (hf_source_open(&w->src, s, limit, err) < 0)
		return -1;
	w->own_source = true;
	if (find(w, err) < 0) {
		hf_walk_close(w);
		return -1;
	}
	w->want = hf_calloc(1, sizeof(*w->want));
	hf_reread_init(&w->want->again, &w->src, &w->scan);
	return 0;
}

int
hf_walk_next(struct hf_walk *w, struct hf_row *row,
    const struct hf_blocks **blocks, size_t *index, struct hf_err *err)
{
	const struct hf_path_row *at;
	const struct hf_row *got;

	if (w->at >= w->path.n)
		return 0;
	at = &w->path.row[w->at];
	if (hf_reread(&w->want->again, at->ref, &got, err) < 0)
		return -1;
	/* What the fold knew of it counts: translated alone, a row may look
	 * otherwise than in its order. */
	*row = *got;
	row->kind = (enum hf_row_kind)at->kind;
	row->flags = at->flags;
	row->ref = at->ref;
	hf_blocks_clear(&w->blocks);
	w->session->agent->blocks(row, &w->blocks);
	*blocks = &w->blocks;
	if (index != NULL)
		*index = w->at;
	w->at++;
	return 1;
}

void
hf_walk_seek(struct hf_walk *w, size_t i)
{
	w->at = i;
}

void
hf_walk_close(struct hf_walk *w)
{
	if (w->want != NULL)
		hf_reread_release(&w->want->again);
	free(w->want);
	hf_blocks_release(&w->blocks);
	hf_fold_scan_release(&w->scan);
	hf_path_release(&w->path);
	if (w->own_source)
		hf_source_close(&w->src);
	memset(w, 0, sizeof(*w));
}
