/*
 * Records: the history of attempts, records/<attempt>, and the marks of
 * those that need looking after, open/<attempt>. A record is complete
 * enough to make the successor again from it alone.
 */
#ifndef HF_STATE_RECORD_H
#define HF_STATE_RECORD_H

#include "agent/agent.h"
#include "session/metrics.h"
#include "state/store.h"

/* DESIGN section 7. */
enum hf_phase {
	HF_PHASE_SUMMARIZING, HF_PHASE_PREPARED, HF_PHASE_COMMITTED,
	HF_PHASE_PENDING, HF_PHASE_STARTED, HF_PHASE_FAILED
};
const char *hf_phase_name(enum hf_phase p);
/* The redirect is there: only forward from here. */
bool	hf_phase_committed(enum hf_phase p);

struct hf_target {
	char *agent, *id;
	char *dir, *name;	/* where the transcript goes */
	char *cwd, *model, *title, *permission;	/* NULL: none */
	int64_t time;		/* ms */
};

struct hf_attempt {
	char *id;		/* the attempt's */
	enum hf_phase phase;
	struct { char *agent, *id, *path; } source;
	char *host, *user;	/* whose attempt it is; NULL: not known */
	char *reason;
	int64_t epoch;
	struct { int64_t tokens, turns, compactions, capacity; } metrics;
	struct {
		int64_t seq;
		char *digest;
		int64_t size;	/* bytes of the transcript then; -1 */
	} revision;
	struct hf_target target;
	char *focus;		/* NULL: none */
	char *brief;		/* compact JSON; NULL: none yet */
	char *hash;		/* "sha256:…" of the brief */
	char *validation;	/* what its check found, compact JSON; NULL */
	char *draft;		/* "sha256:…" of the draft */
	int64_t draft_size;
	char *error_code, *error;	/* of the last failure; NULL */
	int64_t begun, changed;	/* ms */

	struct hf_rev rev;
	struct hf_json *was;
};

void	hf_record_init(struct hf_attempt *r);
void	hf_record_release(struct hf_attempt *r);
/* "handoff-" and a UUID of version 7: sorts by time, fit for a path. */
enum { HF_ATTEMPT_LEN = 48 };
void	hf_record_new_id(char out[HF_ATTEMPT_LEN]);
/* Does it look like an attempt's id? Nothing else reaches the store. */
bool	hf_record_is_id(const char *s);
/* When it was made, by its id; -1. */
int64_t	hf_record_id_time(const char *id);

/* Is it to be completed, or its draft removed, on this machine? */
bool	hf_record_here(const struct hf_store *st,
	    const struct hf_attempt *r);

/* 1, 0 when there is none, -1. *r is initialised by it in every case. */
int	hf_record_load(struct hf_store *st, const char *id,
	    struct hf_attempt *r, struct hf_err *err);
/* Stores it; it is new when it was not loaded. HF_E_CHANGED when another
 * process changed it, HF_E_EXISTS for a new one that is there. */
int	hf_record_save(struct hf_store *st, struct hf_attempt *r,
	    struct hf_err *err);
/* Sets or, with NULL, removes the failure. */
void	hf_record_fail(struct hf_attempt *r, const struct hf_err *why);
/* The final path of the target; the caller's. */
char	*hf_record_path(const struct hf_attempt *r);
struct hf_jnode *hf_record_to_json(struct hf_jtree *t,
	    const struct hf_attempt *r);
/* From a value of its shape; HF_E_INVALID naming what is wrong. Of the
 * seed's shape too: source and target are ids, sourceRevision a number. */
int	hf_record_from_json(const struct hf_jval *v, struct hf_attempt *r,
	    struct hf_err *err);
/* All, oldest first; as hf_main_each. */
int	hf_record_each(struct hf_store *st,
	    int (*cb)(const char *key, struct hf_attempt *r,
	    const struct hf_err *why, void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);
/* The newest record of a session as source or target, by its id, or the
 * attempt of that name. 1, 0, -1. */
int	hf_record_find(struct hf_store *st, const char *what,
	    struct hf_attempt *r, struct hf_err *err);

/* The mark of an open attempt: whose it is, and who is at it until the main
 * says so. */
struct hf_open {
	char *attempt;
	char *agent, *id;	/* the source */
	struct hf_lease lease;
};
void	hf_open_release(struct hf_open *o);
int	hf_open_create(struct hf_store *st, const struct hf_open *o,
	    struct hf_err *err);
/* 1, 0, -1. *o is initialised by it in every case. */
int	hf_open_load(struct hf_store *st, const char *attempt,
	    struct hf_open *o, struct hf_err *err);
int	hf_open_remove(struct hf_store *st, const char *attempt,
	    struct hf_err *err);
/* The attempts that are open. */
int	hf_open_list(struct hf_store *st, struct hf_keys *out,
	    struct hf_err *err);

#endif
