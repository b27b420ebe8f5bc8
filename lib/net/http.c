#include "net/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sig.h"

enum { POLL_MS = 100, ENOUGH_MS = 500, HOST_SHOWN = 200 };

#define YEAR_MS	(INT64_C(365) * 86400 * 1000)
#define AGENT	"handoff/" HF_VERSION
#define NO_SCHEME \
	"the URL must begin with https://, or http:// for this machine"

struct hf_http {
	CURLM *multi;			/* NULL: not used yet */
};

/* One request under way. */
struct transfer {
	struct hf_post *p;
	CURL *easy;
	struct curl_slist *headers;
	char why[CURL_ERROR_SIZE];
	size_t got;			/* bytes of the body */
	int64_t moved;			/* when a byte was last seen */
	curl_off_t seen;		/* bytes both ways by then */
	int64_t enough;			/* when no more was needed; 0 */
	bool stopped;			/* err has the reason */
	struct hf_err err;
};

struct hf_http *
hf_http_new(void)
{
	return hf_calloc(1, sizeof(struct hf_http));
}

void
hf_http_free(struct hf_http *h)
{
	if (h == NULL)
		return;
	if (h->multi != NULL) {
		curl_multi_cleanup(h->multi);
		curl_global_cleanup();
	}
	free(h);
}

/* What costs milliseconds waits until something is really sent. */
static int
start(struct hf_http *h, struct hf_err *err)
{
	if (h->multi != NULL)
		return 0;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return hf_err_set(err, HF_E_INTERNAL, "cannot start libcurl");
	h->multi = curl_multi_init();
	if (h->multi != NULL)
		return 0;
	curl_global_cleanup();
	return hf_err_set(err, HF_E_INTERNAL, "cannot start libcurl");
}

/* ---- URLs ---- */

/* By its name or address; what curl made of the URL, so that no spelling of
 * an address (0x7f.1) looks like something else. */
static bool
is_loopback(const char *host)
{
	struct in6_addr six;
	struct in_addr four;
	char bare[INET6_ADDRSTRLEN + 1];
	size_t n = strlen(host);

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (n < 3 || n - 2 >= sizeof(bare) || host[0] != '[')
		return false;
	memcpy(bare, host + 1, n - 2);
	bare[n - 2] = '\0';
	return inet_pton(AF_INET6, bare, &six) == 1 &&
	    IN6_IS_ADDR_LOOPBACK(&six);
}

static bool
has_part(CURLU *u, CURLUPart what)
{
	char *s = NULL;
	bool there = curl_url_get(u, what, &s, 0) == CURLUE_OK;

	curl_free(s);
	return there;
}

static int
check_parts(CURLU *u, bool any_http, bool *local, struct hf_err *err)
{
	char *scheme = NULL, *host = NULL;
	bool mine;
	int rc = -1;

	if (has_part(u, CURLUPART_USER) || has_part(u, CURLUPART_PASSWORD))
		return hf_err_set(err, HF_E_CONFIG, "the URL holds a "
		    "user or a password; say keyEnv, keyCommand or headers");
	if (has_part(u, CURLUPART_FRAGMENT))
		return hf_err_set(err, HF_E_CONFIG,
		    "the URL has a fragment");
	if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
		hf_err_set(err, HF_E_CONFIG, "this is no URL");
		goto out;
	}
	mine = is_loopback(host);
	if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)
		hf_err_set(err, HF_E_CONFIG, NO_SCHEME);
	else if (strcmp(scheme, "http") == 0 && !mine && !any_http)
		hf_err_set(err, HF_E_CONFIG, "no plain http to '%.*s', only "
		    "to this machine (summarize.allowHttp permits it)",
		    HOST_SHOWN, host);
	else
		rc = 0;
	if (rc == 0 && local != NULL)
		*local = mine;
out:
	curl_free(scheme);
	curl_free(host);
	return rc;
}

int
hf_http_check(const char *url, bool any_http, bool *local,
    struct hf_err *err)
{
	CURLU *u = curl_url();
	CURLUcode code;
	int rc;

	if (u == NULL)
		return hf_err_set(err, HF_E_INTERNAL, "cannot start libcurl");
	code = curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME);
	if (code == CURLUE_OK)
		rc = check_parts(u, any_http, local, err);
	else if (strstr(url, "://") == NULL)
		rc = hf_err_set(err, HF_E_CONFIG, NO_SCHEME);
	else
		rc = hf_err_set(err, HF_E_CONFIG, "this is no URL: %s",
		    curl_url_strerror(code));
	curl_url_cleanup(u);
	return rc;
}

/* ---- headers of the answer ---- */

/* A number of seconds or milliseconds with a fraction perhaps, as ms. */
static int64_t
span(struct hf_str a, int64_t unit)
{
	int64_t ppm;

	if (a.n == 0 || a.s[0] < '0' || a.s[0] > '9')
		return -1;
	if (!hf_text_ppm(a, &ppm))
		return YEAR_MS;
	if (ppm / 1000000 >= YEAR_MS / unit)
		return YEAR_MS;
	return (ppm * unit + 999999) / 1000000;
}

int64_t
hf_http_retry_after(struct hf_str name, struct hf_str value, int64_t now)
{
	int64_t at;

	value = hf_str_trim(value);
	if (hf_str_ieq(name, HF_STR("retry-after-ms")))
		return span(value, 1);
	if (!hf_str_ieq(name, HF_STR("retry-after")))
		return -1;
	at = hf_clock_parse_http(value);
	if (at < 0)
		return span(value, 1000);
	at = at > now ? at - now : 0;
	return at < YEAR_MS ? at : YEAR_MS;
}

static void
take_type(struct hf_post *p, struct hf_str value)
{
	size_t n = 0;

	value = hf_str_trim(value);
	while (n < value.n && n + 1 < sizeof(p->type) && value.s[n] != ';' &&
	    value.s[n] > ' ') {
		p->type[n] = value.s[n] >= 'A' && value.s[n] <= 'Z' ?
		    (char)(value.s[n] + ('a' - 'A')) : value.s[n];
		n++;
	}
	p->type[n] = '\0';
}

static void
take_header(struct hf_post *p, struct hf_str line)
{
	size_t colon = hf_str_find(line, HF_STR(":"), 0);
	struct hf_str name, value;
	int64_t ms;

	/* A new head: what an interim answer said does not count. */
	if (hf_str_istarts(line, "HTTP/")) {
		p->type[0] = '\0';
		p->retry_ms = -1;
		return;
	}
	if (colon == SIZE_MAX)
		return;
	name = hf_strn(line.s, colon);
	value = hf_strn(line.s + colon + 1, line.n - colon - 1);
	if (hf_str_ieq(name, HF_STR("content-type")))
		take_type(p, value);
	ms = hf_http_retry_after(name, value, hf_clock_now());
	/* The more exact of the two headers wins. */
	if (ms >= 0 && (p->retry_ms < 0 ||
	    hf_str_ieq(name, HF_STR("retry-after-ms"))))
		p->retry_ms = ms;
}

static size_t
on_header(char *s, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	take_header(t->p, hf_strn(s, size * n));
	return size * n;
}

/* ---- its body ---- */

static size_t
on_data(char *s, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	struct hf_post *p = t->p;
	long status = 0;
	int rc;

	n *= size;
	/* Not the number of bytes that came makes curl give up. */
	if (t->stopped)
		return n + 1;
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	p->status = (int)status;
	if (n > p->max - t->got) {
		t->stopped = true;
		hf_err_set(&t->err, HF_E_OVERFLOW,
		    "the answer has more than %zu bytes", p->max);
		return n + 1;
	}
	t->got += n;
	if (t->enough != 0)
		return n;
	rc = p->data(hf_strn(s, n), p->arg, &t->err);
	if (rc > 0)
		t->enough = hf_clock_boot();
	if (rc >= 0)
		return n;
	t->stopped = true;
	return n + 1;
}

/* ---- the request ---- */

static int
add_header(struct transfer *t, const char *line)
{
	struct curl_slist *more = curl_slist_append(t->headers, line);

	if (more == NULL)
		return -1;
	t->headers = more;
	return 0;
}

/* What may hold a key does not stay in freed memory. */
static void
drop_headers(struct transfer *t)
{
	struct curl_slist *h;

	for (h = t->headers; h != NULL; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(t->headers);
	t->headers = NULL;
}

static long
ms_left(const struct hf_post *p)
{
	int64_t left = p->deadline - hf_clock_boot();

	if (left > 24 * 3600 * 1000)
		return 24 * 3600 * 1000;
	return left > 0 ? (long)left : 1;
}

#define SET(option, value) \
	(curl_easy_setopt(t->easy, CURLOPT_ ## option, value) == CURLE_OK)

static bool
set_limits(struct transfer *t)
{
	const struct hf_post *p = t->p;
	long left = ms_left(p);

	return SET(NOSIGNAL, 1L) && SET(TIMEOUT_MS, left) &&
	    SET(CONNECTTIMEOUT_MS, p->connect_ms < left ? p->connect_ms :
	    left) &&
#if LIBCURL_VERSION_NUM >= 0x075700
	    /* A look-up that hangs is left behind, not waited for. */
	    SET(QUICK_EXIT, 1L) &&
#endif
	    SET(FOLLOWLOCATION, 0L) && SET(PROTOCOLS_STR, "http,https") &&
	    SET(SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) &&
	    SET(SUPPRESS_CONNECT_HEADERS, 1L);
}

static bool
set_request(struct transfer *t)
{
	const struct hf_post *p = t->p;

	return SET(URL, p->url) && SET(POST, 1L) && SET(USERAGENT, AGENT) &&
	    SET(POSTFIELDSIZE_LARGE, (curl_off_t)p->body.n) &&
	    SET(POSTFIELDS, p->body.n > 0 ? p->body.s : "") &&
	    SET(HTTPHEADER, t->headers) && SET(ERRORBUFFER, t->why) &&
	    SET(WRITEFUNCTION, on_data) && SET(WRITEDATA, t) &&
	    SET(HEADERFUNCTION, on_header) && SET(HEADERDATA, t) &&
	    (p->ca_file == NULL || SET(CAINFO, p->ca_file)) &&
	    (p->cert_file == NULL || SET(SSLCERT, p->cert_file)) &&
	    (p->key_file == NULL || SET(SSLKEY, p->key_file));
}

static int
prepare(struct transfer *t, struct hf_err *err)
{
	const char *const *h;

	/* No waiting for a "100 Continue" that many servers never send. */
	if (add_header(t, "Expect:") < 0)
		goto failed;
	for (h = t->p->header; h != NULL && *h != NULL; h++)
		if (add_header(t, *h) < 0)
			goto failed;
	t->easy = curl_easy_init();
	if (t->easy != NULL && set_limits(t) && set_request(t))
		return 0;
failed:
	return hf_err_set(err, HF_E_INTERNAL, "cannot prepare a request");
}

/* ---- the wait ---- */

static void
host_of(const char *url, char out[HOST_SHOWN + 1])
{
	const char *s = strstr(url, "://");
	size_t n;

	s = s != NULL ? s + 3 : url;
	n = strcspn(s, "/?#");
	n = n < HOST_SHOWN ? n : HOST_SHOWN;
	memcpy(out, s, n);
	out[n] = '\0';
}

/* What a next try would meet again: a proxy that says no, as to a wrong
 * password, and TLS spoken to a port that does not speak it. */
static const char *
hopeless(const struct transfer *t, CURLcode code)
{
	long proxy = 0;

	curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
	if (proxy >= 400 && proxy < 500 && proxy != 408 && proxy != 429)
		return "the proxy declines";
	if (code == CURLE_SSL_CONNECT_ERROR &&
	    strstr(t->why, "wrong version number") != NULL)
		return "it does not speak TLS, perhaps plain http";
	return NULL;
}

/* Why curl ended it. */
static int
failed(const struct transfer *t, CURLcode code, struct hf_err *err)
{
	const char *why = t->why[0] != '\0' ? t->why :
	    curl_easy_strerror(code);
	enum hf_code as = HF_E_UNAVAILABLE;
	const char *final = hopeless(t, code);
	char host[HOST_SHOWN + 1];

	host_of(t->p->url, host);
	if (final != NULL)
		return hf_err_set(err, HF_E_REFUSED, "no answer from '%s': "
		    "%s (%s)", host, final, why);
	switch (code) {
	case CURLE_OUT_OF_MEMORY:
	case CURLE_FAILED_INIT:
		as = HF_E_INTERNAL;
		break;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		as = HF_E_CONFIG;
		break;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
		as = HF_E_REFUSED;
		break;
	case CURLE_OPERATION_TIMEDOUT:
		if (hf_clock_boot() + POLL_MS >= t->p->deadline)
			as = HF_E_TIMEOUT;
		break;
	default:
		break;
	}
	return hf_err_set(err, as, "no answer from '%s': %s", host, why);
}

/* Has nothing moved for too long? */
static bool
is_silent(struct transfer *t)
{
	curl_off_t up = 0, down = 0;
	int64_t now = hf_clock_boot();

	curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &up);
	curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
	if (up + down != t->seen) {
		t->seen = up + down;
		t->moved = now;
	}
	return now - t->moved >= t->p->idle_ms;
}

/* 1 when it ended, 0 to go on, -1 to give it up. */
static int
look(struct hf_http *h, struct transfer *t, struct hf_err *err)
{
	char host[HOST_SHOWN + 1];
	CURLMsg *m;
	int left;

	if (hf_sig_check(err) < 0)
		return -1;
	while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE || m->easy_handle != t->easy)
			continue;
		if (t->stopped) {
			*err = t->err;
			return -1;
		}
		if (m->data.result == CURLE_OK || t->enough != 0)
			return 1;
		return failed(t, m->data.result, err);
	}
	if (t->enough != 0 && hf_clock_boot() - t->enough >= ENOUGH_MS)
		return 1;
	if (t->p->stop != NULL && t->p->stop(t->p->arg))
		return 1;
	host_of(t->p->url, host);
	if (hf_clock_boot() >= t->p->deadline)
		return hf_err_set(err, HF_E_TIMEOUT,
		    "no whole answer from '%s' in time", host);
	if (is_silent(t))
		return hf_err_set(err, HF_E_UNAVAILABLE,
		    "'%s' said nothing for %ld s", host,
		    t->p->idle_ms / 1000);
	return 0;
}

static int
follow(struct hf_http *h, struct transfer *t, struct hf_err *err)
{
	int running, rc;

	t->moved = hf_clock_boot();
	for (;;) {
		struct curl_waitfd sig = { hf_sig_fd(), CURL_WAIT_POLLIN, 0 };

		if (curl_multi_perform(h->multi, &running) != CURLM_OK)
			return hf_err_set(err, HF_E_INTERNAL,
			    "libcurl cannot go on");
		if ((rc = look(h, t, err)) != 0)
			return rc < 0 ? -1 : 0;
		if (t->p->tick != NULL)
			t->p->tick(t->p->arg);
		curl_multi_poll(h->multi, &sig, sig.fd >= 0 ? 1 : 0, POLL_MS,
		    NULL);
	}
}

int
hf_http_post(struct hf_http *h, struct hf_post *p, struct hf_err *err)
{
	struct transfer t = { .p = p };
	long status = 0, connects = 0;
	int rc = -1;

	p->status = 0;
	p->connected = false;
	p->type[0] = '\0';
	p->retry_ms = -1;
	if (hf_sig_check(err) < 0 ||
	    hf_http_check(p->url, p->any_http, NULL, err) < 0 ||
	    start(h, err) < 0 || prepare(&t, err) < 0)
		goto out;
	if (curl_multi_add_handle(h->multi, t.easy) != CURLM_OK) {
		hf_err_set(err, HF_E_INTERNAL, "cannot start a request");
		goto out;
	}
	rc = follow(h, &t, err);
	curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
	p->status = (int)status;
	curl_easy_getinfo(t.easy, CURLINFO_NUM_CONNECTS, &connects);
	p->connected = connects > 0;
	curl_multi_remove_handle(h->multi, t.easy);
out:
	curl_easy_cleanup(t.easy);
	drop_headers(&t);
	return rc;
}
