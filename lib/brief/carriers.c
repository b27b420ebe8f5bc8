#include "brief/carriers.h"

#include <string.h>

#include "brief/chars.h"
#include "brief/urls.h"
#include "brief/words.h"

enum {
	SECRET_MIN = 8,		/* a header's value */
	DIGIT_MAX = 64,		/* where its first digit is */
	BARE_MIN = 20,		/* without the header's name */
	VALUE_MAX = 4096
};

static char
at_or_nul(struct hf_str text, size_t i)
{
	return i < text.n ? text.s[i] : '\0';
}

static bool
blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t
skip_blanks(struct hf_str text, size_t i)
{
	while (i < text.n && blank(text.s[i]))
		i++;
	return i;
}

/* A UUID is an id, unless a header says that it is more. */
static bool
is_uuid(struct hf_str a)
{
	if (a.n != 36)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ?
		    a.s[i] != '-' : (hf_chars(a.s[i]) & HF_CH_LHEX) == 0)
			return false;
	return true;
}

/* No plain word, no "YOUR_TOKEN". */
static bool
tokenish(struct hf_str a)
{
	if (a.n < SECRET_MIN || hf_chars_same(a))
		return false;
	return a.n >= 24 || hf_chars_mixed(a) ||
	    (hf_chars_all(a) & HF_CH_DIGIT) != 0;
}

/* "config.keys2.main", "keys/2024": too short for base64 with dots or
 * slashes in it. */
static bool
is_path(struct hf_str a)
{
	return a.n < 24 &&
	    (hf_chars_all(a) & (HF_CH_DOT | HF_CH_PLUS)) != 0;
}

/* ---- JWT ---- */

/* Three parts, the first two objects; or the five of an encrypted one. */
static bool
jwt_at(struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	size_t i = at, part = 0, n, second = 0;

	/* Not inside a longer run: so each run is looked at once. */
	if (!hf_str_starts(hf_strn(text.s + at, text.n - at), "eyJ") ||
	    !hf_shapes_edge(text, at, edge) || (at > edge &&
	    (hf_chars(text.s[at - 1]) & (HF_CH_UNDER | HF_CH_DASH)) != 0))
		return false;
	while (part < 5) {
		n = hf_chars_run(text, i, HF_CH_TOKEN, SIZE_MAX) - i;
		if (part == 0 && n < 10)
			return false;
		i += n;
		part++;
		if (at_or_nul(text, i) != '.' || part == 5)
			break;
		if (part == 1)
			second = i + 1;
		i++;
	}
	if (part < 3 || (part < 5 && (text.n - second < 3 ||
	    memcmp(text.s + second, "eyJ", 3) != 0)))
		return false;
	while (text.s[i - 1] == '.')
		i--;
	*out = (struct hf_span){ at, i };
	return true;
}

/* ---- headers and settings ---- */

enum kind {
	AUTHORIZATION,	/* a scheme, then the value */
	HEADER,		/* the value */
	SETTING,	/* a value of one length: min characters of base64 */
	NPMRC,		/* the value, if it is no template; behind = */
	QUERY		/* a signature in a URL's query */
};

/* Those of one letter stand together. */
static const struct carrier {
	char name[28];
	uint8_t kind, min;
} carrier[] = {
	{ "accountkey", SETTING, 86 },
	{ "api-key", HEADER, 0 },
	{ "apikey", HEADER, 0 },
	{ "authorization", AUTHORIZATION, 0 },
	{ "aws_secret_access_key", SETTING, 40 },
	{ "aws_secret_key", SETTING, 40 },
	{ "aws_session_token", SETTING, 100 },
	{ "dd-api-key", HEADER, 0 },
	{ "dd-application-key", HEADER, 0 },
	{ "deploy-token", HEADER, 0 },
	{ "job-token", HEADER, 0 },
	{ "ocp-apim-subscription-key", HEADER, 0 },
	{ "presharedkey", SETTING, 43 },
	{ "private-token", HEADER, 0 },
	{ "privatekey", SETTING, 43 },		/* WireGuard */
	{ "proxy-authorization", AUTHORIZATION, 0 },
	{ "secretaccesskey", SETTING, 40 },
	{ "secret_access_key", SETTING, 40 },
	{ "sessiontoken", SETTING, 100 },
	{ "sharedaccesskey", SETTING, 43 },
	{ "sig", QUERY, 40 },
	{ "x-access-token", HEADER, 0 },
	{ "x-amz-security-token", HEADER, 0 },
	{ "x-api-key", HEADER, 0 },
	{ "x-api-secret", HEADER, 0 },
	{ "x-api-token", HEADER, 0 },
	{ "x-apikey", HEADER, 0 },
	{ "x-auth-key", HEADER, 0 },
	{ "x-auth-token", HEADER, 0 },
	{ "x-authorization", AUTHORIZATION, 0 },
	{ "x-figma-token", HEADER, 0 },
	{ "x-functions-key", HEADER, 0 },
	{ "x-gitlab-token", HEADER, 0 },
	{ "x-goog-api-key", HEADER, 0 },
	{ "x-rapidapi-key", HEADER, 0 },
	{ "x-shopify-access-token", HEADER, 0 },
	{ "x-vault-token", HEADER, 0 },
	{ "_auth", NPMRC, 0 },
	{ "_authtoken", NPMRC, 0 },
	{ "_password", NPMRC, 0 },
};

enum { NCARRIERS = sizeof(carrier) / sizeof(carrier[0]) };

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void
hf_carriers_init(struct hf_carriers *c, struct hf_grams *g)
{
	memset(c->first, NCARRIERS, sizeof(c->first));
	hf_grams_add(g, "eyJ", HF_CH_TOKEN);
	hf_grams_add(g, "://", 0);
	hf_grams_add(g, ":AA", HF_CH_TOKEN);
	hf_grams_add(g, "7Q~", 0);
	hf_grams_add(g, "8Q~", 0);
	hf_grams_add(g, ".atl", 0);
	hf_grams_add(g, "bear", 0);
	for (size_t i = NCARRIERS; i-- > 0;) {
		c->first[carrier[i].name[0] & 31] = (uint8_t)i;
		hf_grams_add(g, carrier[i].name, HF_CH_EQUAL);
	}
}

/* A quote, in JSON inside JSON with backslashes before it. */
static size_t
skip_quote(struct hf_str text, size_t i)
{
	while (at_or_nul(text, i) == '\\')
		i++;
	if (at_or_nul(text, i) == '"' || at_or_nul(text, i) == '\'')
		i++;
	return i;
}

/* Behind the name: its closing quote, a colon or an equals sign, the opening
 * quote. SIZE_MAX when there is none. */
static size_t
separator(struct hf_str text, size_t i, char *sign)
{
	size_t name = i, quote;

	i = skip_quote(text, i);
	quote = i;
	/* ["x-api-key"] = and ("x-api-key", are written, too. */
	if (quote > name && at_or_nul(text, i) == ']')
		i++;
	i = skip_blanks(text, i);
	*sign = at_or_nul(text, i);
	if (*sign != ':' && *sign != '=' && (*sign != ',' || quote == name))
		return SIZE_MAX;
	i++;
	if (at_or_nul(text, i) == '>')
		i++;
	return skip_blanks(text, skip_quote(text, skip_blanks(text, i)));
}

/* The end of a header's value; what ends it cannot be part of a token. */
static size_t
value_end(struct hf_str text, size_t i, size_t max)
{
	size_t from = i;

	while (i < text.n && i - from < max) {
		unsigned char c = (unsigned char)text.s[i];

		if (c <= ' ' || c >= 0x7f ||
		    memchr("\"'`\\,;<>()[]{}$|", c, 16) != NULL)
			break;
		i++;
	}
	return i;
}

static bool
is_scheme(struct hf_str a)
{
	static const char *const scheme[] = { "bearer", "basic", "token",
	    "apikey", "api-key", "key", "bot", "negotiate", "ntlm", "oauth",
	    "jwt", "digest", "sso-key", "genericapikey", "splunk" };

	for (size_t i = 0; i < sizeof(scheme) / sizeof(scheme[0]); i++)
		if (hf_str_ieq(a, hf_str(scheme[i])))
			return true;
	return false;
}

/* Not the name of a variable or a type: those have no digits as a rule. A
 * user and a password in base64 need not have one either. */
static bool
is_credential(struct hf_str value, bool basic)
{
	return tokenish(value) && (basic || value.n >= 24 ||
	    (hf_chars_all(value) & HF_CH_DIGIT) != 0);
}

static bool
authorization(struct hf_str text, size_t i, struct hf_span *out)
{
	size_t end = value_end(text, i, VALUE_MAX), next;
	struct hf_str word = hf_strn(text.s + i, end - i);
	bool basic = hf_str_ieq(word, HF_STR("basic"));

	if (is_scheme(word)) {
		i = skip_blanks(text, end);
		end = value_end(text, i, VALUE_MAX);
	} else {
		/* Opaque, without a scheme: then it is all there is, and
		 * no expression. */
		next = skip_blanks(text, end);
		if (word.n < 16 || (hf_chars_all(word) & HF_CH_DIGIT) == 0 ||
		    is_path(word) || at_or_nul(text, end) == '(' ||
		    (next > end && next < text.n && text.s[next] != '\n' &&
		    text.s[next] != '\r'))
			return false;
	}
	*out = (struct hf_span){ i, end };
	return is_credential(hf_strn(text.s + i, end - i), basic);
}

/* The value of a setting: base64 of one length, so that no other value of
 * that name is taken. */
static bool
setting(struct hf_str text, size_t i, size_t min, struct hf_span *out)
{
	size_t end = hf_chars_run(text, i, HF_CH_BASE64, VALUE_MAX);
	size_t n = end - i;

	while (end < text.n && end - i < n + 2 && text.s[end] == '=')
		end++;
	*out = (struct hf_span){ i, end };
	return !hf_chars_same(hf_strn(text.s + i, n)) &&
	    (min >= 100 ? n >= min : n == min) &&
	    (end == text.n || (hf_chars(text.s[end]) & HF_CH_WORD) == 0);
}

static bool
named(const struct carrier *c, struct hf_str text, size_t at, size_t edge,
    struct hf_span *out)
{
	size_t i = at + strlen(c->name), end;
	struct hf_str value;
	char sign, before = at > edge ? text.s[at - 1] : '\0';

	if (c->kind == QUERY) {
		if ((before != '?' && before != '&') ||
		    at_or_nul(text, i) != '=')
			return false;
		end = hf_chars_run(text, i + 1, HF_CH_BASE64 | HF_CH_PERCENT |
		    HF_CH_EQUAL | HF_CH_UNDER | HF_CH_DASH, VALUE_MAX);
		*out = (struct hf_span){ i + 1, end };
		return end - i > c->min;
	}
	if ((i = separator(text, i, &sign)) == SIZE_MAX || i >= text.n)
		return false;
	if (c->kind == AUTHORIZATION)
		return authorization(text, i, out);
	if (c->kind == SETTING)
		return sign != ',' && setting(text, i, c->min, out);
	/* A text of names alone must not take long: a value of a header
	 * has a digit early. */
	end = value_end(text, i, DIGIT_MAX);
	if (c->kind == HEADER && (hf_chars_all(hf_strn(text.s + i,
	    end - i)) & HF_CH_DIGIT) == 0)
		return false;
	end = value_end(text, i, VALUE_MAX);
	value = hf_strn(text.s + i, end - i);
	*out = (struct hf_span){ i, end };
	if (c->kind == NPMRC)
		return sign == '=' && end - i >= SECRET_MIN && before != '.' &&
		    !hf_words_template(value);
	/* AWS::ApiKey is a type. */
	return before != ':' && before != '.' && tokenish(value) &&
	    !is_path(value);
}

/* ---- the rest ---- */

/* "Bearer" and a token that is no word, where no header's name is near. */
static bool
bearer_at(struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	size_t i = at + 6, end;
	struct hf_str value;
	unsigned digits = 0;

	if (!hf_shapes_edge(text, at, edge) || !blank(at_or_nul(text, i)))
		return false;
	i = skip_blanks(text, i);
	end = hf_chars_run(text, i, HF_CH_TOKEN | HF_CH_DOT | HF_CH_TILDE |
	    HF_CH_PLUS | HF_CH_EQUAL, VALUE_MAX);
	while (end > i && text.s[end - 1] == '.')
		end--;
	value = hf_strn(text.s + i, end - i);
	for (size_t k = 0; k < value.n; k++)
		if ((hf_chars(value.s[k]) & HF_CH_DIGIT) != 0)
			digits++;
	*out = (struct hf_span){ i, end };
	return value.n >= BARE_MIN && digits >= 2 && value.s[0] != '/' &&
	    (hf_chars_all(value) & HF_CH_LETTER) != 0 && !is_uuid(value);
}

/* 123456789:AA and 33 more: a Telegram bot. */
static bool
telegram_at(struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	size_t i = at, end;

	while (i > edge && at - i < 11 &&
	    (hf_chars(text.s[i - 1]) & HF_CH_DIGIT) != 0)
		i--;
	if (at - i < 8 || at - i > 10 || at_or_nul(text, at + 2) != 'A')
		return false;
	end = hf_chars_run(text, at + 1, HF_CH_TOKEN, 64);
	*out = (struct hf_span){ at + 1, end };
	return end - at - 1 == 35;
}

/* xxx8Q~ and 31 to 34 more: a client secret of Azure. */
static bool
azure_at(struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	size_t end;

	if (at < edge + 3 || at_or_nul(text, at + 2) != '~')
		return false;
	end = hf_chars_run(text, at + 3, HF_CH_TOKEN | HF_CH_DOT |
	    HF_CH_TILDE, VALUE_MAX);
	*out = (struct hf_span){ at, end };
	return end - at >= 34;
}

/* ….atlasv1.… : Terraform. */
static bool
atlas_at(struct hf_str text, size_t at, struct hf_span *out)
{
	size_t end = hf_chars_run(text, at + 9, HF_CH_TOKEN, VALUE_MAX);

	*out = (struct hf_span){ at + 9, end };
	return end - at - 9 >= 50;
}

static bool
starts(struct hf_str text, size_t at, const char *lit)
{
	return hf_str_istarts(hf_strn(text.s + at, text.n - at), lit);
}

bool
hf_carriers_at(const struct hf_carriers *index, struct hf_str text,
    size_t at, size_t edge, struct hf_span *out)
{
	char c = text.s[at], d = at_or_nul(text, at + 1);
	size_t i = index->first[c & 31];

	if (c == ':')
		return d == '/' ? hf_urls_at(text, at, edge, out) :
		    d == 'A' && telegram_at(text, at, edge, out);
	if ((c == '7' || c == '8') && d == 'Q')
		return azure_at(text, at, edge, out);
	if (c == '.')
		return starts(text, at, ".atlasv1.") &&
		    atlas_at(text, at, out);
	if (c == 'e' && d == 'y')
		return jwt_at(text, at, edge, out);
	if ((c == 'b' || c == 'B') && starts(text, at, "bearer"))
		return bearer_at(text, at, edge, out);
	for (; i < NCARRIERS && lower(c) == carrier[i].name[0]; i++)
		if (lower(d) == carrier[i].name[1] &&
		    starts(text, at, carrier[i].name) &&
		    hf_shapes_edge(text, at, edge) &&
		    named(&carrier[i], text, at, edge, out))
			return true;
	return false;
}
