/* What a fuzzer insists on: else it says what and crashes. */
#ifndef HF_FUZZ_MUST_H
#define HF_FUZZ_MUST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

#endif
