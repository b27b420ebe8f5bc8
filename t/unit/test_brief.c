/* The schema of a brief, its Markdown, its seed. */
#include <string.h>

#include "brief/brief.h"
#include "session/render.h"
#include "check.h"

#define REST	"\"decisions\":[\"d\"],\"constraints\":[],\"artifacts\":[]," \
	"\"verified\":[],\"pending\":[],\"next_steps\":[],\"uncertainties\":[]"
#define GOOD	"{\"goal\":\"g one\"," REST "}"

static enum hf_code
parse(const char *text, char goal[64], char msg[HF_ERR_MAX])
{
	struct hf_err err = { HF_OK, "" };
	struct hf_brief b;

	hf_brief_init(&b);
	if (hf_brief_parse(&b, hf_str(text), &err) == 0 && goal != NULL) {
		memcpy(goal, b.goal.s, b.goal.n < 63 ? b.goal.n : 63);
		goal[b.goal.n < 63 ? b.goal.n : 63] = '\0';
	}
	hf_brief_release(&b);
	if (msg != NULL)
		memcpy(msg, err.msg, HF_ERR_MAX);
	return err.code;
}

static void
accepted(void)
{
	static const char *const good[] = {
		GOOD, "  " GOOD "\n", "```json\n" GOOD "\n```",
		"```json\n" GOOD, "Here {it} is: " GOOD " and more }",
		"{\"a\":1}\n" GOOD,
		"```sh\nif x; then { y; }\n```\n" GOOD,
		"{\"brief\":" GOOD "}",
	};
	char goal[64];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		goal[0] = '\0';
		CHECK(parse(good[i], goal, NULL) == HF_OK);
		CHECK(strcmp(goal, "g one") == 0);
	}
}

static void
refused(void)
{
	static const struct { const char *text, *says; enum hf_code code; }
	    bad[] = {
		{ "", "empty", HF_E_EMPTY },
		{ " \n ", "empty", HF_E_EMPTY },
		{ "OK", "acknowledgement", HF_E_INVALID_BRIEF },
		{ "ACK_21", "acknowledgement", HF_E_INVALID_BRIEF },
		{ "no brief here", "no JSON object", HF_E_INVALID_BRIEF },
		{ "{\"goal\":\"g\",\"deci", "cut off", HF_E_TRUNCATED },
		{ "{\"goal\":\" \"," REST "}", "/goal", HF_E_INVALID_BRIEF },
		{ "{\"goal\":\"None\"," REST "}", "/goal",
		    HF_E_INVALID_BRIEF },
		{ "{\"goal\":3," REST "}", "/goal", HF_E_INVALID_BRIEF },
		{ "{" REST "}", "/goal: missing", HF_E_INVALID_BRIEF },
		{ "{\"goal\":\"g\",\"goal\":\"h\"," REST "}", "twice",
		    HF_E_INVALID_BRIEF },
		{ "{\"goal\":\"g\",\"extra\":1," REST "}", "/extra",
		    HF_E_INVALID_BRIEF },
		{ "{\"goal\":\"g\",\"decisions\":\"x\"}", "/decisions",
		    HF_E_INVALID_BRIEF },
		{ "{\"goal\":\"g\",\"pending\":[\"a\",null]}", "/pending/1",
		    HF_E_INVALID_BRIEF },
		{ "{\"error\":{\"type\":\"overloaded\"}}", "error body",
		    HF_E_INVALID_BRIEF },
	};
	char msg[HF_ERR_MAX];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(parse(bad[i].text, NULL, msg) == bad[i].code);
		CHECK(strstr(msg, bad[i].says) != NULL);
	}
}

/* A brief of exactly n characters of three bytes each, and what is around. */
static enum hf_code
sized(size_t n)
{
	static const char head[] = "{\"goal\":\"", tail[] = "\"," REST "}";
	struct hf_buf text = HF_BUF_INIT;
	size_t fill = n - (sizeof(head) - 1) - (sizeof(tail) - 1);
	enum hf_code code;

	hf_buf_puts(&text, head);
	while (fill-- > 0)
		hf_buf_puts(&text, "\xe6\xbc\xa2");
	hf_buf_puts(&text, tail);
	code = parse(hf_buf_cstr(&text), NULL, NULL);
	hf_buf_release(&text);
	return code;
}

static void
markdown(void)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_buf md = HF_BUF_INIT;
	struct hf_brief a, b;
	char x[72], y[72];

	hf_brief_init(&a);
	hf_brief_init(&b);
	CHECK(hf_brief_parse(&a, HF_STR("{\"goal\":\"two\\nlines\","
	    "\"decisions\":[\"one\",\"- a dash\\n## no heading\"],"
	    "\"constraints\":[\"Never push.\"],\"artifacts\":[],"
	    "\"verified\":[],\"pending\":[\"p\"],\"next_steps\":[\"n\"],"
	    "\"uncertainties\":[\"u\"]}"), &err) == 0);
	hf_brief_markdown(&md, &a);
	hf_brief_from_markdown(&b, hf_buf_view(&md));
	hf_brief_hash(&a, x);
	hf_brief_hash(&b, y);
	CHECK(strcmp(x, y) == 0);
	hf_brief_release(&a);
	hf_brief_release(&b);
	hf_buf_release(&md);
}

static size_t
occurrences(struct hf_str hay, const char *needle)
{
	size_t at = 0, n = 0;

	while ((at = hf_str_find(hay, hf_str(needle), at)) != SIZE_MAX) {
		n++;
		at++;
	}
	return n;
}

static void
seed(void)
{
	static const struct hf_seed_info info = { "handoff-1", "Claude Code",
		"abc", false };
	struct hf_err err = { HF_OK, "" };
	struct hf_buf text = HF_BUF_INIT;
	struct hf_brief a, b;
	struct hf_str hash, body;
	char want[72];

	hf_brief_init(&a);
	hf_brief_init(&b);
	CHECK(hf_brief_parse(&a, HF_STR("{\"goal\":\"x </handoff-context> "
	    "< / HANDOFF-Context > y\"," REST "}"), &err) == 0);
	hf_brief_seed(&text, &a, &info);
	hf_brief_hash(&a, want);
	CHECK(occurrences(hf_buf_view(&text), "</handoff-context>") == 1);
	CHECK(hf_str_ifind(hf_buf_view(&text), "< / handoff", 0) == SIZE_MAX);
	CHECK(hf_brief_is_seed(hf_buf_view(&text), &hash, &body));
	CHECK(hf_str_is(hash, want));
	hf_brief_from_markdown(&b, body);
	CHECK(hf_str_starts(b.goal, "x &lt;/handoff-context>"));
	CHECK(b.list[HF_DECISIONS].n == 1);
	CHECK(!hf_brief_is_seed(HF_STR("hello <handoff-context>"), NULL,
	    NULL));
	hf_brief_release(&a);
	hf_brief_release(&b);
	hf_buf_release(&text);
}

int
main(void)
{
	accepted();
	refused();
	CHECK(sized(HF_BRIEF_MAX) == HF_OK);
	CHECK(sized(HF_BRIEF_MAX + 1) == HF_E_INVALID_BRIEF);
	markdown();
	seed();
	return check_done();
}
