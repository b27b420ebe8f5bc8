#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/opencode.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/proc.h"
#include "config/home.h"

enum {
	TAIL = 14,		/* characters behind an id's time */
	CONFIG_MAX = 4 << 20,
	IMPORT_MS = 180 * 1000,	/* its start takes seconds, and migrates */
	SAID_MAX = 64 << 10, LINE = 200
};

static const char program[] = "opencode";
/* What the form of a successor was proven with. */
static const char version[] = "1.18.33";

/* ---- ids ---- */

/* A prefix, 12 hex digits of a time, 14 characters from bytes. */
static void
make_id(struct hf_buf *out, const char *prefix, uint64_t when,
    const uint8_t *bytes)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz";
	size_t i;

	hf_buf_printf(out, "%s_%012llx", prefix,
	    (unsigned long long)(when & 0xffffffffffffULL));
	for (i = 0; i < TAIL; i++)
		hf_buf_putc(out, digits[bytes[i] % 62]);
}

static uint64_t
count_of(int64_t ms)
{
	return (uint64_t)ms * 4096 + 1;
}

/* Sessions sort newest first: their times are complemented. */
void
hf_opencode_new_id(int64_t ms, char out[64])
{
	struct hf_buf b = HF_BUF_MAX(63);
	uint8_t bytes[TAIL];

	hf_random(bytes, sizeof(bytes));
	make_id(&b, "ses", ~count_of(ms), bytes);
	memcpy(out, hf_buf_cstr(&b), b.len + 1);
	hf_buf_release(&b);
}

/* Ids of what is in a successor are derived from its own. */
static char *
derived(const struct hf_seed *seed, const char *prefix)
{
	struct hf_buf b = HF_BUF_INIT;
	uint8_t hash[HF_SHA_LEN];

	hf_buf_printf(&b, "%s %s", prefix, seed->id);
	hf_sha256(hf_buf_view(&b), hash);
	hf_buf_clear(&b);
	make_id(&b, prefix, count_of(seed->time), hash);
	return hf_buf_steal(&b);
}

/* ---- the model ---- */

/* A message must name a model, and the client uses that one. */
struct model { char *provider, *id; };

static bool
set_model(struct model *m, struct hf_str provider, struct hf_str id)
{
	if (provider.n == 0 || id.n == 0)
		return false;
	m->provider = hf_strndup(provider.s, provider.n);
	m->id = hf_strndup(id.s, id.n);
	return true;
}

static void
model_release(struct model *m)
{
	free(m->provider);
	free(m->id);
}

/* Parses a file; NULL: there is none that can be read. */
static struct hf_json *
parse_file(const char *dir, const char *name)
{
	struct hf_buf text = HF_BUF_MAX(CONFIG_MAX);
	char *path = hf_path_join(dir, name);
	struct hf_json *j = NULL;

	if (hf_io_slurp_path(path, &text, NULL) == 0)
		j = hf_json_parse(hf_buf_view(&text), HF_JSON_COMMENTS, NULL,
		    NULL, NULL);
	hf_buf_release(&text);
	free(path);
	return j;
}

/* "model": "provider/model" of a configuration file. */
static bool
configured(struct model *m, const char *dir, const char *name)
{
	struct hf_json *j = parse_file(dir, name);
	struct hf_str both = hf_json_get_str(hf_json_root(j), "model");
	size_t slash = hf_str_find(both, HF_STR("/"), 0);
	bool found = slash != SIZE_MAX && set_model(m,
	    hf_strn(both.s, slash), hf_strn(both.s + slash + 1,
	    both.n - slash - 1));

	hf_json_free(j);
	return found;
}

static bool
configured_in(struct model *m, const char *dir)
{
	static const char *const names[] = { "opencode.jsonc",
		"opencode.json", "config.json" };
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !found;
	    i++)
		found = configured(m, dir, names[i]);
	return found;
}

/* The folder's or of one above it, as far as a repository goes. */
static bool
in_project(struct model *m, const char *cwd)
{
	char *dir = hf_strdup(cwd), *own, *git, *up;
	bool found = false, last = cwd[0] != '/';

	while (!found && !last) {
		own = hf_path_join(dir, ".opencode");
		git = hf_path_join(dir, ".git");
		found = configured_in(m, own) || configured_in(m, dir);
		last = access(git, F_OK) == 0 || strcmp(dir, "/") == 0;
		up = hf_path_dir(dir);
		free(dir);
		free(git);
		free(own);
		dir = up;
	}
	free(dir);
	return found;
}

static bool
in_home(struct model *m, const char *var, const char *fallback,
    bool (*find)(struct model *m, const char *dir))
{
	char *base = hf_env_xdg(var, fallback, NULL), *dir;
	bool found;

	if (base == NULL)
		return false;
	dir = hf_path_join(base, "opencode");
	found = find(m, dir);
	free(dir);
	free(base);
	return found;
}

/* The one chosen last in the client's own window. */
static bool
recent(struct model *m, const char *dir)
{
	struct hf_json *j = parse_file(dir, "model.json");
	const struct hf_jval *v = hf_json_elem(hf_json_get(hf_json_root(j),
	    "recent"), 0);
	bool found = set_model(m, hf_json_get_str(v, "providerID"),
	    hf_json_get_str(v, "modelID"));

	hf_json_free(j);
	return found;
}

static bool
last_used(struct model *m)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_json *j = NULL;
	bool found = false;

	if (hf_opencode_last_model(&text, NULL) == 0 &&
	    (j = hf_json_parse(hf_buf_view(&text), 0, NULL, NULL, NULL)) !=
	    NULL)
		found = set_model(m, hf_json_get_str(hf_json_root(j),
		    "providerID"), hf_json_get_str(hf_json_root(j), "id"));
	hf_json_free(j);
	hf_buf_release(&text);
	return found;
}

/*
 * The source's, if it was opencode's; else what a new session would take:
 * the folder's configuration, the user's, the last choice. False without any
 * of them: the client has never been used, and its user has to choose.
 */
static bool
find_model(const struct hf_seed *seed, struct model *m)
{
	const struct hf_session *s = seed->source;
	const char *file = hf_env("OPENCODE_CONFIG");

	if (s != NULL && s->agent == &hf_agent_opencode &&
	    seed->model != NULL && s->provider != NULL &&
	    set_model(m, hf_str(s->provider), hf_str(seed->model)))
		return true;
	if ((seed->cwd != NULL && in_project(m, seed->cwd)) ||
	    (file != NULL && configured(m, "", file)) ||
	    in_home(m, "XDG_CONFIG_HOME", ".config", configured_in) ||
	    in_home(m, "XDG_STATE_HOME", ".local/state", recent) ||
	    last_used(m))
		return true;
	set_model(m, HF_STR("opencode"), HF_STR("default"));
	return false;
}

/* ---- where ---- */

/* Is the client in PATH? */
static bool
is_installed(void)
{
	const char *p = hf_env("PATH"), *end;
	char *dir, *path;
	bool there = false;

	for (; p != NULL && !there; p = *end == ':' ? end + 1 : NULL) {
		end = strchr(p, ':');
		if (end == NULL)
			end = p + strlen(p);
		dir = hf_strndup(p, (size_t)(end - p));
		path = hf_path_join(dir[0] != '\0' ? dir : ".", program);
		there = access(path, X_OK) == 0;
		free(path);
		free(dir);
	}
	return there;
}

int
hf_opencode_place(const struct hf_seed *seed, struct hf_place *out,
    struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	struct model m = { NULL, NULL };
	char *state;

	if (!is_installed())
		return hf_err_set(err, HF_E_UNAVAILABLE, "opencode takes a "
		    "session only by its own import, and there is no program "
		    "'%s' in PATH", program);
	if (seed->cwd == NULL || access(seed->cwd, X_OK) < 0)
		return hf_err_set(err, HF_E_UNAVAILABLE, "opencode takes a "
		    "session only in its folder, and '%s' is not there",
		    seed->cwd != NULL ? seed->cwd : "");
	if ((state = hf_home_state(err)) == NULL)
		return -1;
	if (!find_model(seed, &m))
		hf_warn("opencode has no model yet that a session can name: "
		    "choose one when it goes on");
	model_release(&m);
	out->dir = hf_path_join(state, "imports");
	free(state);
	hf_buf_printf(&name, "%s.json", seed->id);
	out->name = hf_buf_steal(&name);
	return 0;
}

/* ---- the content ---- */

static void
member(struct hf_buf *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	hf_buf_printf(out, "%s\"%s\":", out->data[out->len - 1] == '{' ? "" :
	    ",", key);
	hf_json_quote(out, hf_str(value));
}

static void
info(struct hf_buf *out, const struct hf_seed *seed)
{
	const struct hf_session *s = seed->source;
	long long ms = (long long)seed->time;

	hf_buf_puts(out, "{\"info\":{");
	member(out, "id", seed->id);
	member(out, "slug", "handoff");
	member(out, "projectID", "global");
	member(out, "directory", seed->cwd);
	member(out, "title", seed->title != NULL ? seed->title : "handoff");
	member(out, "version", s != NULL && s->agent == &hf_agent_opencode &&
	    s->version != NULL ? s->version : version);
	hf_buf_puts(out, ",\"metadata\":{\"handoff\":{\"v\":1");
	if (s != NULL) {
		member(out, "parentSession", s->id);
		member(out, "agent", s->agent != NULL ? s->agent->name :
		    NULL);
	}
	member(out, "id", seed->attempt);
	hf_buf_printf(out, "}},\"time\":{\"created\":%lld,\"updated\":%lld}}",
	    ms, ms);
}

static void
message(struct hf_buf *out, const struct hf_seed *seed,
    const struct model *m)
{
	char *id = derived(seed, "msg"), *part = derived(seed, "prt");

	hf_buf_puts(out, ",\"messages\":[{\"info\":{");
	member(out, "id", id);
	member(out, "sessionID", seed->id);
	member(out, "role", "user");
	hf_buf_printf(out, ",\"time\":{\"created\":%lld}",
	    (long long)seed->time);
	member(out, "agent", seed->permission != NULL ? seed->permission :
	    "build");
	hf_buf_puts(out, ",\"model\":{");
	member(out, "providerID", m->provider);
	member(out, "modelID", m->id);
	hf_buf_puts(out, "}},\"parts\":[{");
	member(out, "id", part);
	member(out, "sessionID", seed->id);
	member(out, "messageID", id);
	member(out, "type", "text");
	hf_buf_puts(out, ",\"text\":");
	hf_json_quote(out, seed->text);
	hf_buf_puts(out, "}]}]}\n");
	free(part);
	free(id);
}

int
hf_opencode_draft(const struct hf_seed *seed, struct hf_buf *out,
    struct hf_err *err)
{
	struct model m = { NULL, NULL };

	find_model(seed, &m);
	info(out, seed);
	message(out, seed, &m);
	model_release(&m);
	if (out->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the successor of '%s' is too large", seed->id);
	return 0;
}

/* ---- importing ---- */

/* All of it: the client writes a session's last part last. */
static bool
is_there(const struct hf_seed *seed)
{
	char *part = derived(seed, "prt");
	bool there = hf_opencode_has_part(part);

	free(part);
	return there;
}

/* The last line of what the client said, for a message. */
static struct hf_str
last_words(struct hf_str said)
{
	struct hf_str a = hf_str_trim(said), line = a, rest = a;

	while (rest.n > 0) {
		a = hf_str_trim(hf_str_line(rest, &rest));
		if (a.n > 0)
			line = a;
	}
	line.n = hf_utf8_cut(line, line.n < LINE ? line.n : LINE);
	return line;
}

static int
not_imported(const char *file, struct hf_str said, struct hf_err *err)
{
	struct hf_str line = last_words(said);

	return hf_err_set(err, HF_E_IO, "opencode did not import '%s'%s%.*s",
	    file, line.n > 0 ? ": " : "", (int)line.n,
	    line.n > 0 ? line.s : "");
}

/* In the folder of work, which becomes the session's. */
static int
import(const char *file, const char *cwd, struct hf_buf *said,
    struct hf_err *err)
{
	const char *const argv[] = { program, "import", file, NULL };
	const char **env = hf_proc_env(NULL);
	struct hf_proc p = { .argv = argv, .envp = env, .cwd = cwd,
	    .out = said, .errout = said, .timeout_ms = IMPORT_MS };
	struct hf_err why = { HF_OK, "" };
	int status = 0, rc = hf_proc_run(&p, &status, &why);

	free(env);
	if (rc < 0 && why.code == HF_E_NOT_FOUND)
		return hf_err_set(err, HF_E_UNAVAILABLE, "'%s' waits to be "
		    "imported: there is no program '%s' in PATH", file,
		    program);
	if (rc < 0) {
		if (err != NULL)
			*err = why;
		return -1;
	}
	return status == 0 ? 0 : not_imported(file, hf_buf_view(said), err);
}

int
hf_opencode_publish(const struct hf_seed *seed, const struct hf_place *p,
    struct hf_err *err)
{
	struct hf_buf said = HF_BUF_MAX(SAID_MAX);
	char *file;
	int rc;

	if (is_there(seed))
		return 0;
	file = hf_path_join(p->dir, p->name);
	rc = import(file, seed->cwd, &said, err);
	/* It ends with status 0 also when it could not read a file. */
	if (rc == 0 && !is_there(seed))
		rc = not_imported(file, hf_buf_view(&said), err);
	hf_buf_release(&said);
	free(file);
	return rc;
}

/* ---- going on ---- */

void
hf_opencode_resume(const struct hf_session *s, const char *prompt,
    struct hf_argv *out)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_argv_add(out, program);
	hf_argv_add(out, "--session");
	hf_argv_add(out, s->id != NULL ? s->id : "");
	if (prompt == NULL)
		return;
	hf_argv_add(out, "--prompt");
	/* Behind a blank it is neither an option, a command nor a file. */
	if (strchr("-/@!", prompt[0]) != NULL)
		hf_buf_putc(&text, ' ');
	hf_buf_puts(&text, prompt);
	hf_argv_add(out, hf_buf_cstr(&text));
	hf_buf_release(&text);
}
