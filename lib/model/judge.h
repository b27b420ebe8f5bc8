/*
 * What an API's error means for the next step (CASES B2, B3, B10, B11).
 * Pure.
 */
#ifndef HF_MODEL_JUDGE_H
#define HF_MODEL_JUDGE_H

#include "model/reader.h"

enum hf_verdict {
	HF_FINAL,		/* no other try can help */
	HF_AGAIN,		/* the same once more, later */
	HF_TOO_LONG,		/* the prompt does not fit the window */
	HF_NO_CHOICE,		/* tool_choice "none" is the cause */
	HF_NO_PARAMETER		/* another parameter that not every server
				 * has is the cause */
};

/* Parameters that a request can do without. */
enum {
	HF_WITHOUT_SCHEMA = 1,		/* structured output */
	HF_WITHOUT_REASONING = 2,	/* a limit to it */
	HF_WITHOUT_USAGE = 4,		/* counts in a stream */
	HF_WITHOUT_LIMIT = 8		/* the usual name of maxTokens */
};

enum hf_verdict hf_judge(const struct hf_api_error *e);
/* Which of them the error names, for HF_NO_PARAMETER. */
unsigned hf_judge_without(const struct hf_api_error *e);
/* How much of the prompt can stay, in parts per million, by the numbers in
 * the error's text where there are some; max_tokens is what the answer may
 * have. From 50,000 to 900,000; 500,000 where nothing is told. */
int64_t	hf_judge_fit(const struct hf_api_error *e, int64_t max_tokens);
/* Sets *err to what the error comes to when nothing more is tried: the code
 * and "'who' …: message". */
int	hf_judge_set(struct hf_err *err, const char *who,
	    const struct hf_api_error *e);

#endif
