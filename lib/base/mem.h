/*
 * Memory that is there or ends the program: out of memory prints one line
 * and exits with 70 (STYLE: the one exit that a library may take).
 */
#ifndef HF_BASE_MEM_H
#define HF_BASE_MEM_H

#include <stddef.h>

void	*hf_malloc(size_t n);
void	*hf_calloc(size_t n, size_t size);
/* n·size with the product checked; p may be NULL. None of them gives NULL
 * for a size of 0. */
void	*hf_reallocarray(void *p, size_t n, size_t size);
char	*hf_strdup(const char *s);
char	*hf_strndup(const char *s, size_t n);

/*
 * An arena: many small pieces, freed together. Pieces are aligned for any
 * type and never move.
 */
struct hf_arena_block;
struct hf_arena {
	struct hf_arena_block *head;
	size_t total;		/* bytes handed out, alignment included */
};

void	hf_arena_init(struct hf_arena *a);
void	*hf_arena_alloc(struct hf_arena *a, size_t n);
/* A copy of n bytes and a NUL behind them. */
char	*hf_arena_copy(struct hf_arena *a, const char *s, size_t n);
/* Frees all pieces; the arena can be used again. */
void	hf_arena_clear(struct hf_arena *a);

#endif
