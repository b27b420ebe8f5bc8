/*
 * Options: one table a command. Long and short forms ("--focus TEXT",
 * "--focus=TEXT", "-f TEXT", "-fTEXT", clustered flags), "--" ends them;
 * options and operands may be mixed. --help and --version are built in.
 */
#ifndef HF_BASE_OPT_H
#define HF_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum hf_opt_kind {
	HF_OPT_FLAG,		/* bool */
	HF_OPT_STR,		/* const char *; the last one counts */
	HF_OPT_INT,		/* int64_t in min..max */
};

struct hf_opt {
	char letter;		/* 0: none */
	const char *word;	/* without "--" */
	const char *arg;	/* the argument's name for --help, or NULL */
	const char *help;	/* one line, no full stop */
	enum hf_opt_kind kind;
	void *target;
	int64_t min, max;	/* HF_OPT_INT */
};

struct hf_opt_usage {
	const char *prog;	/* "hf-metrics" */
	const char *operands;	/* "[SESSION ...]", may be "" */
	const char *about;	/* one line */
	const struct hf_opt *opts;	/* ends with word NULL */
};

/* Parses argv; operands are moved to the front of argv[1..], NULL behind
 * them if they are fewer than argv had, and *count gets how many. Targets
 * of options that were not given stay as they are. 0 to go on; 1 when
 * --help or --version was printed (exit with 0); -1 with HF_E_IO when that
 * failed, or with HF_E_USAGE naming the option, and the nearest known one
 * when there is one. */
int	hf_opt_parse(const struct hf_opt_usage *u, int argc, char **argv,
	    int *count, struct hf_err *err);
/* The nearest of the words to s by edit distance (≤ 3, and less than the
 * length of s); NULL if there is none, or s has more than 63 bytes. */
const char *hf_nearest(const char *s, const char *const *words, size_t n);

#endif
