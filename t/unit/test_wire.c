/*
 * The four APIs: what their events say, however they are split; what their
 * errors mean; what is asked of them.
 */
#include "check.h"
#include "base/io.h"
#include "model/fork.h"
#include "net/http.h"
#include "model/otel.h"
#include "model/splice.h"
#include "model/sse.h"
#include "model/wire.h"

/* ---- streams ---- */

struct feed {
	const struct hf_wire *w;
	struct hf_reader r;
};

static int
on_event(struct hf_str name, struct hf_str data, void *arg,
    struct hf_err *err)
{
	struct feed *f = arg;

	return hf_wire_event(f->w, &f->r, name, data, err);
}

static void
read_split(struct feed *f, struct hf_str stream, size_t at)
{
	struct hf_sse s = { .event = on_event, .arg = f };
	struct hf_err err = { HF_OK, "" };

	hf_reader_init(&f->r);
	hf_sse_init(&s);
	if (hf_sse_feed(&s, hf_strn(stream.s, at), &err) < 0 ||
	    hf_sse_feed(&s, hf_strn(stream.s + at, stream.n - at), &err) < 0 ||
	    hf_sse_end(&s, &err) < 0)
		CHECK_STR(err.msg, "");
	hf_sse_release(&s);
}

struct want {
	const char *text, *model, *finish;
	enum hf_end end;
	int64_t input, output, cached;
	bool thought, called;
};

static bool
same(struct hf_reader *r, const struct want *w)
{
	return strcmp(hf_buf_cstr(&r->text), w->text) == 0 &&
	    strcmp(r->model, w->model) == 0 &&
	    strcmp(r->finish, w->finish) == 0 && r->end == w->end &&
	    r->input == w->input && r->output == w->output &&
	    r->cached == w->cached && r->thought == w->thought &&
	    r->called == w->called && !r->failed;
}

static void
stream(const struct hf_wire *w, const char *bytes, const struct want *want)
{
	struct feed f = { .w = w };
	size_t n = strlen(bytes), i, bad = 0;

	for (i = 0; i <= n; i++) {
		read_split(&f, hf_strn(bytes, n), i);
		if (!same(&f.r, want) && bad++ == 0) {
			CHECK_STR(hf_buf_cstr(&f.r.text), want->text);
			CHECK_STR(f.r.finish, want->finish);
			CHECK_INT(f.r.end, want->end);
			CHECK_INT(f.r.input, want->input);
			CHECK_INT(f.r.output, want->output);
			CHECK_INT(f.r.cached, want->cached);
		}
		hf_reader_release(&f.r);
	}
	CHECK_INT(bad, 0);
}

static const char anthropic_stream[] =
"event: message_start\n"
"data: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1\",\"usage\":"
"{\"input_tokens\":10,\"cache_creation_input_tokens\":20,"
"\"cache_read_input_tokens\":300,\"output_tokens\":1}}}\n\n"
"event: content_block_start\n"
"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
"{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n"
"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
"{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
"event: ping\ndata: {\"type\":\"ping\"}\n\n"
"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
"{\"type\":\"text\",\"text\":\"\"}}\n\n"
"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
"{\"type\":\"text_delta\",\"text\":\"one \xe6\xbc\xa2\"}}\n\n"
"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
"{\"type\":\"text_delta\",\"text\":\"!\"}}\n\n"
"data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":"
"{\"type\":\"text\",\"text\":\"two\"}}\n\n"
"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
"\"usage\":{\"output_tokens\":77}}\n\n"
"data: {\"type\":\"message_stop\"}\n\n";

static const char openai_stream[] =
"data: {\"model\":\"m-2\",\"choices\":[{\"index\":0,\"delta\":"
"{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n"
"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n"
"data: {\"choices\":[{\"delta\":{\"content\":\"one \"}}]}\n\n"
"data: {\"choices\":[{\"delta\":{\"content\":\"two\"}}]}\n\n"
"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":900,"
"\"completion_tokens\":77,\"prompt_tokens_details\":"
"{\"cached_tokens\":5}}}\n\n"
"data: [DONE]\n\n";

static const char responses_stream[] =
"event: response.created\n"
"data: {\"type\":\"response.created\",\"response\":{\"model\":\"m-3\"}}\n\n"
"data: {\"type\":\"response.output_item.done\",\"output_index\":0,"
"\"item\":{\"type\":\"reasoning\",\"summary\":[]}}\n\n"
"data: {\"type\":\"response.output_text.delta\",\"output_index\":1,"
"\"content_index\":0,\"delta\":\"one\"}\n\n"
"data: {\"type\":\"response.output_text.delta\",\"output_index\":1,"
"\"content_index\":1,\"delta\":\"two\"}\n\n"
"data: {\"type\":\"response.completed\",\"response\":{\"model\":\"m-3\","
"\"status\":\"completed\",\"output\":[{\"type\":\"reasoning\"},"
"{\"type\":\"message\",\"content\":[{\"type\":\"output_text\","
"\"text\":\"one\"},{\"type\":\"output_text\",\"text\":\"two\"}]}],"
"\"usage\":{\"input_tokens\":900,\"output_tokens\":77,"
"\"input_tokens_details\":{\"cached_tokens\":5}}}}\n\n";

static const char gemini_stream[] =
"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\","
"\"thought\":true}]}}],\"modelVersion\":\"m-4\"}\r\n\r\n"
"data: {\r\ndata:  \"candidates\": [{\"content\": {\"parts\": "
"[{\"text\": \"one \"}]}}]}\r\n\r\n"
"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"two\"}]},"
"\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":900,"
"\"candidatesTokenCount\":70,\"thoughtsTokenCount\":7,"
"\"cachedContentTokenCount\":5}}\r\n\r\n";

static void
streams(void)
{
	static const struct want a = { "one \xe6\xbc\xa2!\ntwo", "m-1",
		"end_turn", HF_END_STOP, 330, 77, 300, true, false };
	static const struct want o = { "one two", "m-2", "stop", HF_END_STOP,
		900, 77, 5, true, false };
	static const struct want r = { "one\ntwo", "m-3", "completed",
		HF_END_STOP, 900, 77, 5, true, false };
	static const struct want g = { "one two", "m-4", "STOP", HF_END_STOP,
		900, 77, 5, true, false };

	stream(&hf_wire_anthropic, anthropic_stream, &a);
	stream(&hf_wire_openai, openai_stream, &o);
	stream(&hf_wire_responses, responses_stream, &r);
	stream(&hf_wire_gemini, gemini_stream, &g);
}

/* ---- ends ---- */

static void
ends(const struct hf_wire *w, const char *event, enum hf_end end,
    bool called)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_reader r;

	hf_reader_init(&r);
	CHECK_INT(hf_wire_event(w, &r, HF_STR(""), hf_str(event), &err), 0);
	CHECK_INT(r.end, end);
	CHECK_INT(r.called, called);
	CHECK(!r.failed);
	hf_reader_release(&r);
}

static void
all_ends(void)
{
#define DELTA(reason) \
	"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":" reason "}}"
#define CHOICE(reason) \
	"{\"choices\":[{\"delta\":{},\"finish_reason\":" reason "}]}"
#define CANDIDATE(reason) "{\"candidates\":[{\"finishReason\":" reason "}]}"
#define RESPONSE(type, rest) \
	"{\"type\":\"response." type "\",\"response\":{" rest "}}"
	ends(&hf_wire_anthropic, DELTA("null"), HF_END_NONE, false);
	ends(&hf_wire_anthropic, DELTA("\"max_tokens\""), HF_END_LENGTH,
	    false);
	ends(&hf_wire_anthropic, DELTA("\"refusal\""), HF_END_REFUSED,
	    false);
	ends(&hf_wire_anthropic, DELTA("\"tool_use\""), HF_END_TOOL, false);
	ends(&hf_wire_openai, CHOICE("null"), HF_END_NONE, false);
	ends(&hf_wire_openai, CHOICE("\"length\""), HF_END_LENGTH, false);
	ends(&hf_wire_openai, CHOICE("\"content_filter\""), HF_END_REFUSED,
	    false);
	ends(&hf_wire_openai, CHOICE("\"tool_calls\""), HF_END_TOOL, false);
	ends(&hf_wire_openai, "{\"choices\":[{\"delta\":{\"refusal\":"
	    "\"No\"}}]}", HF_END_REFUSED, false);
	ends(&hf_wire_openai, "{\"choices\":[{\"delta\":{\"tool_calls\":"
	    "[{\"index\":0}]}}]}", HF_END_NONE, true);
	ends(&hf_wire_responses, RESPONSE("incomplete", "\"status\":"
	    "\"incomplete\",\"incomplete_details\":{\"reason\":"
	    "\"max_output_tokens\"}"), HF_END_LENGTH, false);
	ends(&hf_wire_responses, RESPONSE("incomplete", "\"status\":"
	    "\"incomplete\",\"incomplete_details\":{\"reason\":"
	    "\"content_filter\"}"), HF_END_REFUSED, false);
	ends(&hf_wire_responses, RESPONSE("completed", "\"status\":"
	    "\"completed\",\"output\":[{\"type\":\"function_call\"}]"),
	    HF_END_STOP, true);
	ends(&hf_wire_gemini, CANDIDATE("\"MAX_TOKENS\""), HF_END_LENGTH,
	    false);
	ends(&hf_wire_gemini, CANDIDATE("\"SAFETY\""), HF_END_REFUSED,
	    false);
	ends(&hf_wire_gemini, CANDIDATE("\"NEW_REASON\""), HF_END_REFUSED,
	    false);
	ends(&hf_wire_gemini, "{\"promptFeedback\":{\"blockReason\":"
	    "\"SAFETY\"}}", HF_END_REFUSED, false);
}

/* ---- errors ---- */

static void
fails(const struct hf_wire *w, const char *event, int status,
    enum hf_verdict verdict)
{
	struct hf_reader r;

	hf_reader_init(&r);
	CHECK_INT(hf_wire_event(w, &r, HF_STR(""), hf_str(event), NULL), 0);
	CHECK(r.failed);
	CHECK_INT(r.error.status, status);
	CHECK_INT(hf_judge(&r.error), verdict);
	hf_reader_release(&r);
}

static void
error_events(void)
{
	fails(&hf_wire_anthropic, "{\"type\":\"error\",\"error\":{\"type\":"
	    "\"overloaded_error\",\"message\":\"Overloaded\"}}", 529,
	    HF_AGAIN);
	fails(&hf_wire_anthropic, "{\"type\":\"error\",\"error\":{\"type\":"
	    "\"invalid_request_error\",\"message\":\"no\"}}", 400,
	    HF_FINAL);
	fails(&hf_wire_openai, "{\"error\":{\"message\":\"bad\","
	    "\"code\":503}}", 503, HF_AGAIN);
	fails(&hf_wire_openai, "{\"error\":\"model not loaded\"}", 400,
	    HF_FINAL);
	fails(&hf_wire_responses, "{\"type\":\"error\",\"code\":"
	    "\"server_error\",\"message\":\"x\"}", 500, HF_AGAIN);
	fails(&hf_wire_responses, "{\"type\":\"response.failed\","
	    "\"response\":{\"status\":\"failed\",\"error\":{\"code\":"
	    "\"rate_limit_exceeded\",\"message\":\"x\"}}}", 429, HF_AGAIN);
	fails(&hf_wire_gemini, "{\"error\":{\"code\":429,\"status\":"
	    "\"RESOURCE_EXHAUSTED\",\"message\":\"x\"}}", 429, HF_AGAIN);
}

static const struct {
	int status;
	const char *message;
	enum hf_verdict verdict;
	int64_t fit;			/* with 6000 tokens for the answer */
} told[] = {
	{ 400, "prompt is too long: 212230 tokens > 200000 maximum",
	    HF_TOO_LONG, 822692 },
	{ 400, "This model's maximum context length is 128000 tokens. However,"
	    " your messages resulted in 130,000 tokens.", HF_TOO_LONG,
	    844615 },
	{ 400, "The input token count (1200000) exceeds the maximum number of "
	    "tokens allowed (1048576).", HF_TOO_LONG, 781932 },
	{ 400, "the request exceeds the available context size, try "
	    "increasing it", HF_TOO_LONG, 500000 },
	{ 400, "Your input exceeds the context window of this model.",
	    HF_TOO_LONG, 500000 },
	{ 413, "Request exceeds the maximum size", HF_TOO_LONG, 500000 },
	{ 429, "prompt is too long, 30000 input tokens per minute", HF_AGAIN,
	    0 },
	{ 500, "prompt is too long", HF_AGAIN, 0 },
	{ 400, "messages.0.content: field required", HF_FINAL, 0 },
	{ 404, "tool_choice is not supported", HF_FINAL, 0 },
	{ 400, "tool_choice: only \"auto\" is supported", HF_NO_CHOICE, 0 },
	{ 400, "Unsupported parameter: 'max_tokens' is not supported with "
	    "this model. Use 'max_completion_tokens' instead.",
	    HF_NO_PARAMETER, 0 },
	{ 400, "output_config: Extra inputs are not permitted",
	    HF_NO_PARAMETER, 0 },
	{ 401, "invalid x-api-key", HF_FINAL, 0 },
	{ 408, "", HF_AGAIN, 0 }, { 409, "", HF_AGAIN, 0 },
	{ 529, "", HF_AGAIN, 0 }, { 403, "", HF_FINAL, 0 },
};

static void
verdicts(void)
{
	struct hf_api_error e;
	size_t i;

	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		memset(&e, 0, sizeof(e));
		e.status = told[i].status;
		memcpy(e.message, told[i].message,
		    strlen(told[i].message) + 1);
		if (!CHECK_INT(hf_judge(&e), told[i].verdict))
			printf("# %s\n", told[i].message);
		if (told[i].fit > 0)
			CHECK_INT(hf_judge_fit(&e, 6000), told[i].fit);
	}
	memset(&e, 0, sizeof(e));
	e.status = 429;
	memcpy(e.code, "insufficient_quota", 19);
	CHECK_INT(hf_judge(&e), HF_FINAL);
	e = (struct hf_api_error){ .status = 400 };
	memcpy(e.message, "claude-3-20240229 prompt is too long", 37);
	CHECK_INT(hf_judge_fit(&e, 6000), 500000);
}

/* ---- URLs ---- */

static void
url(const struct hf_wire *w, const char *base, const char *want)
{
	struct hf_buf out = HF_BUF_INIT;

	hf_wire_url(w, &out, base, "m-1");
	CHECK_STR(hf_buf_cstr(&out), want);
	hf_buf_release(&out);
}

static void
urls(void)
{
	const struct hf_wire *a = &hf_wire_anthropic, *o = &hf_wire_openai;
	const struct hf_wire *g = &hf_wire_gemini;

	url(a, "https://h", "https://h/v1/messages");
	url(a, "https://h/", "https://h/v1/messages");
	url(a, "https://h/v1", "https://h/v1/messages");
	url(a, "https://h/v1///", "https://h/v1/messages");
	url(a, "https://h/v1/messages", "https://h/v1/messages");
	url(a, "https://h/p/anthropic", "https://h/p/anthropic/v1/messages");
	url(a, "https://h/p?k=v", "https://h/p/v1/messages?k=v");
	url(o, "https://h/api/v1", "https://h/api/v1/chat/completions");
	url(o, "https://h/paas/v4/", "https://h/paas/v4/chat/completions");
	url(o, "https://h/v1beta/openai/",
	    "https://h/v1beta/openai/chat/completions");
	url(&hf_wire_responses, "https://h", "https://h/v1/responses");
	url(g, "https://h",
	    "https://h/v1beta/models/m-1:streamGenerateContent?alt=sse");
	url(g, "https://h/v1?k=v",
	    "https://h/v1/models/m-1:streamGenerateContent?k=v&alt=sse");
}

static void
checked_urls(void)
{
	static const struct { const char *url; bool any, good, local; } u[] = {
		{ "https://api.example.com/v1", false, true, false },
		{ "http://localhost:11434", false, true, true },
		{ "http://127.8.9.1", false, true, true },
		{ "http://[::1]:80/v1", false, true, true },
		{ "http://0x7f.1/", false, true, true },
		{ "http://127.0.0.1.example.com", false, false, false },
		{ "http://localhost.example.com", false, false, false },
		{ "http://192.0.2.1", false, false, false },
		{ "http://192.0.2.1", true, true, false },
		{ "https://u:p@example.com", false, false, false },
		{ "https://u@example.com", true, false, false },
		{ "https://example.com/#x", false, false, false },
		{ "ftp://example.com", true, false, false },
		{ "file:///etc/passwd", true, false, false },
		{ "example.com", true, false, false },
		{ "", true, false, false },
	};
	struct hf_err err;
	size_t i;
	bool local;

	for (i = 0; i < sizeof(u) / sizeof(u[0]); i++) {
		local = false;
		err = (struct hf_err){ HF_OK, "" };
		if (!CHECK_INT(hf_http_check(u[i].url, u[i].any, &local,
		    &err), u[i].good ? 0 : -1))
			printf("# %s\n", u[i].url);
		CHECK_INT(local, u[i].local);
		if (!u[i].good)
			CHECK_INT(err.code, HF_E_CONFIG);
		CHECK(strstr(err.msg, "u:p") == NULL);
	}
}

static void
retry_after(void)
{
	int64_t now = 1700000000000;	/* Tue, 14 Nov 2023 22:13:20 GMT */
	struct hf_str n = HF_STR("Retry-After");

	CHECK_INT(hf_http_retry_after(n, HF_STR(" 2"), now), 2000);
	CHECK_INT(hf_http_retry_after(n, HF_STR("0"), now), 0);
	CHECK_INT(hf_http_retry_after(n, HF_STR("1.5"), now), 1500);
	CHECK_INT(hf_http_retry_after(n,
	    HF_STR("Tue, 14 Nov 2023 22:13:30 GMT"), now), 10000);
	CHECK_INT(hf_http_retry_after(n,
	    HF_STR("Tue, 14 Nov 2023 22:13:10 GMT"), now), 0);
	CHECK_INT(hf_http_retry_after(n, HF_STR("soon"), now), -1);
	CHECK_INT(hf_http_retry_after(n, HF_STR("-1"), now), -1);
	CHECK_INT(hf_http_retry_after(n, HF_STR("99999999999999999999"), now),
	    INT64_C(365) * 86400000);
	CHECK_INT(hf_http_retry_after(HF_STR("retry-after-ms"),
	    HF_STR("1500"), now), 1500);
	CHECK_INT(hf_http_retry_after(HF_STR("date"), HF_STR("1"), now), -1);
}

/* ---- a body of one's own ---- */

static void
spliced(const struct hf_wire *w, const char *body, const char *want)
{
	struct hf_splice s = { .body = hf_str(body) };
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err err = { HF_OK, "" };

	s.text = HF_STR("GO");
	s.choice = w->choice_none;
	s.max_tokens = 6000;
	if (hf_splice(w, &s, &out, NULL, &err) < 0)
		CHECK_STR(err.msg, want);
	else
		CHECK_STR(hf_buf_cstr(&out), want);
	hf_buf_release(&out);
}

static void
splices(void)
{
	const struct hf_wire *a = &hf_wire_anthropic, *o = &hf_wire_openai;

	spliced(a, "{ \"model\" : \"m\",\n \"messages\": [ {\"a\": 1.0} ] }\n",
	    "{ \"model\" : \"m\",\n \"messages\": [ {\"a\": 1.0},{\"role\":"
	    "\"user\",\"content\":\"GO\"}] ,\"stream\":true,"
	    "\"max_tokens\":6000}\n");
	spliced(a, "{\"max_tokens\":8,\"stream\":false,\"tool_choice\":"
	    "{\"type\":\"any\"},\"tools\":[{\"name\":\"]}\\\"\"}],"
	    "\"messages\":[]}",
	    "{\"max_tokens\":8,\"stream\":false,\"tool_choice\":"
	    "{\"type\":\"none\"},\"tools\":[{\"name\":\"]}\\\"\"}],"
	    "\"messages\":[{\"role\":\"user\",\"content\":\"GO\"}]}");
	spliced(o, "{\"messages\":[{\"x\":\"\\u00e9\"}],\"tools\":[{}],"
	    "\"max_completion_tokens\":5,\"stream\":true}",
	    "{\"messages\":[{\"x\":\"\\u00e9\"},{\"role\":\"user\","
	    "\"content\":\"GO\"}],\"tools\":[{}],"
	    "\"max_completion_tokens\":5,\"stream\":true,"
	    "\"tool_choice\":\"none\"}");
	spliced(&hf_wire_gemini, "{\"contents\":[1],\"tools\":[2]}",
	    "{\"contents\":[1,{\"role\":\"user\",\"parts\":[{\"text\":"
	    "\"GO\"}]}],\"tools\":[2],\"toolConfig\":"
	    "{\"functionCallingConfig\":{\"mode\":\"NONE\"}}}");
	spliced(a, "[]", "the context is no request: not a JSON object");
	spliced(a, "{}", "the context is no request: not a JSON object");
	spliced(a, "{\"messages\":1}", "the context has no list 'messages'");
	spliced(a, "{\"input\":[]}", "the context has no list 'messages'");
	spliced(a, "{\"messages\":[],\"messages\":[]}",
	    "the context has 'messages' twice");
}

/* ---- the rest ---- */

static void
claude(const char *out, int rc, enum hf_code code, const char *text)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_answer a;

	hf_answer_init(&a);
	CHECK_INT(hf_fork_claude(hf_str(out), &a, &err), rc);
	CHECK_INT(err.code, code);
	CHECK_STR(hf_buf_cstr(&a.text), text);
	hf_answer_release(&a);
}

static void
claude_results(void)
{
	claude("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":"
	    "false,\"result\":\"T\",\"stop_reason\":\"end_turn\"}\n", 0,
	    HF_OK, "T");
	claude("noise\n{\"type\":\"result\",\"subtype\":"
	    "\"error_max_turns\",\"is_error\":true}\n", -1, HF_E_EMPTY, "");
	claude("{\"type\":\"result\",\"is_error\":true,\"result\":"
	    "\"Invalid API key\"}", -1, HF_E_REFUSED, "");
	claude("{\"type\":\"result\",\"is_error\":true,\"result\":"
	    "\"Prompt is too long\"}", -1, HF_E_OVERFLOW, "");
	claude("{\"type\":\"result\",\"is_error\":true,\"result\":"
	    "\"API Error: Repeated 529\"}", -1, HF_E_UNAVAILABLE, "");
	claude("{\"type\":\"result\",\"result\":\"T\",\"stop_reason\":"
	    "\"max_tokens\"}", -1, HF_E_TRUNCATED, "");
	claude("{\"type\":\"result\",\"result\":\" \"}", -1, HF_E_EMPTY,
	    " ");
	claude("", -1, HF_E_UNAVAILABLE, "");
}

static void
spans(void)
{
	static const char parent[] =
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	struct hf_buf out = HF_BUF_INIT;
	struct hf_answer a;
	struct hf_span s = { .provider = "gemini", .model = "m",
		.max_tokens = 6000, .began = 1, .ended = 2, .answer = &a };
	const struct hf_jval *v;
	struct hf_json *j;

	hf_answer_init(&a);
	hf_otel_body(&out, &s, "svc", parent);
	j = hf_json_parse(hf_buf_view(&out), HF_JSON_RAW, NULL, NULL, NULL);
	v = hf_json_elem(hf_json_get(hf_json_root(j), "resourceSpans"), 0);
	v = hf_json_elem(hf_json_get(v, "scopeSpans"), 0);
	v = hf_json_elem(hf_json_get(v, "spans"), 0);
	CHECK(hf_json_is(hf_json_get(v, "traceId"),
	    "0af7651916cd43dd8448eb211c80319c"));
	CHECK(hf_json_is(hf_json_get(v, "parentSpanId"),
	    "b7ad6b7169203331"));
	CHECK_INT(hf_json_get_str(v, "spanId").n, 16);
	CHECK(hf_json_is(hf_json_get(v, "endTimeUnixNano"), "2000000"));
	CHECK(hf_json_is(hf_json_get(v, "name"), "chat m"));
	hf_json_free(j);
	hf_buf_release(&out);
}

int
main(void)
{
	streams();
	all_ends();
	error_events();
	verdicts();
	urls();
	checked_urls();
	retry_after();
	splices();
	claude_results();
	spans();
	return check_done();
}
