/*
 * A text as it reads with one layer of spelling taken off, and where each
 * of its bytes stands in the original: a secret is looked for in all of
 * them, and masked in the original.
 */
#ifndef HF_BRIEF_VIEWS_H
#define HF_BRIEF_VIEWS_H

#include "base/buf.h"
#include "brief/shapes.h"

enum hf_layer {
	HF_LAYER_BACKSLASH,	/* JSON's \n \u0041, Markdown's \_ … */
	HF_LAYER_PERCENT,	/* %2F */
	HF_LAYER_LINES		/* tokens that a line break splits */
};
struct hf_view_edit;
struct hf_view {
	struct hf_buf text;
	struct hf_view_edit *edit;	/* where it differs, in order */
	size_t n, cap;
};
#define HF_VIEW_INIT	{ HF_BUF_INIT, NULL, 0, 0 }

/* Takes the layer off; false when there is nothing of it (or the text has
 * 4 GiB and more). Of the text the view has what stands near something that
 * was taken off, at least so many bytes on both sides and on to a blank;
 * for the rest it has one blank. May be called again. */
bool	hf_view_make(struct hf_view *v, enum hf_layer layer,
	    struct hf_str text, size_t near);
void	hf_view_release(struct hf_view *v);
/* Makes a span of the view, not empty, the bytes of the original that it
 * stands for; false when it holds a piece that was left out. */
bool	hf_view_span(const struct hf_view *v, struct hf_span *s);

#endif
