#include "agent/codex.h"

#include <string.h>

#include "base/hmac.h"

/*
 * So many bytes of a text decide: a reader may cut what is longer than 256
 * bytes as written, where an escape takes two.
 */
enum { LOOK = 120 };

static struct hf_str
beginning(struct hf_str text)
{
	if (text.n > LOOK)
		text.n = LOOK;
	return hf_str_trim(text);
}

/* ---- what an item is ---- */

enum hf_codex_item
hf_codex_item(struct hf_str type)
{
	static const struct { const char *name; enum hf_codex_item is; }
	    known[] = {
		{ "message", HF_CODEX_MESSAGE },
		{ "reasoning", HF_CODEX_REASONING },
		{ "function_call", HF_CODEX_CALL },
		{ "function_call_output", HF_CODEX_OUTPUT },
		{ "custom_tool_call", HF_CODEX_CALL },
		{ "custom_tool_call_output", HF_CODEX_OUTPUT },
		{ "local_shell_call", HF_CODEX_CALL },
		{ "local_shell_call_output", HF_CODEX_OUTPUT },
		{ "tool_search_call", HF_CODEX_CALL },
		{ "tool_search_output", HF_CODEX_OUTPUT },
		{ "web_search_call", HF_CODEX_DONE },
		{ "image_generation_call", HF_CODEX_DONE },
		{ "compaction", HF_CODEX_SEALED },
		{ "compaction_summary", HF_CODEX_SEALED },
		{ "context_compaction", HF_CODEX_SEALED },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (hf_str_is(type, known[i].name))
			return known[i].is;
	return HF_CODEX_OTHER;
}

/* ---- what a text is ---- */

/* "<environment_context>" and the like: all of the client's tags that are
 * of two words have this form. */
static bool
is_tag(struct hf_str text)
{
	bool two = false;
	size_t i;
	char c;

	if (text.n < 3 || text.s[0] != '<')
		return false;
	for (i = 1; i < text.n; i++) {
		c = text.s[i];
		if (c == '_')
			two = i > 1;
		else if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
			break;
	}
	return two && i < text.n && (text.s[i] == '>' || text.s[i] == ' ');
}

enum hf_codex_text
hf_codex_text(struct hf_str text)
{
	static const struct { const char *begin; enum hf_codex_text is; }
	    known[] = {
		{ "<handoff-context>", HF_CODEX_SEED },
		{ "<user_shell_command>", HF_CODEX_SHELL },
		{ "# AGENTS.md instructions", HF_CODEX_HARNESS },
		{ "<skill>", HF_CODEX_HARNESS },
		{ "<INSTRUCTIONS>", HF_CODEX_HARNESS },
		{ "Warning: apply_patch was requested via ",
		    HF_CODEX_HARNESS },
		{ "Warning: The maximum number of unified exec processes",
		    HF_CODEX_HARNESS },
		{ "Warning: Your account was flagged for ",
		    HF_CODEX_HARNESS },
		{ "Another language model started to solve this problem and "
		    "produced a summary", HF_CODEX_SUMMARY },
	};
	size_t i;

	text = beginning(text);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (hf_str_starts(text, known[i].begin))
			return known[i].is;
	return is_tag(text) ? HF_CODEX_HARNESS : HF_CODEX_OWN;
}

/* ---- parts of a message ---- */

bool
hf_codex_label(struct hf_str text)
{
	text = hf_str_trim(text);
	return hf_str_starts(text, "<image name=") ||
	    hf_str_is(text, "<image>") || hf_str_is(text, "</image>");
}

struct hf_str
hf_codex_first_text(const struct hf_jval *content)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str text;

	if (hf_json_type(content) == HF_J_STR)
		return hf_json_str(content);
	hf_json_iter(&it, content);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		text = hf_json_get_str(v, "text");
		if (text.s != NULL && !hf_codex_label(text))
			return text;
	}
	return HF_STR_NONE;
}

/* ---- knowing a prompt again ---- */

static void
add_hash(struct hf_codex_mark *m, struct hf_str text)
{
	if (m->n < HF_CODEX_PARTS)
		m->hash[m->n++] = hf_hash(beginning(text));
}

/*
 * A prompt stands in the file as an item, with its pictures and what the
 * client put beside them, and as an event, which has the text alone: they
 * are the same if the wholes or any of the parts are.
 */
void
hf_codex_mark(struct hf_codex_mark *m, const struct hf_jval *content)
{
	struct hf_str part[HF_CODEX_PARTS - 1], text;
	const struct hf_jval *v;
	struct hf_jiter it;
	char whole[LOOK];
	size_t len = 0, n = 0, take, i;

	memset(m, 0, sizeof(*m));
	if (hf_json_type(content) != HF_J_ARR) {
		text = hf_json_str(content);
		add_hash(m, text.s != NULL ? text : HF_STR(""));
		return;
	}
	hf_json_iter(&it, content);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		text = hf_json_get_str(v, "text");
		if (text.n == 0 || hf_codex_label(text))
			continue;
		if (n < HF_CODEX_PARTS - 1)
			part[n++] = text;
		take = text.n < LOOK - len ? text.n : LOOK - len;
		memcpy(whole + len, text.s, take);
		len += take;
	}
	add_hash(m, hf_strn(whole, len));
	for (i = 0; n > 1 && i < n; i++)
		add_hash(m, part[i]);
}

bool
hf_codex_same(const struct hf_codex_mark *a, const struct hf_codex_mark *b)
{
	uint32_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (a->hash[i] == b->hash[k])
				return true;
	return false;
}

/* ---- what a compaction leaves ---- */

bool
hf_codex_sealed(const struct hf_jval *v)
{
	const struct hf_jval *list = hf_json_get(v, "replacement_history");
	const struct hf_jval *m;
	struct hf_jiter it;

	if (hf_str_trim(hf_json_get_str(v, "message")).n > 0)
		return false;
	if (hf_json_size(list) == 0)
		return true;
	hf_json_iter(&it, list);
	while ((m = hf_json_next(&it, NULL)) != NULL)
		if (hf_codex_item(hf_json_get_str(m, "type")) ==
		    HF_CODEX_SEALED)
			return true;
	return false;
}

enum hf_row_kind
hf_codex_kept(const struct hf_jval *v, struct hf_str summary)
{
	struct hf_str role = hf_json_get_str(v, "role"), text;

	switch (hf_codex_item(hf_json_get_str(v, "type"))) {
	case HF_CODEX_MESSAGE:
		break;
	case HF_CODEX_CALL:
	case HF_CODEX_DONE:
		return HF_ROW_ASSISTANT;
	case HF_CODEX_OUTPUT:
		return HF_ROW_RESULT;
	default:
		return HF_ROW_OTHER;
	}
	if (hf_str_is(role, "assistant"))
		return HF_ROW_ASSISTANT;
	text = hf_codex_first_text(hf_json_get(v, "content"));
	if (!hf_str_is(role, "user") || text.n == 0 ||
	    (summary.n > 0 && hf_str_eq(beginning(text), beginning(summary))))
		return HF_ROW_OTHER;
	switch (hf_codex_text(text)) {
	case HF_CODEX_SEED:
		return HF_ROW_SEED;
	case HF_CODEX_SHELL:
		return HF_ROW_RESULT;
	case HF_CODEX_SUMMARY:
		return HF_ROW_SUMMARY;
	case HF_CODEX_OWN:
		return HF_ROW_PROMPT;
	default:
		return HF_ROW_OTHER;
	}
}
