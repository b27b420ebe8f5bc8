#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "config/edit.h"
#include "config/models.h"
#include "scratch.h"

static char *home, *folder, *path;

/* ---- reading ---- */

static void
put(const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}

/* The message of a file that is refused; NULL when it is taken. */
static const char *
refused(const char *text)
{
	static struct hf_err err;
	struct hf_config c;

	put(text);
	err.code = HF_OK;
	if (hf_config_load(&c, &err) == 0) {
		hf_config_release(&c);
		return NULL;
	}
	CHECK_INT(err.code, HF_E_CONFIG);
	return err.msg;
}

static void
bad(const char *text, const char *part, const char *part2)
{
	const char *msg = refused(text);

	if (!CHECK(msg != NULL && strstr(msg, part) != NULL &&
	    strstr(msg, part2) != NULL))
		printf("# %s: %s\n", text, msg != NULL ? msg : "taken");
}

static void
good(const char *text)
{
	const char *msg = refused(text);

	if (!CHECK(msg == NULL))
		printf("# %s: %s\n", text, msg);
}

static void
test_defaults(void)
{
	struct hf_config c;

	unlink(path);
	CHECK(hf_config_load(&c, NULL) == 0);
	CHECK_INT(c.ratio_ppm, 750000);
	CHECK_INT(c.tokens, 120000);
	CHECK_INT(c.min_turns, 4);
	CHECK_INT(c.compactions, 3);
	CHECK(!c.auto_handoff && !c.allow_http && !c.secrets_restore);
	CHECK(!c.save_to_disk && !c.instead_of_compact);
	CHECK_STR(c.provider, "extract");
	CHECK_STR(c.fallback, "none");
	CHECK_STR(c.store, "files");
	CHECK_STR(c.model, NULL);
	CHECK_STR(c.title_suffix, NULL);
	CHECK(c.start == NULL && c.command == NULL && c.models == NULL);
	CHECK_INT(c.timeout_seconds, 180);
	CHECK_INT(c.max_tokens, 6000);
	CHECK_INT(c.max_chain, 8);
	CHECK_INT(c.cooldown_seconds, 300);
	CHECK_INT(c.keep_days, 90);
	CHECK_STR(c.path, path);
	hf_config_release(&c);
	good("");
	good(" \n");
	good("\xef\xbb\xbf{}");
	rmdir(folder);
	CHECK(hf_config_load(&c, NULL) == 0);
	hf_config_release(&c);
	mkdir(folder, 0700);
}

static void
test_values(void)
{
	struct hf_config c;

	put("// what\n{ /* \"handoffTokens\": 1, */ \"handoffTokens\": 5e4,\n"
	    "\"handoffRatio\": 0.55, \"autoHandoff\": true,\n"
	    "\"summarize\": {\"provider\": \"openai\", \"model\": null,\n"
	    "  \"baseUrl\": \"http://127.0.0.1:9/v1//x\",\n"
	    "  \"headers\": {\"x-a\": \"1\"}, \"keyCommand\": [\"pass\", "
	    "\"a b\"],},\n\"summarize.maxTokens\": 1000,\n"
	    "\"models\": {\"m\": 64000}, \"start\": [\"tmux\", \"{id}\"],\n"
	    "\"titleSuffix\": \" · x\",\n}\n");
	CHECK(hf_config_load(&c, NULL) == 0);
	CHECK_INT(c.tokens, 50000);
	CHECK_INT(c.ratio_ppm, 550000);
	CHECK(c.auto_handoff);
	CHECK_STR(c.provider, "openai");
	CHECK_STR(c.model, NULL);
	CHECK_STR(c.base_url, "http://127.0.0.1:9/v1//x");
	CHECK_STR(c.key_command[1], "a b");
	CHECK_STR(c.key_command[2], NULL);
	CHECK_INT(c.max_tokens, 1000);
	CHECK(hf_json_is(hf_json_get(c.headers, "x-a"), "1"));
	CHECK_INT(hf_json_size(c.models), 1);
	CHECK_STR(c.start[0], "tmux");
	CHECK_STR(c.title_suffix, " · x");
	hf_config_release(&c);
}

static void
test_refused(void)
{
	bad("{\"handoffRation\":0.5}", "'handoffRation'", "'handoffRatio'");
	bad("{\"summarize\":{\"providr\":\"x\"}}", "'summarize.providr'",
	    "'summarize.provider'");
	bad("{\"provider\":\"x\"}", "'provider'", "'summarize.provider'");
	bad("{\"zzzzzzzzzzzz\":1}", "unknown key 'zzzzzzzzzzzz'", path);
	bad("{\"summarize\":7}", "summarize must be an object", path);
	bad("{\"handoffTokens\":\"120000\"}", "handoffTokens must be an "
	    "integer from 8000 to 1000000, not \"120000\"", path);
	bad("{\"handoffTokens\":7999}", "handoffTokens", "7999");
	bad("{\"handoffTokens\":1000001}", "handoffTokens", "1000001");
	bad("{\"handoffTokens\":8000.5}", "handoffTokens", "8000.5");
	bad("{\"handoffTokens\":1e99}", "handoffTokens", "1e99");
	bad("{\"handoffRatio\":0.96}", "handoffRatio must be a number from "
	    "0.2 to 0.95, not 0.96", "");
	bad("{\"handoffRatio\":0.199999}", "handoffRatio", "0.199999");
	bad("{\"handoffRatio\":\"0.5\"}", "handoffRatio", "number");
	bad("{\"handoffMinTurns\":1}", "handoffMinTurns", "2 to 100");
	bad("{\"handoffMinTurns\":101}", "handoffMinTurns", "101");
	bad("{\"handoffCompactions\":-1}", "handoffCompactions", "-1");
	bad("{\"autoHandoff\":1}", "autoHandoff", "true or false");
	bad("{\"fallback\":\"model\"}", "fallback must be one of "
	    "none|extract", "model");
	bad("{\"summarize\":{\"model\":\"\"}}", "summarize.model", "empty");
	bad("{\"summarize\":{\"model\":\"a\\nb\"}}", "summarize.model",
	    "control");
	bad("{\"summarize\":{\"command\":\"cat\"}}", "summarize.command",
	    "list");
	bad("{\"start\":[]}", "start", "list");
	bad("{\"start\":[\"a\",1]}", "start", "list");
	bad("{\"start\":[\"\"]}", "start", "list");
	bad("{\"start\":[\"a\\u0000\"]}", "start", "list");
	bad("{\"models\":{\"m\":\"x\"}}", "models", "integers");
	bad("{\"models\":[]}", "models", "object");
	bad("{\"summarize\":{\"headers\":{\"a\":\"b\\r\\nc\"}}}",
	    "summarize.headers", "control");
	bad("{\"keepDays\":1,\"keepDays\":2}", "keepDays is there twice",
	    path);
	bad("{\"store\":\"files\",\n\"keepDays\" 1}", "line 2", path);
	bad("{\"keepDays\" 1}", "line 1, byte 13", path);
	bad("[]", "not an object", path);
	bad("{\"handoffTokens\":50000", "line 1", path);
	/* What may be a secret is not shown. */
	CHECK(strstr(refused("{\"summarize\":{\"headers\":{\"a\":"
	    "[\"hunter2\"]}}}"), "hunter2") == NULL);
	good("{\"handoffTokens\":8000,\"handoffRatio\":0.2,"
	    "\"handoffMinTurns\":2,\"handoffCompactions\":0}");
	good("{\"handoffTokens\":1000000,\"handoffRatio\":0.95,"
	    "\"handoffMinTurns\":100,\"handoffCompactions\":100}");
}

static void
test_owner(void)
{
	struct hf_config c;
	struct hf_err err = { HF_OK, "" };
	char *other = hf_path_join(home, "elsewhere");

	put("{}");
	chmod(path, 0664);
	CHECK(hf_config_load(&c, &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	CHECK(strstr(err.msg, "others may write") != NULL);
	chmod(path, 0644);
	CHECK(hf_config_load(&c, &err) == 0);
	hf_config_release(&c);
	chmod(folder, 0777);
	CHECK(hf_config_load(&c, &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	chmod(folder, 0755);
	/* A link is followed, and kept. */
	CHECK(rename(path, other) == 0 && symlink(other, path) == 0);
	CHECK(hf_config_set("keepDays", "7", &err) == 0);
	CHECK(hf_config_load(&c, &err) == 0);
	CHECK_INT(c.keep_days, 7);
	hf_config_release(&c);
	CHECK(readlink(path, (char[8]){ 0 }, 8) > 0);
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0);
	CHECK(hf_config_load(&c, &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	unlink(path);
	free(other);
}

static void
test_env(void)
{
	struct hf_config c;
	struct hf_err err = { HF_OK, "" };
	struct hf_buf value = HF_BUF_INIT;
	const char *from;

	put("{\"handoffTokens\":50000,\"keepDays\":7}");
	setenv("HANDOFF_TOKENS", "60000", 1);
	setenv("HANDOFF_RATIO", "0.5", 1);
	setenv("HANDOFF_AUTO_HANDOFF", "1", 1);
	setenv("HANDOFF_SUMMARIZE_PROVIDER", "", 1);
	CHECK(hf_config_load(&c, &err) == 0);
	CHECK_INT(c.tokens, 60000);
	CHECK_INT(c.ratio_ppm, 500000);
	CHECK(c.auto_handoff);
	CHECK_STR(c.provider, "extract");
	hf_config_release(&c);

	CHECK(hf_config_get("handoffTokens", &value, &from, &err) == 0);
	CHECK_STR(hf_buf_cstr(&value), "60000");
	CHECK_STR(from, "environment");
	hf_buf_clear(&value);
	CHECK(hf_config_get("keepDays", &value, &from, &err) == 0);
	CHECK_STR(hf_buf_cstr(&value), "7");
	CHECK_STR(from, "file");
	hf_buf_clear(&value);
	CHECK(hf_config_get("titleSuffix", &value, &from, &err) == 0);
	CHECK_STR(hf_buf_cstr(&value), "\"off\"");
	CHECK_STR(from, "default");
	hf_buf_clear(&value);
	CHECK(hf_config_get("keepDay", &value, &from, &err) < 0);
	CHECK_STR(err.msg, "unknown key 'keepDay'; did you mean "
	    "'keepDays'?");

	setenv("HANDOFF_TOKENS", "5", 1);
	CHECK(hf_config_load(&c, &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	CHECK_STR(err.msg, "handoffTokens must be an integer from 8000 to "
	    "1000000, not 5 (HANDOFF_TOKENS)");
	unsetenv("HANDOFF_TOKENS");
	unsetenv("HANDOFF_RATIO");
	unsetenv("HANDOFF_AUTO_HANDOFF");
	hf_buf_release(&value);
}

/* Each key's own default is one that it takes, and is what get prints. */
static void
test_table(void)
{
	size_t n, i;
	const struct hf_key *keys = hf_config_keys(&n);
	struct hf_buf b = HF_BUF_INIT;
	struct hf_err err;
	const char *from;

	unlink(path);
	for (i = 0; i < n; i++) {
		hf_buf_clear(&b);
		CHECK(hf_config_key(keys[i].name, NULL) == &keys[i]);
		CHECK(hf_config_get(keys[i].name, &b, &from, &err) == 0);
		CHECK_STR(hf_buf_cstr(&b), keys[i].fallback != NULL ?
		    keys[i].fallback : "null");
		if (keys[i].fallback == NULL)
			continue;
		CHECK(hf_config_set(keys[i].name, keys[i].fallback, &err) ==
		    0);
		hf_buf_clear(&b);
		CHECK(hf_config_get(keys[i].name, &b, &from, &err) == 0);
		CHECK_STR(hf_buf_cstr(&b), keys[i].fallback);
		CHECK_STR(from, "file");
	}
	hf_buf_release(&b);
}

/* ---- writing ---- */

static void
edit(const char *text, const char *key, const char *value, const char *want)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err err = { HF_OK, "" };
	int rc = hf_edit_set(&out, hf_str(text), key, hf_str(value), &err);

	CHECK_INT(rc, want != NULL);
	if (rc < 0)
		printf("# %s\n", err.msg);
	CHECK_STR(hf_buf_cstr(&out), want != NULL ? want : "");
	hf_buf_release(&out);
}

static void
test_edit(void)
{
	edit("", "a", "1", "{\n  \"a\": 1\n}\n");
	edit("", "s.a", "1", "{\n  \"s\": {\"a\": 1}\n}\n");
	edit("{}", "a", "1", "{\n  \"a\": 1\n}");
	edit("{\"a\":0}", "a", "1", "{\"a\":1}");
	edit("{\"b\":0}", "a", "1", "{\"b\":0, \"a\": 1}");
	edit("{\"b\":0 /* x */}", "a", "1", "{\"b\":0, /* x */ \"a\": 1}");
	edit("{\n\t\"b\": 0\n}\n", "a", "1",
	    "{\n\t\"b\": 0,\n\t\"a\": 1\n}\n");
	edit("{\n\t\"b\": 0,\n}\n", "a", "1",
	    "{\n\t\"b\": 0,\n\t\"a\": 1\n}\n");
	edit("{\n  \"b\": 0 // why\n  // last\n}\n", "a", "1",
	    "{\n  \"b\": 0, // why\n  // last\n  \"a\": 1\n}\n");
	edit("// \"a\": 3\n{ \"x\": \"\\\"a\\\": 4 // }\", /* \"a\":5 */ \"a\" "
	    ": 6 }", "a", "[1,2]", "// \"a\": 3\n{ \"x\": \"\\\"a\\\": 4 // "
	    "}\", /* \"a\":5 */ \"a\" : [1,2] }");
	edit("//x\r//y\r{\"a\":0}", "a", "1", "//x\r//y\r{\"a\":1}");
	edit("{\"\\u0061\":0}", "a", "1", "{\"\\u0061\":1}");
	edit("\xef\xbb\xbf{\"b\":{\"a\":2}}", "a", "1",
	    "\xef\xbb\xbf{\"b\":{\"a\":2}, \"a\": 1}");
	/* Nested and flat. */
	edit("{\"s\":{\"b\":[{\"a\":0}]}}", "s.a", "1",
	    "{\"s\":{\"b\":[{\"a\":0}], \"a\": 1}}");
	edit("{\n  \"s\": {\n    \"a\": 0\n  },\n  \"t\": 1\n}", "s.b", "1",
	    "{\n  \"s\": {\n    \"a\": 0,\n    \"b\": 1\n  },\n"
	    "  \"t\": 1\n}");
	edit("{\"s\":{},\"t\":1}", "s.b", "1",
	    "{\"s\":{\n  \"b\": 1\n},\"t\":1}");
	edit("{\"s.a\":0}", "s.a", "1", "{\"s.a\":1}");
	edit("{\"t\":0}", "s.a", "1", "{\"t\":0, \"s\": {\"a\": 1}}");
	/* Removing. */
	edit("{\"b\":0}", "a", NULL, NULL);
	edit("", "a", NULL, NULL);
	edit("{\"a\":0}", "a", NULL, "{}");
	edit("{\"a\":0, \"b\":1}", "a", NULL, "{\"b\":1}");
	edit("{\"a\":0, \"b\":1}", "b", NULL, "{\"a\":0}");
	edit("{\"a\":0, \"b\":1, \"c\":2}", "b", NULL,
	    "{\"a\":0, \"c\":2}");
	edit("{\n  \"a\": 0,\n  \"b\": 1, // note\n  \"c\": 2\n}\n", "a",
	    NULL, "{\n  \"b\": 1, // note\n  \"c\": 2\n}\n");
	edit("{\n  \"a\": 0,\n  \"b\": 1\n}\n", "b", NULL,
	    "{\n  \"a\": 0\n}\n");
	edit("{\n  \"a\": 0,\n  \"b\": 1, // note\n  \"c\": 2\n}\n", "b",
	    NULL, "{\n  \"a\": 0,\n  // note\n  \"c\": 2\n}\n");
	edit("{\"s.a\":1,\"s\":{\"a\":2,\"a\":3}}", "s.a", NULL,
	    "{\"s\":{}}");
	CHECK(hf_edit_set(&(struct hf_buf)HF_BUF_INIT,
	    HF_STR("{\"s\":7}"), "s.a", HF_STR("1"), NULL) < 0);
}

static void
test_set(void)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_config c;
	struct stat st;
	char *lock = hf_path_join(folder, ".lock");

	unlink(lock);
	unlink(path);
	rmdir(folder);
	free(lock);
	CHECK(hf_config_set("autoHandoff", "true", &err) == 0);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(hf_config_set("summarize.model", "gpt-5", &err) == 0);
	CHECK(hf_config_set("summarize.baseUrl", "\"http://x\"", &err) == 0);
	CHECK(hf_config_set("summarize.command", "[\"a\", \"b\"]", &err) ==
	    0);
	CHECK(hf_config_set("handoffRatio", "0.8", &err) == 0);
	CHECK(hf_config_load(&c, &err) == 0);
	CHECK(c.auto_handoff);
	CHECK_STR(c.model, "gpt-5");
	CHECK_STR(c.base_url, "http://x");
	CHECK_STR(c.command[1], "b");
	CHECK_INT(c.ratio_ppm, 800000);
	hf_config_release(&c);
	CHECK(hf_config_set("summarize.model", NULL, &err) == 0);
	CHECK(hf_config_set("summarize.model", NULL, &err) == 0);
	CHECK(hf_config_load(&c, &err) == 0);
	CHECK_STR(c.model, NULL);
	hf_config_release(&c);

	CHECK(hf_config_set("handoffRatio", "0.96", &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	CHECK(hf_config_set("handoffTokens", "many", &err) < 0);
	CHECK_STR(err.msg, "handoffTokens must be an integer from 8000 to "
	    "1000000, not many (config set)");
	CHECK(hf_config_set("nothing", "1", &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	/* A broken file is left alone. */
	put("{\"keepDays\": ");
	CHECK(hf_config_set("handoffRatio", "0.8", &err) < 0);
	CHECK_INT(err.code, HF_E_CONFIG);
	CHECK(stat(path, &st) == 0 && st.st_size == 13);
}

/* ---- models ---- */

static void
window(const struct hf_config *c, const char *model, int64_t want,
    const char *from)
{
	const char *got = NULL;

	if (!CHECK_INT(hf_models_window(c, hf_str(model), &got), want))
		printf("# %s\n", model);
	CHECK_STR(got, from);
}

static void
test_models(void)
{
	struct hf_config c;

	window(NULL, "claude-sonnet-4-5-20250929", 200000, "table");
	window(NULL, "claude-opus-4-8", 200000, "table");
	window(NULL, "claude-opus-5-20260101", 1000000, "table");
	window(NULL, "claude-opus-4-8[1m]", 1000000, "table");
	window(NULL, "anthropic/Claude-Sonnet-4", 200000, "table");
	window(NULL, "us.anthropic.claude-sonnet-4-v1:0", 200000, "table");
	window(NULL, "openrouter/openai/gpt-4o-mini", 128000, "table");
	window(NULL, "gpt-4.1-2025-04-14", 1047576, "table");
	window(NULL, "gpt-5.1-codex", 400000, "table");
	window(NULL, "gpt-5-chat-latest", 128000, "table");
	window(NULL, "gpt-50", 0, NULL);
	window(NULL, "o3-mini", 200000, "table");
	window(NULL, "o3x", 0, NULL);
	window(NULL, "gemini-2.5-pro", 1048576, "table");
	window(NULL, "claudette", 0, NULL);
	window(NULL, "", 0, NULL);
	window(NULL, NULL, 0, NULL);
	put("{\"models\":{\"my-model\":64000,\"my-model-large\":128000,"
	    "\"claude-opus-4\":300000,\"local/gpt-5\":9000,"
	    "\"x[1m]\":5000}}");
	CHECK(hf_config_load(&c, NULL) == 0);
	window(&c, "my-model", 64000, "config");
	window(&c, "vendor/my-model-2", 64000, "config");
	window(&c, "my-model-large-v2", 128000, "config");
	window(&c, "my-models", 0, NULL);
	window(&c, "claude-opus-4-8[1m]", 300000, "config");
	window(&c, "claude-sonnet-4", 200000, "table");
	window(&c, "local/gpt-5", 9000, "config");
	window(&c, "gpt-5", 400000, "table");
	window(&c, "x[1m]", 5000, "config");
	hf_config_release(&c);
}

int
main(void)
{
	home = scratch_make();
	folder = hf_path_join(home, "handoff");
	path = hf_path_join(folder, "config.json");
	setenv("XDG_CONFIG_HOME", home, 1);
	umask(022);
	mkdir(folder, 0700);
	test_defaults();
	test_values();
	test_refused();
	test_owner();
	test_env();
	test_table();
	test_edit();
	test_set();
	test_models();
	free(path);
	free(folder);
	scratch_remove(home);
	return check_done();
}
