#include "model/judge.h"

#include <string.h>

enum {
	NUMBERS = 16,			/* read of a message */
	TOKENS_MIN = 512, TOKENS_MAX = 100000000,
	FIT_MIN = 50000, FIT_MAX = 900000, FIT_UNTOLD = 500000
};

/* "prompt too long" in each API's words, and in those of servers that speak
 * like one. */
static const char *const too_long[] = {
	/* Anthropic */
	"prompt is too long", "prompt too long", "request_too_large",
	"exceed context limit", "exceeds the maximum size",
	/* OpenAI and compatible servers */
	"context_length_exceeded", "maximum context length", "context window",
	"maximum prompt length", "configured limit of", "string_above_max",
	"reduce the length", "exceeds the limit of", "prompt contains",
	/* Gemini */
	"input token count", "maximum number of tokens allowed",
	/* llama.cpp, LM Studio, Bedrock, others */
	"context size", "context length", "context the overflows",
	"input is too long", "input length", "too many tokens",
	"too many input tokens", NULL
};

static const char *const choice[] = {
	"tool_choice", "tool choice", "toolconfig", "tool_config",
	"functioncallingconfig", "function_calling_config", NULL
};

/* How a server says that it does not know a parameter. */
static const char *const unknown[] = {
	"support", "unknown", "unrecognized", "unexpected", "not permitted",
	"not allowed", "extra ", "invalid", "unavailable", "cannot find field",
	"not available", NULL
};

static const struct {
	unsigned bit;
	const char *word;
} parameters[] = {
	{ HF_WITHOUT_USAGE, "stream_options" },
	{ HF_WITHOUT_USAGE, "include_usage" },
	{ HF_WITHOUT_SCHEMA, "response_format" },
	{ HF_WITHOUT_SCHEMA, "json_schema" },
	{ HF_WITHOUT_SCHEMA, "output_config" },
	{ HF_WITHOUT_SCHEMA, "output_format" },
	{ HF_WITHOUT_SCHEMA, "output format" },
	{ HF_WITHOUT_SCHEMA, "text.format" },
	{ HF_WITHOUT_SCHEMA, "structured output" },
	{ HF_WITHOUT_SCHEMA, "responsejsonschema" },
	{ HF_WITHOUT_SCHEMA, "response_json_schema" },
	{ HF_WITHOUT_SCHEMA, "responsemimetype" },
	{ HF_WITHOUT_SCHEMA, "response_mime_type" },
	{ HF_WITHOUT_SCHEMA, "json mode" },
	{ HF_WITHOUT_REASONING, "reasoning" },
	{ HF_WITHOUT_REASONING, "thinking" },
	{ HF_WITHOUT_LIMIT, "max_tokens" },
	{ HF_WITHOUT_LIMIT, "max_completion_tokens" },
};

static bool
names_one(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (hf_str_ifind(hf_str(text), *words, 0) != SIZE_MAX)
			return true;
	return false;
}

static bool
says(const struct hf_api_error *e, const char *const *words)
{
	return names_one(e->message, words) || names_one(e->code, words) ||
	    names_one(e->type, words);
}

unsigned
hf_judge_without(const struct hf_api_error *e)
{
	unsigned bits = 0;
	size_t i;

	if (!names_one(e->message, unknown))
		return 0;
	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		if (hf_str_ifind(hf_str(e->message), parameters[i].word, 0) !=
		    SIZE_MAX)
			bits |= parameters[i].bit;
	return bits;
}

/* No money, or no plan: waiting does not help. */
static bool
is_unpaid(const struct hf_api_error *e)
{
	static const char *const words[] = { "insufficient_quota",
		"billing_hard_limit", "billing_not_active",
		"credit balance is too low", NULL };

	return says(e, words);
}

enum hf_verdict
hf_judge(const struct hf_api_error *e)
{
	if (is_unpaid(e))
		return HF_FINAL;
	if (e->status == 408 || e->status == 409 || e->status == 429 ||
	    e->status >= 500)
		return HF_AGAIN;
	if (e->status == 413)
		return HF_TOO_LONG;
	if (e->status != 400 && e->status != 422)
		return HF_FINAL;
	if (says(e, choice))
		return HF_NO_CHOICE;
	if (hf_judge_without(e) != 0)
		return HF_NO_PARAMETER;
	return says(e, too_long) ? HF_TOO_LONG : HF_FINAL;
}

/* ---- how much too long ---- */

static bool
is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The next number of tokens in *s, commas in it allowed; 0 at the end. A
 * part of a name ("claude-3-20240229") is none. */
static int64_t
next_number(const char **s, const char *begin)
{
	const char *p = *s, *from;
	int64_t n;

	while (*p != '\0') {
		if (!is_digit(*p)) {
			p++;
			continue;
		}
		from = p;
		for (n = 0; is_digit(*p) || (*p == ',' && is_digit(p[1]) &&
		    is_digit(p[2]) && is_digit(p[3])); p++)
			if (*p != ',' && n < TOKENS_MAX)
				n = n * 10 + (*p - '0');
		if (n < TOKENS_MIN || n >= TOKENS_MAX || is_name(*p) ||
		    (from > begin && (is_name(from[-1]) || from[-1] == '-' ||
		    from[-1] == '.')))
			continue;
		*s = p;
		return n;
	}
	*s = p;
	return 0;
}

int64_t
hf_judge_fit(const struct hf_api_error *e, int64_t max_tokens)
{
	int64_t number[NUMBERS], have = 0, limit = 0, fit;
	const char *s = e->message;
	size_t n = 0, i;

	while (n < NUMBERS && (number[n] = next_number(&s, e->message)) > 0)
		if (number[n++] > have)
			have = number[n - 1];
	for (i = 0; i < n; i++)
		if (number[i] < have && number[i] > limit)
			limit = number[i];
	if (limit == 0)
		return FIT_UNTOLD;
	/* The answer needs room too. */
	limit = limit - max_tokens > limit / 4 ? limit - max_tokens :
	    limit / 2;
	fit = limit * FIT_MAX / have;
	return fit < FIT_MIN ? FIT_MIN : fit;
}

/* ---- said ---- */

int
hf_judge_set(struct hf_err *err, const char *who,
    const struct hf_api_error *e)
{
	enum hf_verdict v = hf_judge(e);
	const char *kind = e->type[0] != '\0' ? e->type : e->code;
	const char *what = "declined the request";
	enum hf_code code = HF_E_REFUSED;

	if (v == HF_TOO_LONG) {
		code = HF_E_OVERFLOW;
		what = "finds the prompt too long";
	} else if (v == HF_AGAIN && e->status == 429) {
		code = HF_E_RATE_LIMITED;
		what = "limits the rate";
	} else if (v == HF_AGAIN) {
		code = HF_E_UNAVAILABLE;
		what = "failed";
	}
	return hf_err_set(err, code, "'%s' %s (%d%s%s)%s%s", who, what,
	    e->status, kind[0] != '\0' ? " " : "", kind,
	    e->message[0] != '\0' ? ": " : "", e->message);
}
