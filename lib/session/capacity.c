#include <string.h>

#include "config/models.h"
#include "session/capacity.h"

enum { CLAUDE_LARGE = 1000000 };

/*
 * What a usage above the assumed window proves. Claude models come with
 * one of two windows under the same name (FORMATS 3, Metrics); of others
 * only that they hold at least so much.
 */
static int64_t
proven(const struct hf_session *s, int64_t peak)
{
	bool claude = strcmp(s->agent->name, "claude") == 0 ||
	    hf_str_find(hf_str(s->model), HF_STR("claude"), 0) != SIZE_MAX;

	return claude && peak < CLAUDE_LARGE ? CLAUDE_LARGE : peak;
}

static void
set(struct hf_metrics *m, int64_t tokens, const char *from)
{
	if (m->capacity > 0 || tokens <= 0)
		return;
	m->capacity = tokens;
	m->capacity_from = from;
}

void
hf_capacity(const struct hf_fold *f, int64_t window,
    const struct hf_measure *how, struct hf_metrics *m)
{
	const struct hf_session *s = f->session;
	const char *from = "table";
	int64_t tokens;

	m->capacity = 0;
	m->capacity_from = "unknown";
	set(m, window, "transcript");
	set(m, how->capacity_option, "option");
	set(m, how->capacity_host, "host");
	if (m->capacity == 0 && s->model != NULL) {
		tokens = hf_models_window(how->config, hf_str(s->model),
		    &from);
		set(m, tokens, from);
	}
	if (m->capacity > 0 && f->peak > m->capacity) {
		m->capacity = proven(s, f->peak);
		m->capacity_from = "usage";
	}
}
