#include "config/models.h"

#include <string.h>

static const struct {
	const char *prefix;
	int64_t window;
} table[] = {
#define MODEL(prefix, window) { prefix, window },
#include "config/models.def"
#undef MODEL
};

/* "openai/gpt-5" and "us.anthropic.claude-…": the model's own name. */
static struct hf_str
bare(struct hf_str model)
{
	size_t i;

	for (i = model.n; i > 0; i--)
		if (model.s[i - 1] == '/')
			break;
	model = hf_strn(model.s + i, model.n - i);
	i = hf_str_find(model, HF_STR("anthropic."), 0);
	return i == SIZE_MAX ? model :
	    hf_strn(model.s + i + 10, model.n - i - 10);
}

/* The name as it is wins over its longest prefix. */
static int64_t
configured(const struct hf_config *c, struct hf_str model)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str key;
	int64_t window = 0, n;
	size_t best = 0;

	if (c == NULL || c->models == NULL)
		return 0;
	hf_json_iter(&it, c->models);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		if (key.n <= best || key.n > model.n ||
		    memcmp(key.s, model.s, key.n) != 0 ||
		    !hf_json_int(v, &n))
			continue;
		best = key.n;
		window = n;
	}
	return window;
}

static int64_t
built_in(struct hf_str model)
{
	int64_t window = 0;
	size_t i, n, best = 0;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		n = strlen(table[i].prefix);
		if (n > best && hf_str_istarts(model, table[i].prefix)) {
			best = n;
			window = table[i].window;
		}
	}
	return window;
}

int64_t
hf_models_window(const struct hf_config *c, struct hf_str model,
    const char **from)
{
	int64_t window;

	if (model.n == 0)
		return 0;
	*from = "config";
	if ((window = configured(c, model)) > 0 ||
	    (window = configured(c, bare(model))) > 0)
		return window;
	*from = "table";
	if (hf_str_ends(model, "[1m]"))
		return 1000000;
	return built_in(bare(model));
}
