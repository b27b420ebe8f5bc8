#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"

enum { BLOCK_FIRST = 4 << 10, BLOCK_LAST = 1 << 20 };

/* No allocation here, and no exit handlers: they might allocate. */
__attribute__((noreturn))
static void
out_of_memory(void)
{
	static const char text[] = ": out of memory\n";
	const char *prog = hf_prog();
	char line[128];
	size_t n = strlen(prog);

	if (n > sizeof(line) - sizeof(text))
		n = sizeof(line) - sizeof(text);
	memcpy(line, prog, n);
	memcpy(line + n, text, sizeof(text) - 1);
	(void)!write(STDERR_FILENO, line, n + sizeof(text) - 1);
	_exit(HF_EX_SOFTWARE);
}

void *
hf_malloc(size_t n)
{
	void *p = malloc(n > 0 ? n : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *
hf_calloc(size_t n, size_t size)
{
	void *p = n > 0 && size > 0 ? calloc(n, size) : calloc(1, 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *
hf_reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all))
		out_of_memory();
	p = realloc(p, all > 0 ? all : 1);
	if (p == NULL)
		out_of_memory();
	return p;
}

static size_t
sum(size_t a, size_t b)
{
	size_t all;

	if (__builtin_add_overflow(a, b, &all))
		out_of_memory();
	return all;
}

char *
hf_strdup(const char *s)
{
	size_t n = strlen(s);
	char *p = hf_malloc(sum(n, 1));

	memcpy(p, s, n + 1);
	return p;
}

char *
hf_strndup(const char *s, size_t n)
{
	char *p = hf_malloc(sum(n, 1));

	if (n > 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

struct hf_arena_block {
	struct hf_arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

void
hf_arena_init(struct hf_arena *a)
{
	*a = (struct hf_arena){ NULL, 0 };
}

static struct hf_arena_block *
new_block(size_t size)
{
	struct hf_arena_block *b;

	b = hf_malloc(sum(sizeof(*b), size));
	b->next = NULL;
	b->used = 0;
	b->size = size;
	return b;
}

/* A block with room for n bytes. What is large gets one of its own, behind
 * the head, so that the rest of the head is not lost. */
static struct hf_arena_block *
block_for(struct hf_arena *a, size_t n)
{
	struct hf_arena_block *head = a->head, *b;
	size_t size = BLOCK_FIRST;

	if (head != NULL && n <= head->size - head->used)
		return head;
	if (head != NULL && head->size >= BLOCK_LAST)
		size = BLOCK_LAST;
	else if (head != NULL && head->size > BLOCK_FIRST / 2)
		size = head->size * 2;
	if (n <= size / 4) {
		b = new_block(size);
		b->next = head;
		a->head = b;
	} else if (head == NULL) {
		b = a->head = new_block(n);
	} else {
		b = new_block(n);
		b->next = head->next;
		head->next = b;
	}
	return b;
}

void *
hf_arena_alloc(struct hf_arena *a, size_t n)
{
	size_t unit = alignof(max_align_t), want;
	struct hf_arena_block *b;
	void *p;

	want = sum(n > 0 ? n : 1, unit - 1) / unit * unit;
	b = block_for(a, want);
	p = b->data + b->used;
	b->used += want;
	a->total = sum(a->total, want);
	return p;
}

char *
hf_arena_copy(struct hf_arena *a, const char *s, size_t n)
{
	char *p = hf_arena_alloc(a, sum(n, 1));

	if (n > 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

void
hf_arena_clear(struct hf_arena *a)
{
	struct hf_arena_block *next;

	for (struct hf_arena_block *b = a->head; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	hf_arena_init(a);
}
