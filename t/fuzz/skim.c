/*
 * The skimmer and the parser: what the one vouches for, the other reads the
 * same way.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../helper/skim.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!skim_agrees(hf_strn((const char *)data, size))) {
		fprintf(stderr, "the skimmer says something else\n");
		abort();
	}
	return 0;
}
