#include "model/reader.h"

#include <string.h>

void
hf_reader_init(struct hf_reader *r)
{
	memset(r, 0, sizeof(*r));
	r->text.max = HF_READER_TEXT;
	r->block = r->input = r->output = r->cached = -1;
}

void
hf_reader_release(struct hf_reader *r)
{
	hf_buf_release(&r->text);
}

/* What fits of a, whole code points. */
static void
copy(char *to, size_t size, struct hf_str a)
{
	size_t n = a.n < size ? a.n : hf_utf8_cut(a, size - 1);

	memcpy(to, n > 0 ? a.s : "", n);
	to[n] = '\0';
}

void
hf_reader_text(struct hf_reader *r, int64_t block, struct hf_str text)
{
	if (text.n == 0)
		return;
	if (r->block != block && r->text.len > 0)
		hf_buf_putc(&r->text, '\n');
	r->block = block;
	hf_buf_str(&r->text, text);
}

/* Behind the thoughts that a begins with; 0 when it begins with none. */
static size_t
behind_thoughts(struct hf_str a)
{
	static const char *const tags[][2] = {
		{ "<think>", "</think>" }, { "<thinking>", "</thinking>" },
		{ "<thought>", "</thought>" }
	};
	struct hf_str head = hf_str_trim(a);
	size_t i, end;

	for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (hf_str_istarts(head, tags[i][0])) {
			end = hf_str_ifind(a, tags[i][1], 0);
			return end == SIZE_MAX ? a.n :
			    end + strlen(tags[i][1]);
		}
	/* Some templates write the first tag into the prompt. */
	if (head.n == 0 || strchr("{[`", head.s[0]) != NULL)
		return 0;
	end = hf_str_ifind(a, "</think>", 0);
	return end == SIZE_MAX ? 0 : end + strlen("</think>");
}

bool
hf_reader_unthink(struct hf_buf *text)
{
	size_t n = behind_thoughts(hf_buf_view(text));
	struct hf_str view;

	if (n == 0)
		return false;
	hf_buf_eat(text, n);
	/* The blanks between the two are nobody's. */
	view = hf_buf_view(text);
	for (n = 0; n < view.n && strchr(" \t\r\n", view.s[n]) != NULL &&
	    view.s[n] != '\0'; n++)
		;
	hf_buf_eat(text, n);
	return true;
}

void
hf_reader_finish(struct hf_reader *r, enum hf_end end, struct hf_str word)
{
	if (r->end != HF_END_NONE)
		return;
	r->end = end;
	copy(r->finish, sizeof(r->finish), word);
}

void
hf_reader_model(struct hf_reader *r, struct hf_str name)
{
	if (name.n > 0)
		copy(r->model, sizeof(r->model), name);
}

void
hf_reader_count(int64_t *to, const struct hf_jval *v, const char *path)
{
	v = hf_json_at(v, path);
	if (hf_json_type(v) == HF_J_NUM)
		*to = hf_json_count(v);
}

/* ---- errors ---- */

/* What the APIs call what HTTP has a number for. */
static const struct {
	const char *word;
	int status;
} kinds[] = {
	{ "authentication", 401 }, { "unauthenticated", 401 },
	{ "permission", 403 }, { "not_found", 404 },
	{ "request_too_large", 413 }, { "rate_limit", 429 },
	{ "resource_exhausted", 429 }, { "insufficient_quota", 429 },
	{ "too_many_requests", 429 }, { "overloaded", 529 },
	{ "unavailable", 503 }, { "timeout", 504 },
	{ "deadline_exceeded", 504 }, { "api_error", 500 },
	{ "server_error", 500 }, { "internal", 500 },
	{ "engine_overloaded", 529 }, { "aborted", 409 },
};

static int
status_of(const struct hf_api_error *e)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (hf_str_ifind(hf_str(e->code), kinds[i].word, 0) !=
		    SIZE_MAX || hf_str_ifind(hf_str(e->type), kinds[i].word,
		    0) != SIZE_MAX)
			return kinds[i].status;
	return 400;
}

static bool
is_status(const struct hf_jval *v, int *out)
{
	int64_t n;

	if (!hf_json_int(v, &n) || n < 400 || n > 599)
		return false;
	*out = (int)n;
	return true;
}

void
hf_api_error_read(struct hf_api_error *out, const struct hf_jval *e,
    int status)
{
	struct hf_str message = hf_json_get_str(e, "message");
	struct hf_str type = hf_json_get_str(e, "type");

	memset(out, 0, sizeof(*out));
	if (hf_json_type(e) == HF_J_STR)
		message = hf_json_str(e);
	if (message.n == 0)
		message = hf_json_get_str(e, "detail");
	if (type.n == 0)
		type = hf_json_get_str(e, "status");
	copy(out->message, sizeof(out->message), message);
	copy(out->type, sizeof(out->type), type);
	copy(out->code, sizeof(out->code), hf_json_get_str(e, "code"));
	out->status = status;
	if (status == 0 && !is_status(hf_json_get(e, "code"),
	    &out->status) && !is_status(hf_json_get(e, "status"),
	    &out->status))
		out->status = status_of(out);
}

void
hf_reader_error(struct hf_reader *r, const struct hf_jval *e)
{
	if (r->failed)
		return;
	r->failed = true;
	hf_api_error_read(&r->error, e, 0);
}
