/*
 * Messages for sessions that were handed off: each arrives at the end of
 * the chain, once (DESIGN section 9).
 *
 *	relays/<relay>		a delivery that is under way, and whose
 *	journal/<session>/<relay>	what was addressed to the session
 *	inbox/<session>/<relay>	waits there
 *	taken/<relay>		was handed over, or is being
 *
 * A relay id is the SHA-256 of the session addressed and the message's ids,
 * each with its length before it; never of the text. The journal's entry
 * makes a message that is sent again nothing new; taken/<relay>, which only
 * one can create, makes the handing over happen once. What a killed process
 * leaves between two of these is reported, never done a second time.
 */
#ifndef HF_STATE_INBOX_H
#define HF_STATE_INBOX_H

#include "base/hmac.h"
#include "state/main.h"

enum {
	HF_MESSAGE_MAX = 1 << 20,	/* bytes of a text */
	HF_MESSAGE_IDS = 64, HF_MESSAGE_ID_MAX = 1024,
	HF_INBOX_MAX = 10000		/* messages looked at at once */
};

struct hf_message {
	struct hf_str id[HF_MESSAGE_IDS];
	size_t nids;
	struct hf_str text;
	struct hf_str sender;	/* as it calls itself; none */
	bool late;		/* arrived after the brief was written, and
				 * may have been acted on */
};
struct hf_delivery {
	char relay[HF_SHA_HEX];
	bool again;		/* it had been delivered before */
};

/* Delivers what was addressed to *m, which then is the session at the end
 * of its chain. 0 also when it had been delivered before. HF_E_MISSING for
 * a message without id or text, HF_E_OVERFLOW beyond the limits. After any
 * other failure it may be sent again: it will not arrive twice. */
int	hf_inbox_deliver(struct hf_store *st, const struct hf_message *msg,
	    struct hf_main *m, struct hf_delivery *out, struct hf_err *err);

/* What waits in from's inbox goes into that of to. */
int	hf_inbox_drain(struct hf_store *st, const char *from_agent,
	    const char *from_id, const char *to_agent, const char *to_id,
	    struct hf_err *err);

/* One that waits, or, unknown, may have been handed over by a process that
 * was killed meanwhile. */
struct hf_waiting {
	char *key;			/* inbox/<session>/<relay> */
	struct hf_rev rev;
	struct hf_json *json;		/* id, text, to, sender, at, late */
	struct hf_str text;		/* what is still to be handed over */
	struct hf_str part;		/* of it, by the last claim */
	int64_t at;			/* ms */
	bool unknown;
	bool claimed;
};
struct hf_inbox {
	struct hf_waiting *w;		/* oldest first */
	size_t n;
	bool more;			/* some are not here */
};
void	hf_inbox_release(struct hf_inbox *in);

/* All that waits for m, its ancestors' included, which are moved. */
int	hf_inbox_look(struct hf_store *st, const struct hf_main *m,
	    struct hf_inbox *out, struct hf_err *err);
/* The same, and those that fit max bytes of text together are claimed: no
 * other process gets them. The oldest one is cut to the limit if it alone
 * is longer. Only what is claimed is in *out. With unknown, what nobody
 * knows the end of is claimed, too. */
int	hf_inbox_claim(struct hf_store *st, const struct hf_main *m,
	    size_t max, bool unknown, struct hf_inbox *out,
	    struct hf_err *err);
/* What was claimed was handed over; of what was cut the rest waits on. */
int	hf_inbox_done(struct hf_store *st, struct hf_inbox *in,
	    struct hf_err *err);
/* What was claimed was not handed over: it waits on. */
int	hf_inbox_undo(struct hf_store *st, struct hf_inbox *in,
	    struct hf_err *err);
/* Appends the claimed parts as a person or a model reads them. */
void	hf_inbox_text(struct hf_buf *out, const struct hf_inbox *in);
/* Appends one as a document's line, with LF. */
void	hf_inbox_line(struct hf_buf *out, const struct hf_waiting *w);

/* Deliveries whose process ended in the middle: those that arrived are
 * closed, of the others *unknown are counted and said; their sender may
 * send them again. */
int	hf_inbox_recover(struct hf_store *st, size_t *unknown,
	    struct hf_err *err);
/* Forgets what was handed over more than so many days ago. */
int	hf_inbox_prune(struct hf_store *st, int64_t days, size_t *removed,
	    struct hf_err *err);

#endif
