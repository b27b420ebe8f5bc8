#include "model/summarize.h"

#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "brief/extract.h"
#include "config/models.h"
#include "model/otel.h"

/* What one document needs, opened once. */
struct job {
	const struct hf_summarize *how;
	struct hf_session session;
	struct hf_walk walk;
	bool walking;
	struct hf_facts facts;
	struct hf_secrets *secrets;
	struct hf_str focus;
	bool automatic;
	struct hf_prompt *prompt;
	bool brief;			/* the prompt is the instruction alone:
					 * who is asked has the rest */
};

enum {
	WINDOW = 100000,		/* tokens, of a model not known */
	WINDOW_MAX = 20000000,
	TOKEN_BYTES = 3,
	KEY_SHORT = 8			/* a shorter key would mask words */
};

static struct hf_str
focus_of(const struct hf_summarize *how, const struct hf_doc *d)
{
	struct hf_str s = how->focus;

	if (s.n == 0)
		s = hf_json_str(hf_json_at(hf_doc_get(d, "commit"), "focus"));
	if (s.n == 0)
		s = hf_json_str(hf_json_at(hf_doc_get(d, "main"),
		    "requested.focus"));
	return s;
}

static void
job_close(struct job *j)
{
	hf_facts_release(&j->facts);
	if (j->walking)
		hf_walk_close(&j->walk);
	hf_session_release(&j->session);
	hf_secrets_free(j->secrets);
}

/* Reads the session as far as the document's metrics saw it. */
static int
job_open(struct job *j, const struct hf_summarize *how,
    const struct hf_doc *d, struct hf_err *err)
{
	const struct hf_jval *trigger = hf_doc_get(d, "trigger");
	struct hf_metrics m;
	uint64_t size;

	memset(j, 0, sizeof(*j));
	hf_session_init(&j->session);
	j->how = how;
	if (hf_metrics_from_doc(d, &j->session, &m, err) < 0)
		return -1;
	size = m.file.size > 0 ? m.file.size : UINT64_MAX;
	hf_metrics_release(&m);
	j->focus = focus_of(how, d);
	j->automatic = trigger != NULL &&
	    !hf_json_is(hf_json_get(trigger, "reason"), "manual");
	j->secrets = hf_secrets_load(how->config, j->session.cwd, err);
	if (j->secrets == NULL ||
	    hf_walk_open(&j->walk, &j->session, size, err) < 0) {
		job_close(j);
		return -1;
	}
	j->walking = true;
	if (hf_facts_read(&j->walk, &j->facts, err) < 0) {
		job_close(j);
		return -1;
	}
	return 0;
}

/* ---- computed ---- */

static void
mask_text(struct hf_buf *out, struct hf_str text, void *arg)
{
	hf_secrets_mask(arg, out, text);
}

static void
say_failure(struct hf_brief *b, const struct hf_err *failed)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_buf_printf(&text, "A model was to write this brief and failed "
	    "(%s: %s)", hf_code_name(failed->code), failed->msg);
	hf_brief_add(b, HF_UNCERTAINTIES, hf_buf_view(&text));
	hf_buf_release(&text);
}

/* failed: why no model wrote it, NULL when none was asked. */
static int
computed(struct job *j, struct hf_answer *a, const struct hf_err *failed,
    struct hf_err *err)
{
	struct hf_extract how = { .focus = j->focus };
	struct hf_brief plain, brief;
	struct hf_jtree *t;

	how.seeded = hf_facts_seed(&j->facts, j->how->ours, j->how->ours_arg);
	if (hf_extract(&j->facts, &how, &plain, err) < 0)
		return -1;
	if (failed != NULL)
		say_failure(&plain, failed);
	hf_brief_map(&plain, &brief, mask_text, j->secrets);
	t = hf_jtree_new();
	hf_buf_clear(&a->text);
	hf_jtree_write(&a->text, hf_brief_to_json(t, &brief), false);
	hf_jtree_free(t);
	hf_brief_release(&plain);
	hf_brief_release(&brief);
	return 0;
}

/* ---- by a provider ---- */

/* The window of the model that is asked, in bytes of a prompt: room for the
 * answer is left, and a token is taken for three bytes, which is little. */
static size_t
budget(const struct hf_summarize *how)
{
	const char *model = how->model != NULL ? how->model :
	    how->config->model;
	int64_t tokens = 0, answer = how->config->max_tokens;

	if (model != NULL)
		tokens = hf_models_window(how->config, hf_str(model), NULL);
	if (tokens <= 0)
		tokens = WINDOW;
	tokens = tokens - answer > tokens / 4 ? tokens - answer : tokens / 4;
	return (size_t)(tokens < WINDOW_MAX ? tokens : WINDOW_MAX) *
	    TOKEN_BYTES;
}

static int
prompt_of(struct job *j, struct hf_prompt *p, size_t bytes,
    struct hf_err *err)
{
	memset(p, 0, sizeof(*p));
	p->secrets = j->secrets;
	p->focus = j->focus;
	p->automatic = j->automatic;
	p->budget = bytes;
	if (j->brief) {
		hf_prompt_instruct(p, &j->facts);
		return 0;
	}
	return hf_prompt_build(p, &j->walk, &j->facts, err);
}

static int
refit(size_t bytes, void *arg, struct hf_err *err)
{
	struct job *j = arg;

	/* Of a context that was too long nothing is left. */
	j->brief = false;
	hf_prompt_release(j->prompt);
	return prompt_of(j, j->prompt, bytes, err);
}

/* Secrets are masked there too, though the cached prefix is lost then. */
static struct hf_str
mask_context(struct job *j, struct hf_buf *out)
{
	struct hf_str context = j->how->context;
	size_t n;

	if (context.n == 0)
		return context;
	n = hf_secrets_mask(j->secrets, out, context);
	if (n == 0)
		return context;
	hf_warn("%zu secrets in the context were masked: what is cached of it "
	    "may not be found", n);
	return hf_buf_view(out);
}

/* The key is a secret like another one, wherever it came from. */
static int
look_for_key(struct job *j, const struct hf_provider *p, struct hf_err *err)
{
	struct hf_api_key *key = j->how->key;

	if (p->key_env == NULL)
		return 0;
	if (hf_api_key_get(key, j->how->config, p->key_env, err) < 0)
		return -1;
	if (key->value != NULL && strlen(key->value) >= KEY_SHORT)
		hf_secrets_add(j->secrets, hf_str(key->value), NULL);
	return 0;
}

/* Whatever a server or a program said. */
static void
mask_error(struct job *j, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;

	if (hf_secrets_mask(j->secrets, &text, hf_str(err->msg)) > 0)
		hf_err_set(err, err->code, "%s", hf_buf_cstr(&text));
	hf_buf_release(&text);
}

/* Asks, and tells the collector, if there is one. */
static int
observed(const struct hf_provider *p, const struct hf_ask *q,
    struct hf_answer *a, struct hf_err *err)
{
	struct hf_span s = { .provider = p->name, .answer = a };
	int rc;

	s.began = hf_clock_now();
	rc = p->ask(q, a, err);
	if (!hf_otel_wanted() || (rc < 0 && err->code == HF_E_CANCELLED))
		return rc;
	s.ended = hf_clock_now();
	s.model = q->model;
	s.max_tokens = q->config->max_tokens;
	s.failed = rc < 0 ? err : NULL;
	hf_otel_export(q->http, &s);
	return rc;
}

static int
asked(struct job *j, const char *name, struct hf_prompt *p,
    struct hf_answer *a, struct hf_err *err)
{
	const struct hf_summarize *how = j->how;
	const struct hf_provider *provider;
	struct hf_buf masked = HF_BUF_INIT;
	struct hf_ask q = { 0 };
	int rc;

	provider = hf_provider_by_name(name, err);
	if (provider == NULL || look_for_key(j, provider, err) < 0)
		return -1;
	j->prompt = p;
	j->brief = how->context.n > 0 || provider->has_session;
	if (prompt_of(j, p, budget(how), err) < 0)
		return -1;
	q.config = how->config;
	q.session = &j->session;
	q.prompt = p;
	q.model = how->model != NULL ? how->model : how->config->model;
	q.model_forced = how->model != NULL;
	q.context = mask_context(j, &masked);
	q.refit = refit;
	q.refit_arg = j;
	q.progress = how->progress;
	q.progress_arg = how->progress_arg;
	q.http = how->http;
	q.key = how->key;
	rc = observed(provider, &q, a, err);
	if (rc < 0)
		mask_error(j, err);
	hf_buf_release(&masked);
	return rc;
}

/* ---- the member ---- */

static void
set_count(struct hf_jtree *t, struct hf_jnode *o, const char *key,
    int64_t n)
{
	if (n >= 0)
		hf_jset_int(t, o, key, n);
}

static void
set_summary(struct hf_doc *d, const struct job *j, const char *provider,
    const struct hf_prompt *p, const struct hf_answer *a,
    const struct hf_err *failed)
{
	struct hf_jtree *t = hf_doc_tree(d);
	struct hf_jnode *o = hf_jtree_obj(t), *usage, *why;

	hf_jset_str(t, o, "text", hf_buf_view(&a->text));
	hf_jset_cstr(t, o, "provider", provider);
	hf_jset_cstr(t, o, "model", a->model[0] != '\0' ? a->model : NULL);
	if (a->input >= 0 || a->output >= 0) {
		usage = hf_jtree_obj(t);
		set_count(t, usage, "input", a->input);
		set_count(t, usage, "output", a->output);
		set_count(t, usage, "cached", a->cached);
		hf_jset(t, o, "usage", usage);
	}
	if (a->finish[0] != '\0')
		hf_jset_cstr(t, o, "finish", a->finish);
	hf_jset_int(t, o, "attempts", a->attempts);
	hf_jset_int(t, o, "milliseconds", a->milliseconds);
	hf_jset_int(t, o, "elided", (int64_t)p->elided);
	hf_jset_int(t, o, "masked", (int64_t)hf_secrets_count(j->secrets));
	if (failed != NULL) {
		why = hf_jtree_obj(t);
		hf_jset_cstr(t, why, "code", hf_code_name(failed->code));
		hf_jset_cstr(t, why, "message", failed->msg);
		hf_jset(t, o, "fallback", why);
	}
	hf_doc_set(d, "summary", o);
}

/* A title that was made of a prompt goes on with the document. */
static void
mask_title(struct hf_doc *d, const struct job *j)
{
	const struct hf_jval *session = hf_doc_get(d, "session");
	struct hf_str title = hf_json_get_str(session, "title");
	struct hf_buf out = HF_BUF_INIT;
	struct hf_jnode *copy;

	if (title.n > 0 && hf_secrets_mask(j->secrets, &out, title) > 0) {
		copy = hf_jtree_copy(hf_doc_tree(d), session);
		hf_jset_str(hf_doc_tree(d), copy, "title",
		    hf_buf_view(&out));
		hf_doc_set(d, "session", copy);
	}
	hf_buf_release(&out);
}

static bool
falls_back(const struct hf_config *c, const struct hf_err *err)
{
	return c->fallback != NULL && strcmp(c->fallback, "extract") == 0 &&
	    err->code != HF_E_CANCELLED && err->code != HF_E_VETOED &&
	    err->code != HF_E_CONFIG;
}

int
hf_summarize(const struct hf_summarize *how, struct hf_doc *d,
    struct hf_err *err)
{
	const char *name = how->provider != NULL ? how->provider :
	    how->config->provider;
	struct hf_err failed = { HF_OK, "" };
	struct hf_prompt p = { 0 };
	struct hf_answer a;
	int64_t began = hf_clock_boot();
	struct job j;
	int rc;

	if (job_open(&j, how, d, err) < 0)
		return -1;
	hf_answer_init(&a);
	if (strcmp(name, "extract") == 0) {
		rc = computed(&j, &a, NULL, err);
	} else if ((rc = asked(&j, name, &p, &a, err)) < 0 &&
	    falls_back(how->config, err)) {
		failed = *err;
		name = "extract";
		rc = computed(&j, &a, &failed, err);
	}
	a.milliseconds = hf_clock_boot() - began;
	if (rc == 0)
		mask_title(d, &j);
	if (rc == 0)
		set_summary(d, &j, name, &p, &a,
		    failed.code != HF_OK ? &failed : NULL);
	hf_answer_release(&a);
	hf_prompt_release(&p);
	job_close(&j);
	return rc;
}

/* Does who would be asked have the conversation already? */
static bool
sees_session(const struct hf_summarize *how)
{
	const struct hf_provider *p;

	p = hf_provider_by_name(how->provider != NULL ? how->provider :
	    how->config->provider, NULL);
	return how->context.n > 0 || (p != NULL && p->has_session);
}

int
hf_summarize_prompt(const struct hf_summarize *how, const struct hf_doc *d,
    struct hf_buf *out, struct hf_err *err)
{
	struct hf_prompt p;
	struct job j;
	int rc;

	if (job_open(&j, how, d, err) < 0)
		return -1;
	j.brief = sees_session(how);
	if ((rc = prompt_of(&j, &p, budget(how), err)) == 0)
		hf_prompt_text(&p, out);
	hf_prompt_release(&p);
	job_close(&j);
	return rc;
}
