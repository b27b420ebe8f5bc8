#include "model/anthropic.h"

#include "model/call.h"

static void
path(struct hf_buf *out, const char *model)
{
	(void)model;
	hf_buf_puts(out, "/messages");
}

static void
body(struct hf_jtree *t, struct hf_jnode *o, const struct hf_wire_ask *q)
{
	struct hf_jnode *list = hf_jtree_arr(t), *config, *format;

	hf_jset_cstr(t, o, "model", q->model);
	hf_jset_int(t, o, "max_tokens", q->max_tokens);
	hf_jset_bool(t, o, "stream", true);
	if (!(q->without & HF_WITHOUT_SCHEMA)) {
		config = hf_jtree_obj(t);
		format = hf_jtree_obj(t);
		hf_jset_cstr(t, format, "type", "json_schema");
		hf_jset(t, format, "schema", hf_wire_schema(t));
		hf_jset(t, config, "format", format);
		hf_jset(t, o, "output_config", config);
	}
	hf_wire_user(t, list, q->text);
	hf_jset(t, o, "messages", list);
}

static enum hf_end
end_of(struct hf_str reason)
{
	if (hf_str_is(reason, "max_tokens") ||
	    hf_str_is(reason, "model_context_window_exceeded"))
		return HF_END_LENGTH;
	if (hf_str_is(reason, "refusal"))
		return HF_END_REFUSED;
	if (hf_str_is(reason, "tool_use") || hf_str_is(reason, "pause_turn"))
		return HF_END_TOOL;
	return HF_END_STOP;
}

static void
stopped(struct hf_reader *r, const struct hf_jval *v)
{
	struct hf_str reason = hf_json_get_str(v, "stop_reason");

	if (reason.n > 0)
		hf_reader_finish(r, end_of(reason), reason);
}

/* Cached input is counted apart there. */
static void
usage(struct hf_reader *r, const struct hf_jval *v)
{
	int64_t fresh = -1, made = 0, read = 0;

	hf_reader_count(&r->output, v, "output_tokens");
	hf_reader_count(&fresh, v, "input_tokens");
	if (fresh < 0)
		return;
	hf_reader_count(&made, v, "cache_creation_input_tokens");
	hf_reader_count(&read, v, "cache_read_input_tokens");
	r->input = fresh + made + read;
	r->cached = read;
}

static void
block(struct hf_reader *r, int64_t index, const struct hf_jval *b)
{
	if (hf_json_is(hf_json_get(b, "type"), "text"))
		hf_reader_text(r, index, hf_json_get_str(b, "text"));
	else if (hf_json_is(hf_json_get(b, "type"), "tool_use"))
		r->called = true;
	else
		r->thought = true;
}

static void
event(struct hf_reader *r, struct hf_str name, const struct hf_jval *v)
{
	const struct hf_jval *type = hf_json_get(v, "type");
	const struct hf_jval *delta = hf_json_get(v, "delta");
	const struct hf_jval *message = hf_json_get(v, "message");
	int64_t index = hf_json_count(hf_json_get(v, "index"));

	(void)name;
	if (hf_json_is(type, "message_start")) {
		hf_reader_model(r, hf_json_get_str(message, "model"));
		usage(r, hf_json_get(message, "usage"));
	} else if (hf_json_is(type, "content_block_start")) {
		block(r, index, hf_json_get(v, "content_block"));
	} else if (hf_json_is(type, "content_block_delta")) {
		if (hf_json_is(hf_json_get(delta, "type"), "text_delta"))
			hf_reader_text(r, index,
			    hf_json_get_str(delta, "text"));
	} else if (hf_json_is(type, "message_delta")) {
		stopped(r, delta);
		usage(r, hf_json_get(v, "usage"));
	} else if (hf_json_is(type, "message_stop")) {
		r->whole = true;
	}
}

static void
answer(struct hf_reader *r, const struct hf_jval *v)
{
	const struct hf_jval *b;
	struct hf_jiter it;
	int64_t i = 0;

	hf_reader_model(r, hf_json_get_str(v, "model"));
	hf_json_iter(&it, hf_json_get(v, "content"));
	while ((b = hf_json_next(&it, NULL)) != NULL)
		block(r, i++, b);
	usage(r, hf_json_get(v, "usage"));
	stopped(r, v);
}

const struct hf_wire hf_wire_anthropic = {
	.name = "anthropic",
	.version = "/v1",
	.key_header = "x-api-key: ",
	.header = "anthropic-version: 2023-06-01",
	.path = path,
	.body = body,
	.list = "messages",
	.message = hf_wire_user,
	.choice = "tool_choice",
	.choice_none = "{\"type\":\"none\"}",
	.choice_auto = "{\"type\":\"auto\"}",
	.limit = "max_tokens",
	.plain = true,
	.event = event,
	.answer = answer,
};

static int
ask(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	return hf_call(&hf_provider_anthropic, &hf_wire_anthropic, q, a, err);
}

const struct hf_provider hf_provider_anthropic = {
	.name = "anthropic",
	.key_env = "ANTHROPIC_API_KEY",
	.base_url = "https://api.anthropic.com",
	.sends = true,
	.ask = ask,
};
