/*
 * Routes: the redirects of the mains, walked to the end (DESIGN section
 * 9). Ids are names, never paths. Nothing here needs a transcript.
 */
#ifndef HF_STATE_ROUTE_H
#define HF_STATE_ROUTE_H

#include "state/main.h"

enum { HF_ROUTE_MAX = 4096 };	/* links of a chain */

/* Follows the redirects from *m to the main at the end of the chain, which
 * *m then is. *hops (may be NULL) counts them. HF_E_CYCLE with its members,
 * HF_E_OVERFLOW beyond HF_ROUTE_MAX. An end that has no main of its own is
 * a fresh one. */
int	hf_route_follow(struct hf_store *st, struct hf_main *m, size_t *hops,
	    struct hf_err *err);
/* The end of the chain that begins at what a person gives. 1; 0: nobody
 * knows it; -1. *m is initialised by it in every case. */
int	hf_route_resolve(struct hf_store *st, const char *what,
	    struct hf_main *m, struct hf_err *err);

/* Routes from → to by hand, under the lock of all routes. The same again
 * is nothing. HF_E_CYCLE for a route to itself or one that closes a circle,
 * HF_E_CONFLICT for a second one from there. */
int	hf_route_add(struct hf_store *st, const char *from, const char *to,
	    struct hf_err *err);
/* Removes the route from there: 1, 0 there was none, -1. */
int	hf_route_remove(struct hf_store *st, const char *from,
	    struct hf_err *err);

/* Each main that has a redirect. With check the chain behind it is looked
 * at too: problem says what is wrong with it (a circle, an end that nobody
 * knows), NULL nothing. A main that cannot be read comes as m NULL. */
int	hf_route_each(struct hf_store *st, bool check,
	    int (*cb)(const struct hf_main *m, const char *problem,
	    void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);

#endif
