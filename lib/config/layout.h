/*
 * Changing the text of a JSON file that people write too: comments, order,
 * indent and the spelling of numbers stay. The text has been parsed before
 * (comments and trailing commas allowed); what is done here relies on that,
 * and only has to end whatever it meets.
 */
#ifndef HF_CONFIG_LAYOUT_H
#define HF_CONFIG_LAYOUT_H

#include <stdint.h>

#include "base/buf.h"

#define HF_NOWHERE	SIZE_MAX

/* Offsets of a member, or of an array's element: then key is value. */
struct hf_member {
	size_t key, value, end;
	size_t comma;		/* behind it; HF_NOWHERE: none */
	size_t before;		/* the comma of the one before it */
};
struct hf_layout {
	struct hf_str t;
	size_t open;		/* its bracket */
	size_t close;		/* set once it was gone over */
	struct hf_member first, last;	/* key HF_NOWHERE: none (yet) */
	struct hf_member m;	/* the current one */
	size_t i;		/* internal */
};

/* Where the one value of a text begins, behind a byte-order mark, blanks
 * and comments; t.n if there is none. */
size_t	hf_layout_root(struct hf_str t);
/* Goes over the object or array whose bracket is at open. */
void	hf_layout_enter(struct hf_layout *l, struct hf_str t, size_t open);
bool	hf_layout_next(struct hf_layout *l);
bool	hf_layout_is(const struct hf_layout *l, const char *key);
/* Goes over all of it: true with l->m the first member of that name. */
bool	hf_layout_find(struct hf_layout *l, struct hf_str t, size_t open,
	    struct hf_str key);

/* Appends the text with a member (key none: an element) added at the end of
 * l, which was gone over. value is compact JSON; with pretty it gets lines
 * of its own where l has them. */
void	hf_layout_add(struct hf_buf *out, const struct hf_layout *l,
	    struct hf_str key, struct hf_str value, bool pretty);
/* Appends the text without it: its comma, and its lines if nothing else is
 * on them. */
void	hf_layout_remove(struct hf_buf *out, struct hf_str t,
	    const struct hf_member *m);
/* Appends the text with another value for it. */
void	hf_layout_replace(struct hf_buf *out, struct hf_str t,
	    const struct hf_member *m, struct hf_str value);

#endif
