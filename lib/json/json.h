/*
 * JSON: the only caller of yyjson.
 *
 * Reading: a parsed text (struct hf_json) owns its values; values are
 * borrowed from it. Every accessor takes NULL and gives "nothing", so
 * chains like hf_json_get(hf_json_get(v, "message"), "usage") need no
 * checks between. Writing: a tree in a struct hf_jtree.
 */
#ifndef HF_JSON_JSON_H
#define HF_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

struct hf_json;			/* a parsed text */
struct hf_jval;			/* a value in it */

/* A number keeps its spelling, with every flag: nothing is lost by reading
 * "1.10", "1e999" or 12345678901234567890 and writing it again. */
enum {
	HF_JSON_RAW = 1,	/* says so where it matters; no effect */
	HF_JSON_COMMENTS = 2,	/* comments and trailing commas allowed */
	HF_JSON_MEND = 4,	/* bad UTF-8, unpaired surrogate escapes and
				 * raw control bytes in strings become U+FFFD
				 * or their escapes instead of an error */
	HF_JSON_PREFIX = 8,	/* something may follow the first value */
	HF_JSON_ESCAPES = 16,	/* with MEND, a backslash that begins no
				 * escape stands for itself */
};

/* NULL with HF_E_INVALID ("line L: what" for multi-line texts, "byte B:
 * what" else, both from 1). Nesting beyond 512 levels is an error, never a
 * crash; so are values that need more than 64 MiB and twice the text's
 * length. *used, if not NULL, gets the bytes read; *mended whether MEND
 * changed something. Empty text is an error. The text is copied. */
struct hf_json *hf_json_parse(struct hf_str text, unsigned flags,
	    size_t *used, bool *mended, struct hf_err *err);
/* The same into *j, whose memory is used again; what it held is gone. *j
 * may be NULL and is the caller's whatever is returned: 0 or -1. */
int	hf_json_again(struct hf_json **j, struct hf_str text, unsigned flags,
	    size_t *used, bool *mended, struct hf_err *err);
/* The same of an object that text begins with, skimmed (skim.h): strings of
 * more than HF_SKIM_WHOLE bytes are cut, and all point into text, behind
 * which HF_SKIM_PAD bytes must be readable. Returns the object's length; 0
 * if it is not vouched for: it may still be one that hf_json_again takes. */
size_t	hf_json_skim(struct hf_json **j, struct hf_str text);
void	hf_json_free(struct hf_json *j);	/* NULL is nothing */
const struct hf_jval *hf_json_root(const struct hf_json *j);

enum hf_jtype { HF_J_NONE, HF_J_NULL, HF_J_BOOL, HF_J_NUM, HF_J_STR,
	HF_J_ARR, HF_J_OBJ };
enum hf_jtype hf_json_type(const struct hf_jval *v);
/* Member of an object (the first of that name); NULL for anything else. */
const struct hf_jval *hf_json_getn(const struct hf_jval *v, const char *key,
	    size_t n);
/* The same by a literal, whose length the compiler knows: rows are asked
 * for members by the million. */
static inline const struct hf_jval *
hf_json_get(const struct hf_jval *v, const char *key)
{
	return hf_json_getn(v, key, strlen(key));
}
/* a.b.c; a name may not hold '.'. */
const struct hf_jval *hf_json_at(const struct hf_jval *v, const char *path);
/* Members or elements; 0 for a scalar. */
size_t	hf_json_size(const struct hf_jval *v);
/* Element i of an array; linear time where elements are not all scalars. */
const struct hf_jval *hf_json_elem(const struct hf_jval *v, size_t i);

/* A string's bytes (valid UTF-8, may hold NUL); none for another type. */
struct hf_str hf_json_str(const struct hf_jval *v);
static inline struct hf_str
hf_json_get_str(const struct hf_jval *v, const char *key)
{
	return hf_json_str(hf_json_get(v, key));
}
bool	hf_json_is(const struct hf_jval *v, const char *lit);
bool	hf_json_true(const struct hf_jval *v);
/* The spelling of a number; none for another type. */
struct hf_str hf_json_num(const struct hf_jval *v);
/* An integer: true only for a number without a fraction that fits ("1e2"
 * and "40000.0" are integers). */
bool	hf_json_int(const struct hf_jval *v, int64_t *out);
/* A counter of a transcript (M16): negative is 0, a fraction is cut, more
 * than 2^53 is 2^53, anything that is no number is 0. */
int64_t	hf_json_count(const struct hf_jval *v);
/* A Unix time in ms from a number (a fraction is cut), or -1: no number,
 * negative, or beyond 2^53. */
int64_t	hf_json_ms(const struct hf_jval *v);

struct hf_jiter {
	const struct hf_jval *next;	/* internal */
	size_t left;
	bool obj;
};
/* Over an array or an object; nothing for a scalar. */
void	hf_json_iter(struct hf_jiter *it, const struct hf_jval *v);
/* The next value, NULL at the end; *key (may be NULL) gets the name. */
const struct hf_jval *hf_json_next(struct hf_jiter *it, struct hf_str *key);

/* Appends a value's compact text; "null" for NULL. */
void	hf_json_write(struct hf_buf *out, const struct hf_jval *v);
/* Appends a as a JSON string with its quotes; bad UTF-8 is repaired. */
void	hf_json_quote(struct hf_buf *out, struct hf_str a);

/* ---- trees to be written ---- */

struct hf_jtree;		/* owns its nodes */
struct hf_jnode;		/* a node of it */

struct hf_jtree *hf_jtree_new(void);
void	hf_jtree_free(struct hf_jtree *t);
struct hf_jnode *hf_jtree_obj(struct hf_jtree *t);
struct hf_jnode *hf_jtree_arr(struct hf_jtree *t);
struct hf_jnode *hf_jtree_str(struct hf_jtree *t, struct hf_str a); /* copied,
	    * repaired; none gives null */
struct hf_jnode *hf_jtree_int(struct hf_jtree *t, int64_t n);
struct hf_jnode *hf_jtree_bool(struct hf_jtree *t, bool b);
struct hf_jnode *hf_jtree_null(struct hf_jtree *t);
/* A number by its spelling, which must be JSON. */
struct hf_jnode *hf_jtree_num(struct hf_jtree *t, struct hf_str spelling);
/* Parts per million as the shortest decimal: 750000 → 0.75. */
struct hf_jnode *hf_jtree_ppm(struct hf_jtree *t, int64_t ppm);
/* A deep copy of a parsed value. */
struct hf_jnode *hf_jtree_copy(struct hf_jtree *t, const struct hf_jval *v);

/* Sets a member, replacing one of that name in its place. key is copied. A
 * node has one place: it must not be set or pushed twice. */
void	hf_jset(struct hf_jtree *t, struct hf_jnode *obj, const char *key,
	    struct hf_jnode *val);
void	hf_jset_str(struct hf_jtree *t, struct hf_jnode *obj,
	    const char *key, struct hf_str a);
void	hf_jset_cstr(struct hf_jtree *t, struct hf_jnode *obj,
	    const char *key, const char *s);	/* NULL gives null */
void	hf_jset_int(struct hf_jtree *t, struct hf_jnode *obj,
	    const char *key, int64_t n);
void	hf_jset_bool(struct hf_jtree *t, struct hf_jnode *obj,
	    const char *key, bool b);
void	hf_jset_null(struct hf_jtree *t, struct hf_jnode *obj,
	    const char *key);
void	hf_jdel(struct hf_jnode *obj, const char *key);
struct hf_jnode *hf_jget(struct hf_jnode *obj, const char *key);
/* Of a node, NULL allowed: its type; a string's bytes, none for another
 * type; is it true; its members or elements. */
enum hf_jtype hf_jtype(const struct hf_jnode *n);
struct hf_str hf_jstr(const struct hf_jnode *n);
bool	hf_jtrue(const struct hf_jnode *n);
size_t	hf_jsize(const struct hf_jnode *n);
void	hf_jpush(struct hf_jnode *arr, struct hf_jnode *val);
void	hf_jpush_str(struct hf_jtree *t, struct hf_jnode *arr,
	    struct hf_str a);
/* Appends the compact text; with pretty, two blanks of indent and a last
 * newline. */
void	hf_jtree_write(struct hf_buf *out, const struct hf_jnode *n,
	    bool pretty);

#endif
