/*
 * Secrets: found and masked (DESIGN section 4, CASES S1 to S4). Masking is
 * idempotent: what is masked is no secret any more. Values are never in a
 * message.
 *
 * Masked are known values (variables of the environment and of the session
 * folder's .env whose names say secret, the lines of the secrets file) and
 * known shapes (providers' tokens, private keys, JWT, passwords in URLs,
 * authorization and key headers), also where they are spelled with JSON or
 * percent escapes, or broken over lines. A variable's value becomes $NAME,
 * or ${NAME} where a letter, digit or underscore follows; anything else a
 * placeholder (seal.h).
 */
#ifndef HF_BRIEF_SECRETS_H
#define HF_BRIEF_SECRETS_H

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"

struct hf_secrets;

/* Collects what to mask: the environment, cwd's .env, the secrets file, the
 * private key for placeholders if there is one; it is made (in the state
 * folder, 0600) when the first placeholder is needed, and nothing is
 * written before. c and cwd may be NULL. HF_E_CONFIG: a secrets file that
 * cannot be read or has an entry of fewer than 4 bytes, a key that others
 * can use. A .env that cannot be read is none. */
struct hf_secrets *hf_secrets_load(const struct hf_config *c,
	    const char *cwd, struct hf_err *err);
void	hf_secrets_free(struct hf_secrets *s);
/* One more known value, of at least 4 bytes; name may be NULL. */
void	hf_secrets_add(struct hf_secrets *s, struct hf_str value,
	    const char *name);
/* Appends text with its secrets masked; returns how many were. */
size_t	hf_secrets_mask(struct hf_secrets *s, struct hf_buf *out,
	    struct hf_str text);
/* How many masked so far, all calls together. */
size_t	hf_secrets_count(const struct hf_secrets *s);
/* Appends text with the exact placeholders that this object made, or
 * knows, put back; $NAME stays, as it can be used as it is. */
void	hf_secrets_restore(struct hf_secrets *s, struct hf_buf *out,
	    struct hf_str text);

#endif
