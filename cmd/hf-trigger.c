/*
 * hf-trigger: is a handoff due, and may it happen now?
 */
#include "base/cmd.h"
#include "base/opt.h"
#include "session/trigger.h"

struct trigger {
	bool manual, automatic;
	struct hf_config config;
};

/* A document in error passes as it is: nothing is decided about it. */
static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct trigger *t = arg;
	struct hf_session session;
	struct hf_metrics metrics;
	struct hf_trigger_main main;
	struct hf_trigger out;

	if (hf_json_type(hf_doc_get(d, "error")) > HF_J_NULL)
		return 0;
	if (hf_metrics_from_doc(d, &session, &metrics, err) < 0)
		return -1;
	hf_trigger_main_from(hf_doc_get(d, "main"), &main);
	hf_trigger_decide(&(struct hf_trigger_in){ &session, &metrics, &main,
	    &t->config, hf_doc_get(d, "host"), t->manual, t->automatic },
	    &out);
	hf_trigger_to_doc(d, &out);
	hf_trigger_release(&out);
	hf_metrics_release(&metrics);
	hf_session_release(&session);
	return 0;
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct trigger t = { false, false, { 0 } };
	const struct hf_opt opts[] = {
		{ 0, "manual", NULL, "asked for by hand: always a reason",
		    HF_OPT_FLAG, &t.manual, 0, 0 },
		{ 0, "auto", NULL, "unasked: only where both switches are on",
		    HF_OPT_FLAG, &t.automatic, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { "hf-trigger", "",
	    "decide whether a handoff is due, and may happen now", opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : HF_EX_OK;
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "documents are read from stdin, not from '%s'", argv[1]);
	if (t.manual && t.automatic)
		return hf_err_set(err, HF_E_USAGE,
		    "--manual and --auto exclude each other");
	if (hf_config_load(&t.config, err) < 0)
		return -1;
	rc = hf_doc_stage(&(struct hf_stage){ "hf-trigger", true, act, &t,
	    false }, err);
	hf_config_release(&t.config);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("hf-trigger", run, argc, argv);
}
