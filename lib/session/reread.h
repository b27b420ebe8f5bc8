/*
 * A row of the branch once more, with all that is in it: the record is
 * read again and translated again, by a scan that has seen the whole file.
 * Internal to lib/session.
 */
#ifndef HF_SESSION_REREAD_H
#define HF_SESSION_REREAD_H

#include "agent/agent.h"

struct hf_reread {
	struct hf_source *src;
	struct hf_scan *scan;
	struct hf_session shadow;	/* what the agent learns again goes
					 * here, not into the session */
	struct hf_row row;
	uint32_t item;
	bool found;
};

/* src and scan are borrowed; the scan serves nothing else from now on. */
void	hf_reread_init(struct hf_reread *r, struct hf_source *src,
	    struct hf_scan *scan);
void	hf_reread_release(struct hf_reread *r);
/* The row at ref, until the next call of this or of hf_source_at; -1 when
 * the file cannot be read there any more. */
int	hf_reread(struct hf_reread *r, struct hf_ref ref,
	    const struct hf_row **row, struct hf_err *err);

#endif
