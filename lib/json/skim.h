/*
 * Skimming: the values of a row, its long strings stepped over.
 *
 * Most bytes of a transcript are in long strings that no figure needs. The
 * skimmer checks a row's structure as strictly as a parser does and makes
 * the same values, but of a string of more than HF_SKIM_WHOLE bytes as it is
 * written only the first HF_SKIM_HEAD: behind them it looks for quotes,
 * backslashes and control bytes alone. So bad UTF-8 and wrong escapes there
 * are not seen. Strings without escapes are not copied.
 *
 * It vouches for what is ordinary only. Whatever else a row has (damage, deep
 * nesting, a great many values) is for the parser.
 */
#ifndef HF_JSON_SKIM_H
#define HF_JSON_SKIM_H

#include <stddef.h>
#include <stdint.h>

enum { HF_SKIM_WHOLE = 1024, HF_SKIM_HEAD = 256 };
/* So many bytes behind a text must be readable. */
enum { HF_SKIM_PAD = 64 };

/* A value, laid out as yyjson's are (json.c checks that): type and length,
 * then a string's or number's bytes, or how many bytes on what follows an
 * object or array lies. */
struct hf_skim_val {
	uint64_t tag;
	union { const char *s; size_t next; } u;
};
enum hf_skim_type { HF_SKIM_RAW = 1, HF_SKIM_NULL = 2, HF_SKIM_FALSE = 3,
	HF_SKIM_STR = 5, HF_SKIM_ARR = 6, HF_SKIM_OBJ = 7, HF_SKIM_TRUE = 11 };

struct hf_skim {
	struct hf_skim_val *v;	/* the values in the order of the text */
	size_t n, cap;
	char *own;		/* strings that had escapes */
	size_t used, size;
};
void	hf_skim_release(struct hf_skim *s);

/* The object that the n bytes at p begin with: its length in bytes, or 0 if
 * it does not vouch for it, or if they end first. The values point into p
 * and s and stand until the next call. */
size_t	hf_skim(struct hf_skim *s, const char *p, size_t n);

#endif
