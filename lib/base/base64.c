#include "base/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz0123456789+/";

void
hf_base64(struct hf_buf *out, struct hf_str a)
{
	char four[4];

	for (size_t i = 0; i < a.n; i += 3) {
		size_t n = a.n - i < 3 ? a.n - i : 3;
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 |
			    (k < n ? (unsigned char)a.s[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			four[k] = k > n ? '=' :
			    letters[bits >> (18 - 6 * k) & 63];
		hf_buf_add(out, four, sizeof(four));
	}
}

static int
value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four letters, of which pad are '='. */
static int
decode_four(struct hf_buf *out, const char *s, size_t pad)
{
	char three[3];
	uint32_t bits = 0;

	for (size_t k = 0; k < 4; k++) {
		int v = k < 4 - pad ? value_of(s[k]) : 0;

		if (v < 0)
			return -1;
		bits = bits << 6 | (uint32_t)v;
	}
	for (size_t k = 0; k < 3; k++)
		three[k] = (char)(bits >> (16 - 8 * k) & 255);
	/* Nothing may be said behind the last byte. */
	for (size_t k = 3 - pad; k < 3; k++)
		if (three[k] != '\0')
			return -1;
	hf_buf_add(out, three, 3 - pad);
	return 0;
}

int
hf_base64_decode(struct hf_buf *out, struct hf_str text)
{
	size_t was = out->len;

	if (text.n % 4 != 0)
		return -1;
	for (size_t i = 0; i < text.n; i += 4) {
		const char *s = text.s + i;
		size_t pad = 0;

		if (i + 4 == text.n)
			pad = s[3] != '=' ? 0 : s[2] != '=' ? 1 : 2;
		if (decode_four(out, s, pad) < 0) {
			hf_buf_cut(out, was);
			return -1;
		}
	}
	return 0;
}
