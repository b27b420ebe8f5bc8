#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cmd.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "model/jobs.h"
#include "model/summarize.h"
#include "state/seed.h"

#define NAME	"hf-summarize"

enum { CONTEXT_MAX = 64 << 20, REDRAW_MS = 200, LINE_MAX = 120 };

/* The line that a terminal shows while a model writes. */
struct progress {
	int64_t began, drawn;		/* drawn: 0 nothing is there */
	size_t width;
};

struct run {
	struct hf_summarize how;
	struct hf_seeds seeds;
	struct progress progress;
};

/* ---- progress ---- */

static void
progress_clear(struct progress *p)
{
	char line[LINE_MAX];

	if (p->drawn == 0)
		return;
	snprintf(line, sizeof(line), "\r%*s\r", (int)p->width, "");
	hf_io_write(STDERR_FILENO, line, strlen(line));
	p->drawn = 0;
}

static void
progress_show(struct progress *p, int64_t n, const char *what)
{
	int64_t now = hf_clock_boot();
	char line[LINE_MAX];

	if (p->drawn != 0 && now - p->drawn < REDRAW_MS)
		return;
	snprintf(line, sizeof(line), "\rGenerating handoff... "
	    "(Ctrl-C cancels) %lld s, %lld %s",
	    (long long)((now - p->began) / 1000), (long long)n, what);
	p->width = strlen(line) - 1;
	hf_io_write(STDERR_FILENO, line, p->width + 1);
	p->drawn = now;
}

/* Tokens that are not told yet are guessed from the bytes. */
static void
progress_draw(size_t bytes, int64_t tokens, void *arg)
{
	int64_t guess = (int64_t)(bytes / 4);

	progress_show(arg, tokens > guess ? tokens : guess, "tokens");
}

static void
progress_jobs(size_t done, void *arg)
{
	progress_show(arg, (int64_t)done, "done");
}

/* ---- a document ---- */

static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	int rc;

	r->progress.began = hf_clock_boot();
	if (r->how.progress != NULL)
		progress_draw(0, 0, &r->progress);
	rc = hf_summarize(&r->how, d, err);
	progress_clear(&r->progress);
	return rc;
}

/* A failure of --prompt has no document to go into. */
static int
act_prompt(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf text = HF_BUF_INIT;
	struct hf_err why = { HF_OK, "" };
	int rc;

	rc = hf_summarize_prompt(&r->how, d, &text, &why);
	if (rc == 0)
		rc = hf_out(hf_buf_view(&text), &why);
	hf_buf_release(&text);
	if (rc == 0)
		return 0;
	if (why.code != HF_E_CANCELLED)
		hf_warn_err(&why);
	*err = why;
	return -1;
}

/* ---- options ---- */

static const char *provider, *model, *focus, *context, *base_url;
static int64_t seconds, jobs = 1;
static bool prompt, progress, ordered;
static const struct hf_opt opts[] = {
	{ 'p', "provider", "NAME", "who writes it: extract (no model), "
	    "anthropic, openai, openai-responses, gemini, command, claude, "
	    "codex, pi", HF_OPT_STR, &provider, 0, 0 },
	{ 'm', "model", "NAME", "the model", HF_OPT_STR, &model, 0, 0 },
	{ 'f', "focus", "TEXT", "what the brief is to focus on",
	    HF_OPT_STR, &focus, 0, 0 },
	{ 0, "base-url", "URL", "where the provider is", HF_OPT_STR,
	    &base_url, 0, 0 },
	{ 0, "timeout", "SECONDS", "for a whole call", HF_OPT_INT, &seconds,
	    1, 3600 },
	{ 0, "context", "FILE", "append the instruction to the request body "
	    "in FILE", HF_OPT_STR, &context, 0, 0 },
	{ 'j', "jobs", "N", "documents at once", HF_OPT_INT, &jobs, 1,
	    HF_JOBS_MAX },
	{ 0, "ordered", NULL, "with --jobs, write them in their order",
	    HF_OPT_FLAG, &ordered, 0, 0 },
	{ 0, "progress", NULL, "show a line while it works, on a terminal",
	    HF_OPT_FLAG, &progress, 0, 0 },
	{ 0, "prompt", NULL, "print what would be sent, send nothing",
	    HF_OPT_FLAG, &prompt, 0, 0 },
	{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 }
};
static const struct hf_opt_usage usage = { NAME, "",
	"turn a transcript into the text of a brief", opts };

static int
check_provider(struct hf_err *err)
{
	if (provider == NULL || strcmp(provider, "extract") == 0 ||
	    hf_provider_by_name(provider, err) != NULL)
		return 0;
	err->code = HF_E_USAGE;
	return -1;
}

static int
read_context(struct hf_buf *out, struct hf_err *err)
{
	out->max = CONTEXT_MAX;
	if (context == NULL)
		return 0;
	if (hf_io_slurp_path(context, out, err) < 0)
		return -1;
	if (hf_str_trim(hf_buf_view(out)).n == 0)
		return hf_err_set(err, HF_E_INVALID, "'%s' is empty",
		    context);
	return 0;
}

static void
apply(struct hf_config *c)
{
	if (base_url != NULL) {
		free(c->base_url);
		c->base_url = hf_strdup(base_url);
	}
	if (seconds > 0)
		c->timeout_seconds = seconds;
}

/* The stage, in this process: the command itself, or a worker of it. */
static int
stage(void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_stage s = { .name = NAME, .arg = r };
	struct hf_api_key key = HF_API_KEY_INIT;
	int rc;

	s.act = prompt ? act_prompt : act;
	s.quiet = prompt;
	r->how.key = &key;
	r->how.http = hf_http_new();
	rc = hf_doc_stage(&s, err);
	hf_http_free(r->how.http);
	hf_api_key_release(&key);
	return rc;
}

static int
work(struct run *r, struct hf_err *err)
{
	struct hf_jobs j = { .name = NAME, .ordered = ordered };
	bool shown = progress && !prompt && isatty(STDERR_FILENO);
	int rc;

	r->progress.began = hf_clock_boot();
	if (jobs > 1 && !prompt) {
		j.jobs = (size_t)jobs;
		j.work = stage;
		j.arg = r;
		j.tick = shown ? progress_jobs : NULL;
		j.tick_arg = &r->progress;
		rc = hf_jobs_run(&j, err);
		progress_clear(&r->progress);
		return rc;
	}
	if (shown) {
		r->how.progress = progress_draw;
		r->how.progress_arg = &r->progress;
	}
	return stage(r, err);
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	struct hf_config config;
	struct run r = { 0 };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc > 0 ? 0 : -1;
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is one operand too many", argv[1]);
	if (check_provider(err) < 0 || hf_config_load(&config, err) < 0)
		return -1;
	apply(&config);
	r.how.config = &config;
	r.how.provider = provider;
	r.how.model = model;
	r.how.focus = hf_str(focus);
	r.how.ours = hf_seed_is_ours;
	r.how.ours_arg = &r.seeds;
	rc = read_context(&body, err);
	if (rc == 0) {
		r.how.context = context != NULL ? hf_buf_view(&body) :
		    HF_STR_NONE;
		rc = work(&r, err);
	}
	hf_seeds_close(&r.seeds);
	hf_buf_release(&body);
	hf_config_release(&config);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main(NAME, run, argc, argv);
}
