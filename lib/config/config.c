#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/io.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/opt.h"
#include "config/edit.h"
#include "json/num.h"

enum { FILE_MAX = 1 << 20, SHOWN_MAX = 60, LOCK_MS = 10000 };

#define NAME	"config.json"
#define DAY	INT64_C(86400)
#define AT(member)	offsetof(struct hf_config, member)
#define BOOLEAN(name, def, env, member) \
	{ name, HF_KEY_BOOL, def, 0, 0, NULL, env, AT(member) }
#define INTEGER(name, def, min, max, env, member) \
	{ name, HF_KEY_INT, def, min, max, NULL, env, AT(member) }
#define STRING(name, def, words, env, member) \
	{ name, HF_KEY_STR, def, 0, 0, words, env, AT(member) }
#define ARGUMENTS(name, member) \
	{ name, HF_KEY_ARGV, NULL, 0, 0, NULL, NULL, AT(member) }

static const struct hf_key keys[] = {
	BOOLEAN("autoHandoff", "false", "HANDOFF_AUTO_HANDOFF",
	    auto_handoff),
	{ "handoffRatio", HF_KEY_RATIO, "0.75", 200000, 950000, NULL,
	    "HANDOFF_RATIO", AT(ratio_ppm) },
	INTEGER("handoffTokens", "120000", 8000, 1000000, "HANDOFF_TOKENS",
	    tokens),
	INTEGER("handoffMinTurns", "4", 2, 100, "HANDOFF_MIN_TURNS",
	    min_turns),
	INTEGER("handoffCompactions", "3", 0, 100, "HANDOFF_COMPACTIONS",
	    compactions),
	STRING("summarize.provider", "\"extract\"", NULL,
	    "HANDOFF_SUMMARIZE_PROVIDER", provider),
	STRING("summarize.model", NULL, NULL, "HANDOFF_SUMMARIZE_MODEL",
	    model),
	STRING("summarize.baseUrl", NULL, NULL,
	    "HANDOFF_SUMMARIZE_BASE_URL", base_url),
	STRING("summarize.keyEnv", NULL, NULL, "HANDOFF_SUMMARIZE_KEY_ENV",
	    key_env),
	ARGUMENTS("summarize.keyCommand", key_command),
	ARGUMENTS("summarize.command", command),
	INTEGER("summarize.timeoutSeconds", "180", 1, 3600,
	    "HANDOFF_SUMMARIZE_TIMEOUT_SECONDS", timeout_seconds),
	INTEGER("summarize.maxTokens", "6000", 256, 200000,
	    "HANDOFF_SUMMARIZE_MAX_TOKENS", max_tokens),
	{ "summarize.headers", HF_KEY_MAP, "{}", 0, 0, NULL, NULL,
	    AT(headers) },
	STRING("summarize.caFile", NULL, NULL, "HANDOFF_SUMMARIZE_CA_FILE",
	    ca_file),
	BOOLEAN("summarize.allowHttp", "false",
	    "HANDOFF_SUMMARIZE_ALLOW_HTTP", allow_http),
	STRING("fallback", "\"none\"", "none|extract", "HANDOFF_FALLBACK",
	    fallback),
	STRING("secrets.file", NULL, NULL, "HANDOFF_SECRETS_FILE",
	    secrets_file),
	BOOLEAN("secrets.restore", "false", "HANDOFF_SECRETS_RESTORE",
	    secrets_restore),
	{ "models", HF_KEY_MAP, "{}", 1000, 1000000000, NULL, NULL,
	    AT(models) },
	ARGUMENTS("start", start),
	ARGUMENTS("resumeThere", resume_there),
	STRING("titleSuffix", "\"off\"", NULL, "HANDOFF_TITLE_SUFFIX",
	    title_suffix),
	BOOLEAN("handoffSaveToDisk", "false", "HANDOFF_SAVE_TO_DISK",
	    save_to_disk),
	BOOLEAN("handoffInsteadOfCompact", "false",
	    "HANDOFF_INSTEAD_OF_COMPACT", instead_of_compact),
	INTEGER("maxChain", "8", 1, 1000, "HANDOFF_MAX_CHAIN", max_chain),
	INTEGER("cooldownSeconds", "300", 0, 7 * DAY,
	    "HANDOFF_COOLDOWN_SECONDS", cooldown_seconds),
	INTEGER("keepDays", "90", 1, 36500, "HANDOFF_KEEP_DAYS", keep_days),
	STRING("store", "\"files\"", NULL, "HANDOFF_STORE", store),
	STRING("etcd.user", NULL, NULL, "HANDOFF_ETCD_USER", etcd.user),
	STRING("etcd.passwordEnv", NULL, NULL, "HANDOFF_ETCD_PASSWORD_ENV",
	    etcd.password_env),
	ARGUMENTS("etcd.passwordCommand", etcd.password_command),
	STRING("etcd.caFile", NULL, NULL, "HANDOFF_ETCD_CA_FILE",
	    etcd.ca_file),
	STRING("etcd.certFile", NULL, NULL, "HANDOFF_ETCD_CERT_FILE",
	    etcd.cert_file),
	STRING("etcd.keyFile", NULL, NULL, "HANDOFF_ETCD_KEY_FILE",
	    etcd.key_file),
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

/* ---- the table ---- */

const struct hf_key *
hf_config_keys(size_t *n)
{
	*n = KEYS;
	return keys;
}

static const struct hf_key *
key_find(struct hf_str name)
{
	for (size_t i = 0; i < KEYS; i++)
		if (hf_str_is(name, keys[i].name))
			return &keys[i];
	return NULL;
}

/* Is name a part in front of a dot? */
static bool
is_group(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < KEYS; i++)
		if (strncmp(keys[i].name, name, n) == 0 &&
		    keys[i].name[n] == '.')
			return true;
	return false;
}

/* The known key that name was probably meant to be: a typing error, or the
 * last part alone. */
static const char *
nearest(const char *name)
{
	const char *words[KEYS], *near, *last = strrchr(name, '.');

	for (size_t i = 0; i < KEYS; i++)
		words[i] = keys[i].name;
	near = hf_nearest(name, words, KEYS);
	last = last != NULL ? last + 1 : name;
	for (size_t i = 0; i < KEYS && near == NULL; i++) {
		const char *dot = strrchr(words[i], '.');

		if (hf_str_ieq(hf_str(dot != NULL ? dot + 1 : words[i]),
		    hf_str(last)))
			near = words[i];
	}
	return near;
}

static int
unknown(const char *name, const char *where, struct hf_err *err)
{
	const char *near = nearest(name);

	return hf_err_set(err, HF_E_CONFIG, "unknown key '%s'%s%s%s%s%s",
	    name, where != NULL ? " in " : "", where != NULL ? where : "",
	    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
	    near != NULL ? "'?" : "");
}

const struct hf_key *
hf_config_key(const char *name, struct hf_err *err)
{
	const struct hf_key *k = key_find(hf_str(name));

	if (k == NULL)
		unknown(name, NULL, err);
	return k;
}

/* ---- values ---- */

static void *
member(struct hf_config *c, const struct hf_key *k)
{
	return (char *)c + k->offset;
}

static const char *
ratio(char out[32], int64_t ppm)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_buf b = HF_BUF_INIT;

	hf_jtree_write(&b, hf_jtree_ppm(t, ppm), false);
	memcpy(out, hf_buf_cstr(&b), b.len + 1);
	hf_buf_release(&b);
	hf_jtree_free(t);
	return out;
}

/* What a key takes, for messages. */
static void
wanted(struct hf_buf *out, const struct hf_key *k)
{
	char low[32], high[32];

	switch (k->kind) {
	case HF_KEY_BOOL:
		hf_buf_puts(out, "true or false");
		break;
	case HF_KEY_INT:
		hf_buf_printf(out, "an integer from %lld to %lld",
		    (long long)k->min, (long long)k->max);
		break;
	case HF_KEY_RATIO:
		hf_buf_printf(out, "a number from %s to %s",
		    ratio(low, k->min), ratio(high, k->max));
		break;
	case HF_KEY_STR:
		hf_buf_puts(out, k->words != NULL ? "one of " :
		    "a string that is not empty, without control characters");
		hf_buf_puts(out, k->words != NULL ? k->words : "");
		break;
	case HF_KEY_ARGV:
		hf_buf_printf(out, "a list of 1 to %d strings, the program "
		    "first", HF_CONFIG_ARGV);
		break;
	case HF_KEY_MAP:
		if (k->max > 0)
			hf_buf_printf(out, "an object of integers from %lld "
			    "to %lld", (long long)k->min, (long long)k->max);
		else
			hf_buf_puts(out, "an object of strings without "
			    "control characters");
		break;
	}
}

/* What was found is shown where it cannot be a secret. */
static int
wrong(const struct hf_key *k, struct hf_str found, const char *where,
    struct hf_err *err)
{
	struct hf_buf want = HF_BUF_INIT;

	wanted(&want, k);
	if (k->kind == HF_KEY_ARGV || k->kind == HF_KEY_MAP ||
	    (k->kind == HF_KEY_STR && k->words == NULL))
		found.n = 0;
	found.n = hf_utf8_cut(found, SHOWN_MAX);
	hf_err_set(err, HF_E_CONFIG, "%s must be %s%s%.*s (%s)", k->name,
	    hf_buf_cstr(&want), found.n > 0 ? ", not " : "", (int)found.n,
	    found.n > 0 ? found.s : "", where);
	hf_buf_release(&want);
	return -1;
}

static bool
clean(struct hf_str a)
{
	if (a.s == NULL)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if ((unsigned char)a.s[i] < 0x20 || a.s[i] == 0x7f)
			return false;
	return true;
}

static bool
is_word(const char *words, struct hf_str a)
{
	while (*words != '\0') {
		size_t n = strcspn(words, "|");

		if (hf_str_eq(a, hf_strn(words, n)))
			return true;
		words += n + (words[n] == '|');
	}
	return false;
}

/* A number's spelling into c (NULL: only checks). */
static bool
take_number(struct hf_config *c, const struct hf_key *k, struct hf_str a,
    bool (*parse)(struct hf_str a, int64_t *out))
{
	int64_t n;

	if (a.s == NULL || !parse(a, &n) || n < k->min || n > k->max)
		return false;
	if (c != NULL)
		*(int64_t *)member(c, k) = n;
	return true;
}

static bool
take_string(struct hf_config *c, const struct hf_key *k, struct hf_str a)
{
	char **to;

	if (!clean(a) || a.n == 0 ||
	    (k->words != NULL && !is_word(k->words, a)))
		return false;
	if (c != NULL) {
		to = member(c, k);
		free(*to);
		*to = hf_strndup(a.s, a.n);
	}
	return true;
}

static void
argv_free(char **argv)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

static bool
take_argv(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v)
{
	size_t n = hf_json_size(v), i = 0;
	struct hf_jiter it;
	struct hf_str a;
	char **argv;

	if (hf_json_type(v) != HF_J_ARR || n == 0 || n > HF_CONFIG_ARGV)
		return false;
	argv = hf_calloc(n + 1, sizeof(*argv));
	hf_json_iter(&it, v);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		a = hf_json_str(v);
		if (a.s == NULL || memchr(a.s, '\0', a.n) != NULL ||
		    (i == 0 && a.n == 0))
			break;
		argv[i++] = hf_strndup(a.s, a.n);
	}
	if (i < n || c == NULL) {
		argv_free(argv);
		return i == n;
	}
	argv_free(*(char ***)member(c, k));
	*(char ***)member(c, k) = argv;
	return true;
}

/* Maps stay where they are, in the parsed file. */
static bool
take_map(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	struct hf_str name;
	int64_t n;

	if (hf_json_type(v) != HF_J_OBJ)
		return false;
	hf_json_iter(&it, v);
	while ((e = hf_json_next(&it, &name)) != NULL) {
		if (!clean(name) || name.n == 0)
			return false;
		if (k->max == 0 ? !clean(hf_json_str(e)) :
		    !hf_json_int(e, &n) || n < k->min || n > k->max)
			return false;
	}
	if (c != NULL)
		*(const struct hf_jval **)member(c, k) = v;
	return true;
}

/* Puts a value of the file into c, or checks it when c is NULL. */
static int
take(struct hf_config *c, const struct hf_key *k, const struct hf_jval *v,
    const char *where, struct hf_err *err)
{
	struct hf_buf found = HF_BUF_INIT;
	bool good = false;

	switch (k->kind) {
	case HF_KEY_BOOL:
		good = hf_json_type(v) == HF_J_BOOL;
		if (good && c != NULL)
			*(bool *)member(c, k) = hf_json_true(v);
		break;
	case HF_KEY_INT:
		good = take_number(c, k, hf_json_num(v), hf_num_int);
		break;
	case HF_KEY_RATIO:
		good = take_number(c, k, hf_json_num(v), hf_text_ppm);
		break;
	case HF_KEY_STR:
		good = take_string(c, k, hf_json_str(v));
		break;
	case HF_KEY_ARGV:
		good = take_argv(c, k, v);
		break;
	case HF_KEY_MAP:
		good = take_map(c, k, v);
		break;
	}
	if (good)
		return 0;
	hf_json_write(&found, v);
	wrong(k, hf_buf_view(&found), where, err);
	hf_buf_release(&found);
	return -1;
}

/* The same for the text of a variable or of a default. */
static bool
take_text(struct hf_config *c, const struct hf_key *k, struct hf_str a)
{
	switch (k->kind) {
	case HF_KEY_BOOL:
		if (!is_word("true|1|false|0", a))
			return false;
		*(bool *)member(c, k) = is_word("true|1", a);
		return true;
	case HF_KEY_INT:
		return take_number(c, k, a, hf_text_int);
	case HF_KEY_RATIO:
		return take_number(c, k, a, hf_text_ppm);
	case HF_KEY_STR:
		return take_string(c, k, a);
	default:
		return false;
	}
}

/* ---- the sources ---- */

static void
defaults(struct hf_config *c)
{
	for (size_t i = 0; i < KEYS; i++) {
		struct hf_str a = hf_str(keys[i].fallback);

		if (a.s == NULL || keys[i].kind == HF_KEY_MAP)
			continue;
		if (keys[i].kind == HF_KEY_STR)
			a = hf_strn(a.s + 1, a.n - 2);
		take_text(c, &keys[i], a);
	}
}

/* The members of an object of the file, prefix in front of their names. */
static int
from_object(struct hf_config *c, const struct hf_jval *obj,
    const char *prefix, bool seen[KEYS], struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	const struct hf_key *k;
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str key;
	int rc = 0;

	hf_json_iter(&it, obj);
	while (rc == 0 && (v = hf_json_next(&it, &key)) != NULL) {
		hf_buf_clear(&name);
		hf_buf_puts(&name, prefix);
		hf_buf_str(&name, key);
		k = key_find(hf_buf_view(&name));
		if (k == NULL && is_group(hf_buf_cstr(&name)) &&
		    hf_json_type(v) == HF_J_OBJ) {
			hf_buf_putc(&name, '.');
			rc = from_object(c, v, hf_buf_cstr(&name), seen, err);
		} else if (k == NULL && is_group(hf_buf_cstr(&name))) {
			rc = hf_err_set(err, HF_E_CONFIG,
			    "%s must be an object (%s)", hf_buf_cstr(&name),
			    c->path);
		} else if (k == NULL) {
			rc = unknown(hf_buf_cstr(&name), c->path, err);
		} else if (seen[k - keys]) {
			rc = hf_err_set(err, HF_E_CONFIG,
			    "%s is there twice (%s)", k->name, c->path);
		} else if (hf_json_type(v) != HF_J_NULL) {
			seen[k - keys] = true;
			rc = take(c, k, v, c->path, err);
		}
	}
	hf_buf_release(&name);
	return rc;
}

static int
from_env(struct hf_config *c, bool seen[KEYS], struct hf_err *err)
{
	for (size_t i = 0; i < KEYS; i++) {
		const struct hf_key *k = &keys[i];
		const char *s = k->env != NULL ? hf_env(k->env) : NULL;

		if (s == NULL)
			continue;
		seen[i] = true;
		if (!take_text(c, k, hf_str(s)))
			return wrong(k, hf_str(s), k->env, err);
	}
	return 0;
}

/* ---- the file ---- */

char *
hf_config_dir(struct hf_err *err)
{
	char *base = hf_env_xdg("XDG_CONFIG_HOME", ".config", err), *dir;

	if (base == NULL)
		return NULL;
	dir = hf_path_join(base, "handoff");
	free(base);
	return dir;
}

/* May we trust what is there? */
static int
check_owner(int fd, const char *path, struct hf_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return hf_err_sys(err, errno, "cannot look at '%s'", path);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' is not a regular file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' belongs to another user", path);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return hf_err_set(err, HF_E_CONFIG, "others may write '%s': "
		    "chmod go-w", path);
	return 0;
}

/* The file's text. 1, 0 when there is none, -1. A symbolic link is followed:
 * people keep their configuration elsewhere; its target is checked. */
static int
file_text(const char *dir, const char *path, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err why = { HF_OK, "" };
	int fd = -1, rc = -1;

	if (hf_dir_open(&d, dir, &why) < 0) {
		if (why.code == HF_E_NOT_FOUND)
			return 0;
		return hf_err_set(err, why.code, "%s", why.msg);
	}
	fd = openat(d.fd, NAME, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT) {
		rc = 0;
		goto out;
	}
	if (fd < 0)
		hf_err_sys(err, errno, "cannot open '%s'", path);
	else if (check_owner(d.fd, dir, err) == 0 &&
	    check_owner(fd, path, err) == 0)
		rc = hf_io_slurp(fd, out, path, &why) < 0 ?
		    hf_err_set(err, out->full ? HF_E_CONFIG : why.code, "%s",
		    why.msg) : 1;
out:
	if (fd >= 0)
		close(fd);
	hf_dir_close(&d);
	return rc;
}

static struct hf_str
without_bom(struct hf_str a)
{
	return hf_str_starts(a, "\xef\xbb\xbf") ? hf_strn(a.s + 3, a.n - 3) :
	    a;
}

/* *j stays NULL for a file that is blank. */
static int
file_parse(struct hf_str text, const char *path, struct hf_json **j,
    struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	*j = NULL;
	text = without_bom(text);
	if (hf_str_trim(text).n == 0)
		return 0;
	*j = hf_json_parse(text, HF_JSON_RAW | HF_JSON_COMMENTS, NULL, NULL,
	    &why);
	if (*j == NULL)
		return hf_err_set(err, HF_E_CONFIG, "'%s': %s%s", path,
		    hf_str_starts(hf_str(why.msg), "byte") ? "line 1, " : "",
		    why.msg);
	if (hf_json_type(hf_json_root(*j)) == HF_J_OBJ)
		return 0;
	hf_json_free(*j);
	*j = NULL;
	return hf_err_set(err, HF_E_CONFIG, "'%s': line 1: not an object",
	    path);
}

/* *dir, *path and the file's text, as file_text. */
static int
file_open(char **dir, char **path, struct hf_buf *text, struct hf_err *err)
{
	*path = NULL;
	*dir = hf_config_dir(err);
	if (*dir == NULL)
		return -1;
	*path = hf_path_join(*dir, NAME);
	return file_text(*dir, *path, text, err);
}

/* from, if not NULL, gets where each key's value comes from. */
static int
load(struct hf_config *c, const char *from[KEYS], struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(FILE_MAX);
	bool file[KEYS] = { false }, env[KEYS] = { false };
	char *dir = NULL;
	int rc;

	memset(c, 0, sizeof(*c));
	defaults(c);
	rc = file_open(&dir, &c->path, &text, err);
	if (rc > 0)
		rc = file_parse(hf_buf_view(&text), c->path, &c->file, err);
	if (rc == 0)
		rc = from_object(c, hf_json_root(c->file), "", file, err);
	if (rc == 0)
		rc = from_env(c, env, err);
	for (size_t i = 0; i < KEYS && from != NULL; i++)
		from[i] = env[i] ? "environment" : file[i] ? "file" :
		    "default";
	if (rc == 0 && strcmp(c->title_suffix, "off") == 0) {
		free(c->title_suffix);
		c->title_suffix = NULL;
	}
	hf_buf_release(&text);
	free(dir);
	if (rc < 0)
		hf_config_release(c);
	return rc;
}

int
hf_config_load(struct hf_config *c, struct hf_err *err)
{
	return load(c, NULL, err);
}

void
hf_config_release(struct hf_config *c)
{
	for (size_t i = 0; i < KEYS; i++) {
		if (keys[i].kind == HF_KEY_STR)
			free(*(char **)member(c, &keys[i]));
		else if (keys[i].kind == HF_KEY_ARGV)
			argv_free(*(char ***)member(c, &keys[i]));
	}
	hf_json_free(c->file);
	free(c->path);
	memset(c, 0, sizeof(*c));
}

/* ---- get and set ---- */

static void
put_argv(struct hf_buf *out, char *const *argv)
{
	for (size_t i = 0; argv[i] != NULL; i++) {
		hf_buf_putc(out, i > 0 ? ',' : '[');
		hf_json_quote(out, hf_str(argv[i]));
	}
	hf_buf_putc(out, ']');
}

static void
put_value(struct hf_buf *out, struct hf_config *c, const struct hf_key *k)
{
	const void *m = member(c, k);
	const struct hf_jval *map;
	char text[32];

	switch (k->kind) {
	case HF_KEY_BOOL:
		hf_buf_puts(out, *(const bool *)m ? "true" : "false");
		break;
	case HF_KEY_INT:
		hf_buf_printf(out, "%lld", (long long)*(const int64_t *)m);
		break;
	case HF_KEY_RATIO:
		hf_buf_puts(out, ratio(text, *(const int64_t *)m));
		break;
	case HF_KEY_STR:
		if (*(char *const *)m != NULL)
			hf_json_quote(out, hf_str(*(char *const *)m));
		else
			hf_buf_puts(out, k->fallback != NULL ? k->fallback :
			    "null");
		break;
	case HF_KEY_ARGV:
		if (*(char **const *)m != NULL)
			put_argv(out, *(char **const *)m);
		else
			hf_buf_puts(out, "null");
		break;
	case HF_KEY_MAP:
		map = *(const struct hf_jval *const *)m;
		if (map != NULL)
			hf_json_write(out, map);
		else
			hf_buf_puts(out, "{}");
		break;
	}
}

int
hf_config_get(const char *name, struct hf_buf *value, const char **from,
    struct hf_err *err)
{
	const struct hf_key *k = hf_config_key(name, err);
	const char *where[KEYS];
	struct hf_config c;

	if (k == NULL || load(&c, where, err) < 0)
		return -1;
	put_value(value, &c, k);
	*from = where[k - keys];
	hf_config_release(&c);
	return 0;
}

/* text as compact JSON that the key takes. */
static int
checked(const struct hf_key *k, const char *text, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(hf_str(text), HF_JSON_RAW, NULL,
	    NULL, NULL);
	struct hf_buf quoted = HF_BUF_INIT;
	int rc;

	if (k->kind == HF_KEY_STR &&
	    hf_json_type(hf_json_root(j)) != HF_J_STR) {
		hf_json_free(j);
		hf_json_quote(&quoted, hf_str(text));
		j = hf_json_parse(hf_buf_view(&quoted), 0, NULL, NULL, NULL);
		hf_buf_release(&quoted);
	}
	if (j == NULL)
		return wrong(k, hf_str(text), "config set", err);
	rc = take(NULL, k, hf_json_root(j), "config set", err);
	if (rc == 0)
		hf_json_write(out, hf_json_root(j));
	hf_json_free(j);
	return rc;
}

/* Where the file really is: a link to it is kept. */
static int
replace(const char *dir, const char *path, struct hf_str text,
    struct hf_err *err)
{
	char *real = realpath(path, NULL);
	char *real_dir = real != NULL ? hf_path_dir(real) : hf_strdup(dir);
	struct hf_dir d = HF_DIR_INIT;
	int rc = hf_dir_make(&d, real_dir, err);

	if (rc == 0)
		rc = hf_file_replace(&d, real != NULL ? hf_path_base(real) :
		    NAME, text, err);
	hf_dir_close(&d);
	free(real_dir);
	free(real);
	return rc;
}

/* Two at once would each write what they read: the later one's change alone
 * would be left. The descriptor for hf_unlock. */
static int
lock_file(struct hf_err *err)
{
	char *dir = hf_config_dir(err);
	struct hf_dir d = HF_DIR_INIT;
	int lock = -1;

	if (dir != NULL && hf_dir_make(&d, dir, err) == 0)
		lock = hf_lock(&d, ".lock", LOCK_MS, err);
	hf_dir_close(&d);
	free(dir);
	return lock;
}

int
hf_config_set(const char *name, const char *text, struct hf_err *err)
{
	const struct hf_key *k = hf_config_key(name, err);
	struct hf_buf old = HF_BUF_MAX(FILE_MAX), value = HF_BUF_INIT;
	struct hf_buf new = HF_BUF_MAX(FILE_MAX);
	struct hf_json *j = NULL;
	char *dir = NULL, *path = NULL;
	int rc = -1, lock = -1;

	if (k == NULL || (text != NULL && checked(k, text, &value, err) < 0) ||
	    (lock = lock_file(err)) < 0)
		goto out;
	rc = file_open(&dir, &path, &old, err);
	if (rc >= 0)
		rc = file_parse(hf_buf_view(&old), path, &j, err);
	if (rc < 0)
		goto out;
	rc = hf_edit_set(&new, hf_buf_view(&old), k->name,
	    text != NULL ? hf_buf_view(&value) : HF_STR_NONE, err);
	if (rc > 0)
		rc = replace(dir, path, hf_buf_view(&new), err);
out:
	hf_unlock(lock);
	hf_json_free(j);
	hf_buf_release(&old);
	hf_buf_release(&value);
	hf_buf_release(&new);
	free(path);
	free(dir);
	return rc < 0 ? -1 : 0;
}
