#include "brief/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/hmac.h"
#include "base/mem.h"

/* Prefixes of providers' tokens and how many characters follow at least. */
static const struct { const char *prefix; size_t min; } shape[] = {
	{ "sk-ant-", 20 }, { "sk-proj-", 20 }, { "sk-svcacct-", 20 },
	{ "ghp_", 20 }, { "gho_", 20 }, { "ghu_", 20 }, { "ghs_", 20 },
	{ "ghr_", 20 }, { "github_pat_", 20 }, { "glpat-", 16 },
	{ "AKIA", 16 }, { "ASIA", 16 }, { "AIza", 30 }, { "xoxb-", 20 },
	{ "xoxp-", 20 }, { "npm_", 30 },
};
static const char *const ending[] = { "KEY", "SECRET", "TOKEN", "PASSWORD",
	"PASS", "AUTH", "CREDENTIAL", "CREDENTIALS", "PRIVATE", "OAUTH" };

struct known {
	struct hf_str value, name;
};

struct hf_secrets {
	struct known *known;
	size_t nknown, count;
	uint8_t key[HF_SHA_LEN];
};

static bool
secret_name(struct hf_str name)
{
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (hf_str_ends(name, ending[i]))
			return true;
	return false;
}

struct hf_secrets *
hf_secrets_load(const struct hf_config *c, const char *cwd,
    struct hf_err *err)
{
	struct hf_secrets *s = hf_calloc(1, sizeof(*s));
	char **env = hf_env_all();
	const char *eq;

	(void)c;
	(void)cwd;
	(void)err;
	hf_random(s->key, sizeof(s->key));
	for (size_t i = 0; env[i] != NULL; i++) {
		struct known k;

		if ((eq = strchr(env[i], '=')) == NULL || strlen(eq) < 9)
			continue;
		k.name = hf_strn(env[i], (size_t)(eq - env[i]));
		k.value = hf_str(eq + 1);
		if (!secret_name(k.name) || eq[1] == '/' ||
		    hf_str_is(k.value, "password"))
			continue;
		s->known = hf_reallocarray(s->known, s->nknown + 1,
		    sizeof(*s->known));
		s->known[s->nknown++] = k;
	}
	return s;
}

void
hf_secrets_free(struct hf_secrets *s)
{
	if (s == NULL)
		return;
	free(s->known);
	free(s);
}

static bool
token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static size_t
shape_at(struct hf_str a)
{
	size_t p, n;

	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++) {
		if (!hf_str_starts(a, shape[i].prefix))
			continue;
		p = n = strlen(shape[i].prefix);
		while (n < a.n && token_char(a.s[n]))
			n++;
		if (n - p >= shape[i].min)
			return n;
	}
	return 0;
}

static const struct known *
known_at(const struct hf_secrets *s, struct hf_str a)
{
	for (size_t i = 0; i < s->nknown; i++)
		if (s->known[i].value.n <= a.n && memcmp(a.s,
		    s->known[i].value.s, s->known[i].value.n) == 0)
			return &s->known[i];
	return NULL;
}

size_t
hf_secrets_mask(struct hf_secrets *s, struct hf_buf *out, struct hf_str text)
{
	const struct known *k;
	uint8_t mac[HF_SHA_LEN];
	size_t i = 0, n, count = 0;

	while (i < text.n) {
		struct hf_str rest = hf_strn(text.s + i, text.n - i);

		if ((k = known_at(s, rest)) != NULL) {
			hf_buf_putc(out, '$');
			hf_buf_str(out, k->name);
			i += k->value.n;
			count++;
		} else if ((n = shape_at(rest)) > 0) {
			hf_hmac(hf_strn((const char *)s->key,
			    sizeof(s->key)), hf_strn(rest.s, n), mac);
			hf_buf_puts(out, "[secret:");
			hf_text_hex(out, mac, 6);
			hf_buf_putc(out, ']');
			i += n;
			count++;
		} else {
			hf_buf_putc(out, text.s[i++]);
		}
	}
	s->count += count;
	return count;
}

size_t
hf_secrets_count(const struct hf_secrets *s)
{
	return s->count;
}

void
hf_secrets_restore(struct hf_secrets *s, struct hf_buf *out,
    struct hf_str text)
{
	(void)s;
	hf_buf_str(out, text);
}
