#include "model/responses.h"

#include "model/call.h"

static void
path(struct hf_buf *out, const char *model)
{
	(void)model;
	hf_buf_puts(out, "/responses");
}

static void
schema(struct hf_jtree *t, struct hf_jnode *o)
{
	struct hf_jnode *text = hf_jtree_obj(t), *format = hf_jtree_obj(t);

	hf_jset_cstr(t, format, "type", "json_schema");
	hf_jset_cstr(t, format, "name", "handoff_brief");
	hf_jset_bool(t, format, "strict", true);
	hf_jset(t, format, "schema", hf_wire_schema(t));
	hf_jset(t, text, "format", format);
	hf_jset(t, o, "text", text);
}

static void
body(struct hf_jtree *t, struct hf_jnode *o, const struct hf_wire_ask *q)
{
	struct hf_jnode *list = hf_jtree_arr(t), *reasoning;

	hf_jset_cstr(t, o, "model", q->model);
	hf_jset_bool(t, o, "stream", true);
	/* Nothing is to be kept there. */
	hf_jset_bool(t, o, "store", false);
	hf_jset_int(t, o, "max_output_tokens", q->max_tokens);
	if (hf_wire_reasons(q->model) &&
	    !(q->without & HF_WITHOUT_REASONING)) {
		reasoning = hf_jtree_obj(t);
		hf_jset_cstr(t, reasoning, "effort", "low");
		hf_jset(t, o, "reasoning", reasoning);
	}
	if (!(q->without & HF_WITHOUT_SCHEMA))
		schema(t, o);
	hf_wire_user(t, list, q->text);
	hf_jset(t, o, "input", list);
}

/* Blocks are numbered by item and part. */
static int64_t
block_of(const struct hf_jval *v)
{
	return hf_json_count(hf_json_get(v, "output_index")) % 1000000 *
	    1000 + hf_json_count(hf_json_get(v, "content_index")) % 1000;
}

static void
part(struct hf_reader *r, int64_t block, const struct hf_jval *p)
{
	if (hf_json_is(hf_json_get(p, "type"), "output_text"))
		hf_reader_text(r, block, hf_json_get_str(p, "text"));
	else if (hf_json_is(hf_json_get(p, "type"), "refusal"))
		hf_reader_finish(r, HF_END_REFUSED, HF_STR("refusal"));
}

/* An item of the output; its text only when texts is set: in a stream it
 * came already. */
static void
item(struct hf_reader *r, int64_t index, const struct hf_jval *o, bool texts)
{
	struct hf_str type = hf_json_get_str(o, "type");
	const struct hf_jval *p;
	struct hf_jiter it;
	int64_t block = index * 1000;

	if (hf_str_is(type, "reasoning"))
		r->thought = true;
	else if (hf_str_is(type, "function_call") ||
	    hf_str_is(type, "custom_tool_call") ||
	    hf_str_is(type, "local_shell_call"))
		r->called = true;
	if (!hf_str_is(type, "message") || !texts)
		return;
	hf_json_iter(&it, hf_json_get(o, "content"));
	while ((p = hf_json_next(&it, NULL)) != NULL)
		part(r, block++, p);
}

static void
ended(struct hf_reader *r, const struct hf_jval *v)
{
	struct hf_str status = hf_json_get_str(v, "status");
	struct hf_str reason = hf_json_str(hf_json_at(v,
	    "incomplete_details.reason"));

	if (hf_str_is(status, "incomplete"))
		hf_reader_finish(r, hf_str_is(reason, "content_filter") ?
		    HF_END_REFUSED : HF_END_LENGTH, reason.n > 0 ? reason :
		    status);
	else if (hf_str_is(status, "completed"))
		hf_reader_finish(r, HF_END_STOP, status);
	else if (hf_str_is(status, "failed") ||
	    hf_str_is(status, "cancelled"))
		hf_reader_error(r, hf_json_get(v, "error"));
}

/* The response as it stands in a last event, or alone. */
static void
answer(struct hf_reader *r, const struct hf_jval *v)
{
	const struct hf_jval *o, *usage = hf_json_get(v, "usage");
	bool texts = r->text.len == 0;
	struct hf_jiter it;
	int64_t i = 0;

	hf_reader_model(r, hf_json_get_str(v, "model"));
	hf_json_iter(&it, hf_json_get(v, "output"));
	while ((o = hf_json_next(&it, NULL)) != NULL)
		item(r, i++, o, texts);
	hf_reader_count(&r->input, usage, "input_tokens");
	hf_reader_count(&r->output, usage, "output_tokens");
	hf_reader_count(&r->cached, usage,
	    "input_tokens_details.cached_tokens");
	ended(r, v);
}

static void
event(struct hf_reader *r, struct hf_str name, const struct hf_jval *v)
{
	struct hf_str type = hf_json_get_str(v, "type");

	if (type.n == 0)
		type = name;
	if (hf_str_is(type, "response.output_text.delta")) {
		hf_reader_text(r, block_of(v), hf_json_get_str(v, "delta"));
	} else if (hf_str_starts(type, "response.refusal.")) {
		hf_reader_finish(r, HF_END_REFUSED, HF_STR("refusal"));
	} else if (hf_str_is(type, "response.output_item.done")) {
		item(r, 0, hf_json_get(v, "item"), false);
	} else if (hf_str_is(type, "response.completed") ||
	    hf_str_is(type, "response.incomplete") ||
	    hf_str_is(type, "response.failed")) {
		answer(r, hf_json_get(v, "response"));
		r->whole = true;
	} else if (hf_str_is(type, "error")) {
		hf_reader_error(r, v);
	}
}

const struct hf_wire hf_wire_responses = {
	.name = "openai-responses",
	.version = "/v1",
	.key_header = "Authorization: Bearer ",
	.path = path,
	.body = body,
	.list = "input",
	.message = hf_wire_user,
	.choice = "tool_choice",
	.choice_none = "\"none\"",
	.choice_auto = "\"auto\"",
	.limit = "max_output_tokens",
	.plain = true,
	.event = event,
	.answer = answer,
};

static int
ask(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	return hf_call(&hf_provider_responses, &hf_wire_responses, q, a, err);
}

const struct hf_provider hf_provider_responses = {
	.name = "openai-responses",
	.key_env = "OPENAI_API_KEY",
	.base_url = "https://api.openai.com/v1",
	.sends = true,
	.ask = ask,
};
