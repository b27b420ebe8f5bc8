/*
 * Text: slices with a length, UTF-8, and what may be shown on a terminal.
 * Slices are not NUL-terminated and may hold NUL.
 */
#ifndef HF_BASE_TEXT_H
#define HF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_buf;

struct hf_str {
	const char *s;		/* borrowed; NULL is "none", not "" */
	size_t n;
};

#define HF_STR(lit)	((struct hf_str){ (lit), sizeof(lit) - 1 })
#define HF_STR_NONE	((struct hf_str){ NULL, 0 })

struct hf_str hf_str(const char *s);	/* NULL gives none */
struct hf_str hf_strn(const char *s, size_t n);
/* None equals none only. */
bool	hf_str_eq(struct hf_str a, struct hf_str b);
bool	hf_str_is(struct hf_str a, const char *lit);
bool	hf_str_starts(struct hf_str a, const char *lit);
bool	hf_str_ends(struct hf_str a, const char *lit);
/* ASCII case folded. */
bool	hf_str_ieq(struct hf_str a, struct hf_str b);
bool	hf_str_istarts(struct hf_str a, const char *lit);
/* Offset of the first needle at or after from, or SIZE_MAX; the empty one
 * is everywhere. */
size_t	hf_str_find(struct hf_str hay, struct hf_str needle, size_t from);
size_t	hf_str_ifind(struct hf_str hay, const char *lit, size_t from);
/* Without leading and trailing white space (ASCII, NBSP, U+3000, BOM). */
struct hf_str hf_str_trim(struct hf_str a);
/* First line of a, without its end (LF, CRLF); *rest, if not NULL, gets
 * what follows it: "" behind the last. */
struct hf_str hf_str_line(struct hf_str a, struct hf_str *rest);

/* Length in bytes (1 to 4) of the valid UTF-8 code point at s, 0 if none
 * is there (overlong forms, surrogates, beyond U+10FFFF are not valid).
 * *cp, if not NULL, gets it. */
size_t	hf_utf8_at(const char *s, size_t n, uint32_t *cp);
bool	hf_utf8_valid(struct hf_str a);
/* Puts cp, 1 to 4 bytes, into out[4]; returns how many. What is no code
 * point becomes U+FFFD. */
size_t	hf_utf8_put(uint32_t cp, char out[4]);
/* The largest length ≤ n that does not split a code point of a. */
size_t	hf_utf8_cut(struct hf_str a, size_t n);
/* Code points, and UTF-16 units; a bad byte counts one. */
size_t	hf_utf8_count(struct hf_str a);
size_t	hf_utf16_count(struct hf_str a);
/* The byte offset of code point k, a.n if there are fewer. */
size_t	hf_utf8_offset(struct hf_str a, size_t k);
/* Appends a with each invalid byte as U+FFFD. */
void	hf_utf8_repair(struct hf_buf *out, struct hf_str a);

/* Is cp one that a terminal must not get: C0, DEL, C1, a line separator, a
 * bidirectional override, embedding or isolate? */
bool	hf_text_harmful(uint32_t cp);
/* Appends a for a terminal or a log: control bytes (C0, DEL, C1, also as
 * UTF-8), line and bidirectional-override characters become '?' or, with
 * keep_newlines, LF and TAB stay. Invalid bytes become U+FFFD. */
void	hf_text_safe(struct hf_buf *out, struct hf_str a, bool keep_newlines);
/* The columns that a, made safe, takes on a terminal: wide characters two,
 * combining ones none. */
size_t	hf_text_width(struct hf_str a);
/* Appends at most width columns of a (made safe, LF and TAB a blank), "…"
 * when cut. */
void	hf_text_clip(struct hf_buf *out, struct hf_str a, size_t width);

/* "%XX" for every byte outside [a-z0-9_-]. */
void	hf_text_percent(struct hf_buf *out, struct hf_str a);
/* Lower-case hex of n bytes. */
void	hf_text_hex(struct hf_buf *out, const void *p, size_t n);
/* a for a POSIX shell: as it is if harmless, else in single quotes. */
void	hf_text_shell(struct hf_buf *out, struct hf_str a);

/* Appends word with each name ("{id}") that stands in it replaced by its
 * value (NULL: by nothing); the rest as it is. */
struct hf_fill { const char *name, *value; };
void	hf_text_fill(struct hf_buf *out, const char *word,
	    const struct hf_fill *vars, size_t n);

/* The whole of a as a decimal integer; false if it is not one that fits. */
bool	hf_text_int(struct hf_str a, int64_t *out);
/* A JSON number as an integer of parts per million: "0.75" → 750000,
 * "6e-1" → 600000; computed from the digits, never a float. What is beyond
 * a millionth is rounded down (towards minus infinity). False if a is no
 * JSON number or out of int64_t's range. */
bool	hf_text_ppm(struct hf_str a, int64_t *out);

#endif
