/*
 * A document's transcript into the text of a brief: by the configured
 * provider, or computed (DESIGN sections 4 and 6).
 */
#ifndef HF_MODEL_SUMMARIZE_H
#define HF_MODEL_SUMMARIZE_H

#include "json/doc.h"
#include "model/provider.h"

struct hf_summarize {
	const struct hf_config *config;
	const char *provider;		/* NULL: the configuration's */
	const char *model;		/* NULL: the configuration's */
	struct hf_str focus;		/* none: the document's */
	struct hf_str context;		/* a request's body that the
					 * instruction is appended to; none */
	/* Connections and the key, kept from document to document; for
	 * providers that call an API. */
	struct hf_http *http;
	struct hf_api_key *key;
	/* Is the seed that a session began with a brief of ours? As in
	 * hf_ground; NULL: none is. */
	bool (*ours)(struct hf_str seed, void *arg);
	void *ours_arg;
	void (*progress)(size_t bytes, int64_t tokens, void *arg);
	void *progress_arg;
};

/* Sets "summary" of d. Errors as hf_provider.ask, and those of reading the
 * session; with fallback "extract" a provider's failure that is no cancel
 * becomes a computed brief that says so. */
int	hf_summarize(const struct hf_summarize *how, struct hf_doc *d,
	    struct hf_err *err);
/* Appends exactly what would be sent for d, secrets masked. */
int	hf_summarize_prompt(const struct hf_summarize *how,
	    const struct hf_doc *d, struct hf_buf *out, struct hf_err *err);

#endif
