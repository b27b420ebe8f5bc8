/*
 * A call of etcd's gateway: which endpoint, authentication, what an error
 * means, and again until it is answered. Inner part of etcd.h.
 */
#ifndef HF_NET_ETCD_CALL_H
#define HF_NET_ETCD_CALL_H

#include "json/json.h"
#include "net/etcd.h"
#include "net/etcd_url.h"
#include "net/http.h"

struct hf_etcd {
	struct hf_etcd_how how;
	struct hf_etcd_url url;
	struct hf_http *http;
	size_t at;		/* the endpoint that answered last */
	struct hf_buf token;	/* "Authorization: ..."; empty: none */
	bool answered;		/* there may be a connection that is kept */
	int64_t deadline;
	int64_t since;		/* what a watch has not seen yet; 0 */
	bool told;		/* the last watch saw something */
};

struct hf_etcd_call {
	const char *path;	/* "/v3/kv/range" */
	struct hf_str body;
	int64_t deadline;	/* 0: the client's */
	/* For an answer that is a stream: gets each line of it. 0 to go on,
	 * 1 when it is enough, -1. NULL: it is one value. */
	int (*line)(struct hf_str line, void *arg, struct hf_err *err);
	bool (*stop)(void *arg);	/* as in struct hf_post */
	void *arg;
	/* results */
	struct hf_json *answer;	/* the caller's; NULL for a stream */
	bool again;		/* an earlier try may have been carried out */
};

/* 0; -1: as etcd.h has it, and HF_E_NOT_FOUND, HF_E_CHANGED for a
 * revision that is compacted away. A stream that is cut is begun again. */
int	hf_etcd_call(struct hf_etcd *e, struct hf_etcd_call *c,
	    struct hf_err *err);
/* A member under its name in the gateway's spelling ("mod_revision"), or in
 * the one of protocol buffers' JSON ("modRevision"). */
const struct hf_jval *hf_etcd_call_get(const struct hf_jval *v,
	    const char *name);
/* A 64-bit number, which the gateway writes as a string and leaves out when
 * it is 0. */
int64_t	hf_etcd_call_int(const struct hf_jval *v, const char *name);

#endif
