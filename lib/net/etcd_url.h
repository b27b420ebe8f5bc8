/*
 * The URL of a state in etcd: etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX],
 * etcds:// for TLS. The port is 2379, the prefix "handoff" if not given.
 */
#ifndef HF_NET_ETCD_URL_H
#define HF_NET_ETCD_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { HF_ETCD_ENDPOINTS = 16 };

struct hf_etcd_url {
	char *endpoint[HF_ETCD_ENDPOINTS];	/* "http://h:2379" */
	size_t n;
	char *prefix;		/* "/handoff": a slash in front, none behind */
	bool tls;
};

/* HF_E_CONFIG saying what is wrong; *u is to be released in any case. A
 * user or a password has no place in it, and is never in a message. */
int	hf_etcd_url_parse(const char *url, struct hf_etcd_url *u,
	    struct hf_err *err);
void	hf_etcd_url_release(struct hf_etcd_url *u);

#endif
