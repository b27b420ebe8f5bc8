/*
 * Hashes: SHA-256 and HMAC-SHA-256 over libmd (RFC 2104, checked against
 * RFC 4231's vectors), XXH3 for what is no secret and must be fast.
 */
#ifndef HF_BASE_HMAC_H
#define HF_BASE_HMAC_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { HF_SHA_LEN = 32, HF_SHA_HEX = 65 };

void	hf_sha256(struct hf_str a, uint8_t out[HF_SHA_LEN]);
/* Lower-case hex and a NUL. */
void	hf_sha256_hex(struct hf_str a, char out[HF_SHA_HEX]);
void	hf_hmac(struct hf_str key, struct hf_str a, uint8_t out[HF_SHA_LEN]);
/* Fast, not against an adversary: hash tables. */
uint64_t hf_hash(struct hf_str a);
struct hf_hash128 { uint64_t lo, hi; };
struct hf_hash128 hf_hash128(struct hf_str a);
/* n bytes from the kernel (getrandom, else /dev/urandom); aborts without. */
void	hf_random(void *p, size_t n);
/* Lower-case UUIDs: version 4, and 7 with the given Unix milliseconds. */
enum { HF_UUID_LEN = 37 };
void	hf_uuid4(char out[HF_UUID_LEN]);
void	hf_uuid7(int64_t ms, char out[HF_UUID_LEN]);

#endif
