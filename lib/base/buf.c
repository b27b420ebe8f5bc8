#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { CAP_FIRST = 256 };

void
hf_buf_release(struct hf_buf *b)
{
	free(b->data);
	*b = (struct hf_buf)HF_BUF_MAX(b->max);
}

void
hf_buf_clear(struct hf_buf *b)
{
	b->full = false;
	hf_buf_cut(b, 0);
}

char *
hf_buf_room(struct hf_buf *b, size_t n)
{
	size_t max = b->max > 0 ? b->max : HF_BUF_DEFAULT_MAX;
	size_t need, cap;

	/* Not SIZE_MAX itself: the NUL must fit behind. */
	if (b->full || __builtin_add_overflow(b->len, n, &need) ||
	    need > max || need == SIZE_MAX) {
		b->full = true;
		return NULL;
	}
	if (need >= b->cap) {
		cap = b->cap > 0 ? b->cap : CAP_FIRST;
		if (__builtin_mul_overflow(cap, (size_t)2, &cap))
			cap = SIZE_MAX;
		if (cap > max)
			cap = max < SIZE_MAX ? max + 1 : max;
		if (cap <= need)
			cap = need + 1;
		b->data = hf_reallocarray(b->data, cap, 1);
		b->cap = cap;
	}
	return b->data + b->len;
}

void
hf_buf_add(struct hf_buf *b, const void *p, size_t n)
{
	char *to = hf_buf_room(b, n);

	if (to == NULL)
		return;
	if (n > 0)
		memcpy(to, p, n);
	to[n] = '\0';
	b->len += n;
}

void
hf_buf_str(struct hf_buf *b, struct hf_str a)
{
	hf_buf_add(b, a.s, a.n);
}

void
hf_buf_puts(struct hf_buf *b, const char *s)
{
	hf_buf_add(b, s, strlen(s));
}

void
hf_buf_putc(struct hf_buf *b, char c)
{
	hf_buf_add(b, &c, 1);
}

void
hf_buf_printf(struct hf_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hf_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void
hf_buf_vprintf(struct hf_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *to;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		b->full = true;
		return;
	}
	to = hf_buf_room(b, (size_t)n);
	if (to == NULL)
		return;
	vsnprintf(to, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void
hf_buf_cut(struct hf_buf *b, size_t n)
{
	if (n <= b->len)
		b->len = n;
	if (b->data != NULL)
		b->data[b->len] = '\0';
}

void
hf_buf_eat(struct hf_buf *b, size_t n)
{
	if (n > b->len)
		n = b->len;
	if (n == 0)
		return;
	b->len -= n;
	memmove(b->data, b->data + n, b->len);
	b->data[b->len] = '\0';
}

struct hf_str
hf_buf_view(const struct hf_buf *b)
{
	return hf_strn(b->data != NULL ? b->data : "", b->len);
}

const char *
hf_buf_cstr(struct hf_buf *b)
{
	if (b->data == NULL)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

char *
hf_buf_steal(struct hf_buf *b)
{
	char *s = b->data != NULL ? b->data : hf_strdup("");

	s[b->len] = '\0';
	b->data = NULL;
	b->len = b->cap = 0;
	return s;
}
