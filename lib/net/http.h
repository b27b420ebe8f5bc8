/*
 * HTTP: the only caller of libcurl. One POST at a time; its connection is
 * kept for the next one to the same place. A signal ends it within 200 ms
 * at any moment, also while a name is looked up.
 *
 * Certificates are checked, TLS 1.2 at least; redirects are not followed;
 * proxies and NO_PROXY are as curl has them. Neither the headers nor the
 * body are ever in a message.
 */
#ifndef HF_NET_HTTP_H
#define HF_NET_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct hf_http;			/* connections that are kept */

/* Costs nothing until the first request. */
struct hf_http *hf_http_new(void);
void	hf_http_free(struct hf_http *h);	/* NULL is nothing */

/* May url be sent to? HF_E_CONFIG: it is no https URL (http is one for this
 * very machine, or with any_http), has a user, a password or a fragment.
 * The message has the URL's host at most. *local, if not NULL: it is this
 * machine. */
int	hf_http_check(const char *url, bool any_http, bool *local,
	    struct hf_err *err);

struct hf_post {
	const char *url;		/* as hf_http_check wants it */
	const char *const *header;	/* "Name: value", NULL-terminated */
	struct hf_str body;
	bool any_http;
	const char *ca_file;		/* NULL: the system's */
	const char *cert_file, *key_file;	/* the client's own, PEM; NULL:
					 * none; the key may be in cert_file */
	int64_t deadline;		/* of hf_clock_boot */
	long connect_ms, idle_ms;	/* idle: without a byte either way */
	size_t max;			/* bytes of the answer's body */
	/* Gets the answer's body piece by piece; status and type are set by
	 * then. 0 to go on; 1 when nothing more is needed: the end is then
	 * waited for a moment only, so that the connection can be kept; -1
	 * with *err to give up. */
	int (*data)(struct hf_str bytes, void *arg, struct hf_err *err);
	/* Called ten times a second; may be NULL. */
	void (*tick)(void *arg);
	/* Asked as often: true ends it at once as if data had said 1; may
	 * be NULL. */
	bool (*stop)(void *arg);
	void *arg;
	/* results; status is 0 while there is no answer */
	int status;
	char type[64];			/* media type, lower case; "" */
	bool connected;			/* a connection was made for it */
	int64_t retry_ms;		/* Retry-After in its three forms, as
					 * ms from now; -1 not told */
};

/* libcurl itself asks once more, over a new connection, when a kept one
 * breaks before the answer begins: connected tells that it may have.
 *
 * 0 when the answer came whole, whatever its status. -1: HF_E_UNAVAILABLE
 * for what is worth another try (no connection, one that broke or fell
 * silent), HF_E_TIMEOUT at the deadline, HF_E_OVERFLOW beyond max,
 * HF_E_REFUSED for a certificate that is not good, HF_E_CONFIG for a URL or
 * a CA file, HF_E_CANCELLED, or what data set. */
int	hf_http_post(struct hf_http *h, struct hf_post *p,
	    struct hf_err *err);

/* What a Retry-After or retry-after-ms header asks for, in ms from now
 * (wall clock); -1 when it cannot be understood. Never more than a year. */
int64_t	hf_http_retry_after(struct hf_str name, struct hf_str value,
	    int64_t now);

#endif
