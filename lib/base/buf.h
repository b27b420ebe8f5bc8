/*
 * A growing buffer with a maximum. Adding beyond it leaves the buffer as it
 * is and sets full, which is sticky: nothing more is added until it is
 * cleared, so what is there is a beginning; check it once at the end.
 * data[len] is always NUL once anything was added. What is added must not
 * be a part of the buffer itself.
 */
#ifndef HF_BASE_BUF_H
#define HF_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { HF_BUF_DEFAULT_MAX = 256 << 20 };

struct hf_buf {
	char *data;
	size_t len, cap;
	size_t max;		/* 0 is HF_BUF_DEFAULT_MAX */
	bool full;
};

#define HF_BUF_INIT	{ NULL, 0, 0, 0, false }
#define HF_BUF_MAX(m)	{ NULL, 0, 0, (m), false }

void	hf_buf_release(struct hf_buf *b);
/* Empties, no longer full; keeps the memory. */
void	hf_buf_clear(struct hf_buf *b);
void	hf_buf_add(struct hf_buf *b, const void *p, size_t n);
void	hf_buf_str(struct hf_buf *b, struct hf_str a);
void	hf_buf_puts(struct hf_buf *b, const char *s);
void	hf_buf_putc(struct hf_buf *b, char c);
void	hf_buf_printf(struct hf_buf *b, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
void	hf_buf_vprintf(struct hf_buf *b, const char *fmt, va_list ap)
	    __attribute__((format(printf, 2, 0)));
/* Room for n more bytes at data + len; NULL (and full) if there is none.
 * The caller adds what it wrote to len; hf_buf_cstr and hf_buf_steal put
 * the NUL behind it. */
char	*hf_buf_room(struct hf_buf *b, size_t n);
/* Cuts to n bytes, n ≤ len. */
void	hf_buf_cut(struct hf_buf *b, size_t n);
/* Removes the first n bytes. */
void	hf_buf_eat(struct hf_buf *b, size_t n);
/* The content, borrowed until the buffer changes; "" when empty. */
struct hf_str hf_buf_view(const struct hf_buf *b);
/* The text as a string ("" when empty), the buffer's own. */
const char *hf_buf_cstr(struct hf_buf *b);
/* The memory as a string of the caller's; the buffer is empty then (and
 * still full if it was). */
char	*hf_buf_steal(struct hf_buf *b);

#endif
