/*
 * One span for a model that was asked, sent to the OpenTelemetry collector
 * of the environment (OTLP/HTTP as JSON, the GenAI semantic conventions):
 * OTEL_EXPORTER_OTLP_ENDPOINT or _TRACES_ENDPOINT, _HEADERS, _TIMEOUT,
 * OTEL_SERVICE_NAME, TRACEPARENT; OTEL_SDK_DISABLED turns it off. Never any
 * content.
 */
#ifndef HF_MODEL_OTEL_H
#define HF_MODEL_OTEL_H

#include "model/provider.h"

struct hf_span {
	const char *provider;
	const char *model;		/* that was asked; NULL not known */
	int64_t max_tokens;
	int64_t began, ended;		/* wall clock, ms */
	const struct hf_answer *answer;
	const struct hf_err *failed;	/* NULL: it went well */
};

/* Is a collector named? Cheap. */
bool	hf_otel_wanted(void);
/* Sends it; a failure is one line on stderr and nothing else. */
void	hf_otel_export(struct hf_http *h, const struct hf_span *s);
/* The body of the request; pure but for the new ids. parent as TRACEPARENT
 * has it, or NULL. */
void	hf_otel_body(struct hf_buf *out, const struct hf_span *s,
	    const char *service, const char *parent);

#endif
