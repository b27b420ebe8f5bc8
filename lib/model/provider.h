/*
 * Who turns a prompt into the text of a brief. A new provider is one file
 * that defines a struct hf_provider, and one line in provider.c's table.
 */
#ifndef HF_MODEL_PROVIDER_H
#define HF_MODEL_PROVIDER_H

#include "agent/agent.h"
#include "config/config.h"
#include "net/http.h"
#include "model/key.h"
#include "model/prompt.h"

/* What a provider is asked. All borrowed. */
struct hf_ask {
	const struct hf_config *config;
	const struct hf_session *session;
	const struct hf_prompt *prompt;
	const char *model;		/* NULL: none is named */
	bool model_forced;		/* also against the context's own */
	struct hf_str context;		/* a request body of one's own
					 * (--context), masked; none */
	/* Makes prompt shorter: at most so many bytes. */
	int (*refit)(size_t bytes, void *arg, struct hf_err *err);
	void *refit_arg;
	/* Told of what has come so far, text bytes and output tokens (-1 not
	 * known), also while nothing comes; may be NULL. */
	void (*progress)(size_t bytes, int64_t tokens, void *arg);
	void *progress_arg;
	/* For those that call an API; both kept from document to document. */
	struct hf_http *http;
	struct hf_api_key *key;
};

/* What came of it. */
struct hf_answer {
	struct hf_buf text;		/* text blocks joined by newline */
	char model[128];		/* as the provider named it */
	char finish[64];		/* its own word for why it ended */
	int64_t input, output, cached;	/* tokens; -1 not told */
	int64_t attempts, milliseconds;
	int64_t retry_after;		/* seconds, when an error told; -1 */
};
void	hf_answer_init(struct hf_answer *a);
void	hf_answer_release(struct hf_answer *a);

struct hf_provider {
	const char *name;
	const char *key_env;		/* usual variable of its key; NULL */
	const char *base_url;		/* its own; NULL */
	bool sends;			/* something leaves the machine */
	bool has_session;		/* needs no transcript in the prompt */
	/* 0 with a complete, non-empty text; -1 with the code that DESIGN
	 * section 4 gives to each way of failing. */
	int (*ask)(const struct hf_ask *q, struct hf_answer *a,
	    struct hf_err *err);
};

const struct hf_provider *const *hf_providers(size_t *n);
/* NULL and *err (HF_E_CONFIG) naming the nearest known one. "extract" is
 * none of these: it needs no prompt. */
const struct hf_provider *hf_provider_by_name(const char *name,
	    struct hf_err *err);

#endif
