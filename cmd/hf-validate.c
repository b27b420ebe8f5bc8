#include <stdlib.h>

#include "base/cmd.h"
#include "base/env.h"
#include "base/io.h"
#include "base/opt.h"
#include "brief/ground.h"
#include "brief/secrets.h"
#include "config/config.h"
#include "json/doc.h"
#include "state/seed.h"

struct run {
	bool ground;
	struct hf_config config;
	struct hf_ground how;
	struct hf_seeds seeds;
};

/* "validation" of a brief whose schema alone was looked at. */
static struct hf_jnode *
schema_only(struct hf_jtree *t, const struct hf_brief *b)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "checked", "schema");
	hf_jset_int(t, o, "characters", (int64_t)hf_brief_size(b));
	return o;
}

/* The document's session, as far as its metrics saw it. */
static int
open_walk(const struct hf_doc *d, struct hf_session *s, struct hf_walk *w,
    struct hf_err *err)
{
	const struct hf_jval *v = hf_doc_get(d, "session");
	struct hf_str path = hf_json_get_str(v, "path");
	int64_t size = 0;
	char *copy;
	int rc;

	if (path.n == 0)
		return hf_err_set(err, HF_E_MISSING,
		    "the document has no session.path");
	hf_json_int(hf_json_at(hf_doc_get(d, "metrics"), "file.size"), &size);
	copy = hf_strndup(path.s, path.n);
	rc = hf_session_peek(copy, s, err);
	free(copy);
	if (rc < 0)
		return -1;
	return hf_walk_open(w, s, size > 0 ? (uint64_t)size : UINT64_MAX,
	    err);
}

static void
mask(struct hf_buf *out, struct hf_str text, void *arg)
{
	hf_secrets_mask(arg, out, text);
}

static struct hf_jnode *
checked(struct run *r, struct hf_doc *d, struct hf_brief *b,
    struct hf_err *err)
{
	struct hf_jnode *report = NULL;
	struct hf_secrets *secrets = NULL;
	struct hf_session s;
	struct hf_walk w;

	hf_session_init(&s);
	if (open_walk(d, &s, &w, err) == 0) {
		secrets = hf_secrets_load(&r->config, s.cwd, err);
		r->how.mask = mask;
		r->how.mask_arg = secrets;
		if (secrets != NULL)
			report = hf_ground(&r->how, b, &w, hf_doc_tree(d),
			    err);
		hf_walk_close(&w);
	}
	hf_secrets_free(secrets);
	hf_session_release(&s);
	return report;
}

static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	const struct hf_jval *text;
	struct hf_jnode *report = NULL;
	struct hf_brief b;

	text = hf_json_get(hf_doc_get(d, "summary"), "text");
	if (hf_json_type(text) != HF_J_STR)
		return hf_err_set(err, HF_E_MISSING,
		    "the document has no summary");
	hf_brief_init(&b);
	if (hf_brief_parse(&b, hf_json_str(text), err) == 0)
		report = r->ground ? checked(r, d, &b, err) :
		    schema_only(hf_doc_tree(d), &b);
	if (report != NULL) {
		hf_doc_set(d, "brief", hf_brief_to_json(hf_doc_tree(d), &b));
		hf_doc_set(d, "validation", report);
	}
	hf_brief_release(&b);
	return report != NULL ? 0 : -1;
}

static int
print_schema(struct hf_err *err)
{
	if (hf_out(hf_str(hf_brief_schema()), err) < 0)
		return -1;
	return hf_out(HF_STR("\n"), err);
}

static int
stage(bool ground, bool strict, bool score, struct hf_err *err)
{
	struct run r = { .ground = ground };
	const struct hf_stage s = { .name = "hf-validate", .act = act,
		.arg = &r };
	int rc;

	r.how.mode = strict ? HF_GROUND_STRICT : score ? HF_GROUND_SCORE :
	    HF_GROUND_REPAIR;
	r.how.home = hf_str(hf_env_home(NULL));
	r.how.ours = hf_seed_is_ours;
	r.how.arg = &r.seeds;
	if (ground && hf_config_load(&r.config, err) < 0)
		return -1;
	rc = hf_doc_stage(&s, err);
	hf_seeds_close(&r.seeds);
	if (ground)
		hf_config_release(&r.config);
	return rc;
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	bool schema = false, no_ground = false, strict = false, score = false;
	const struct hf_opt opts[] = {
		{ 0, "strict", NULL, "refuse a brief that the transcript does "
		    "not bear out, instead of repairing it", HF_OPT_FLAG,
		    &strict, 0, 0 },
		{ 0, "score", NULL, "say what was found, repair nothing",
		    HF_OPT_FLAG, &score, 0, 0 },
		{ 0, "no-ground", NULL, "do not check it against the "
		    "transcript", HF_OPT_FLAG, &no_ground, 0, 0 },
		{ 0, "schema", NULL, "print the JSON Schema of a brief",
		    HF_OPT_FLAG, &schema, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 }
	};
	const struct hf_opt_usage usage = { "hf-validate", "",
		"parse a brief, enforce its schema, check it against the "
		"transcript", opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc > 0 ? 0 : -1;
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is one operand too many", argv[1]);
	if (strict + score + no_ground > 1)
		return hf_err_set(err, HF_E_USAGE, "--strict, --score and "
		    "--no-ground exclude each other");
	return schema ? print_schema(err) :
	    stage(!no_ground, strict, score, err);
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("hf-validate", run, argc, argv);
}
