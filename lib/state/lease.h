/*
 * A lease: who works on an attempt, and until when nobody else may. It is
 * a value in the main, so taking it over is a compare-and-set. A lapsed
 * lease only permits another to take over: the epoch, not the lease, keeps
 * a late owner from committing.
 */
#ifndef HF_STATE_LEASE_H
#define HF_STATE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"

struct hf_lease {
	bool held;		/* there is one */
	char host[256], boot[64];
	int64_t deadline;	/* ms of the host's boot clock */
	long pid;		/* 0: no process in particular */
	unsigned long long start;	/* its start time; 0: unknown */
	char id[64];		/* a remote store's own name for it; "" */
};

enum hf_lease_state {
	HF_LEASE_NONE,
	HF_LEASE_LIVE,		/* leave it alone */
	HF_LEASE_LAPSED,	/* its time is over */
	HF_LEASE_DEAD		/* its process, or its boot, is gone */
};

/* On this machine, from now. */
void	hf_lease_take(struct hf_lease *l, int64_t seconds, long pid);
/* Judged by this machine's boot id, boot clock and processes. Another
 * machine's lease is live: from here nothing proves the contrary. */
enum hf_lease_state hf_lease_look(const struct hf_lease *l);
bool	hf_lease_same(const struct hf_lease *a, const struct hf_lease *b);

/* null when there is none. */
struct hf_jnode *hf_lease_to_json(struct hf_jtree *t,
	    const struct hf_lease *l);
/* Anything that is no lease is none. */
void	hf_lease_from_json(const struct hf_jval *v, struct hf_lease *l);

#endif
