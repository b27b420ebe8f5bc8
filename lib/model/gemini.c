#include "model/gemini.h"

#include <string.h>

#include "model/call.h"

enum { THINKING = 1024 };	/* tokens that a model may think for */

static bool
is_family(const char *model, const char *family)
{
	return strstr(model, family) != NULL;
}

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr("._-~/", c));
}

static void
path(struct hf_buf *out, const char *model)
{
	if (strchr(model, '/') == NULL)
		hf_buf_puts(out, "/models/");
	else if (model[0] != '/')
		hf_buf_putc(out, '/');
	for (; *model != '\0'; model++)
		if (is_plain(*model))
			hf_buf_putc(out, *model);
		else
			hf_buf_printf(out, "%%%02X", (unsigned char)*model);
	hf_buf_puts(out, ":streamGenerateContent?alt=sse");
}

/* Some of these models cannot be kept from thinking; what they think
 * counts as output. */
static void
thinking(struct hf_jtree *t, struct hf_jnode *config,
    const struct hf_wire_ask *q)
{
	struct hf_jnode *o;

	if (q->without & HF_WITHOUT_REASONING ||
	    !(is_family(q->model, "gemini-2.5") ||
	    is_family(q->model, "gemini-3")))
		return;
	o = hf_jtree_obj(t);
	if (is_family(q->model, "gemini-3"))
		hf_jset_cstr(t, o, "thinkingLevel", "low");
	else
		hf_jset_int(t, o, "thinkingBudget", THINKING);
	hf_jset(t, config, "thinkingConfig", o);
	hf_jset_int(t, config, "maxOutputTokens", q->max_tokens + THINKING);
}

static void
message(struct hf_jtree *t, struct hf_jnode *list, struct hf_str text)
{
	struct hf_jnode *content = hf_jtree_obj(t), *parts = hf_jtree_arr(t);
	struct hf_jnode *part = hf_jtree_obj(t);

	hf_jset_str(t, part, "text", text);
	hf_jpush(parts, part);
	hf_jset_cstr(t, content, "role", "user");
	hf_jset(t, content, "parts", parts);
	hf_jpush(list, content);
}

static void
body(struct hf_jtree *t, struct hf_jnode *o, const struct hf_wire_ask *q)
{
	struct hf_jnode *list = hf_jtree_arr(t), *config = hf_jtree_obj(t);

	hf_jset_int(t, config, "maxOutputTokens", q->max_tokens);
	if (!(q->without & HF_WITHOUT_SCHEMA)) {
		hf_jset_cstr(t, config, "responseMimeType",
		    "application/json");
		hf_jset(t, config, "responseJsonSchema", hf_wire_schema(t));
	}
	thinking(t, config, q);
	hf_jset(t, o, "generationConfig", config);
	message(t, list, q->text);
	hf_jset(t, o, "contents", list);
}

static enum hf_end
end_of(struct hf_str reason)
{
	if (hf_str_is(reason, "STOP"))
		return HF_END_STOP;
	if (hf_str_is(reason, "MAX_TOKENS"))
		return HF_END_LENGTH;
	if (hf_str_is(reason, "MALFORMED_FUNCTION_CALL") ||
	    hf_str_is(reason, "UNEXPECTED_TOOL_CALL") ||
	    hf_str_is(reason, "TOO_MANY_TOOL_CALLS"))
		return HF_END_TOOL;
	/* SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE,
	 * OTHER, and what is to come. */
	return HF_END_REFUSED;
}

/* The text of a stream comes in parts: they are one block. */
static void
parts(struct hf_reader *r, const struct hf_jval *list)
{
	const struct hf_jval *p;
	struct hf_jiter it;

	hf_json_iter(&it, list);
	while ((p = hf_json_next(&it, NULL)) != NULL)
		if (hf_json_true(hf_json_get(p, "thought")))
			r->thought = true;
		else if (hf_json_type(hf_json_get(p, "functionCall")) ==
		    HF_J_OBJ)
			r->called = true;
		else
			hf_reader_text(r, 0, hf_json_get_str(p, "text"));
}

static void
chunk(struct hf_reader *r, const struct hf_jval *v)
{
	const struct hf_jval *usage = hf_json_get(v, "usageMetadata");
	const struct hf_jval *c = hf_json_elem(hf_json_get(v, "candidates"),
	    0);
	struct hf_str reason = hf_json_get_str(c, "finishReason");
	struct hf_str blocked = hf_json_str(hf_json_at(v,
	    "promptFeedback.blockReason"));
	int64_t thoughts = 0, said = -1;

	hf_reader_model(r, hf_json_get_str(v, "modelVersion"));
	parts(r, hf_json_at(c, "content.parts"));
	if (reason.n > 0)
		hf_reader_finish(r, end_of(reason), reason);
	if (blocked.n > 0)
		hf_reader_finish(r, HF_END_REFUSED, blocked);
	hf_reader_count(&r->input, usage, "promptTokenCount");
	hf_reader_count(&r->cached, usage, "cachedContentTokenCount");
	hf_reader_count(&thoughts, usage, "thoughtsTokenCount");
	hf_reader_count(&said, usage, "candidatesTokenCount");
	if (said >= 0)
		r->output = said + thoughts;
}

static void
event(struct hf_reader *r, struct hf_str name, const struct hf_jval *v)
{
	(void)name;
	chunk(r, v);
}

/* Without "alt=sse" a server answers with an array of chunks. */
static void
answer(struct hf_reader *r, const struct hf_jval *v)
{
	const struct hf_jval *c;
	struct hf_jiter it;

	if (hf_json_type(v) != HF_J_ARR) {
		chunk(r, v);
		return;
	}
	hf_json_iter(&it, v);
	while ((c = hf_json_next(&it, NULL)) != NULL)
		if (hf_json_type(hf_json_get(c, "error")) == HF_J_OBJ)
			hf_reader_error(r, hf_json_get(c, "error"));
		else
			chunk(r, c);
}

const struct hf_wire hf_wire_gemini = {
	.name = "gemini",
	.version = "/v1beta",
	.key_header = "x-goog-api-key: ",
	.path = path,
	.body = body,
	.list = "contents",
	.message = message,
	.choice = "toolConfig",
	.choice_none = "{\"functionCallingConfig\":{\"mode\":\"NONE\"}}",
	.choice_auto = "{\"functionCallingConfig\":{\"mode\":\"AUTO\"}}",
	.event = event,
	.answer = answer,
};

static int
ask(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	return hf_call(&hf_provider_gemini, &hf_wire_gemini, q, a, err);
}

const struct hf_provider hf_provider_gemini = {
	.name = "gemini",
	.key_env = "GEMINI_API_KEY",
	.base_url = "https://generativelanguage.googleapis.com",
	.sends = true,
	.ask = ask,
};
