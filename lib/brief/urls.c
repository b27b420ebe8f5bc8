#include "brief/urls.h"

#include <string.h>

#include "brief/chars.h"
#include "brief/words.h"

enum { USERINFO_MAX = 1024, RAW_MAX = 128, SCHEME_MAX = 24 };

/* Ends what can be a user and a password. */
static bool
ends_userinfo(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f ||
	    memchr("\"'`<>\\/?#|", c, 10) != NULL;
}

/* Where the scheme before "://" begins; i without one. */
static size_t
scheme_from(struct hf_str text, size_t i, size_t edge)
{
	size_t from = i;

	while (from > edge && i - from < SCHEME_MAX &&
	    ((hf_chars(text.s[from - 1]) & (HF_CH_ALNUM | HF_CH_DASH |
	    HF_CH_DOT)) != 0 || text.s[from - 1] == '+'))
		from--;
	return from;
}

/* The last @ in [from, to) that a host follows, or SIZE_MAX. */
static size_t
host_sign(struct hf_str text, size_t from, size_t to)
{
	char next;

	for (size_t i = to; i-- > from;) {
		if (text.s[i] != '@')
			continue;
		next = i + 1 < text.n ? text.s[i + 1] : '\0';
		if ((hf_chars(next) & HF_CH_WORD) != 0 || next == '[' ||
		    next == '$' || next == '{' || next == '%' || next == '<')
			return i;
	}
	return SIZE_MAX;
}

/* A password that holds '/', '?' or '#' as they are, which databases'
 * clients take. What stands behind the colon is then no port. */
static size_t
raw_sign(struct hf_str text, size_t colon, size_t stop)
{
	size_t end = stop, sign;
	struct hf_str pass;

	if (hf_chars_run(text, colon + 1, HF_CH_DIGIT, 6) >= stop)
		return SIZE_MAX;
	while (end < text.n && end - stop < RAW_MAX &&
	    (!ends_userinfo(text.s[end]) ||
	    memchr("/?#", text.s[end], 3) != NULL))
		end++;
	sign = host_sign(text, stop, end);
	if (sign == SIZE_MAX)
		return SIZE_MAX;
	pass = hf_strn(text.s + colon + 1, sign - colon - 1);
	if ((hf_chars_all(pass) & HF_CH_DIGIT) == 0 ||
	    memchr(pass.s, '=', pass.n) != NULL)
		return SIZE_MAX;
	return sign;
}

static bool
takes_raw(struct hf_str scheme)
{
	static const char *const web[] = { "http", "https", "ws", "wss",
	    "ftp", "ftps", "sftp", "ssh", "git", "file", "git+ssh",
	    "git+https", "svn", "s3", "vscode", "data" };

	for (size_t i = 0; i < sizeof(web) / sizeof(web[0]); i++)
		if (hf_str_ieq(scheme, hf_str(web[i])))
			return false;
	return scheme.n >= 2;
}

bool
hf_urls_at(struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	size_t from = at + 3, stop = from, sign, colon;
	size_t start = scheme_from(text, at, edge);
	struct hf_str scheme = hf_strn(text.s + start, at - start), who;
	const char *p;

	if (scheme.n == 0 || text.n - at < 4 || text.s[at + 1] != '/' ||
	    text.s[at + 2] != '/')
		return false;
	while (stop < text.n && stop - from < USERINFO_MAX &&
	    !ends_userinfo(text.s[stop]))
		stop++;
	sign = host_sign(text, from, stop);
	p = memchr(text.s + from, ':', (sign != SIZE_MAX ? sign : stop) -
	    from);
	colon = p != NULL ? (size_t)(p - text.s) : SIZE_MAX;
	if (sign == SIZE_MAX && colon != SIZE_MAX && stop < text.n &&
	    memchr("/?#", text.s[stop], 3) != NULL && takes_raw(scheme))
		sign = raw_sign(text, colon, stop);
	if (sign == SIZE_MAX)
		return false;
	if (colon != SIZE_MAX) {
		*out = (struct hf_span){ colon + 1, sign };
		return !hf_words_template(hf_strn(text.s + colon + 1,
		    sign - colon - 1));
	}
	/* A token in the user's place; people have shorter names. */
	who = hf_strn(text.s + from, sign - from);
	*out = (struct hf_span){ from, sign };
	return who.n >= 20 && hf_str_istarts(scheme, "http") &&
	    hf_chars_run(who, 0, HF_CH_TOKEN, who.n) == who.n &&
	    (hf_chars_all(who) & HF_CH_DIGIT) != 0 &&
	    (hf_chars_all(who) & HF_CH_LETTER) != 0;
}
