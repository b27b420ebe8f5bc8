#include "config/models.h"

enum { LARGE = 1000000 };	/* what [1m] says */

struct family {
	const char *prefix;
	int64_t window;
};

static const struct family families[] = {
#define MODEL_PREFIX(prefix, window)	{ prefix, window },
#include "config/models.def"
#undef MODEL_PREFIX
};

static bool
name_goes_on(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9');
}

/* Is prefix, without case, a beginning of model that ends where a part of
 * the name does? */
static bool
begins(struct hf_str model, struct hf_str prefix)
{
	return prefix.n > 0 && model.n >= prefix.n &&
	    hf_str_ieq(hf_strn(model.s, prefix.n), prefix) &&
	    (model.n == prefix.n || !name_goes_on(model.s[prefix.n]) ||
	    !name_goes_on(prefix.s[prefix.n - 1]));
}

static int64_t
from_config(const struct hf_config *c, struct hf_str model)
{
	struct hf_jiter it;
	struct hf_str key;
	const struct hf_jval *v;
	size_t longest = 0;
	int64_t window = 0, n;

	hf_json_iter(&it, c != NULL ? c->models : NULL);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		if (key.n > longest && begins(model, key) &&
		    hf_json_int(v, &n)) {
			longest = key.n;
			window = n;
		}
	}
	return window;
}

static int64_t
from_table(struct hf_str model)
{
	size_t longest = 0;
	int64_t window = 0;

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		struct hf_str prefix = hf_str(families[i].prefix);

		if (prefix.n > longest && begins(model, prefix)) {
			longest = prefix.n;
			window = families[i].window;
		}
	}
	return window;
}

/* Without who serves it: "openrouter/anthropic/claude-opus-4",
 * "us.anthropic.claude-opus-4-v1:0". */
static struct hf_str
bare(struct hf_str model)
{
	static const char vendor[] = "anthropic.";
	size_t at;

	for (at = model.n; at > 0 && model.s[at - 1] != '/'; at--)
		;
	model = hf_strn(model.s + at, model.n - at);
	at = hf_str_ifind(model, vendor, 0);
	if (at == SIZE_MAX)
		return model;
	at += sizeof(vendor) - 1;
	return hf_strn(model.s + at, model.n - at);
}

int64_t
hf_models_window(const struct hf_config *c, struct hf_str model,
    const char **from)
{
	struct hf_str name;
	int64_t window;

	if (model.s == NULL)
		return 0;
	model = hf_str_trim(model);
	name = bare(model);
	window = from_config(c, model);
	if (window == 0)
		window = from_config(c, name);
	if (window > 0) {
		*from = "config";
		return window;
	}
	window = hf_str_ends(name, "[1m]") || hf_str_ends(name, "[1M]") ?
	    LARGE : from_table(name);
	if (window > 0)
		*from = "table";
	return window;
}
