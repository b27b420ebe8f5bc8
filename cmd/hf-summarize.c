#include <string.h>

#include "base/cmd.h"
#include "base/io.h"
#include "base/opt.h"
#include "model/summarize.h"
#include "state/seed.h"

struct run {
	struct hf_summarize how;
	struct hf_seeds seeds;
	bool prompt;
};

static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf text = HF_BUF_INIT;
	int rc;

	if (!r->prompt)
		return hf_summarize(&r->how, d, err);
	rc = hf_summarize_prompt(&r->how, d, &text, err);
	if (rc == 0)
		rc = hf_out(hf_buf_view(&text), err);
	hf_buf_release(&text);
	return rc;
}

/* A failure of --prompt has no document to go into. */
static int
act_prompt(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	if (act(d, arg, &why) == 0)
		return 0;
	if (why.code != HF_E_CANCELLED)
		hf_warn_err(&why);
	*err = why;
	return -1;
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	static const char *provider, *model, *focus;
	static bool prompt;
	static const struct hf_opt opts[] = {
		{ 'p', "provider", "NAME", "who writes it: extract (no model), "
		    "command", HF_OPT_STR, &provider, 0, 0 },
		{ 'm', "model", "NAME", "the model", HF_OPT_STR, &model,
		    0, 0 },
		{ 'f', "focus", "TEXT", "what the brief is to focus on",
		    HF_OPT_STR, &focus, 0, 0 },
		{ 0, "prompt", NULL, "print what would be sent, send nothing",
		    HF_OPT_FLAG, &prompt, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 }
	};
	static const struct hf_opt_usage usage = { "hf-summarize", "",
		"turn a transcript into the text of a brief", opts };
	struct hf_config config;
	struct hf_stage stage = { .name = "hf-summarize" };
	struct run r = { 0 };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc > 0 ? 0 : -1;
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is one operand too many", argv[1]);
	if (hf_config_load(&config, err) < 0)
		return -1;
	r.how.config = &config;
	r.how.provider = provider;
	r.how.model = model;
	r.how.focus = hf_str(focus);
	r.how.ours = hf_seed_is_ours;
	r.how.ours_arg = &r.seeds;
	r.prompt = stage.quiet = prompt;
	stage.act = prompt ? act_prompt : act;
	stage.arg = &r;
	if (provider != NULL && strcmp(provider, "extract") != 0 &&
	    hf_provider_by_name(provider, err) == NULL) {
		err->code = HF_E_USAGE;
		rc = -1;
	} else {
		rc = hf_doc_stage(&stage, err);
	}
	hf_seeds_close(&r.seeds);
	hf_config_release(&config);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("hf-summarize", run, argc, argv);
}
