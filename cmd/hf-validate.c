#include "base/cmd.h"
#include "base/io.h"
#include "base/opt.h"
#include "brief/brief.h"
#include "json/doc.h"

/* "validation" of a brief whose schema held. */
static struct hf_jnode *
validation(struct hf_jtree *t, const struct hf_brief *b)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "checked", "schema");
	hf_jset_int(t, o, "characters", (int64_t)hf_brief_size(b));
	return o;
}

static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	const struct hf_jval *text;
	struct hf_jtree *t;
	struct hf_brief b;
	int rc;

	(void)arg;
	text = hf_json_get(hf_doc_get(d, "summary"), "text");
	if (hf_json_type(text) != HF_J_STR)
		return hf_err_set(err, HF_E_MISSING,
		    "the document has no summary");
	hf_brief_init(&b);
	rc = hf_brief_parse(&b, hf_json_str(text), err);
	if (rc == 0) {
		t = hf_doc_tree(d);
		hf_doc_set(d, "brief", hf_brief_to_json(t, &b));
		hf_doc_set(d, "validation", validation(t, &b));
	}
	hf_brief_release(&b);
	return rc;
}

static int
print_schema(struct hf_err *err)
{
	if (hf_out(hf_str(hf_brief_schema()), err) < 0)
		return -1;
	return hf_out(HF_STR("\n"), err);
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	static bool schema, no_ground;
	static const struct hf_opt opts[] = {
		{ 0, "schema", NULL, "print the JSON Schema of a brief",
		    HF_OPT_FLAG, &schema, 0, 0 },
		{ 0, "no-ground", NULL, "do not check it against the "
		    "transcript", HF_OPT_FLAG, &no_ground, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 }
	};
	static const struct hf_opt_usage usage = { "hf-validate", "",
		"parse a brief and enforce its schema", opts };
	struct hf_stage stage = { .name = "hf-validate", .act = act };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc > 0 ? 0 : -1;
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is one operand too many", argv[1]);
	return schema ? print_schema(err) : hf_doc_stage(&stage, err);
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("hf-validate", run, argc, argv);
}
