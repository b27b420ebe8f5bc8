#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/random.h>
#endif
#include <xxhash.h>

#include "base/hmac.h"
#include "base/io.h"

enum { BLOCK = 64 };

/* Two parts behind each other, which is what HMAC needs. */
static void
sha256(const void *p, size_t n, struct hf_str a, uint8_t out[HF_SHA_LEN])
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	if (n > 0)
		SHA256Update(&ctx, p, n);
	if (a.n > 0)
		SHA256Update(&ctx, (const uint8_t *)a.s, a.n);
	SHA256Final(out, &ctx);
}

void
hf_sha256(struct hf_str a, uint8_t out[HF_SHA_LEN])
{
	sha256(NULL, 0, a, out);
}

static void
put_hex(char *to, const uint8_t *p, size_t n)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		to[2 * i] = hex[p[i] >> 4];
		to[2 * i + 1] = hex[p[i] & 15];
	}
}

void
hf_sha256_hex(struct hf_str a, char out[HF_SHA_HEX])
{
	uint8_t sum[HF_SHA_LEN];

	hf_sha256(a, sum);
	put_hex(out, sum, sizeof(sum));
	out[HF_SHA_HEX - 1] = '\0';
}

void
hf_hmac(struct hf_str key, struct hf_str a, uint8_t out[HF_SHA_LEN])
{
	uint8_t inner[BLOCK] = { 0 }, outer[BLOCK], sum[HF_SHA_LEN];

	if (key.n > BLOCK)
		hf_sha256(key, inner);
	else if (key.n > 0)
		memcpy(inner, key.s, key.n);
	for (size_t i = 0; i < BLOCK; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	sha256(inner, sizeof(inner), a, sum);
	sha256(outer, sizeof(outer),
	    hf_strn((const char *)sum, sizeof(sum)), out);
}

uint64_t
hf_hash(struct hf_str a)
{
	return XXH3_64bits(a.n > 0 ? a.s : "", a.n);
}

struct hf_hash128
hf_hash128(struct hf_str a)
{
	XXH128_hash_t h = XXH3_128bits(a.n > 0 ? a.s : "", a.n);

	return (struct hf_hash128){ h.low64, h.high64 };
}

/* How many bytes of p could be had without a file. */
static size_t
from_kernel(unsigned char *p, size_t n)
{
	size_t done = 0;
#ifdef __linux__
	while (done < n) {
		ssize_t got = getrandom(p + done, n - done, 0);

		if (got > 0)
			done += (size_t)got;
		else if (errno != EINTR)
			break;
	}
#else
	(void)p;
	(void)n;
#endif
	return done;
}

void
hf_random(void *p, size_t n)
{
	unsigned char *to = p;
	size_t done = from_kernel(to, n);
	ssize_t got;
	int fd;

	if (done == n)
		return;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && done < n) {
		got = hf_io_read(fd, to + done, n - done);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	if (done < n) {
		/* Names and tokens that can be guessed are worse than none. */
		hf_warn("no random bytes from the system");
		abort();
	}
	close(fd);
}

/* Sets version and variant (RFC 9562) and writes it out. */
static void
put_uuid(uint8_t b[16], unsigned version, char out[HF_UUID_LEN])
{
	b[6] = (uint8_t)((b[6] & 0x0f) | version << 4);
	b[8] = (b[8] & 0x3f) | 0x80;
	put_hex(out, b, 4);
	put_hex(out + 9, b + 4, 2);
	put_hex(out + 14, b + 6, 2);
	put_hex(out + 19, b + 8, 2);
	put_hex(out + 24, b + 10, 6);
	out[8] = out[13] = out[18] = out[23] = '-';
	out[HF_UUID_LEN - 1] = '\0';
}

void
hf_uuid4(char out[HF_UUID_LEN])
{
	uint8_t b[16];

	hf_random(b, sizeof(b));
	put_uuid(b, 4, out);
}

void
hf_uuid7(int64_t ms, char out[HF_UUID_LEN])
{
	uint64_t t = ms > 0 ? (uint64_t)ms : 0;
	uint8_t b[16];

	hf_random(b, sizeof(b));
	for (int i = 5; i >= 0; i--) {
		b[i] = (uint8_t)(t & 0xff);
		t >>= 8;
	}
	put_uuid(b, 7, out);
}
