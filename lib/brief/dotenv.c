#include "brief/dotenv.h"

#include <string.h>

#include "base/buf.h"
#include "brief/chars.h"

static size_t
blanks(struct hf_str a, size_t i)
{
	while (i < a.n && (a.s[i] == ' ' || a.s[i] == '\t'))
		i++;
	return i;
}

static size_t
line_end(struct hf_str a, size_t i)
{
	while (i < a.n && a.s[i] != '\n' && a.s[i] != '\r')
		i++;
	return i;
}

/* The name at i and where the value begins; 0 if this is no setting. */
static size_t
name_at(struct hf_str a, size_t i, struct hf_str *name)
{
	size_t end;

	if (hf_str_starts(hf_strn(a.s + i, a.n - i), "export") &&
	    (end = blanks(a, i + 6)) > i + 6)
		i = end;
	end = hf_chars_run(a, i, HF_CH_TOKEN | HF_CH_DOT, a.n);
	*name = hf_strn(a.s + i, end - i);
	if (end == i)
		return 0;
	i = blanks(a, end);
	if (i >= a.n || (a.s[i] != '=' && a.s[i] != ':'))
		return 0;
	return blanks(a, i + 1);
}

static void
unescape(struct hf_buf *out, struct hf_str a)
{
	for (size_t i = 0; i < a.n; i++) {
		char c = a.s[i];

		if (c == '\\' && i + 1 < a.n) {
			c = a.s[++i];
			c = c == 'n' ? '\n' : c == 'r' ? '\r' :
			    c == 't' ? '\t' : c;
		}
		hf_buf_putc(out, c);
	}
}

/* The end of the quoted value whose quote stands at i; 0 if it is not
 * closed. What is closed by the next setting's opening quote is not. */
static size_t
quoted(struct hf_str a, size_t i)
{
	char quote = a.s[i];
	size_t next;

	for (i++; i < a.n && a.s[i] != quote; i++)
		if (a.s[i] == '\\' && quote == '"')
			i++;
	next = i < a.n ? blanks(a, i + 1) : 0;
	if (i >= a.n || (next < a.n && a.s[next] != '#' &&
	    a.s[next] != '\n' && a.s[next] != '\r'))
		return 0;
	return i;
}

void
hf_dotenv_each(struct hf_str text,
    void (*cb)(struct hf_str name, struct hf_str value, void *arg), void *arg)
{
	struct hf_buf plain = HF_BUF_INIT;
	struct hf_str name, value;
	size_t i = hf_str_starts(text, "\xef\xbb\xbf") ? 3 : 0, from, end;

	for (; i < text.n; i = line_end(text, i) + 1) {
		i = blanks(text, i);
		if (i >= text.n || (from = name_at(text, i, &name)) == 0)
			continue;
		i = from;
		if (from < text.n && memchr("\"'`", text.s[from], 3) !=
		    NULL && (end = quoted(text, from)) > 0) {
			value = hf_strn(text.s + from + 1, end - from - 1);
			i = end + 1;
			if (text.s[from] == '"' && memchr(value.s, '\\',
			    value.n) != NULL) {
				hf_buf_clear(&plain);
				unescape(&plain, value);
				cb(name, hf_buf_view(&plain), arg);
			}
			cb(name, value, arg);
			continue;
		}
		/* A quote that nothing closes is no part of the value. */
		if (from < text.n && memchr("\"'`", text.s[from], 3) != NULL)
			from++;
		end = line_end(text, from);
		value = hf_strn(text.s + from, end - from);
		for (size_t k = 1; k < value.n; k++)
			if (value.s[k] == '#' && (value.s[k - 1] == ' ' ||
			    value.s[k - 1] == '\t'))
				value.n = k;
		if (value.n > 0 && value.s[0] != '#')
			cb(name, hf_str_trim(value), arg);
	}
	hf_buf_release(&plain);
}
