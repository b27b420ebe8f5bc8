/*
 * etcd, version 3, through its JSON gateway (etcd 3.4 and later): values
 * under keys with a revision each, changed by transactions; leases; watch.
 *
 * Every operation goes to the endpoint that answered last, then to the
 * others in turn, until its time is over. A change whose answer was lost is
 * asked for again, and is recognised when it had been made: it is made once
 * and its outcome is told truly, or it is HF_E_UNAVAILABLE and nobody knows.
 * Reads are linearizable: a cluster without a majority answers nothing.
 *
 * Errors, beside what each function names: HF_E_UNAVAILABLE (nobody
 * answers, no leader), HF_E_REFUSED (certificate, user, password, a
 * permission), HF_E_CONFIG, HF_E_OVERFLOW (beyond the server's limit),
 * HF_E_IO (its disk is full), HF_E_CANCELLED.
 */
#ifndef HF_NET_ETCD_H
#define HF_NET_ETCD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { HF_ETCD_ID = 24 };

struct hf_etcd_how {
	/* "etcd://h1:2379,h2:2379/prefix"; etcds:// for TLS. Without a port
	 * it is 2379, without a prefix "handoff". */
	const char *url;
	const char *user;	/* NULL: no authentication */
	/* Gives the password, when it is first needed, into *out, which is
	 * wiped afterwards. */
	int (*password)(struct hf_buf *out, void *arg, struct hf_err *err);
	void *arg;
	const char *ca_file, *cert_file, *key_file;	/* NULL: none */
};

struct hf_etcd;
/* Nothing is sent yet. HF_E_CONFIG: the URL; a password without TLS to
 * another machine. how's strings are borrowed. */
int	hf_etcd_open(const struct hf_etcd_how *how, struct hf_etcd **out,
	    struct hf_err *err);
void	hf_etcd_close(struct hf_etcd *e);	/* NULL is nothing */
/* When the operations from now on must have ended (of hf_clock_boot). */
void	hf_etcd_deadline(struct hf_etcd *e, int64_t deadline);

/* A revision is a decimal number; "" is "there is none". */
struct hf_etcd_rev { char s[HF_ETCD_ID]; };

/* 1, the value appended and its revision; 0 and "" when there is none. */
int	hf_etcd_get(struct hf_etcd *e, const char *key, struct hf_buf *val,
	    struct hf_etcd_rev *rev, struct hf_err *err);

struct hf_etcd_put {
	const char *key;
	struct hf_str val;
	const char *was;	/* its revision; "": there must be none */
	const char *guard;	/* a lease that must still live; "": none */
	const char *lease;	/* the value goes with it; "": it stays */
};
/* 0 and the new revision; HF_E_CHANGED when was, or the guard, does not
 * hold. */
int	hf_etcd_put(struct hf_etcd *e, const struct hf_etcd_put *p,
	    struct hf_etcd_rev *now, struct hf_err *err);
/* 1 removed, 0 was not there; was NULL: whichever it is, else
 * HF_E_CHANGED. */
int	hf_etcd_remove(struct hf_etcd *e, const char *key, const char *was,
	    struct hf_err *err);

/* What is below prefix + "/", sorted, behind the key after (NULL: from the
 * first), at most max, with values or without. cb returns 0 to go on, 1 to
 * stop, -1. *more: there are others, behind the last one that cb was
 * given. */
struct hf_etcd_range {
	const char *prefix, *after;
	size_t max;
	bool values;
	int (*cb)(struct hf_str key, struct hf_str val, const char *rev,
	    void *arg, struct hf_err *err);
	void *arg;
};
int	hf_etcd_range(struct hf_etcd *e, const struct hf_etcd_range *r,
	    bool *more, struct hf_err *err);

/* Waits until the deadline, and a second more when nobody answers, for a
 * change below prefix since the last watch or, the first time, since the
 * first answer of all: 1; 0 none. stop, if not NULL, is asked ten times a
 * second: true ends it, 0. */
int	hf_etcd_watch(struct hf_etcd *e, const char *prefix,
	    bool (*stop)(void *arg), void *arg, struct hf_err *err);

/* A lease that ends by itself ttl seconds after the last renewal. */
int	hf_etcd_lease(struct hf_etcd *e, int64_t ttl, char id[HF_ETCD_ID],
	    struct hf_err *err);
/* 1 renewed, 0 it has ended. */
int	hf_etcd_renew(struct hf_etcd *e, const char *id, struct hf_err *err);
/* Ends it, and what goes with it. */
int	hf_etcd_revoke(struct hf_etcd *e, const char *id,
	    struct hf_err *err);
/* 1 it lives, 0 it has ended. */
int	hf_etcd_alive(struct hf_etcd *e, const char *id, struct hf_err *err);

#endif
