#include "brief/grams.h"

#include "brief/chars.h"

void
hf_grams_add(struct hf_grams *g, const char *s, unsigned set)
{
	char longer[HF_GRAM_LEN + 1] = "";
	size_t n = strlen(s);

	if (n >= HF_GRAM_LEN) {
		hf_grams_put(g, s);
		return;
	}
	memcpy(longer, s, n);
	for (int c = 1; c < 256; c++) {
		longer[n] = (char)c;
		if (set == 0 || (hf_chars((char)c) & set) != 0)
			hf_grams_add(g, longer, set);
	}
}
