/*
 * Claude Code: where its files are, who has them open, and what a successor
 * looks like. The tests run in a process whose home is a folder of their
 * own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claude.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/sig.h"
#include "check.h"
#include "scratch.h"

#define ID	"c0dec0de-0001-4a5e-8bad-000000000001"
#define ID2	"c0dec0de-0002-4a5e-8bad-000000000002"
#define AGENT	(&hf_agent_claude)

static char *home;

/* ---- names ---- */

static bool
encodes(const char *path, const char *want)
{
	struct hf_buf out = HF_BUF_INIT;
	bool same;

	hf_claude_encode(&out, hf_str(path));
	same = strcmp(hf_buf_cstr(&out), want) == 0;
	if (!same)
		printf("# got %s\n", hf_buf_cstr(&out));
	hf_buf_release(&out);
	return same;
}

/* FORMATS 9. */
static void
test_encode(void)
{
	char path[212], want[256];

	CHECK(encodes("/Users/alice/.pi", "-Users-alice--pi"));
	CHECK(encodes("/home/a/my_app v1.2", "-home-a-my-app-v1-2"));
	CHECK(encodes("/home/é", "-home--"));
	CHECK(encodes("/home/😀x", "-home---x"));
	CHECK(encodes("/home/\xff", "-home--"));
	memset(path, 'a', 211);
	path[0] = '/';
	path[211] = '\0';
	memset(want, 'a', 200);
	want[0] = '-';
	memcpy(want + 200, "-djaaup", 8);
	CHECK(encodes(path, want));
	path[200] = '\0';	/* 200 units: no hash yet */
	want[200] = '\0';
	CHECK(encodes(path, want));
}

static void
by_path(struct hf_session *s, const char *path)
{
	hf_session_init(s);
	s->path = hf_strdup(path);
	hf_claude_by_path(s);
}

static void
test_by_path(void)
{
	struct hf_session s;

	by_path(&s, "/p/" ID ".jsonl");
	CHECK_STR(s.id, ID);
	CHECK(!s.subagent);
	hf_session_release(&s);
	by_path(&s, "/p/forked.jsonl");
	CHECK_STR(s.id, NULL);
	hf_session_release(&s);
	by_path(&s, "/p/" ID "/subagents/agent-a1.jsonl");
	CHECK_STR(s.id, "agent-a1");
	CHECK_STR(s.parent, ID);
	CHECK(s.subagent);
	hf_session_release(&s);
	by_path(&s, "/p/agent-a1.jsonl");	/* older clients */
	CHECK(s.subagent);
	CHECK_STR(s.parent, NULL);
	hf_session_release(&s);
}

/* ---- files ---- */

/* A file under the client's folder. */
static char *
put(const char *name, const char *text)
{
	struct hf_dir d = HF_DIR_INIT;
	char *path = hf_claude_dir(name, NULL), *dir = hf_path_dir(path);
	struct hf_err err;

	if (hf_dir_make(&d, dir, &err) < 0 || hf_file_replace(&d,
	    hf_path_base(path), hf_str(text), &err) < 0) {
		printf("Bail out! %s\n", err.msg);
		exit(1);
	}
	hf_dir_close(&d);
	free(dir);
	return path;
}

static void
put_only(const char *name, const char *text)
{
	free(put(name, text));
}

static int
note(const char *path, void *arg, struct hf_err *err)
{
	struct hf_buf *out = arg;

	(void)err;
	hf_buf_printf(out, "%s\n", hf_path_base(path));
	return 0;
}

static void
test_find(void)
{
	struct hf_buf out = HF_BUF_INIT;
	char *path, *want;

	CHECK_INT(hf_claude_each(note, &out, NULL), 0);	/* no folder */
	CHECK_INT(out.len, 0);
	want = put("projects/-w/" ID ".jsonl", "{}\n");
	put_only("projects/-w/.handoff-x.tmp", "{}\n");
	put_only("projects/-w/notes.jsonl", "{}\n");
	put_only("projects/-w/agent-a1.jsonl", "{}\n");
	put_only("projects/-w/" ID "/subagents/agent-a2.jsonl", "{}\n");
	CHECK_INT(hf_claude_each(note, &out, NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), ID ".jsonl\n");
	path = hf_claude_by_id(ID);
	CHECK_STR(path, want);
	free(path);
	CHECK_STR(hf_claude_by_id(ID2), NULL);
	CHECK_STR(hf_claude_by_id("../" ID), NULL);
	/* Twice: nobody can tell which. */
	put_only("projects/-v/" ID ".jsonl", "{}\n");
	CHECK_STR(hf_claude_by_id(ID), NULL);
	free(want);
	hf_buf_release(&out);
}

/* ---- who has it open ---- */

static void
say_process(long pid, const char *start, const char *more)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_buf_printf(&text, "{\"pid\":%ld,\"sessionId\":\"" ID "\","
	    "\"procStart\":\"%s\"%s}", pid, start, more);
	put_only("sessions/1.json", hf_buf_cstr(&text));
	hf_buf_release(&text);
}

static void
test_live(void)
{
	struct hf_session s = { .agent = AGENT, .id = hf_strdup(ID) };
	struct hf_live live;
	char start[32];
	bool alive;

	hf_claude_live(&s, &live);
	CHECK(!live.offers && !live.open && !live.dead);
	snprintf(start, sizeof(start), "%llu",
	    hf_proc_start(getpid(), &alive));
	say_process(getpid(), start, ",\"status\":\"waiting\","
	    "\"waitingFor\":\"permission prompt\"");
	hf_claude_live(&s, &live);
	CHECK(live.offers && live.open && !live.dead);
	CHECK_INT(live.pid, getpid());
	CHECK_STR(live.status, "waiting");
	CHECK_STR(live.waiting, "permission prompt");
	say_process(getpid(), start, "");	/* claude -p */
	hf_claude_live(&s, &live);
	CHECK(live.open);
	CHECK_STR(live.status, "");
	say_process(getpid(), "1", ",\"status\":\"busy\"");
	hf_claude_live(&s, &live);
	CHECK(live.offers && !live.open && live.dead);
	say_process(4194301, start, "");	/* cases 087 */
	hf_claude_live(&s, &live);
	CHECK(live.dead);
	put_only("sessions/1.json", "{\"pid\":");
	hf_claude_live(&s, &live);
	CHECK(live.offers && !live.open && !live.dead);
	free(s.id);
}

static void
note_id(const char *id, void *arg)
{
	hf_buf_printf(arg, "%s ", id);
}

#define CHILD(content) "{\"parentUuid\":null,\"isSidechain\":true," \
	"\"agentId\":\"a\",\"type\":\"assistant\",\"message\":{" \
	"\"id\":\"m\",\"model\":\"x\",\"content\":[" content "]}," \
	"\"uuid\":\"u\",\"sessionId\":\"" ID "\"}\n"

static void
test_owned(void)
{
	struct hf_session s = { .agent = AGENT, .id = hf_strdup(ID) };
	struct timespec old[2] = { { 0, 0 }, { 0, 0 } };
	struct hf_buf out = HF_BUF_INIT;
	char *path;

	s.path = put("projects/-o/" ID ".jsonl", "{}\n");
	hf_claude_owned(&s, note_id, &out);
	CHECK_INT(out.len, 0);
	path = put("projects/-o/" ID "/subagents/agent-run.jsonl",
	    CHILD("{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\"}"));
	put_only("projects/-o/" ID "/subagents/agent-end.jsonl",
	    CHILD("{\"type\":\"text\",\"text\":\"done\"}"));
	put_only("projects/-o/" ID "/subagents/agent-run.meta.json", "{}");
	hf_claude_owned(&s, note_id, &out);
	CHECK_STR(hf_buf_cstr(&out), "run ");
	hf_buf_clear(&out);
	say_process(4194301, "1", "");		/* its client was killed */
	hf_claude_owned(&s, note_id, &out);
	CHECK_INT(out.len, 0);
	put_only("sessions/1.json", "{}");
	CHECK_INT(utimensat(AT_FDCWD, path, old, 0), 0);
	hf_claude_owned(&s, note_id, &out);
	CHECK_INT(out.len, 0);
	free(path);
	free(s.path);
	free(s.id);
	hf_buf_release(&out);
}

/* ---- successors ---- */

static void
test_place(void)
{
	struct hf_seed seed = { .id = ID, .cwd = "/w/client-app" };
	struct hf_place p = { NULL, NULL };
	struct hf_err err;
	char *want = hf_claude_dir("projects/-w-client-app", NULL);
	char *link = hf_path_join(home, "link");
	char *real;
	struct hf_buf enc = HF_BUF_INIT;

	CHECK_INT(hf_claude_place(&seed, &p, &err), 0);
	CHECK_STR(p.dir, want);
	CHECK_STR(p.name, ID ".jsonl");
	hf_place_release(&p);
	seed.cwd = NULL;
	CHECK_INT(hf_claude_place(&seed, &p, &err), -1);
	CHECK_INT(err.code, HF_E_MISSING);
	/* The client asks the system for its folder: links are resolved. */
	CHECK_INT(symlink(".", link), 0);
	seed.cwd = link;
	CHECK_INT(hf_claude_place(&seed, &p, &err), 0);
	real = realpath(home, NULL);
	hf_claude_encode(&enc, hf_str(real));
	CHECK_STR(hf_path_base(p.dir), hf_buf_cstr(&enc));
	hf_place_release(&p);
	hf_buf_release(&enc);
	free(real);
	free(link);
	free(want);
}

/* Beyond 200 units a source in the same folder knows the client's suffix. */
static void
test_place_long(void)
{
	struct hf_session s = { .agent = AGENT };
	struct hf_seed seed = { .id = ID, .source = &s };
	struct hf_place p = { NULL, NULL };
	struct hf_buf name = HF_BUF_INIT;
	char cwd[256], *dir;

	memset(cwd, 'a', 211);
	cwd[0] = '/';
	cwd[211] = '\0';
	s.cwd = cwd;
	seed.cwd = cwd;
	hf_buf_puts(&name, "projects/-");
	for (int i = 0; i < 199; i++)
		hf_buf_putc(&name, 'a');
	hf_buf_puts(&name, "-newer");
	dir = hf_claude_dir(hf_buf_cstr(&name), NULL);
	s.path = hf_path_join(dir, ID2 ".jsonl");
	CHECK_INT(hf_claude_place(&seed, &p, NULL), 0);
	CHECK_STR(p.dir, dir);
	hf_place_release(&p);
	s.cwd = NULL;
	CHECK_INT(hf_claude_place(&seed, &p, NULL), 0);
	CHECK(hf_str_ends(hf_str(p.dir), "a-djaaup"));
	hf_place_release(&p);
	free(s.path);
	free(dir);
	hf_buf_release(&name);
}

static struct hf_json *
line(struct hf_str *rest)
{
	return hf_json_parse(hf_str_line(*rest, rest), 0, NULL, NULL, NULL);
}

#define SEED	"<handoff-context>\nGoal: \"x\" ünï\n</handoff-context>\n"

static void
draft(struct hf_buf *out, const struct hf_session *source,
    const char *permission)
{
	struct hf_seed seed = { .source = source, .id = ID,
	    .attempt = "handoff-1", .cwd = "/w", .model = "claude-x",
	    .title = "x (handoff)", .permission = permission,
	    .text = HF_STR(SEED), .time = 1768467600000 };

	CHECK_INT(hf_claude_draft(&seed, out, NULL), 0);
}

static void
test_draft(void)
{
	struct hf_session s = { .agent = AGENT, .id = hf_strdup(ID2) };
	struct hf_buf out = HF_BUF_INIT, again = HF_BUF_INIT;
	struct hf_json *title, *meta, *user, *answer;
	const struct hf_jval *v;
	struct hf_str rest;
	int64_t n = -1;

	draft(&out, &s, NULL);
	draft(&again, &s, NULL);
	CHECK_STR(hf_buf_cstr(&out), hf_buf_cstr(&again));
	rest = hf_buf_view(&out);
	title = line(&rest);
	meta = line(&rest);
	user = line(&rest);
	answer = line(&rest);
	CHECK_INT(rest.n, 0);
	CHECK(hf_json_is(hf_json_at(hf_json_root(title), "customTitle"),
	    "x (handoff)"));
	v = hf_json_root(meta);
	CHECK(hf_json_is(hf_json_get(v, "parentSession"), ID2));
	CHECK(hf_json_is(hf_json_get(v, "handoff"), "handoff-1"));
	v = hf_json_root(user);
	CHECK_INT(hf_json_type(hf_json_get(v, "parentUuid")), HF_J_NULL);
	CHECK(hf_json_is(hf_json_get(v, "timestamp"),
	    "2026-01-15T09:00:00.000Z"));
	CHECK(hf_json_is(hf_json_at(v, "message.content"), SEED));
	v = hf_json_root(answer);
	CHECK(hf_str_eq(hf_json_get_str(v, "parentUuid"),
	    hf_json_get_str(hf_json_root(user), "uuid")));
	CHECK(hf_json_is(hf_json_at(v, "message.model"), "<synthetic>"));
	CHECK_INT(hf_json_type(hf_json_at(v, "message.content")), HF_J_ARR);
	CHECK(hf_json_int(hf_json_at(v,
	    "message.usage.cache_read_input_tokens"), &n) && n == 0);
	hf_json_free(title);
	hf_json_free(meta);
	hf_json_free(user);
	hf_json_free(answer);
	hf_buf_clear(&out);
	draft(&out, &s, "plan");
	CHECK(hf_str_find(hf_buf_view(&out),
	    HF_STR("\"permissionMode\":\"plan\""), 0) != SIZE_MAX);
	hf_buf_release(&out);
	hf_buf_release(&again);
	free(s.id);
}

/* What was written is found and read back as what it is. */
static void
test_read_back(void)
{
	struct hf_session source = { .agent = AGENT, .id = hf_strdup(ID2) };
	struct hf_session s;
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err err;
	char *path;

	draft(&out, &source, NULL);
	path = put("projects/-r/" ID2 ".jsonl", hf_buf_cstr(&out));
	CHECK_INT(hf_session_peek(path, &s, &err), 0);
	CHECK(s.agent == AGENT);
	CHECK_STR(s.title, "x (handoff)");
	CHECK(s.titled);
	CHECK_STR(s.parent, ID2);
	CHECK_STR(s.model, "claude-x");
	CHECK_STR(s.cwd, "/w");
	CHECK_INT(s.prompted, 1768467600000);
	hf_session_release(&s);
	hf_buf_release(&out);
	free(path);
	free(source.id);
}

static void
test_commands(void)
{
	struct hf_session s = { .agent = AGENT, .id = hf_strdup(ID) };
	struct hf_argv a;
	struct hf_buf out = HF_BUF_INIT;
	char id[64];

	memset(&a, 0, sizeof(a));
	hf_claude_resume(&s, "go on", &a);
	CHECK_INT(a.n, 4);
	CHECK_STR(a.v[0], "claude");
	CHECK_STR(a.v[1], "--resume");
	CHECK_STR(a.v[2], ID);
	CHECK_STR(a.v[3], "go on");
	CHECK_STR(a.v[4], NULL);
	hf_argv_release(&a);
	hf_claude_title_row(&s, HF_STR("a \"b\""), &out);
	CHECK_STR(hf_buf_cstr(&out), "{\"type\":\"custom-title\","
	    "\"customTitle\":\"a \\\"b\\\"\",\"sessionId\":\"" ID "\"}\n");
	hf_claude_new_id(0, id);
	CHECK_INT(strlen(id), 36);
	hf_buf_release(&out);
	free(s.id);
}

int
main(int argc, char **argv)
{
	struct hf_buf var = HF_BUF_INIT;
	const char *run[] = { argv[0], "in", NULL, NULL };
	const char *vars[3] = { NULL, NULL, NULL };
	int status;

	hf_sig_init();
	if (argc < 3) {
		home = scratch_make();
		run[2] = home;
		hf_buf_printf(&var, "CLAUDE_CONFIG_DIR=%s/claude", home);
		vars[0] = hf_buf_cstr(&var);
		status = scratch_run(run, vars, NULL, NULL);
		scratch_remove(home);
		hf_buf_release(&var);
		return status;
	}
	home = argv[2];
	test_encode();
	test_by_path();
	test_find();
	test_live();
	test_owned();
	test_place();
	test_place_long();
	test_draft();
	test_read_back();
	test_commands();
	return check_done();
}
