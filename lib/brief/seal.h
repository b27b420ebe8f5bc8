/*
 * Placeholders: "[secret:0123456789ab]", twelve digits of the value's HMAC
 * under a key of this machine's, so that one secret always has the same and
 * nobody can try values against it. The key stands in the state folder,
 * 0600, and is made when the first placeholder is.
 */
#ifndef HF_BRIEF_SEAL_H
#define HF_BRIEF_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hmac.h"
#include "base/text.h"

enum { HF_SEAL_LEN = 21 };	/* bytes of a placeholder */

struct hf_seal {
	char *dir;		/* the state folder; NULL: there is none */
	bool ready;
	bool lasting;		/* the key is that of the file */
	uint8_t key[HF_SHA_LEN];
};

/* Reads the key if there is one; writes nothing. HF_E_CONFIG for one that
 * others may read, that another user owns or that is no key, and for a
 * state folder that cannot be meant. */
int	hf_seal_open(struct hf_seal *s, struct hf_err *err);
void	hf_seal_close(struct hf_seal *s);
/* The placeholder of a value. Makes the key, two processes at once the
 * same; where it cannot be kept it lasts as long as this process. */
void	hf_seal_mark(struct hf_seal *s, struct hf_str value,
	    char out[HF_SEAL_LEN]);
/* Does a placeholder stand at byte at? */
bool	hf_seal_at(struct hf_str text, size_t at);

#endif
