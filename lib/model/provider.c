#include "model/provider.h"

#include <string.h>

#include "base/opt.h"
#include "model/anthropic.h"
#include "model/command.h"
#include "model/fork.h"
#include "model/gemini.h"
#include "model/openai.h"
#include "model/responses.h"

static const struct hf_provider *const table[] = {
	&hf_provider_anthropic,
	&hf_provider_openai,
	&hf_provider_responses,
	&hf_provider_gemini,
	&hf_provider_command,
	&hf_provider_claude,
	&hf_provider_codex,
	&hf_provider_pi,
};

enum { N = sizeof(table) / sizeof(table[0]) };

const struct hf_provider *const *
hf_providers(size_t *n)
{
	*n = N;
	return table;
}

const struct hf_provider *
hf_provider_by_name(const char *name, struct hf_err *err)
{
	const char *words[N + 1], *near;
	size_t i;

	words[N] = "extract";
	for (i = 0; i < N; i++) {
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
		words[i] = table[i]->name;
	}
	near = hf_nearest(name, words, N + 1);
	hf_err_set(err, HF_E_CONFIG, near != NULL ?
	    "unknown provider '%s', perhaps '%s'?" :
	    "unknown provider '%s'%s", name, near != NULL ? near : "");
	return NULL;
}

void
hf_answer_init(struct hf_answer *a)
{
	memset(a, 0, sizeof(*a));
	a->input = a->output = a->cached = a->retry_after = -1;
}

void
hf_answer_release(struct hf_answer *a)
{
	hf_buf_release(&a->text);
}
