/*
 * The session's main joined to its document, with what needs the clock or
 * another process: the attempt that is under way, the bounds of automatic
 * handoffs, the blockers hook (DESIGN sections 3, 7, 8).
 */
#ifndef HF_STATE_JOIN_H
#define HF_STATE_JOIN_H

#include "json/doc.h"
#include "state/main.h"

/* Sets "main": the stored one, or a fresh one for a session that nobody
 * registered; "registered" says which; "blockers" are attempt-in-progress,
 * cooldown, chain-limit (the last two bind only what nobody asked for) and
 * the hook's. HF_E_MISSING when the document names no session. */
int	hf_join(struct hf_store *st, const struct hf_config *c,
	    struct hf_doc *d, struct hf_err *err);

#endif
