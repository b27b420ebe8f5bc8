#include "model/openai.h"

#include "model/call.h"

static void
path(struct hf_buf *out, const char *model)
{
	(void)model;
	hf_buf_puts(out, "/chat/completions");
}

static void
schema(struct hf_jtree *t, struct hf_jnode *o)
{
	struct hf_jnode *format = hf_jtree_obj(t), *inner = hf_jtree_obj(t);

	hf_jset_cstr(t, inner, "name", "handoff_brief");
	hf_jset_bool(t, inner, "strict", true);
	hf_jset(t, inner, "schema", hf_wire_schema(t));
	hf_jset_cstr(t, format, "type", "json_schema");
	hf_jset(t, format, "json_schema", inner);
	hf_jset(t, o, "response_format", format);
}

/* OpenAI itself wants the limit under a newer name, which compatible
 * servers do not all know. */
static void
body(struct hf_jtree *t, struct hf_jnode *o, const struct hf_wire_ask *q)
{
	bool newer = q->home != ((q->without & HF_WITHOUT_LIMIT) != 0);
	struct hf_jnode *list = hf_jtree_arr(t), *options;

	hf_jset_cstr(t, o, "model", q->model);
	hf_jset_bool(t, o, "stream", true);
	if (!(q->without & HF_WITHOUT_USAGE)) {
		options = hf_jtree_obj(t);
		hf_jset_bool(t, options, "include_usage", true);
		hf_jset(t, o, "stream_options", options);
	}
	hf_jset_int(t, o, newer ? "max_completion_tokens" : "max_tokens",
	    q->max_tokens);
	if (hf_wire_reasons(q->model) &&
	    !(q->without & HF_WITHOUT_REASONING))
		hf_jset_cstr(t, o, "reasoning_effort", "low");
	if (!(q->without & HF_WITHOUT_SCHEMA))
		schema(t, o);
	hf_wire_user(t, list, q->text);
	hf_jset(t, o, "messages", list);
}

/* Compatible servers have words of their own. */
static const struct {
	const char *word;
	enum hf_end end;
} ends[] = {
	{ "length", HF_END_LENGTH }, { "max_tokens", HF_END_LENGTH },
	{ "model_length", HF_END_LENGTH },
	{ "model_context_window_exceeded", HF_END_LENGTH },
	{ "content_filter", HF_END_REFUSED }, { "refusal", HF_END_REFUSED },
	{ "safety", HF_END_REFUSED }, { "sensitive", HF_END_REFUSED },
	{ "recitation", HF_END_REFUSED }, { "blocklist", HF_END_REFUSED },
	{ "prohibited_content", HF_END_REFUSED },
	{ "tool_calls", HF_END_TOOL }, { "function_call", HF_END_TOOL },
	{ "tool_use", HF_END_TOOL },
	{ "error", HF_END_BROKEN }, { "abort", HF_END_BROKEN },
	{ "cancelled", HF_END_BROKEN }, { "network_error", HF_END_BROKEN },
	{ "insufficient_system_resource", HF_END_BROKEN },
};

static enum hf_end
end_of(struct hf_str reason)
{
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (hf_str_ieq(reason, hf_str(ends[i].word)))
			return ends[i].end;
	return HF_END_STOP;
}

/* What stands in "delta" of an event, or in "message" of a whole answer. */
static void
message(struct hf_reader *r, const struct hf_jval *m)
{
	const struct hf_jval *content = hf_json_get(m, "content"), *part;
	struct hf_jiter it;

	hf_reader_text(r, 0, hf_json_str(content));
	/* Some servers answer in parts. */
	if (hf_json_type(content) == HF_J_ARR) {
		hf_json_iter(&it, content);
		while ((part = hf_json_next(&it, NULL)) != NULL)
			hf_reader_text(r, 0, hf_json_get_str(part, "text"));
	}
	if (hf_json_get_str(m, "reasoning_content").n > 0 ||
	    hf_json_get_str(m, "reasoning").n > 0)
		r->thought = true;
	if (hf_json_size(hf_json_get(m, "tool_calls")) > 0 ||
	    hf_json_type(hf_json_get(m, "function_call")) == HF_J_OBJ)
		r->called = true;
	if (hf_json_get_str(m, "refusal").n > 0)
		hf_reader_finish(r, HF_END_REFUSED, HF_STR("refusal"));
}

static void
usage(struct hf_reader *r, const struct hf_jval *v)
{
	hf_reader_count(&r->input, v, "prompt_tokens");
	hf_reader_count(&r->output, v, "completion_tokens");
	hf_reader_count(&r->cached, v,
	    "prompt_tokens_details.cached_tokens");
}

static void
choice(struct hf_reader *r, const struct hf_jval *c)
{
	struct hf_str reason = hf_json_get_str(c, "finish_reason");
	const struct hf_jval *e = hf_json_get(c, "error");

	if (hf_json_type(e) == HF_J_OBJ) {
		hf_reader_error(r, e);
		return;
	}
	message(r, hf_json_get(c, "delta"));
	message(r, hf_json_get(c, "message"));
	if (reason.n > 0)
		hf_reader_finish(r, end_of(reason), reason);
}

static void
answer(struct hf_reader *r, const struct hf_jval *v)
{
	hf_reader_model(r, hf_json_get_str(v, "model"));
	choice(r, hf_json_elem(hf_json_get(v, "choices"), 0));
	usage(r, hf_json_get(v, "usage"));
}

static void
event(struct hf_reader *r, struct hf_str name, const struct hf_jval *v)
{
	/* Some servers have the error itself as an event of that name. */
	if (hf_str_is(name, "error"))
		hf_reader_error(r, v);
	else
		answer(r, v);
}

const struct hf_wire hf_wire_openai = {
	.name = "openai",
	.version = "/v1",
	.key_header = "Authorization: Bearer ",
	.path = path,
	.body = body,
	.list = "messages",
	.message = hf_wire_user,
	.choice = "tool_choice",
	.choice_none = "\"none\"",
	.choice_auto = "\"auto\"",
	.limit = "max_tokens",
	.plain = true,
	.event = event,
	.answer = answer,
};

static int
ask(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	return hf_call(&hf_provider_openai, &hf_wire_openai, q, a, err);
}

const struct hf_provider hf_provider_openai = {
	.name = "openai",
	.key_env = "OPENAI_API_KEY",
	.base_url = "https://api.openai.com/v1",
	.sends = true,
	.ask = ask,
};
