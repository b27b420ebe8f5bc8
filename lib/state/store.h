/*
 * The state: values under keys, changed by compare-and-set.
 *
 * Keys are paths of two or three components, each [a-z0-9._%-]:
 *
 *	mains/<agent>.<id>	the one value that decides about a session
 *	records/<attempt>	the history of an attempt
 *	open/<attempt>		is there while an attempt needs looking after
 *	inbox/<session>/<relay>	a message that waits
 *
 * A value is at most HF_STORE_VALUE_MAX bytes, written whole and read
 * whole. Files are the built-in store; any other one is a program that is
 * asked for the same operations, so nothing here may need more than a
 * remote key-value store offers: one key is changed at a time, a list
 * comes in pages, a lock may time out, a lease is judged by the store.
 * Every operation may fail with HF_E_UNAVAILABLE: after one that changes
 * something nobody knows whether it did.
 *
 * err is never NULL, here and in all of lib/state.
 */
#ifndef HF_STATE_STORE_H
#define HF_STATE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"
#include "state/lease.h"

enum {
	HF_STORE_VALUE_MAX = 8 << 20,
	HF_STORE_WAIT_MS = 10000	/* for a lock, then HF_E_LOCKED */
};

/* Which value it was: opaque. "" is "there is none". */
struct hf_rev { char s[48]; };

/* Keys, sorted bytewise; own. */
struct hf_keys {
	char **key;
	size_t n;
	bool more;	/* there are more behind the last one */
};
void	hf_keys_release(struct hf_keys *k);

/* A value as it was when it was read; why says what could not be, instead
 * of val. 0 to go on, 1 to stop, -1. */
typedef int (*hf_store_value_fn)(const char *key, struct hf_str val,
	    const struct hf_rev *rev, const struct hf_err *why, void *arg,
	    struct hf_err *err);

struct hf_store;
struct hf_store_ops {
	int (*get)(struct hf_store *s, const char *key, struct hf_buf *out,
	    struct hf_rev *rev, struct hf_err *err);
	int (*put)(struct hf_store *s, const char *key, struct hf_str val,
	    const struct hf_rev *was, const struct hf_lease *under,
	    struct hf_rev *now, struct hf_err *err);
	int (*create)(struct hf_store *s, const char *key,
	    struct hf_str val, struct hf_rev *now, struct hf_err *err);
	int (*remove)(struct hf_store *s, const char *key,
	    const struct hf_rev *was, struct hf_err *err);
	int (*list)(struct hf_store *s, const char *prefix,
	    const char *after, size_t max, struct hf_keys *out,
	    struct hf_err *err);
	/* NULL: a list, and a get of each. */
	int (*each)(struct hf_store *s, const char *prefix,
	    hf_store_value_fn cb, void *arg, struct hf_err *err);
	int (*watch)(struct hf_store *s, const char *prefix, long ms,
	    struct hf_err *err);
	int (*lock)(struct hf_store *s, const char *name, long wait_ms,
	    struct hf_err *err);
	void (*unlock)(struct hf_store *s, int lock);
	int (*lease)(struct hf_store *s, int64_t seconds, long pid,
	    struct hf_lease *out, struct hf_err *err);
	enum hf_lease_state (*look)(struct hf_store *s,
	    const struct hf_lease *l);
	int (*tidy)(struct hf_store *s, struct hf_err *err);
	void (*close)(struct hf_store *s);
};
struct hf_store {
	const struct hf_store_ops *ops;
	bool shared;		/* other machines use it, too */
};

/* Opens the store that the configuration names (c may be NULL: files). The
 * folder need not be there: then nothing is, and the first write makes it.
 * HF_E_CONFIG for a store that is not known. */
int	hf_store_open(const struct hf_config *c, struct hf_store **out,
	    struct hf_err *err);
void	hf_store_close(struct hf_store *s);	/* NULL is nothing */

/* 1, the value appended and its revision; 0, and "", when there is none. */
int	hf_store_get(struct hf_store *s, const char *key, struct hf_buf *out,
	    struct hf_rev *rev, struct hf_err *err);
/* Replaces the value if it still is the one of *was: durable, or as it was
 * before (file.h says what a failed last flush leaves). HF_E_CHANGED if it
 * is another one. now may be NULL, or was. */
int	hf_store_put(struct hf_store *s, const char *key, struct hf_str val,
	    const struct hf_rev *was, struct hf_rev *now,
	    struct hf_err *err);
/* The same for who works under a lease: a store that judges leases by its
 * own clock refuses with HF_E_CHANGED, too, when that one has ended. Files
 * do not ask: there the epoch alone keeps a late owner out. */
int	hf_store_put_under(struct hf_store *s, const char *key,
	    struct hf_str val, const struct hf_rev *was,
	    const struct hf_lease *under, struct hf_rev *now,
	    struct hf_err *err);
/* HF_E_EXISTS if there is one. now may be NULL. */
int	hf_store_create(struct hf_store *s, const char *key,
	    struct hf_str val, struct hf_rev *now, struct hf_err *err);
/* 1 removed, 0 was not there. was NULL: whichever it is. */
int	hf_store_remove(struct hf_store *s, const char *key,
	    const struct hf_rev *was, struct hf_err *err);
/* Keys below prefix ("mains", "inbox/claude.x"), at most max of them,
 * those behind after (NULL: from the first). The caller's. */
int	hf_store_list(struct hf_store *s, const char *prefix,
	    const char *after, size_t max, struct hf_keys *out,
	    struct hf_err *err);
/* All values below prefix, in the order of their keys. cb may change what
 * it is given, and what is not. What vanishes meanwhile is left out. */
int	hf_store_each(struct hf_store *s, const char *prefix,
	    hf_store_value_fn cb, void *arg, struct hf_err *err);
/* Waits until something below prefix may have changed: 1; 0 after ms. */
int	hf_store_watch(struct hf_store *s, const char *prefix, long ms,
	    struct hf_err *err);
/* A lock of all processes that use the store, for what no single key can
 * guard. Released by hf_store_unlock or the end of the process. */
int	hf_store_lock(struct hf_store *s, const char *name, long wait_ms,
	    struct hf_err *err);
void	hf_store_unlock(struct hf_store *s, int lock);
/* A lease as the store counts it; pid 0: no process in particular. */
int	hf_store_lease(struct hf_store *s, int64_t seconds, long pid,
	    struct hf_lease *out, struct hf_err *err);
enum hf_lease_state hf_store_look(struct hf_store *s,
	    const struct hf_lease *l);

/* Removes what killed processes left half done, when it is a day old. */
int	hf_store_tidy(struct hf_store *s, struct hf_err *err);

/* The state folder: $HANDOFF_HOME, else the profile's in XDG_STATE_HOME;
 * the caller's. HF_E_CONFIG for one that is not absolute. */
char	*hf_store_dir(struct hf_err *err);
/* A store that a program keeps: hf-store-NAME for NAME://..., from the
 * folder of this program or PATH, spoken to as hf-store(7) says. It is
 * started by the first operation. HF_E_CONFIG for what is no such URL. */
int	hf_store_helper_open(const char *url, struct hf_store **out,
	    struct hf_err *err);
/* The store in files below it. */
int	hf_store_file_open(const char *dir, struct hf_store **out,
	    struct hf_err *err);

/* Appends the key's component for a session: agent + "." + id, every byte
 * but [a-z0-9_-] as %XX; beyond HF_KEY_MAX a beginning of it, "." and its
 * SHA-256, which no short one can look like. */
enum { HF_KEY_MAX = 100 };
void	hf_store_name(struct hf_buf *out, const char *agent, const char *id);

#endif
