#include "state/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/sig.h"
#include "base/text.h"
#include "config/home.h"

void
hf_keys_release(struct hf_keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->key[i]);
	free(k->key);
	*k = (struct hf_keys){ NULL, 0, false };
}

/* ---- which ---- */

char *
hf_store_dir(struct hf_err *err)
{
	return hf_home_state(err);
}

int
hf_store_open(const struct hf_config *c, struct hf_store **out,
    struct hf_err *err)
{
	char *dir;
	int rc;

	if (c != NULL && c->store != NULL && strcmp(c->store, "files") != 0)
		return hf_store_helper_open(c->store, out, err);
	if ((dir = hf_store_dir(err)) == NULL)
		return -1;
	rc = hf_store_file_open(dir, out, err);
	free(dir);
	return rc;
}

void
hf_store_close(struct hf_store *s)
{
	if (s != NULL)
		s->ops->close(s);
}

void
hf_store_name(struct hf_buf *out, const char *agent, const char *id)
{
	enum { KEEP = HF_KEY_MAX - 1 - (HF_SHA_HEX - 1) };
	struct hf_buf name = HF_BUF_INIT;
	char hex[HF_SHA_HEX];

	hf_text_percent(&name, hf_str(agent));
	hf_buf_putc(&name, '.');
	hf_text_percent(&name, hf_str(id));
	if (name.len > HF_KEY_MAX) {
		hf_sha256_hex(hf_buf_view(&name), hex);
		hf_buf_cut(&name, KEEP);
		hf_buf_putc(&name, '.');
		hf_buf_puts(&name, hex);
	}
	hf_buf_str(out, hf_buf_view(&name));
	hf_buf_release(&name);
}

/* ---- what is asked of any of them ---- */

/* Nothing that comes from outside may name another place. */
static int
check_key(const char *key, struct hf_err *err)
{
	struct hf_str rest = hf_str(key), part;
	size_t parts = 0, at;
	bool good;

	do {
		at = hf_str_find(rest, HF_STR("/"), 0);
		part = hf_strn(rest.s, at == SIZE_MAX ? rest.n : at);
		good = hf_path_component(part) && part.s[0] != '.';
		parts++;
		if (at != SIZE_MAX)
			rest = hf_strn(rest.s + at + 1, rest.n - at - 1);
	} while (good && at != SIZE_MAX);
	if (!good || parts > 3)
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' cannot be a key", key);
	return 0;
}

int
hf_store_get(struct hf_store *s, const char *key, struct hf_buf *out,
    struct hf_rev *rev, struct hf_err *err)
{
	struct hf_rev none;

	if (check_key(key, err) < 0)
		return -1;
	return s->ops->get(s, key, out, rev != NULL ? rev : &none, err);
}

static int
check_value(const char *key, struct hf_str val, struct hf_err *err)
{
	if (check_key(key, err) < 0)
		return -1;
	if (val.n > HF_STORE_VALUE_MAX)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "'%s' is too large to be stored", key);
	return 0;
}

int
hf_store_put(struct hf_store *s, const char *key, struct hf_str val,
    const struct hf_rev *was, struct hf_rev *now, struct hf_err *err)
{
	return hf_store_put_under(s, key, val, was, NULL, now, err);
}

int
hf_store_put_under(struct hf_store *s, const char *key, struct hf_str val,
    const struct hf_rev *was, const struct hf_lease *under,
    struct hf_rev *now, struct hf_err *err)
{
	struct hf_rev rev;
	int rc;

	if (check_value(key, val, err) < 0)
		return -1;
	rc = s->ops->put(s, key, val, was, under, &rev, err);
	if (rc == 0 && now != NULL)
		*now = rev;
	return rc;
}

int
hf_store_create(struct hf_store *s, const char *key, struct hf_str val,
    struct hf_rev *now, struct hf_err *err)
{
	struct hf_rev rev;
	int rc;

	if (check_value(key, val, err) < 0)
		return -1;
	rc = s->ops->create(s, key, val, &rev, err);
	if (rc == 0 && now != NULL)
		*now = rev;
	return rc;
}

int
hf_store_remove(struct hf_store *s, const char *key,
    const struct hf_rev *was, struct hf_err *err)
{
	if (check_key(key, err) < 0)
		return -1;
	return s->ops->remove(s, key, was, err);
}

int
hf_store_list(struct hf_store *s, const char *prefix, const char *after,
    size_t max, struct hf_keys *out, struct hf_err *err)
{
	struct hf_keys keys = { NULL, 0, false };

	if (check_key(prefix, err) < 0)
		return -1;
	if (s->ops->list(s, prefix, after, max, &keys, err) < 0) {
		hf_keys_release(&keys);
		return -1;
	}
	*out = keys;
	return 0;
}

static int
each_by_list(struct hf_store *s, const char *prefix, hf_store_value_fn cb,
    void *arg, struct hf_err *err)
{
	struct hf_keys keys;
	int rc = 0;

	if (hf_store_list(s, prefix, NULL, SIZE_MAX, &keys, err) < 0)
		return -1;
	for (size_t i = 0; i < keys.n && rc == 0; i++) {
		struct hf_err why = { HF_OK, "" };
		struct hf_buf val = HF_BUF_INIT;
		struct hf_rev rev;
		int got = s->ops->get(s, keys.key[i], &val, &rev, &why);

		if (hf_sig_check(err) < 0)
			rc = -1;
		else if (got > 0)
			rc = cb(keys.key[i], hf_buf_view(&val), &rev, NULL,
			    arg, err);
		else if (got < 0)
			rc = cb(keys.key[i], HF_STR_NONE, &rev, &why, arg,
			    err);
		hf_buf_release(&val);
	}
	hf_keys_release(&keys);
	return rc;
}

int
hf_store_each(struct hf_store *s, const char *prefix, hf_store_value_fn cb,
    void *arg, struct hf_err *err)
{
	if (check_key(prefix, err) < 0)
		return -1;
	if (s->ops->each != NULL)
		return s->ops->each(s, prefix, cb, arg, err);
	return each_by_list(s, prefix, cb, arg, err);
}

int
hf_store_watch(struct hf_store *s, const char *prefix, long ms,
    struct hf_err *err)
{
	if (check_key(prefix, err) < 0)
		return -1;
	return s->ops->watch(s, prefix, ms, err);
}

int
hf_store_lock(struct hf_store *s, const char *name, long wait_ms,
    struct hf_err *err)
{
	return s->ops->lock(s, name, wait_ms, err);
}

void
hf_store_unlock(struct hf_store *s, int lock)
{
	if (lock >= 0)
		s->ops->unlock(s, lock);
}

int
hf_store_lease(struct hf_store *s, int64_t seconds, long pid,
    struct hf_lease *out, struct hf_err *err)
{
	return s->ops->lease(s, seconds, pid, out, err);
}

int
hf_store_tidy(struct hf_store *s, struct hf_err *err)
{
	return s->ops->tidy(s, err);
}

enum hf_lease_state
hf_store_look(struct hf_store *s, const struct hf_lease *l)
{
	return s->ops->look(s, l);
}
