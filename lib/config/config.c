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
#include "base/mem.h"
#include "base/opt.h"
#include "config/edit.h"

enum { FILE_MAX = 1 << 20, ARGV_MAX = 64, TEXT_MAX = 4096 };

#define AT(member)	offsetof(struct hf_config, member)

/* The one place that says which keys there are. */
static const struct hf_key keys[] = {
	{ "autoHandoff", HF_KEY_BOOL, "false", 0, 0,
	    "HANDOFF_AUTO_HANDOFF", AT(auto_handoff) },
	{ "handoffRatio", HF_KEY_RATIO, "0.75", 200000, 950000,
	    "HANDOFF_RATIO", AT(ratio_ppm) },
	{ "handoffTokens", HF_KEY_INT, "120000", 8000, 1000000,
	    "HANDOFF_TOKENS", AT(tokens) },
	{ "handoffMinTurns", HF_KEY_INT, "4", 2, 100,
	    "HANDOFF_MIN_TURNS", AT(min_turns) },
	{ "handoffCompactions", HF_KEY_INT, "3", 0, 100,
	    "HANDOFF_COMPACTIONS", AT(compactions) },
	{ "summarize.provider", HF_KEY_STR, "\"extract\"", 1, 64,
	    "HANDOFF_SUMMARIZE_PROVIDER", AT(provider) },
	{ "summarize.model", HF_KEY_STR, "null", 1, 256,
	    "HANDOFF_SUMMARIZE_MODEL", AT(model) },
	{ "summarize.baseUrl", HF_KEY_STR, "null", 1, 2048,
	    "HANDOFF_SUMMARIZE_BASE_URL", AT(base_url) },
	{ "summarize.keyEnv", HF_KEY_STR, "null", 1, 256,
	    "HANDOFF_SUMMARIZE_KEY_ENV", AT(key_env) },
	{ "summarize.keyCommand", HF_KEY_ARGV, "null", 0, 0, NULL,
	    AT(key_command) },
	{ "summarize.command", HF_KEY_ARGV, "null", 0, 0, NULL,
	    AT(command) },
	{ "summarize.timeoutSeconds", HF_KEY_INT, "180", 1, 3600,
	    "HANDOFF_SUMMARIZE_TIMEOUT_SECONDS", AT(timeout_seconds) },
	{ "summarize.maxTokens", HF_KEY_INT, "6000", 256, 200000,
	    "HANDOFF_SUMMARIZE_MAX_TOKENS", AT(max_tokens) },
	{ "summarize.headers", HF_KEY_MAP, "{}", 0, 0, NULL, AT(headers) },
	{ "summarize.caFile", HF_KEY_STR, "null", 1, TEXT_MAX,
	    "HANDOFF_SUMMARIZE_CA_FILE", AT(ca_file) },
	{ "summarize.allowHttp", HF_KEY_BOOL, "false", 0, 0,
	    "HANDOFF_SUMMARIZE_ALLOW_HTTP", AT(allow_http) },
	{ "fallback", HF_KEY_STR, "\"none\"", 1, 16,
	    "HANDOFF_FALLBACK", AT(fallback) },
	{ "secrets.file", HF_KEY_STR, "null", 1, TEXT_MAX,
	    "HANDOFF_SECRETS_FILE", AT(secrets_file) },
	{ "secrets.restore", HF_KEY_BOOL, "false", 0, 0,
	    "HANDOFF_SECRETS_RESTORE", AT(secrets_restore) },
	{ "models", HF_KEY_MAP, "{}", 0, 0, NULL, AT(models) },
	{ "start", HF_KEY_ARGV, "null", 0, 0, NULL, AT(start) },
	{ "titleSuffix", HF_KEY_STR, "null", 0, 200,
	    "HANDOFF_TITLE_SUFFIX", AT(title_suffix) },
	{ "handoffSaveToDisk", HF_KEY_BOOL, "false", 0, 0,
	    "HANDOFF_SAVE_TO_DISK", AT(save_to_disk) },
	{ "handoffInsteadOfCompact", HF_KEY_BOOL, "false", 0, 0,
	    "HANDOFF_INSTEAD_OF_COMPACT", AT(instead_of_compact) },
	{ "maxChain", HF_KEY_INT, "8", 1, 1000,
	    "HANDOFF_MAX_CHAIN", AT(max_chain) },
	{ "cooldownSeconds", HF_KEY_INT, "300", 1, 86400,
	    "HANDOFF_COOLDOWN_SECONDS", AT(cooldown_seconds) },
	{ "keepDays", HF_KEY_INT, "90", 1, 36500,
	    "HANDOFF_KEEP_DAYS", AT(keep_days) },
	{ "store", HF_KEY_STR, "\"files\"", 1, 2048,
	    "HANDOFF_STORE", AT(store) },
};

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

const struct hf_key *
hf_config_keys(size_t *n)
{
	*n = NKEYS;
	return keys;
}

const struct hf_key *
hf_config_key(const char *name, struct hf_err *err)
{
	const char *words[NKEYS], *near;
	size_t i;

	for (i = 0; i < NKEYS; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
		words[i] = keys[i].name;
	}
	near = hf_nearest(name, words, NKEYS);
	hf_err_set(err, HF_E_CONFIG, "unknown key '%s'%s%s%s", name,
	    near != NULL ? ", perhaps '" : "", near != NULL ? near : "",
	    near != NULL ? "'?" : "");
	return NULL;
}

/* ---- values ---- */

static void *
field(struct hf_config *c, const struct hf_key *k)
{
	return (char *)c + k->offset;
}

static int
wants(const struct hf_key *k, const char *what, struct hf_err *err)
{
	return hf_err_set(err, HF_E_CONFIG, "%s must be %s", k->name, what);
}

static int
set_int(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v, struct hf_err *err)
{
	int64_t n;

	if (hf_json_type(v) != HF_J_NUM || !hf_json_int(v, &n))
		return wants(k, "a whole number", err);
	if (n < k->min || n > k->max)
		return hf_err_set(err, HF_E_CONFIG,
		    "%s must be from %lld to %lld", k->name,
		    (long long)k->min, (long long)k->max);
	*(int64_t *)field(c, k) = n;
	return 0;
}

static int
set_ratio(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v, struct hf_err *err)
{
	int64_t ppm;

	if (hf_json_type(v) != HF_J_NUM)
		return wants(k, "a number", err);
	if (!hf_text_ppm(hf_json_num(v), &ppm) || ppm < k->min ||
	    ppm > k->max)
		return hf_err_set(err, HF_E_CONFIG,
		    "%s must be from 0.%lld to 0.%lld", k->name,
		    (long long)k->min / 100000, (long long)k->max / 10000);
	*(int64_t *)field(c, k) = ppm;
	return 0;
}

static void
free_argv(char **argv)
{
	size_t i;

	for (i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

static int
set_argv(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v, struct hf_err *err)
{
	const struct hf_jval *word;
	char **argv, ***to = field(c, k);
	size_t n = hf_json_size(v), i = 0;
	struct hf_jiter it;
	struct hf_str s;

	if (hf_json_type(v) != HF_J_ARR || n == 0 || n > ARGV_MAX)
		return wants(k, "a list of 1 to 64 strings", err);
	argv = hf_calloc(n + 1, sizeof(*argv));
	hf_json_iter(&it, v);
	while ((word = hf_json_next(&it, NULL)) != NULL) {
		s = hf_json_str(word);
		if (hf_json_type(word) != HF_J_STR ||
		    memchr(s.s, '\0', s.n) != NULL ||
		    (i == 0 && s.n == 0)) {
			free_argv(argv);
			return wants(k, "a list of 1 to 64 strings", err);
		}
		argv[i++] = hf_strndup(s.s, s.n);
	}
	free_argv(*to);
	*to = argv;
	return 0;
}

static int
set_str(struct hf_config *c, const struct hf_key *k, struct hf_str s,
    struct hf_err *err)
{
	char **to = field(c, k);

	if ((int64_t)s.n < k->min || (int64_t)s.n > k->max ||
	    (s.n > 0 && memchr(s.s, '\0', s.n) != NULL))
		return hf_err_set(err, HF_E_CONFIG,
		    "%s must be a string of %lld to %lld bytes", k->name,
		    (long long)k->min, (long long)k->max);
	if (strcmp(k->name, "fallback") == 0 && !hf_str_is(s, "none") &&
	    !hf_str_is(s, "extract"))
		return wants(k, "\"none\" or \"extract\"", err);
	free(*to);
	*to = hf_strndup(s.n > 0 ? s.s : "", s.n);
	return 0;
}

/* Models are windows, headers are texts. */
static int
set_map(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v, struct hf_err *err)
{
	bool windows = strcmp(k->name, "models") == 0;
	const struct hf_jval *m;
	struct hf_jiter it;
	struct hf_str key;
	int64_t n;

	if (hf_json_type(v) != HF_J_OBJ)
		return wants(k, "an object", err);
	hf_json_iter(&it, v);
	while ((m = hf_json_next(&it, &key)) != NULL)
		if (windows ? !hf_json_int(m, &n) || n < 1 || n > 1000000000 :
		    hf_json_type(m) != HF_J_STR)
			return hf_err_set(err, HF_E_CONFIG,
			    "%s: '%.*s' must be %s", k->name,
			    (int)(key.n < 100 ? key.n : 100), key.s, windows ?
			    "a number of tokens" : "a string");
	*(const struct hf_jval **)field(c, k) = v;
	return 0;
}

static int
set_value(struct hf_config *c, const struct hf_key *k,
    const struct hf_jval *v, struct hf_err *err)
{
	if (hf_json_type(v) == HF_J_NULL)
		return 0;
	switch (k->kind) {
	case HF_KEY_BOOL:
		if (hf_json_type(v) != HF_J_BOOL)
			return wants(k, "true or false", err);
		*(bool *)field(c, k) = hf_json_true(v);
		return 0;
	case HF_KEY_INT:
		return set_int(c, k, v, err);
	case HF_KEY_RATIO:
		return set_ratio(c, k, v, err);
	case HF_KEY_STR:
		if (hf_json_type(v) != HF_J_STR)
			return wants(k, "a string", err);
		return set_str(c, k, hf_json_str(v), err);
	case HF_KEY_ARGV:
		return set_argv(c, k, v, err);
	case HF_KEY_MAP:
		return set_map(c, k, v, err);
	}
	return hf_err_set(err, HF_E_INTERNAL, "a key of no kind");
}

/* From a text of JSON; maps live as long as their text, so they are not
 * set this way. */
static int
set_text(struct hf_config *c, const struct hf_key *k, struct hf_str text,
    struct hf_err *err)
{
	struct hf_err why;
	struct hf_json *j;
	int rc;

	j = hf_json_parse(text, HF_JSON_RAW, NULL, NULL, &why);
	if (j == NULL)
		return hf_err_set(err, HF_E_CONFIG, "%s: not a value: %s",
		    k->name, why.msg);
	rc = set_value(c, k, hf_json_root(j), err);
	hf_json_free(j);
	return rc;
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

/* Others must not be able to change what is run or sent where. */
static int
trusted(const struct stat *st, const char *path, struct hf_err *err)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' belongs to another user", path);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' can be written by others", path);
	return 0;
}

/* 1 with its text, 0 when there is none. */
static int
read_file(const char *dir, const char *path, struct hf_buf *out,
    struct hf_err *err)
{
	struct stat st;
	int fd, rc = -1;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		hf_err_sys(err, errno, "cannot open '%s'", path);
		err->code = HF_E_CONFIG;
	} else if (!S_ISREG(st.st_mode)) {
		hf_err_set(err, HF_E_CONFIG, "'%s' is no file", path);
	} else if (trusted(&st, path, err) == 0 && stat(dir, &st) == 0 &&
	    trusted(&st, dir, err) == 0) {
		out->max = FILE_MAX;
		rc = hf_io_slurp(fd, out, path, err) < 0 ? -1 : 1;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static bool
is_group(const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; i < NKEYS; i++)
		if (strncmp(keys[i].name, name, n) == 0 &&
		    keys[i].name[n] == '.')
			return true;
	return false;
}

static int
set_members(struct hf_config *c, const char *group,
    const struct hf_jval *v, struct hf_err *err)
{
	const struct hf_jval *m;
	const struct hf_key *k;
	struct hf_jiter it;
	struct hf_str key;
	struct hf_buf name = HF_BUF_INIT;
	int rc = 0;

	hf_json_iter(&it, v);
	while (rc == 0 && (m = hf_json_next(&it, &key)) != NULL) {
		hf_buf_clear(&name);
		if (group != NULL)
			hf_buf_printf(&name, "%s.", group);
		hf_buf_str(&name, key);
		if (group == NULL && is_group(hf_buf_cstr(&name)) &&
		    hf_json_type(m) == HF_J_OBJ) {
			rc = set_members(c, hf_buf_cstr(&name), m, err);
			continue;
		}
		k = hf_config_key(hf_buf_cstr(&name), err);
		rc = k == NULL ? -1 : set_value(c, k, m, err);
	}
	hf_buf_release(&name);
	return rc;
}

static int
parse_file(struct hf_config *c, struct hf_str text, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	if (hf_str_trim(text).n == 0)
		return 0;
	c->file = hf_json_parse(text, HF_JSON_RAW | HF_JSON_COMMENTS, NULL,
	    NULL, &why);
	if (c->file == NULL)
		return hf_err_set(err, HF_E_CONFIG, "not JSON: %s", why.msg);
	if (hf_json_type(hf_json_root(c->file)) != HF_J_OBJ)
		return hf_err_set(err, HF_E_CONFIG, "not a JSON object");
	return set_members(c, NULL, hf_json_root(c->file), err);
}

static int
load_file(struct hf_config *c, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	char *dir = hf_config_dir(err);
	int rc = -1;

	if (dir == NULL)
		return -1;
	c->path = hf_path_join(dir, "config.json");
	rc = read_file(dir, c->path, &text, err);
	if (rc > 0) {
		rc = parse_file(c, hf_buf_view(&text), err);
		if (rc < 0)
			hf_err_prefix(err, "'%s'", c->path);
	}
	free(dir);
	hf_buf_release(&text);
	return rc < 0 ? -1 : 0;
}

/* ---- all sources ---- */

static int
load_env(struct hf_config *c, const struct hf_key *k, struct hf_err *err)
{
	const char *value = k->env != NULL ? hf_env(k->env) : NULL;
	int rc;

	if (value == NULL)
		return 0;
	rc = k->kind == HF_KEY_STR ? set_str(c, k, hf_str(value), err) :
	    set_text(c, k, hf_str(value), err);
	if (rc < 0)
		hf_err_prefix(err, "%s", k->env);
	return rc;
}

int
hf_config_load(struct hf_config *c, struct hf_err *err)
{
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < NKEYS; i++)
		if (keys[i].kind != HF_KEY_MAP &&
		    set_text(c, &keys[i], hf_str(keys[i].fallback), err) < 0)
			goto bad;
	if (load_file(c, err) < 0)
		goto bad;
	for (i = 0; i < NKEYS; i++)
		if (load_env(c, &keys[i], err) < 0)
			goto bad;
	return 0;
bad:
	hf_config_release(c);
	return -1;
}

void
hf_config_release(struct hf_config *c)
{
	size_t i;

	for (i = 0; i < NKEYS; i++)
		if (keys[i].kind == HF_KEY_STR)
			free(*(char **)field(c, &keys[i]));
		else if (keys[i].kind == HF_KEY_ARGV)
			free_argv(*(char ***)field(c, &keys[i]));
	hf_json_free(c->file);
	free(c->path);
	memset(c, 0, sizeof(*c));
}

/* ---- get and set ---- */

static void
put_argv(struct hf_buf *out, char *const *argv)
{
	size_t i;

	if (argv == NULL) {
		hf_buf_puts(out, "null");
		return;
	}
	hf_buf_putc(out, '[');
	for (i = 0; argv[i] != NULL; i++) {
		hf_buf_puts(out, i > 0 ? "," : "");
		hf_json_quote(out, hf_str(argv[i]));
	}
	hf_buf_putc(out, ']');
}

static void
put_ppm(struct hf_buf *out, int64_t ppm)
{
	struct hf_jtree *t = hf_jtree_new();

	hf_jtree_write(out, hf_jtree_ppm(t, ppm), false);
	hf_jtree_free(t);
}

static void
put_value(struct hf_buf *out, struct hf_config *c, const struct hf_key *k)
{
	const struct hf_jval *map;
	const char *s;

	switch (k->kind) {
	case HF_KEY_BOOL:
		hf_buf_puts(out, *(bool *)field(c, k) ? "true" : "false");
		break;
	case HF_KEY_INT:
		hf_buf_printf(out, "%lld",
		    (long long)*(int64_t *)field(c, k));
		break;
	case HF_KEY_RATIO:
		put_ppm(out, *(int64_t *)field(c, k));
		break;
	case HF_KEY_STR:
		if ((s = *(char **)field(c, k)) != NULL)
			hf_json_quote(out, hf_str(s));
		else
			hf_buf_puts(out, "null");
		break;
	case HF_KEY_ARGV:
		put_argv(out, *(char ***)field(c, k));
		break;
	case HF_KEY_MAP:
		map = *(const struct hf_jval **)field(c, k);
		if (map != NULL)
			hf_json_write(out, map);
		else
			hf_buf_puts(out, "{}");
		break;
	}
}

static bool
in_file(const struct hf_config *c, const char *name)
{
	const struct hf_jval *root = c->file != NULL ?
	    hf_json_root(c->file) : NULL, *v;

	v = hf_json_get(root, name);		/* the flat spelling */
	if (v == NULL)
		v = hf_json_at(root, name);
	return v != NULL && hf_json_type(v) != HF_J_NULL;
}

int
hf_config_get(const char *name, struct hf_buf *value, const char **from,
    struct hf_err *err)
{
	const struct hf_key *k = hf_config_key(name, err);
	struct hf_config c;

	if (k == NULL || hf_config_load(&c, err) < 0)
		return -1;
	put_value(value, &c, k);
	*from = k->env != NULL && hf_env(k->env) != NULL ? "environment" :
	    in_file(&c, name) ? "file" : "default";
	hf_config_release(&c);
	return 0;
}

/* The JSON of what a person typed for a key: JSON as it is, else, where a
 * string is wanted, that string. */
static void
typed(const struct hf_key *k, const char *text, struct hf_buf *out)
{
	if (k->kind == HF_KEY_STR && text[0] != '"' &&
	    strcmp(text, "null") != 0)
		hf_json_quote(out, hf_str(text));
	else
		hf_buf_puts(out, text);
}

/* Would the whole file be accepted with this text? */
static int
check_text(struct hf_str text, struct hf_err *err)
{
	struct hf_config c;
	int rc;

	memset(&c, 0, sizeof(c));
	rc = parse_file(&c, text, err);
	hf_config_release(&c);
	return rc;
}

static int
write_file(const char *dir, struct hf_str text, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	int rc = -1;

	if (hf_dir_make(&d, dir, err) == 0)
		rc = hf_file_replace(&d, "config.json", text, err);
	hf_dir_close(&d);
	return rc;
}

int
hf_config_set(const char *name, const char *text, struct hf_err *err)
{
	const struct hf_key *k = hf_config_key(name, err);
	struct hf_buf old = HF_BUF_INIT, new = HF_BUF_INIT,
	    value = HF_BUF_INIT;
	char *dir = NULL, *path = NULL;
	int rc = -1;

	if (k == NULL || (dir = hf_config_dir(err)) == NULL)
		goto out;
	path = hf_path_join(dir, "config.json");
	if (read_file(dir, path, &old, err) < 0)
		goto out;
	if (text != NULL)
		typed(k, text, &value);
	if (check_text(hf_buf_view(&old), err) < 0 ||
	    hf_config_edit(hf_buf_view(&old), name, text != NULL ?
	    hf_buf_view(&value) : HF_STR_NONE, &new, err) < 0 ||
	    check_text(hf_buf_view(&new), err) < 0)
		goto out;
	rc = write_file(dir, hf_buf_view(&new), err);
out:
	free(dir);
	free(path);
	hf_buf_release(&old);
	hf_buf_release(&new);
	hf_buf_release(&value);
	return rc;
}
