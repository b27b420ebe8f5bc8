/*
 * A main: the one value that decides everything about a source session
 * (DESIGN section 7), mains/<key>, changed only by compare-and-set.
 *
 * It knows who is registered, which attempt is under way (attempt with a
 * lease), and where the session went (redirect). An attempt that is over
 * leaves its name here and no lease. epoch counts up whenever an attempt
 * begins or is given up: who holds an older one cannot commit any more.
 */
#ifndef HF_STATE_MAIN_H
#define HF_STATE_MAIN_H

#include "agent/agent.h"
#include "json/json.h"
#include "state/store.h"

/* The agent of an id that was routed before any agent was known for it. */
#define HF_AGENT_ANY	"any"

enum { HF_DEFERRED_MAX = 64, HF_FOCUS_MAX = 4096 };

struct hf_main {
	char *agent, *id;		/* never NULL */
	char *path, *cwd;		/* NULL: not known */
	char *host, *user;		/* who has the transcript; NULL */
	bool enabled;
	struct {			/* a handoff was asked for */
		bool on;
		int64_t until;		/* ms */
		char *focus, *to;	/* NULL: none */
	} requested;
	int64_t epoch;
	char *attempt;			/* the last one; NULL: none yet */
	struct hf_lease lease;		/* held: it is under way */
	struct {
		char *agent, *id;	/* NULL: none */
		char *attempt;		/* NULL: added by hand */
		int64_t at;
	} redirect;
	int64_t last_seq;		/* revision of the last attempt; -1 */
	char *deferred[HF_DEFERRED_MAX];
	size_t ndeferred;
	int64_t failures;		/* in a row */
	int64_t retry_at;		/* ms; 0: at once */
	struct { char *agent, *id; } from;	/* inheritedFrom; NULL */

	bool stored;
	bool fenced;			/* to be saved only while the lease
					 * lives: hf_store_put_under */
	struct hf_rev rev;
	struct hf_json *was;		/* as read: what we do not know of it is
					 * written back */
};

void	hf_main_init(struct hf_main *m, const char *agent, const char *id);
void	hf_main_release(struct hf_main *m);
/* Replaces an owned string by a copy of s (NULL: none). */
void	hf_main_set(char **field, const char *s);
void	hf_main_set_redirect(struct hf_main *m, const char *agent,
	    const char *id, const char *attempt, int64_t at);
void	hf_main_clear_redirect(struct hf_main *m);
void	hf_main_clear_request(struct hf_main *m);
/* Replaces the list; more than HF_DEFERRED_MAX are cut. */
void	hf_main_set_deferred(struct hf_main *m, char *const *line, size_t n);
/* The attempt is no longer under way, and whoever holds it cannot commit
 * it. */
void	hf_main_end_attempt(struct hf_main *m);
/* Is an attempt under way that must be left alone? */
bool	hf_main_busy(struct hf_store *st, const struct hf_main *m);

/* This machine and user have its transcript. */
void	hf_main_place(struct hf_main *m);
/* The transcript can be seen from here. */
bool	hf_main_present(const struct hf_main *m);
/* Is it to be handed off here? In a store that other machines use, too:
 * when it is placed here, or nowhere, or its transcript is there. */
bool	hf_main_here(const struct hf_store *st, const struct hf_main *m);
/* The same of any place and path; each may be NULL. */
bool	hf_main_is_here(const struct hf_store *st, const char *host,
	    const char *user, const char *path);

/* Loads a session's main. 1 stored; 0: none, *m is a fresh one; -1 (damaged:
 * HF_E_INVALID naming it). What was routed before its agent was known
 * ("any") is found too; m->agent is then "any". A request that has expired
 * is gone. *m is initialised by it in every case. */
int	hf_main_load(struct hf_store *st, const char *agent, const char *id,
	    struct hf_main *m, struct hf_err *err);
/* A main by what a person gives: AGENT:ID, or an id, looked up among the
 * mains of all agents. 1; 0: none (*m is a fresh one, of agent "any"); -1:
 * HF_E_USAGE listing them when several agents have the id. */
int	hf_main_lookup(struct hf_store *st, const char *what,
	    struct hf_main *m, struct hf_err *err);
/* The main of a session that a person names: as hf_main_lookup, else a
 * transcript (path, id, prefix, title), whose path and cwd it gets. 0 and a
 * fresh one when there is no main yet; HF_E_NOT_FOUND. s, if not NULL, is
 * filled when a transcript was looked at, else only initialised. */
int	hf_main_find(struct hf_store *st, const char *what,
	    struct hf_main *m, struct hf_session *s, struct hf_err *err);

/* Stores it if nobody else did meanwhile: else HF_E_CHANGED. */
int	hf_main_save(struct hf_store *st, struct hf_main *m,
	    struct hf_err *err);
/* Loads, changes, stores; again from the start as long as another one was
 * faster. change returns 1 to store, 0 to leave it, -1. *m (initialised by
 * it) is what was seen last. */
int	hf_main_update(struct hf_store *st, const char *agent,
	    const char *id, struct hf_main *m,
	    int (*change)(struct hf_main *m, void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);

/* All of them, in the order of their keys. A damaged one comes as m NULL
 * and why. cb returns 0 to go on, 1 to stop, -1. */
int	hf_main_each(struct hf_store *st,
	    int (*cb)(const char *key, struct hf_main *m,
	    const struct hf_err *why, void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);

/* A session by its name: {agent, id}. */
struct hf_jnode *hf_main_name(struct hf_jtree *t, const char *agent,
	    const char *id);
/* Its JSON: the members of DESIGN section 7. */
struct hf_jnode *hf_main_to_json(struct hf_jtree *t,
	    const struct hf_main *m);

/* Is the transcript at path ours to hand off? HF_E_REFUSED when it belongs
 * to another user. One that is gone is. */
int	hf_main_owner(const char *path, struct hf_err *err);

#endif
