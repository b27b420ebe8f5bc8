#include "net/etcd_url.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { HOST_MAX = 255, PREFIX_MAX = 255 };

static const char host_letters[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

static bool
is_port(struct hf_str a)
{
	int64_t n;

	return a.n > 0 && a.s[0] >= '0' && a.s[0] <= '9' &&
	    hf_text_int(a, &n) && n > 0 && n < 65536;
}

static bool
is_host(struct hf_str a)
{
	const char *letters = host_letters;

	if (a.n > 2 && a.s[0] == '[' && a.s[a.n - 1] == ']') {
		letters = "0123456789abcdefABCDEF:.";
		a = hf_strn(a.s + 1, a.n - 2);
	}
	if (a.n == 0 || a.n > HOST_MAX)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (strchr(letters, a.s[i]) == NULL)
			return false;
	return true;
}

/* "h", "h:p", "[::1]:p". */
static int
add_endpoint(struct hf_etcd_url *u, struct hf_str a, struct hf_err *err)
{
	struct hf_str host = a, port = HF_STR("2379");
	struct hf_buf b = HF_BUF_INIT;
	size_t i = a.n;

	while (i > 0 && a.s[i - 1] != ':' && a.s[i - 1] != ']')
		i--;
	if (i > 0 && a.s[i - 1] == ':') {
		host = hf_strn(a.s, i - 1);
		port = hf_strn(a.s + i, a.n - i);
	}
	if (!is_host(host) || !is_port(port))
		return hf_err_set(err, HF_E_CONFIG, "store: '%.*s' is no "
		    "host, or host:port, of an etcd", (int)(a.n < 80 ? a.n :
		    80), a.s);
	if (u->n == HF_ETCD_ENDPOINTS)
		return hf_err_set(err, HF_E_CONFIG,
		    "store: more than %d etcd endpoints",
		    (int)HF_ETCD_ENDPOINTS);
	hf_buf_puts(&b, u->tls ? "https://" : "http://");
	hf_buf_str(&b, host);
	hf_buf_putc(&b, ':');
	hf_buf_str(&b, port);
	u->endpoint[u->n++] = hf_buf_steal(&b);
	return 0;
}

static int
set_prefix(struct hf_etcd_url *u, struct hf_str a, struct hf_err *err)
{
	struct hf_buf b = HF_BUF_INIT;
	bool good = a.n <= PREFIX_MAX;

	while (a.n > 0 && a.s[a.n - 1] == '/')
		a.n--;
	while (a.n > 0 && a.s[0] == '/')
		a = hf_strn(a.s + 1, a.n - 1);
	for (size_t i = 0; i < a.n && good; i++)
		good = a.s[i] > ' ' && a.s[i] < 127 &&
		    strchr("?#%\"\\", a.s[i]) == NULL;
	if (!good)
		return hf_err_set(err, HF_E_CONFIG, "store: the prefix of an "
		    "etcd URL is plain text of at most %d characters",
		    (int)PREFIX_MAX);
	hf_buf_putc(&b, '/');
	hf_buf_str(&b, a.n > 0 ? a : HF_STR("handoff"));
	u->prefix = hf_buf_steal(&b);
	return 0;
}

int
hf_etcd_url_parse(const char *url, struct hf_etcd_url *u,
    struct hf_err *err)
{
	struct hf_str a = hf_str(url), hosts;
	size_t slash, comma;

	memset(u, 0, sizeof(*u));
	u->tls = hf_str_starts(a, "etcds://");
	if (!u->tls && !hf_str_starts(a, "etcd://"))
		return hf_err_set(err, HF_E_CONFIG, "store: an etcd URL "
		    "begins with etcd:// or etcds://");
	a = hf_strn(a.s + strlen("etcd://") + u->tls,
	    a.n - strlen("etcd://") - u->tls);
	slash = hf_str_find(a, HF_STR("/"), 0);
	hosts = hf_strn(a.s, slash < a.n ? slash : a.n);
	if (hf_str_find(hosts, HF_STR("@"), 0) != SIZE_MAX)
		return hf_err_set(err, HF_E_CONFIG, "store: an etcd URL has "
		    "no user and no password; etcd.user and etcd.passwordEnv "
		    "say them");
	do {
		comma = hf_str_find(hosts, HF_STR(","), 0);
		if (add_endpoint(u, hf_strn(hosts.s, comma < hosts.n ? comma :
		    hosts.n), err) < 0)
			return -1;
		if (comma < hosts.n)
			hosts = hf_strn(hosts.s + comma + 1,
			    hosts.n - comma - 1);
	} while (comma != SIZE_MAX);
	return set_prefix(u, slash < a.n ? hf_strn(a.s + slash, a.n - slash) :
	    HF_STR(""), err);
}

void
hf_etcd_url_release(struct hf_etcd_url *u)
{
	while (u->n > 0)
		free(u->endpoint[--u->n]);
	free(u->prefix);
	memset(u, 0, sizeof(*u));
}
