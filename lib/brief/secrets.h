/*
 * Secrets: found and masked (DESIGN section 4, CASES S1 to S4). Masking is
 * idempotent: what is masked is no secret any more. Values are never in a
 * message.
 */
#ifndef HF_BRIEF_SECRETS_H
#define HF_BRIEF_SECRETS_H

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"

struct hf_secrets;

/* Collects what to mask: the environment, cwd's .env, the secrets file, the
 * private key for placeholders (made in the state folder, 0600). cwd may
 * be NULL. */
struct hf_secrets *hf_secrets_load(const struct hf_config *c,
	    const char *cwd, struct hf_err *err);
void	hf_secrets_free(struct hf_secrets *s);
/* Appends text with its secrets masked; returns how many were. */
size_t	hf_secrets_mask(struct hf_secrets *s, struct hf_buf *out,
	    struct hf_str text);
/* How many masked so far, all calls together. */
size_t	hf_secrets_count(const struct hf_secrets *s);
/* Appends text with the exact placeholders that this object made, or
 * knows, put back. */
void	hf_secrets_restore(struct hf_secrets *s, struct hf_buf *out,
	    struct hf_str text);

#endif
