#include "model/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/proc.h"
#include "model/judge.h"

enum { OUT_MAX = 16 << 20, SAID_MAX = 256 << 10, ARGS = 24, LINE_SHOWN = 300 };

/* Exit status 2 of this hook denies a call, whatever else is allowed. */
static const char deny[] = "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\","
    "\"hooks\":[{\"type\":\"command\",\"command\":\"exit 2\"}]}]}}";

struct fork {
	const struct hf_ask *q;
	const char *agent;
	const char *argv[ARGS];
	size_t argc;
	struct hf_buf out, said;
	int status;
};

static void
arg(struct fork *f, const char *word)
{
	if (f->argc + 1 < ARGS)
		f->argv[f->argc++] = word;
}

static void
model_arg(struct fork *f, const char *option)
{
	if (f->q->model == NULL)
		return;
	arg(f, option);
	arg(f, f->q->model);
}

/* ---- running it ---- */

/* Ours without what marks us as inside an agent, and with our own mark. */
static const char **
environment(void)
{
	static const char *const drop[] = { "HANDOFF_FORK", NULL };
	const char **base = hf_proc_env(drop), **env;
	size_t n = 0;

	while (base[n] != NULL)
		n++;
	env = hf_reallocarray(NULL, n + 2, sizeof(*env));
	memcpy(env, base, n * sizeof(*env));
	env[n] = "HANDOFF_FORK=1";
	env[n + 1] = NULL;
	free(base);
	return env;
}

static struct hf_str
last_line(struct hf_str text)
{
	size_t from;

	text = hf_str_trim(text);
	for (from = text.n; from > 0 && text.s[from - 1] != '\n'; from--)
		;
	text = hf_strn(text.s + from, text.n - from);
	text.n = hf_utf8_cut(text, LINE_SHOWN);
	return text;
}

static int
check(struct fork *f, const struct hf_session *s, struct hf_err *err)
{
	if (f->q->context.n > 0)
		return hf_err_set(err, HF_E_CONFIG, "'%s' goes on with a fork "
		    "of the session; a context is for an API", f->agent);
	if (s->agent == NULL || strcmp(s->agent->name, f->agent) != 0)
		return hf_err_set(err, HF_E_UNSUPPORTED, "'%s' can only go on "
		    "with a session of its own, not of '%s'", f->agent,
		    s->agent != NULL ? s->agent->name : "nobody");
	if (s->cwd == NULL || access(s->cwd, X_OK) < 0)
		return hf_err_set(err, HF_E_UNSUPPORTED, "the session's folder"
		    " '%s' is not there to go on in",
		    s->cwd != NULL ? s->cwd : "");
	return 0;
}

/* Runs argv with the instruction as its last word. */
static int
run(struct fork *f, struct hf_err *err)
{
	struct hf_buf prompt = HF_BUF_INIT;
	struct hf_proc p = { 0 };
	const char **env = environment();
	int rc;

	hf_buf_str(&prompt, hf_buf_view(&f->q->prompt->instruction));
	arg(f, hf_buf_cstr(&prompt));
	arg(f, NULL);
	f->out.max = OUT_MAX;
	f->said.max = SAID_MAX;
	p.argv = f->argv;
	p.envp = env;
	p.cwd = f->q->session->cwd;
	p.out = &f->out;
	p.errout = &f->said;
	p.timeout_ms = (long)f->q->config->timeout_seconds * 1000;
	rc = hf_proc_run(&p, &f->status, err);
	if (rc < 0 && err->code == HF_E_NOT_FOUND)
		err->code = HF_E_CONFIG;
	free(env);
	hf_buf_release(&prompt);
	return rc;
}

/* An agent's own word for a failure: what kind of one is it? */
static int
failure(const char *agent, int status, struct hf_str line,
    struct hf_err *err)
{
	static const struct { const char *words; int status; } kinds[] = {
		{ "prompt is too long", 413 }, { "context window", 413 },
		{ "api key", 401 }, { "/login", 401 }, { "log in", 401 },
		{ "unauthorized", 401 }, { "authenticat", 401 },
		{ "limit reached", 429 }, { "usage limit", 429 },
		{ "rate limit", 429 }, { "429", 429 },
	};
	struct hf_api_error e = { .status = 500 };
	size_t i;

	for (i = sizeof(kinds) / sizeof(kinds[0]); i-- > 0;)
		if (hf_str_ifind(line, kinds[i].words, 0) != SIZE_MAX)
			e.status = kinds[i].status;
	if (line.n >= sizeof(e.message))
		line.n = hf_utf8_cut(line, sizeof(e.message) - 1);
	memcpy(e.message, line.n > 0 ? line.s : "", line.n);
	hf_judge_set(err, agent, &e);
	return hf_err_set(err, err->code, "'%s' ended with status %d%s%s",
	    agent, status, line.n > 0 ? ": " : "", e.message);
}

static int
check_end(struct fork *f, struct hf_err *err)
{
	struct hf_str line = last_line(hf_buf_view(&f->said));

	if (f->status == 0)
		return 0;
	if (line.n == 0)
		line = last_line(hf_buf_view(&f->out));
	return failure(f->agent, f->status, line, err);
}

static int
check_text(const char *agent, const struct hf_answer *a, struct hf_err *err)
{
	if (hf_str_trim(hf_buf_view(&a->text)).n > 0)
		return 0;
	return hf_err_set(err, HF_E_EMPTY, "'%s' answered nothing", agent);
}

static void
fork_close(struct fork *f, struct hf_answer *a, int64_t began)
{
	a->attempts = 1;
	a->milliseconds = hf_clock_boot() - began;
	hf_buf_release(&f->out);
	hf_buf_release(&f->said);
}

/* ---- Claude Code ---- */

/* Its usage counts cached input apart. */
static void
claude_usage(const struct hf_jval *v, struct hf_answer *a)
{
	int64_t made;

	if (hf_json_type(v) != HF_J_OBJ)
		return;
	a->cached = hf_json_count(hf_json_get(v, "cache_read_input_tokens"));
	made = hf_json_count(hf_json_get(v, "cache_creation_input_tokens"));
	a->input = hf_json_count(hf_json_get(v, "input_tokens")) + made +
	    a->cached;
	a->output = hf_json_count(hf_json_get(v, "output_tokens"));
}

static int
claude_result(const struct hf_jval *v, struct hf_answer *a,
    struct hf_err *err)
{
	struct hf_str text = hf_json_get_str(v, "result");
	struct hf_str stop = hf_json_get_str(v, "stop_reason");
	struct hf_str model = HF_STR_NONE;
	struct hf_jiter it;

	claude_usage(hf_json_get(v, "usage"), a);
	hf_json_iter(&it, hf_json_get(v, "modelUsage"));
	if (hf_json_next(&it, &model) != NULL)
		snprintf(a->model, sizeof(a->model), "%.*s",
		    (int)(model.n < 100 ? model.n : 100), model.s);
	snprintf(a->finish, sizeof(a->finish), "%.*s",
	    (int)(stop.n < 60 ? stop.n : 60), stop.n > 0 ? stop.s : "");
	if (hf_json_is(hf_json_get(v, "subtype"), "error_max_turns") ||
	    hf_str_is(stop, "tool_use"))
		return hf_err_set(err, HF_E_EMPTY,
		    "'claude' called a tool instead of answering");
	if (hf_json_true(hf_json_get(v, "is_error")))
		return failure("claude", 1, last_line(text), err);
	if (hf_str_is(stop, "max_tokens"))
		return hf_err_set(err, HF_E_TRUNCATED, "the answer of "
		    "'claude' was cut by a limit (max_tokens)");
	if (hf_str_is(stop, "refusal"))
		return hf_err_set(err, HF_E_REFUSED,
		    "'claude' refused to answer (refusal)");
	hf_buf_str(&a->text, text);
	return check_text("claude", a, err);
}

int
hf_fork_claude(struct hf_str out, struct hf_answer *a, struct hf_err *err)
{
	struct hf_str line, rest = out;
	struct hf_json *j = NULL, *last = NULL;
	int rc;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		j = hf_json_parse(line, HF_JSON_RAW | HF_JSON_MEND, NULL,
		    NULL, NULL);
		if (hf_json_is(hf_json_get(hf_json_root(j), "type"),
		    "result")) {
			hf_json_free(last);
			last = j;
		} else {
			hf_json_free(j);
		}
	}
	if (last == NULL)
		return hf_err_set(err, HF_E_UNAVAILABLE,
		    "'claude' printed no result");
	rc = claude_result(hf_json_root(last), a, err);
	hf_json_free(last);
	return rc;
}

static int
ask_claude(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	struct fork f = { .q = q, .agent = "claude" };
	int64_t began = hf_clock_boot();
	int rc = -1;

	arg(&f, "claude");
	arg(&f, "-p");
	arg(&f, "--resume");
	arg(&f, q->session->id);
	arg(&f, "--fork-session");
	arg(&f, "--no-session-persistence");
	arg(&f, "--max-turns");
	arg(&f, "1");
	arg(&f, "--output-format");
	arg(&f, "json");
	arg(&f, "--settings");
	arg(&f, deny);
	model_arg(&f, "--model");
	if (check(&f, q->session, err) < 0 || run(&f, err) < 0)
		goto out;
	/* It says more on stdout than by its status. */
	rc = hf_fork_claude(hf_buf_view(&f.out), a, err);
	if (rc < 0 && f.status != 0 && err->code == HF_E_UNAVAILABLE)
		check_end(&f, err);
out:
	fork_close(&f, a, began);
	return rc;
}

const struct hf_provider hf_provider_claude = {
	.name = "claude",
	.sends = true,
	.has_session = true,
	.ask = ask_claude,
};

/* ---- Codex ---- */

/* An empty file for its answer; the name is the caller's. */
static char *
answer_file(struct hf_err *err)
{
	const char *dir = hf_env("TMPDIR");
	char *path = hf_path_join(dir != NULL ? dir : "/tmp",
	    "handoff-answer.XXXXXX");
	int fd = mkstemp(path);

	if (fd < 0) {
		hf_err_sys(err, errno, "cannot make '%s'", path);
		free(path);
		return NULL;
	}
	close(fd);
	return path;
}

static int
ask_codex(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	struct fork f = { .q = q, .agent = "codex" };
	int64_t began = hf_clock_boot();
	char *answer = NULL;
	int rc = -1;

	if (check(&f, q->session, err) < 0 ||
	    (answer = answer_file(err)) == NULL)
		goto out;
	arg(&f, "codex");
	arg(&f, "exec");
	arg(&f, "--skip-git-repo-check");
	arg(&f, "--ephemeral");
	arg(&f, "-s");
	arg(&f, "read-only");
	/* Tools of other servers know no sandbox. */
	arg(&f, "-c");
	arg(&f, "mcp_servers={}");
	arg(&f, "-o");
	arg(&f, answer);
	model_arg(&f, "-m");
	arg(&f, "fork");
	arg(&f, q->session->id);
	a->text.max = OUT_MAX;
	if (run(&f, err) == 0 && check_end(&f, err) == 0 &&
	    hf_io_slurp_path(answer, &a->text, err) == 0)
		rc = check_text("codex", a, err);
out:
	if (answer != NULL)
		unlink(answer);
	free(answer);
	fork_close(&f, a, began);
	return rc;
}

const struct hf_provider hf_provider_codex = {
	.name = "codex",
	.sends = true,
	.has_session = true,
	.ask = ask_codex,
};

/* ---- pi ---- */

/*
 * pi has no fork that leaves no trace: with --no-session it forgets the one
 * it is given. So it goes on with a copy, in a folder of its own.
 */
struct copy {
	char *dir, *file;
};

static int
write_copy(const struct copy *c, struct hf_str text, struct hf_err *err)
{
	int fd = open(c->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return hf_err_sys(err, errno, "cannot make '%s'", c->file);
	if (hf_io_write(fd, text.s, text.n) < 0) {
		hf_err_sys(err, errno, "cannot write '%s'", c->file);
		close(fd);
		return -1;
	}
	return close(fd) == 0 ? 0 :
	    hf_err_sys(err, errno, "cannot write '%s'", c->file);
}

static int
copy_open(struct copy *c, const char *path, struct hf_err *err)
{
	const char *tmp = hf_env("TMPDIR");
	struct hf_buf text = HF_BUF_INIT;
	int rc = -1;

	c->dir = hf_path_join(tmp != NULL ? tmp : "/tmp",
	    "handoff-fork.XXXXXX");
	if (mkdtemp(c->dir) == NULL) {
		hf_err_sys(err, errno, "cannot make '%s'", c->dir);
		free(c->dir);
		c->dir = NULL;
		return -1;
	}
	c->file = hf_path_join(c->dir, hf_path_base(path));
	if (hf_io_slurp_path(path, &text, err) == 0)
		rc = write_copy(c, hf_buf_view(&text), err);
	hf_buf_release(&text);
	return rc;
}

static void
copy_close(struct copy *c)
{
	if (c->file != NULL)
		unlink(c->file);
	if (c->dir != NULL)
		rmdir(c->dir);
	free(c->file);
	free(c->dir);
}

static int
ask_pi(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	struct fork f = { .q = q, .agent = "pi" };
	struct copy copy = { NULL, NULL };
	int64_t began = hf_clock_boot();
	int rc = -1;

	if (check(&f, q->session, err) < 0 ||
	    copy_open(&copy, q->session->path, err) < 0)
		goto out;
	arg(&f, "pi");
	arg(&f, "-p");
	arg(&f, "--session");
	arg(&f, copy.file);
	arg(&f, "--no-tools");
	model_arg(&f, "--model");
	if (run(&f, err) < 0 || check_end(&f, err) < 0)
		goto out;
	hf_buf_str(&a->text, hf_str_trim(hf_buf_view(&f.out)));
	rc = check_text("pi", a, err);
out:
	copy_close(&copy);
	fork_close(&f, a, began);
	return rc;
}

const struct hf_provider hf_provider_pi = {
	.name = "pi",
	.sends = true,
	.has_session = true,
	.ask = ask_pi,
};
