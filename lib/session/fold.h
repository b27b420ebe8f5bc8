/*
 * The fold's tables: one small node a row of the chain, one entry a model
 * call, and what is counted over the whole file. Internal to lib/session:
 * branch.h finds the active branch in it, figures.h counts along that.
 *
 * Memory: 40 bytes a row of the chain, 48 a call, and 11 to 21 for each in
 * a hash table; nothing of a row's text. What does not fit 32 bits, which is
 * rare, stands in tables of its own.
 */
#ifndef HF_SESSION_FOLD_H
#define HF_SESSION_FOLD_H

#include "agent/agent.h"
#include "base/hmac.h"
#include "session/metrics.h"

#define HF_NONE UINT32_MAX	/* no node, no call */

enum hf_link {
	HF_LINK_ROOT,		/* nothing above */
	HF_LINK_ID,		/* up: the parent's id, in the orphans */
	HF_LINK_INDEX,		/* up: the parent's node */
	HF_LINK_DOWN		/* up: the next node of the branch */
};

struct hf_node {
	uint64_t id;		/* hash of the row's id; 0: it has none */
	uint64_t off;
	uint32_t up;		/* by link */
	uint32_t context;	/* hf_fold_context */
	uint32_t len;
	uint32_t call;		/* in the calls; COMPACTION: in the kept ids */
	uint16_t flags;		/* HF_ROW_* */
	uint16_t item;
	uint8_t part, kind, turn;
	uint8_t link : 2, mark : 3;
};

enum { HF_REQUEST_MASK = (1 << 29) - 1 };
struct hf_call {
	uint64_t call;		/* hash */
	uint32_t request : 29;	/* of a hash: there are few with one call */
	bool side : 1;		/* a row of it was a sidechain's */
	bool inherited : 1;	/* spent by the session this one came from */
	bool seen : 1;		/* for counting along the branch */
	/* usage of the fullest row, output of the row at best: HF_WIDE | the
	 * place in the wide numbers, where they do not fit */
	uint32_t input, cache_read, cache_write, output, best_output;
	uint32_t best;		/* the fullest row's node, one of the main
				 * chain before any other */
	uint32_t next;		/* another request with this call id */
};

/*
 * An open-addressing table of indices. The keys stand in what they index;
 * half of one in the slot spares most looks there. Its size is any number,
 * not a power of two: it is a large part of what a long transcript takes.
 */
struct hf_slot {
	uint32_t index;		/* + 1; 0 is free */
	uint32_t half;
};
struct hf_slots {
	struct hf_slot *slot;
	size_t cap, used;
};

/*
 * Ids of rows and calls of which nothing else is kept: the first KNOWN_BITS
 * bits of their hashes, sorted. One that is not among them was not there;
 * one that is was there but for one time in two thousand. Of more than
 * HF_KNOWN_MAX nothing is kept (full).
 */
enum { HF_KNOWN_BITS = 24, HF_KNOWN_MAX = 8192, HF_AWAIT_MAX = 64 };
struct hf_known {
	uint32_t *v;
	uint32_t n;
	bool full;
};

/*
 * The two nodes that a fold begins with when it goes on from a cursor that
 * left rows out: the first stands for all of these, the second for the last
 * one of them that is on the branch (figures.h has what the walk knew there).
 */
enum { HF_NODE_OLD, HF_NODE_BASE, HF_NODES_BASE };

struct hf_fold {
	struct hf_session *session;
	const struct hf_source *src;
	int64_t now;
	struct hf_node **block;
	uint32_t nnodes;
	size_t nblocks;
	struct hf_slots by_id;
	struct hf_call **calls;
	uint32_t ncalls;
	size_t ncall_blocks;
	uint64_t *wide;		/* numbers of 2^31 and more */
	uint32_t nwide;
	size_t wide_cap;
	uint64_t *orphan;	/* hashes of parents' ids that were not known
				 * when their child came */
	uint32_t norphans;
	size_t orphan_cap;
	struct hf_slots by_call;
	uint64_t *kept;		/* hashes of the ids that compactions kept */
	uint32_t nkept;
	size_t kept_cap;

	uint32_t last, leaf;	/* end of the list; leaf if nothing else
				 * names it; HF_NONE */
	uint32_t last_main, leaf_main;	/* without sidechain rows */
	uint32_t list;		/* the list in force begins here */
	uint64_t hint;		/* hash of the id that names the leaf; 0 */

	struct hf_usage extra;	/* spent outside the calls table */
	int64_t extra_calls;
	uint64_t duplicates, sidechain, inherited, errors;
	int64_t queue;
	int64_t time;		/* the latest that is plausible; -1 */
	int64_t prompted;	/* of the last prompt in the file; -1 */
	int64_t window;		/* stated by a row; 0 */
	int64_t peak;		/* largest real context of this model */
	uint64_t peak_model;
	uint64_t seq;
	struct hf_hash128 chain;

	/* Of a fold that goes on from a cursor. */
	bool based;		/* it begins with the two nodes */
	bool lost;		/* a row refers to what was left out: all has
				 * to be read afresh */
	bool hint_old, hint_none;	/* the row that the hint names was
				 * left out; is not there */
	uint64_t old_hint;	/* the hint that these two are said of */
	struct hf_known known;	/* what was left out */
	uint64_t *await;	/* hashes of parents' ids that were not there
				 * among what was left out */
	uint32_t nawait;
	size_t await_cap;

	struct hf_ref ref;	/* of the record at hand */
	unsigned seen;		/* SIDECHAIN, INHERITED, ERROR in it */
	bool means;		/* it counts for the revision */
};

void	hf_fold_init(struct hf_fold *f, struct hf_session *s,
	    const struct hf_source *src);
void	hf_fold_release(struct hf_fold *f);
/* Reads all records of src that are left, translated by the session's agent.
 * sc lives on (hf_fold_scan_release). Ends early when f is lost. Errors: of
 * the source; HF_E_EMPTY, HF_E_NOT_A_SESSION, HF_E_UNSUPPORTED. */
int	hf_fold_run(struct hf_fold *f, struct hf_scan *sc,
	    struct hf_source *src, struct hf_err *err);
void	hf_fold_scan_release(struct hf_scan *sc);

/* The parts of it: one record, its rows, its end. */
void	hf_fold_begin(struct hf_fold *f, const struct hf_record *rec);
void	hf_fold_row(struct hf_fold *f, const struct hf_row *row);
void	hf_fold_end(struct hf_fold *f, const struct hf_record *rec);

/* Is the row the main chain's? In a sub-agent's own file all are. */
bool	hf_fold_main(const struct hf_fold *f, unsigned flags);
/* The node of an id's hash; HF_NONE. */
uint32_t hf_fold_find(const struct hf_fold *f, uint64_t id);
/* What was spent: the calls and what was counted apart. */
void	hf_fold_total(const struct hf_fold *f, struct hf_usage *total,
	    int64_t *calls);
/* "sha256:…" over the meaningful rows so far. */
void	hf_fold_digest(const struct hf_fold *f, char out[HF_DIGEST_LEN]);

/* Is the hash of an id among those left out? */
bool	hf_known_has(const struct hf_known *k, uint64_t hash);
/* Puts back what a cursor had: a node with its id, a call. */
uint32_t hf_fold_put_node(struct hf_fold *f, const struct hf_node *n);
uint32_t hf_fold_put_call(struct hf_fold *f, const struct hf_call *c,
	    const struct hf_usage *u, int64_t best_output);
/* What a call spent; the output of its row at best. */
struct hf_usage hf_fold_usage(const struct hf_fold *f,
	    const struct hf_call *c, int64_t *best_output);
uint32_t hf_fold_narrow(struct hf_fold *f, int64_t v);
/* Spent outside the calls, or by calls that are no longer kept. */
void	hf_fold_spent(struct hf_fold *f, const struct hf_usage *u,
	    int64_t calls);
void	hf_fold_await(struct hf_fold *f, uint64_t id);
void	hf_fold_put_orphan(struct hf_fold *f, uint64_t id);
/* Makes sc ready for the session's agent, its rows to go to f. */
void	hf_fold_scan_init(struct hf_fold *f, struct hf_scan *sc);

/* The context that a row states, -1 for none. */
int64_t	hf_fold_context(const struct hf_fold *f, const struct hf_node *n);

enum { HF_NODE_BLOCK = 4096, HF_CALL_BLOCK = 4096 };
static inline struct hf_node *
hf_fold_node(const struct hf_fold *f, uint32_t i)
{
	return &f->block[i / HF_NODE_BLOCK][i % HF_NODE_BLOCK];
}
static inline struct hf_call *
hf_fold_call(const struct hf_fold *f, uint32_t i)
{
	return &f->calls[i / HF_CALL_BLOCK][i % HF_CALL_BLOCK];
}
static inline struct hf_ref
hf_node_ref(const struct hf_node *n)
{
	return (struct hf_ref){ n->off, n->len, n->part, n->item };
}

#endif
