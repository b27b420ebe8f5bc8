/*
 * Masking: every shape masked, everything that only looks like one left
 * alone. Tokens are joined from pieces here, so that no search for secrets
 * finds this file.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "base/hmac.h"
#include "brief/known.h"
#include "brief/secrets.h"
#include "brief/words.h"
#include "check.h"
#include "scratch.h"

/* Random letters and digits, always the same. */
#define R8	"q7Zk3LpX"
#define R16	R8 "b9Rt2WvC"
#define R20	R16 "m4Hd"
#define R32	R16 "n6Jf8SgYe1Ku5TxQ"
#define R36	R32 "c0Ma"
#define R40	R32 "z3Bw7NqE"
#define R48	R40 "h2Vy9DrG"
#define R64	R48 R16
#define H32	"0a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define H40	H32 "deadbeef"
#define H48	H40 "01234567"
#define H64	H32 H32
#define U16	"K7QX4M2ZP9RT6WVB"

static struct hf_secrets *secrets;

static char *
masked(struct hf_secrets *s, const char *text, size_t n)
{
	struct hf_buf once = HF_BUF_INIT, twice = HF_BUF_INIT;

	hf_secrets_mask(s, &once, hf_strn(text, n));
	hf_secrets_mask(s, &twice, hf_buf_view(&once));
	if (!hf_str_eq(hf_buf_view(&once), hf_buf_view(&twice))) {
		CHECK_STR(hf_buf_cstr(&twice), hf_buf_cstr(&once));
		hf_buf_clear(&once);
	}
	hf_buf_release(&twice);
	return hf_buf_steal(&once);
}

/* The text with one placeholder as "#", so that it can be compared. */
static char *
shown(struct hf_secrets *s, const char *text)
{
	char *m = masked(s, text, strlen(text));
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str a = hf_str(m);
	size_t i, from = 0;

	while ((i = hf_str_find(a, HF_STR("[secret:"), from)) != SIZE_MAX) {
		hf_buf_add(&out, m + from, i - from);
		hf_buf_putc(&out, '#');
		from = i + 21;
	}
	hf_buf_add(&out, m + from, a.n - from);
	free(m);
	return hf_buf_steal(&out);
}

static void
is_shown(const char *text, const char *want)
{
	char *got = shown(secrets, text);

	CHECK_STR(got, want);
	free(got);
}

/* What stands around a token stays, and so do an equals sign, quotes, a
 * full stop and a colour next to it. */
static void
is_masked(const char *token)
{
	static const struct { const char *before, *after; } around[] = {
		{ "", "" }, { "the key ", " is old" }, { "KEY=", "\nNEXT=1" },
		{ "\"", "\"," }, { "see (", ")" }, { "it is ", ". Then" },
		{ "\033[32m", "\033[0m ok" }, { "值", "。" },
		{ "a\\n", "\\nb" }, { "https://h.example/?k=", "&z=1" },
	};

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
		struct hf_buf text = HF_BUF_INIT, want = HF_BUF_INIT;
		char *got;

		hf_buf_printf(&text, "%s%s%s", around[i].before, token,
		    around[i].after);
		hf_buf_printf(&want, "%s#%s", around[i].before,
		    around[i].after);
		got = shown(secrets, hf_buf_cstr(&text));
		CHECK_STR(got, hf_buf_cstr(&want));
		free(got);
		hf_buf_release(&text);
		hf_buf_release(&want);
	}
}

static void
is_kept(const char *text)
{
	is_shown(text, text);
}

static void
test_shapes(void)
{
	is_masked("sk-" "ant-" "api03-" R40 "-_" R40 "AA");
	is_masked("sk-" "proj-" R40 "_" R40 "-x" R20);
	is_masked("sk-" "svcacct-" R40);
	is_masked("sk-" "or-v1-" H64);
	is_masked("sk-" R48);
	is_masked("sk-" H32);
	is_masked("gh" "p_" R36);
	is_masked("gh" "o_" R36);
	is_masked("gh" "u_" R36);
	is_masked("gh" "s_" R36);
	is_masked("gh" "r_" R36);
	is_masked("github" "_pat_" R20 "_" R40);
	is_masked("gl" "pat-" R20);
	is_masked("AK" "IA" U16);
	is_masked("AS" "IA" U16);
	is_masked("AI" "za" R32 "_-9");
	is_masked("xo" "xb-123456789012-1234567890123-" R20);
	is_masked("xo" "xp-1-2-3-" H32);
	is_masked("np" "m_" R36);
	is_masked("hf" "_" "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH");
	is_masked("py" "pi-AgEIcHlwaS5vcmc" R40);
	is_masked("SG" "." R20 "a_." R40 "-x3");
	is_masked("sk" "_live_" R20);
	is_masked("rk" "_live_" R20);
	is_masked("wh" "sec_" R32);
	is_masked("do" "p_v1_" H64);
	is_masked("sh" "pat_" H32);
	is_masked("lin" "_api_" R40);
	is_masked("ya" "29." R40 "_-" R20);
	is_masked("AGE-" "SECRET-KEY-1" U16 U16 U16 "QQ4XL9TZ2W");
	is_masked("SK" H32);
	is_masked("da" "pi" H32);
	is_masked("hv" "s." R32);
	is_masked("gs" "k_" R48);
	is_masked("ey" "Jhb" R16 ".eyJ" R32 "." R40);
	is_masked("ey" "Jhb" R16 "." R40 "." R16 "." R40 "." R20);
}

static void
test_not_shapes(void)
{
	is_kept("risk-adjusted-return-on-capital-employed-over-all and "
	    "disk-usage-monitor-configuration-file-rotation-policy-2024");
	is_kept("class sk-circle-fade-dot-12 sk-estimator-doc-link-fitted "
	    "sk-toggleable__content sk-container-id-1");
	is_kept("hf_session_render_transcript_as_plain_text and "
	    "hf_brief_serialise_into_buffer_and_trim2");
	is_kept("npm_config_registry npm_lifecycle_event_of_the_parent1");
	is_kept("5f0c7a52-9d1e-4b7a-8c3d-2e6f1a0b9c8d " H40 " " H64);
	is_kept("toolu_01A09q90qw90lq917835lq9 call_mock17960709391463 "
	    "msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy");
	is_kept("\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/"
	    "SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"");
	is_kept("the gh" "p_ and sk" "-ant- prefixes; AK" "IA and AS" "IA");
	is_kept("gh" "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	is_kept("XAK" "IA" U16 " AK" "IA" U16 "A");
	is_kept("/home/dev/.pnpm/very-long-name@12.3.4_peer+hash/dist/i.js");
	is_kept("eyJhbGciOiJIUzI1NiJ9 alone, eyJhbGciOiJIUzI1NiJ9.abc");
	is_kept("2026-01-15T09:00:30.000Z 12:30:45 10.0.0.1:8080");
	is_kept("");
	is_kept("s");
}

static void
test_urls(void)
{
	is_shown("DB=postgres://app:t7KqZmW2xR9v@db.example.com:5432/shop",
	    "DB=postgres://app:#@db.example.com:5432/shop");
	is_shown("redis://:hunt@er2Zz9@cache.example.com:6379/0",
	    "redis://:#@cache.example.com:6379/0");
	is_shown("https://me:pw@[::1]:80/ and http://a:b@c", "https://me:#"
	    "@[::1]:80/ and http://a:#@c");
	is_shown("mysql://u:pa/ss?w0rd@db.local/x",
	    "mysql://u:#@db.local/x");
	is_shown("http://u:*s3cret@h http://u:[abc@h http://u:$1x@h",
	    "http://u:#@h http://u:#@h http://u:#@h");
	is_shown("https://x:p%40ss@h.example/", "https://x:#@h.example/");
	is_shown("https://" H40 "@github.com/a/b",
	    "https://#@github.com/a/b");
	is_shown("amqp://u:p@h1,amqp://u:q1@h2", "amqp://u:#@h1,"
	    "amqp://u:#@h2");
	is_shown("{\\\"url\\\":\\\"postgres:\\/\\/u:s3cretpw@h\\\"}",
	    "{\\\"url\\\":\\\"postgres:\\/\\/u:#@h\\\"}");
	is_kept("https://example.com:8443/a?email=user@example.org "
	    "ssh://git@example.com/team/repo.git "
	    "git@example.com:team/repo.git");
	is_kept("postgres://app:$DB_PASS@db/x mysql://u:${PW}@h "
	    "http://u:<password>@h http://u:***@h http://u:{{p}}@h "
	    "http://%s:%s@h http://u:%(pw)s@h");
	is_kept("http://localhost:3000/@vite/client http://h:80?a=b@c.d "
	    "mongodb://h1:27017,h2:27017/db?x=y@z");
	is_kept("https://user@bitbucket.org/a http://[::1]:80/a@b "
	    "npm://registry:4873/@scope/name file:///a:b@c");
}

static void
test_headers(void)
{
	is_shown("> Authorization: Bearer q7-abcdeFgH < HTTP/2 200",
	    "> Authorization: Bearer # < HTTP/2 200");
	is_shown("-H 'authorization: basic dXNlcjpwYXNz'",
	    "-H 'authorization: basic #'");
	is_shown("{\"Authorization\": \"Bearer abcDEF123\"}",
	    "{\"Authorization\": \"Bearer #\"}");
	is_shown("{\\\"Authorization\\\":\\\"Bearer abcDEF123\\\"}",
	    "{\\\"Authorization\\\":\\\"Bearer #\\\"}");
	is_shown("Authorization: " R16, "Authorization: #");
	is_shown("Authorization: token " R16 "\r\n",
	    "Authorization: token #\r\n");
	is_shown("set(\"Authorization\", \"Bearer abcDEF123\")",
	    "set(\"Authorization\", \"Bearer #\")");
	is_shown("x-api-key: " R16 "\nX-Api-Key: " R20,
	    "x-api-key: #\nX-Api-Key: #");
	is_shown("headers['x-api-key'] = '" R16 "'",
	    "headers['x-api-key'] = '#'");
	is_shown("curl -H \"PRIVATE-TOKEN: " R20 "\"",
	    "curl -H \"PRIVATE-TOKEN: #\"");
	is_shown("//r.example.com/:_authToken=" R16,
	    "//r.example.com/:_authToken=#");
	is_kept("aws_secret_access_key = " R32 "+/a1b2c");
	is_shown("aws_secret_access_key = " R32 "+/a1b2c3",
	    "aws_secret_access_key = #");
	is_kept("aws_secret_access_key = " R32 "+/a1b2c3d");
	is_shown("\"SecretAccessKey\": \"" R32 "+/a1b2c3\"",
	    "\"SecretAccessKey\": \"#\"");
	is_shown("AccountName=x;AccountKey=" R64 R20 "a+==;Suffix=y",
	    "AccountName=x;AccountKey=#;Suffix=y");
	is_shown("https://x.example/b?sv=1&sig=" R40 "%2B%3D&se=2",
	    "https://x.example/b?sv=1&sig=#&se=2");
	is_shown("bot 123456789:AA" R32 "x failed", "bot 123456789:# failed");
	is_shown("got Bearer " R20 "!", "got Bearer #!");
	is_kept("the bearer of this ticket; Bearer authentication is "
	    "described in chapter 4; bearer 5f0c7a52-9d1e-4b7a-8c3d-"
	    "2e6f1a0b9c8d");
	is_kept("Authorization: Bearer $TOKEN, Authorization: Bearer ${T}, "
	    "Authorization: Bearer <token>, authorization: none");
	is_kept("Authorization: Bearer token\nauthorization: required here");
	is_kept("x-api-key: YOUR_API_KEY, x-api-key: $KEY, "
	    "apiKey: config.keys2.main, api-key, number 12345678");
	is_kept("//r.example.com/:_authToken=${NPM_TOKEN}");
	is_kept("PRIMARY_KEY=user_id; REF=" H40);
}

#define LINE1	"EuFyE/I/xjSbEQNqPYxSklzQLXt2o7uFF4JrRPBevOnczjY8jHWI"
#define LINE2	"/8si0coNMnpwroenQ78E9IjYVAm3HYZRgoT3jZaywGF7VlWQA4Sh"
#define LINE3	"qDEHWRLnU/kO3cM77rdb=="
#define BEGIN	"-----BEGIN " "RSA PRIVATE " "KEY-----"
#define END	"-----END " "RSA PRIVATE " "KEY-----"

static void
test_pem(void)
{
	is_shown("a " BEGIN "\n" LINE1 "\n" LINE2 "\n" LINE3 "\n" END " b",
	    "a # b");
	is_shown("a \"" BEGIN "\\n" LINE1 "\\n" LINE2 "\\n" END "\\n\" b",
	    "a \"#\\n\" b");
	is_shown(BEGIN "\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,"
	    "00112233445566778899AABBCCDDEEFF\r\n\r\n" LINE1 "\r\n" LINE2
	    "\r\n" END, "#");
	is_shown("     1\t" BEGIN "\n     2\t" LINE1 "\n     3\t" LINE2
	    "\n     4\t" LINE3 "\n     5\t" END "\n     6\tend",
	    "     1\t#\n     6\tend");
	is_shown("cut: " BEGIN "\n" LINE1 "\n" LINE2 "\n" "abcd",
	    "cut: #");
	is_shown("cut: " BEGIN "\n" LINE1 "\n" LINE2 "\n[12 more lines]",
	    "cut: #\n[12 more lines]");
	is_shown("tail:\n" LINE1 "\n" LINE2 "\n" LINE3 "\n" END "\nx",
	    "tail:\n#\nx");
	is_kept("grep '" BEGIN "' *.pem; the file ends with " END ".");
	is_kept("if (strstr(p, \"" BEGIN "\") == NULL)\n\treturn parse_pem("
	    "buffer, length);\nif (!ends(p, \"" END "\"))\n");
	is_kept("-----BEGIN CERTIFICATE-----\n" LINE1 "\n" LINE2 "\n"
	    "-----END CERTIFICATE-----");
	is_kept("-----BEGIN PUBLIC KEY-----\n" LINE1 "\n" LINE3 "\n"
	    "-----END PUBLIC KEY-----\n-------------------");
}

static void
test_spellings(void)
{
	char *a, *b;

	is_shown("remote: gh\\u0070_" R36 " ok", "remote: # ok");
	is_shown("remote: gh\\\\u0070_" R36 " ok", "remote: # ok");
	is_shown("**gh" "p\\_" R36 "**", "**#**");
	is_shown("k=gh" "p%5F" R36 "&x=1", "k=#&x=1");
	is_shown("token gh" "p_" R16 "\n" R20 " AFTER", "token # AFTER");
	is_shown("token gh" "p_" R16 "\\n" R20 " AFTER", "token # AFTER");
	is_kept("the prefix gh" "p_\nis GitHub's");
	is_shown("0123456789012345678901234567890123456789 sk" "-ant-" R20
	    "\n" R20 "\nnext", "0123456789012345678901234567890123456789 #"
	    "\nnext");
	is_shown("sk" "-ant-" R32 "\nAbc1Def2Ghi3", "#\nAbc1Def2Ghi3");
	/* One secret, one placeholder, however it is spelled. */
	a = masked(secrets, "gh" "p_" R36, 40);
	b = masked(secrets, "gh" "p%5f" R36, 42);
	CHECK_STR(b, a);
	free(b);
	b = masked(secrets, "gh" "p_" R16 "\n" R16 "c0Ma", 41);
	free(a);
	free(b);
	a = masked(secrets, BEGIN "\n" LINE1 "\n" LINE3 "\n" END,
	    strlen(BEGIN LINE1 LINE3 END) + 3);
	b = masked(secrets, BEGIN "\\n" LINE1 "\\n" LINE3 "\\n" END,
	    strlen(BEGIN LINE1 LINE3 END) + 6);
	CHECK_STR(b, a);
	free(a);
	free(b);
	a = masked(secrets, "a\0gh" "p_" R36 "\0b", 44);
	CHECK(a[0] == 'a' && a[1] == '\0' && a[2] == '[' &&
	    a[23] == '\0' && a[24] == 'b');
	free(a);
}

/* ---- known values ---- */

static void
add(struct hf_secrets *s, const char *value, const char *name)
{
	hf_secrets_add(s, hf_str(value), name);
}

static void
is_known(struct hf_secrets *s, const char *text, const char *want)
{
	char *got = shown(s, text);

	CHECK_STR(got, want);
	free(got);
}

static void
test_known(void)
{
	struct hf_secrets *s = hf_secrets_load(NULL, NULL, NULL);

	add(s, "plainwordvalue42", "DEPLOY_TOKEN");
	add(s, "plainwordvalue42-and-more", "LONG_TOKEN");
	add(s, "plainwordvalue42", "A_SECOND_KEY");
	add(s, "ab\"c\\d\nef/g42", "DB_PASSWORD");
	add(s, "with space&sign", "ODD_PASS");
	add(s, "literal-of-a-file", NULL);
	add(s, "valueofbadname99", "not a name");
	add(s, "value42-and-other", NULL);
	add(s, "shortname-1", "K");
	hf_secrets_add(s, hf_strn("\0bin\0ary", 8), NULL);
	is_known(s, "use plainwordvalue42.", "use $A_SECOND_KEY.");
	is_known(s, "xplainwordvalue42x", "x${A_SECOND_KEY}x");
	is_known(s, "plainwordvalue42-and-more!", "$LONG_TOKEN!");
	is_known(s, "plainwordvalue42-and-other", "#");
	is_known(s, "plain\nword plainwor\ndvalue42", "plain\nword "
	    "$A_SECOND_KEY");
	is_known(s, "plainwordv\r\n  alue42", "$A_SECOND_KEY");
	is_known(s, "ab\"c\\d\nef/g42", "$DB_PASSWORD");
	is_known(s, "{\"p\":\"ab\\\"c\\\\d\\nef/g42\"}",
	    "{\"p\":\"$DB_PASSWORD\"}");
	is_known(s, "\\\"ab\\\\\\\"c\\\\\\\\d\\\\nef\\/g42\\\"",
	    "\\\"$DB_PASSWORD\\\"");
	is_known(s, "p=ab%22c%5Cd%0aef%2fg42&", "p=$DB_PASSWORD&");
	is_known(s, "with%20space%26sign", "$ODD_PASS");
	is_known(s, "a literal-of-a-file, valueofbadname99",
	    "a #, #");
	is_known(s, "shortname-1", "#");
	is_known(s, "curl -u with\\ space\\&sign", "curl -u $ODD_PASS");
	is_known(s, "\\[plainwordvalue42\\]", "\\[$A_SECOND_KEY\\]");
	is_known(s, "$DEPLOY_TOKEN ${DEPLOY_TOKEN} $HOME",
	    "$DEPLOY_TOKEN ${DEPLOY_TOKEN} $HOME");
	hf_secrets_free(s);
}

/* Values that occur in what they are replaced by. */
static void
test_fixed_point(void)
{
	struct hf_secrets *s = hf_secrets_load(NULL, NULL, NULL);
	char *m;

	add(s, "secret", NULL);
	add(s, "DEPLOY_TOKEN", "DEPLOY_TOKEN");
	add(s, "TOKENTOKEN", "X_TOKEN");
	add(s, "]$X_T", NULL);
	add(s, "0000", NULL);
	is_known(s, "a secret DEPLOY_TOKEN", "a # $DEPLOY_TOKEN");
	is_known(s, "secretsecret", "##");
	m = masked(s, "TOKENTOKENTOKENTOKEN]$X_TOKEN secret]$X_TOKEN", 44);
	free(m);
	is_known(s, "secretgh" "p_" R36, "##");
	is_known(s, "AK" "IA" U16 "secret", "##");
	CHECK(hf_secrets_count(s) >= 8);
	hf_secrets_free(s);
}

static void
test_restore(void)
{
	static const char text[] = "use gh" "p_" R36 " and a-file-entry, "
	    "postgres://a:pw123@h, the-variable";
	struct hf_secrets *s = hf_secrets_load(NULL, NULL, NULL);
	struct hf_buf out = HF_BUF_INIT;
	char *m;

	add(s, "a-file-entry", NULL);
	add(s, "the-variable", "V_KEY");
	m = masked(s, text, strlen(text));
	hf_secrets_restore(s, &out, hf_str(m));
	CHECK_STR(hf_buf_cstr(&out), "use gh" "p_" R36 " and a-file-entry, "
	    "postgres://a:pw123@h, $V_KEY");
	hf_buf_clear(&out);
	hf_secrets_restore(s, &out, HF_STR("x [secret:0123456789ab] y "
	    "[secret:zz"));
	CHECK_STR(hf_buf_cstr(&out), "x [secret:0123456789ab] y [secret:zz");
	free(m);
	hf_secrets_free(s);
	/* Another process knows the entries of the file without a text. */
	s = hf_secrets_load(NULL, NULL, NULL);
	m = masked(secrets, "", 0);
	free(m);
	add(s, "a-file-entry", NULL);
	m = masked(s, "a-file-entry", 12);
	hf_secrets_free(s);
	s = hf_secrets_load(NULL, NULL, NULL);
	add(s, "a-file-entry", NULL);
	hf_buf_clear(&out);
	hf_secrets_restore(s, &out, hf_str(m));
	CHECK_STR(hf_buf_cstr(&out), "a-file-entry");
	free(m);
	hf_secrets_free(s);
	hf_buf_release(&out);
}

static void
test_names_and_words(void)
{
	static const char *const yes[] = { "API_KEY", "APIKEY", "PGPASSWORD",
	    "DB_PASS", "X_AUTH", "GOOGLE_OAUTH", "A_CREDENTIALS", "MY_SECRET",
	    "npm_token", "SSH_PRIVATE" };
	static const char *const no[] = { "TOKENIZER", "AUTHORITY",
	    "KEYBOARD", "PATH", "SSH_AUTH_SOCK", "" };
	static const char *const plain[] = { "password", "Development",
	    "not-set", "change-me", "your api key", "use_keychain" };
	static const char *const odd[] = { "plainwordvalue42", "hunter22",
	    "correct horse battery staple", "Tr0ub4dor", "", "-", "a--b" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK(hf_known_name(hf_str(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK(!hf_known_name(hf_str(no[i])));
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		CHECK(hf_words_plain(hf_str(plain[i])));
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		CHECK(!hf_words_plain(hf_str(odd[i])));
}

/* ---- where they come from ---- */

static void
write_file(const char *dir, const char *name, const char *text)
{
	struct hf_dir d = HF_DIR_INIT;

	CHECK_INT(hf_dir_make(&d, dir, NULL), 0);
	CHECK_INT(hf_file_replace(&d, name, hf_str(text), NULL), 0);
	hf_dir_close(&d);
}

static void
test_sources(const char *dir)
{
	struct hf_config c = { .secrets_file = NULL };
	struct hf_secrets *s;
	struct hf_err err;
	char *list = hf_path_join(dir, "list");

	write_file(dir, ".env", "\xef\xbb\xbf# comment\r\n"
	    "SERVICE_TOKEN=opaquevalue19 # live\r\n"
	    "export QUOTED_KEY=\"two \\\"words\\\" 42\"\n"
	    "SINGLE_SECRET='it is $this1'\nREGION=eu-central-region\n"
	    "SHORT_KEY=abc\nPATH_KEY=.env\nWORD_PASSWORD=password\n"
	    "MULTI_KEY=\"line-one-1\nline-two-2\"\n"
	    "OPEN_KEY=\"unclosed-11\nLAST_TOKEN: \"yaml-value-7\"\n"
	    "EMPTY_KEY=\nREF_KEY=${SERVICE_TOKEN}\nHASH_KEY=#nothing-here\n");
	s = hf_secrets_load(&c, dir, &err);
	if (!CHECK(s != NULL))
		goto out;
	is_known(s, "opaquevalue19 two \"words\" 42 two \\\"words\\\" 42 "
	    "it is $this1 eu-central-region abc .env password",
	    "$SERVICE_TOKEN $QUOTED_KEY $QUOTED_KEY $SINGLE_SECRET "
	    "eu-central-region abc .env password");
	is_known(s, "line-one-1\nline-two-2 unclosed-11 yaml-value-7 "
	    "#nothing-here", "$MULTI_KEY $OPEN_KEY $LAST_TOKEN "
	    "#nothing-here");
	hf_secrets_free(s);

	write_file(dir, "list", "# a comment\n\nentry-of-the-list\r\n#hash\n");
	c.secrets_file = list;
	s = hf_secrets_load(&c, NULL, &err);
	if (CHECK(s != NULL))
		is_known(s, "entry-of-the-list #hash # a comment",
		    "# # # a comment");
	hf_secrets_free(s);
	write_file(dir, "list", "fine\nab\n");
	CHECK(hf_secrets_load(&c, NULL, &err) == NULL);
	CHECK_INT(err.code, HF_E_CONFIG);
	CHECK(strstr(err.msg, "line 2") != NULL &&
	    strstr(err.msg, "ab'") == NULL);
	unlink(list);
	CHECK(hf_secrets_load(&c, NULL, &err) == NULL);
	CHECK_INT(err.code, HF_E_CONFIG);
out:
	free(list);
}

/* As a process of its own: its environment, its state. */
static int
child(void)
{
	struct hf_err err;
	struct hf_secrets *s = hf_secrets_load(NULL, NULL, &err);
	char *m;

	if (s == NULL) {
		printf("%d %s\n", err.code == HF_E_CONFIG, err.msg);
		return 0;
	}
	m = shown(s, "child-value-77 DEFAULT");
	printf("%s\n", m);
	free(m);
	m = masked(s, "gh" "p_" R36, 40);
	printf("%s\n", m);
	free(m);
	hf_secrets_free(s);
	return 0;
}

static char *
run_child(const char *self, const char *home, const char *var)
{
	struct hf_buf set = HF_BUF_INIT, out = HF_BUF_INIT;
	const char *argv[6] = { "env", NULL, "CHILD_TOKEN=", self, "child" };

	hf_buf_printf(&set, "HANDOFF_HOME=%s", home);
	argv[1] = hf_buf_cstr(&set);
	if (var != NULL)
		argv[2] = var;
	CHECK_INT(scratch_run(argv, NULL, &out, NULL), 0);
	hf_buf_release(&set);
	return hf_buf_steal(&out);
}

static void
test_key(const char *self, const char *dir)
{
	char *home = hf_path_join(dir, "state"), *a, *b, *key;
	struct stat st;

	a = run_child(self, home, "CHILD_TOKEN=child-value-77");
	CHECK(strncmp(a, "$CHILD_TOKEN DEFAULT\n[secret:", 29) == 0);
	b = run_child(self, home, "CHILD_TOKEN=child-value-77");
	CHECK_STR(b, a);
	free(b);
	key = hf_path_join(home, "placeholder.key");
	CHECK_INT(stat(key, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(st.st_size, 32);
	chmod(key, 0640);
	b = run_child(self, home, NULL);
	CHECK(strncmp(b, "1 the key '", 11) == 0);
	free(b);
	chmod(key, 0600);
	CHECK_INT(truncate(key, 5), 0);
	b = run_child(self, home, NULL);
	CHECK(strstr(b, "is no key") != NULL);
	free(b);
	free(a);
	/* Where nothing can be kept it works all the same. */
	a = run_child(self, "/proc/nothing/here", NULL);
	CHECK(strncmp(a, "child-value-77 DEFAULT\n[secret:", 31) == 0);
	free(a);
	a = run_child(self, "relative", NULL);
	CHECK(strncmp(a, "1 ", 2) == 0);
	free(a);
	free(key);
	free(home);
}

/* Once more with a state of its own: the user's is none of a test's. */
static int
again(const char *self, const char *dir)
{
	struct hf_buf set = HF_BUF_INIT;
	const char *argv[] = { "env", NULL, self, dir, NULL };

	hf_buf_printf(&set, "HANDOFF_HOME=%s/own", dir);
	argv[1] = hf_buf_cstr(&set);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	printf("Bail out! cannot run env\n");
	return 1;
}

int
main(int argc, char **argv)
{
	struct hf_err err;

	if (argc == 1)
		return again(argv[0], scratch_make());
	if (strcmp(argv[1], "child") == 0)
		return child();
	secrets = hf_secrets_load(NULL, NULL, &err);
	if (CHECK(secrets != NULL)) {
		test_shapes();
		test_not_shapes();
		test_urls();
		test_headers();
		test_pem();
		test_spellings();
		test_known();
		test_fixed_point();
		test_restore();
		test_names_and_words();
		test_sources(argv[1]);
		test_key(argv[0], argv[1]);
	}
	hf_secrets_free(secrets);
	scratch_remove(hf_strdup(argv[1]));
	return check_done();
}
