/*
 * A world of its own for the programs that try the transaction hard: a
 * folder with a home, a state and a folder to work in; sessions of agents;
 * our commands, run in it; and what must hold whatever happened.
 *
 *	world_open	makes the folder; the environment is world.env
 *	world_run	a command, from file to file
 *	session_make	a session with two turns; session_more adds one
 *	whole		what must always hold
 */
#ifndef HF_HELPER_WORLD_H
#define HF_HELPER_WORLD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hmac.h"
#include "base/io.h"
#include "base/mem.h"
#include "json/json.h"

enum { LINE = 1024, ENVS = 64, KILLED = 256 };

/* What the brief says, by which a successor is known. */
#define BRIEF_GOAL "Document the parser in README.md"
#define BRIEF "{\"goal\":\"" BRIEF_GOAL "\",\"decisions\":[]," \
	"\"constraints\":[],\"artifacts\":[],\"verified\":[]," \
	"\"pending\":[],\"next_steps\":[\"Write it\"],\"uncertainties\":[]}"

struct world {
	char root[LINE];
	const char *bin, *fault;	/* where our commands are */
	const char *wrap;		/* words before each command: strace */
	char *env[ENVS];
	size_t nenv;
};

struct session {
	const char *agent;
	char id[64], path[LINE];
	int turns;
	struct hf_buf text;		/* what its file must hold */
};

static inline _Noreturn void
die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("world: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

/* Formats into a buffer of LINE bytes; all of it, or the end. */
static inline const char *
line(char *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline const char *
line(char *out, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(out, LINE, fmt, ap);
	va_end(ap);
	if (n < 0 || n >= LINE)
		die("too long: %.100s...", out);
	return out;
}

/* ---- files ---- */

static inline const char *
at(const struct world *w, const char *name, char *out)
{
	return line(out, "%s/%s", w->root, name);
}

static inline void
make_folders(const char *path)
{
	char part[LINE];

	for (const char *p = path + 1;; p++)
		if (*p == '/' || *p == '\0') {
			line(part, "%.*s", (int)(p - path),
			    path);
			if (mkdir(part, 0700) < 0 && errno != EEXIST)
				die("mkdir %s: %s", part, strerror(errno));
			if (*p == '\0')
				return;
		}
}

static inline void
put_file(const char *path, struct hf_str text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0 || hf_io_write(fd, text.s, text.n) < 0 || close(fd) < 0)
		die("write %s: %s", path, strerror(errno));
}

/* What is not there is empty. */
static inline struct hf_str
get_file(const char *path, struct hf_buf *b)
{
	struct hf_err ignored;

	hf_buf_clear(b);
	hf_io_slurp_path(path, b, &ignored);
	return hf_buf_view(b);
}

/* Each file below a folder, folders apart; those that vanish meanwhile are
 * left out. */
static inline void
walk(const char *folder, void (*each)(const char *path, const char *name,
    const struct stat *st, void *arg), void *arg)
{
	char path[LINE];
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(folder);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		line(path, "%s/%s", folder, e->d_name);
		if (lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			walk(path, each, arg);
		else
			each(path, e->d_name, &st, arg);
	}
	if (d != NULL)
		closedir(d);
}

static inline void
remove_below(const char *folder)
{
	char path[LINE];
	struct dirent *e;
	DIR *d = opendir(folder);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		line(path, "%s/%s", folder, e->d_name);
		if (unlink(path) < 0) {
			remove_below(path);
			rmdir(path);
		}
	}
	if (d != NULL)
		closedir(d);
}

/* ---- processes ---- */

static inline void
world_open(struct world *w, const char *root)
{
	static const char *const kept[] = { "PATH", "ASAN_OPTIONS",
		"UBSAN_OPTIONS", "HF_BIN", "HF_FAULT_BIN" };
	static const char *const own[][2] = { { "HOME", "home" },
		{ "HANDOFF_HOME", "state" }, { "TMPDIR", "tmp" },
		{ "XDG_CONFIG_HOME", "home/.config" } };
	char s[LINE];

	memset(w, 0, sizeof(*w));
	line(w->root, "%s", root);
	w->bin = getenv("HF_BIN");
	w->fault = getenv("HF_FAULT_BIN");
	if (w->bin == NULL || w->fault == NULL)
		die("HF_BIN and HF_FAULT_BIN are to be set");
	w->env[w->nenv++] = hf_strdup("LC_ALL=C");
	w->env[w->nenv++] = hf_strdup("TZ=UTC");
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (getenv(kept[i]) != NULL)
			w->env[w->nenv++] = hf_strdup(line(s, "%s=%s", kept[i],
			    getenv(kept[i])));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		w->env[w->nenv++] = hf_strdup(line(s, "%s=%s/%s", own[i][0],
		    root, own[i][1]));
	make_folders(at(w, "home/.config/handoff", s));
	make_folders(at(w, "tmp", s));
	make_folders(at(w, "work", s));
	if (chdir(at(w, "work", s)) < 0)
		die("chdir: %s", strerror(errno));
}

static inline void
world_close(struct world *w)
{
	remove_below(w->root);
	while (w->nenv > 0)
		free(w->env[--w->nenv]);
}

/* From the file in to the file out, what it says into the file "err";
 * extra, if not NULL, is "NAME=value" for it alone, and makes it one with
 * fault points. Names are below the root. Its pid. */
static inline pid_t
world_start(const struct world *w, const char *in, const char *out,
    const char *extra, const char *const *argv)
{
	posix_spawn_file_actions_t fa;
	char from[LINE], to[LINE], said[LINE], cmd[LINE];
	char words[LINE], *av[64], *save = NULL;
	char *env[ENVS + 3];
	size_t n = w->nenv, a = 0;
	pid_t pid;
	int rc;

	memcpy(env, w->env, n * sizeof(env[0]));
	if (extra != NULL) {
		line(words, "%s", extra);
		for (char *p = strtok_r(words, " ", &save); p != NULL;
		    p = strtok_r(NULL, " ", &save))
			env[n++] = p;
	}
	env[n] = NULL;
	line(cmd, "%s/%s", extra != NULL ? w->fault : w->bin,
	    argv[0]);
	av[a++] = cmd;
	for (size_t i = 1; argv[i] != NULL; i++)
		av[a++] = (char *)(uintptr_t)argv[i];
	av[a] = NULL;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, in == NULL ? "/dev/null" :
	    at(w, in, from), O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, out == NULL ? "/dev/null" :
	    at(w, out, to), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	line(said, "%s/%s%s", w->root, out == NULL ? "" :
	    out, out == NULL ? "err" : ".err");
	posix_spawn_file_actions_addopen(&fa, 2, said,
	    O_WRONLY | O_CREAT | O_TRUNC, 0600);
	rc = posix_spawn(&pid, av[0], &fa, NULL, av, env);
	posix_spawn_file_actions_destroy(&fa);
	if (rc != 0)
		die("%s: %s", av[0], strerror(rc));
	return pid;
}

/* Its exit status, KILLED and more for a signal. */
static inline int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return KILLED + WTERMSIG(status);
	return WEXITSTATUS(status);
}

static inline int
world_run(const struct world *w, const char *in, const char *out,
    const char *extra, const char *const *argv)
{
	return wait_for(world_start(w, in, out, extra, argv));
}

#define RUN(w, in, out, extra, ...) \
	world_run(w, in, out, extra, (const char *const []){ __VA_ARGS__, \
	    NULL })

/* A process that an attempt can belong to, until it is ended. */
static inline pid_t
owner_start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		/* It outlives nobody, and holds nobody's pipe open. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		for (;;)
			pause();
	}
	return pid;
}

static inline void
owner_end(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		wait_for(*pid);
	}
	*pid = 0;
}

/* Adds the brief to the document in a file. */
static inline bool
add_brief(const struct world *w, const char *in, const char *out)
{
	char path[LINE];
	struct hf_buf b = HF_BUF_INIT;
	struct hf_str t = hf_str_trim(get_file(at(w, in, path), &b));
	bool good = t.n > 2 && t.s[t.n - 1] == '}';

	if (good) {
		hf_buf_cut(&b, (size_t)(t.s - b.data) + t.n - 1);
		hf_buf_puts(&b, ",\"brief\":" BRIEF "}\n");
		put_file(at(w, out, path), hf_buf_view(&b), O_TRUNC);
	}
	hf_buf_release(&b);
	return good;
}

/* ---- sessions ---- */

static const char codex_time[] = "2026-01-15T09:00:00.000Z";

static inline void
claude_turn(struct hf_buf *b, const char *id, const char *cwd, int n)
{
	hf_buf_puts(b, "{\"parentUuid\":");
	if (n == 0)
		hf_buf_puts(b, "null");
	else
		hf_buf_printf(b, "\"a%d\"", n - 1);
	hf_buf_printf(b, ",\"isSidechain\":false,\"cwd\":\"%s\","
	    "\"sessionId\":\"%s\",\"version\":\"2.1.197\",\"type\":\"user\","
	    "\"message\":{\"role\":\"user\",\"content\":\"Step %d.\"},"
	    "\"uuid\":\"u%d\",\"timestamp\":\"2026-01-15T09:00:00.000Z\"}\n",
	    cwd, id, n, n);
	hf_buf_printf(b, "{\"parentUuid\":\"u%d\",\"isSidechain\":false,"
	    "\"cwd\":\"%s\",\"sessionId\":\"%s\",\"version\":\"2.1.197\","
	    "\"type\":\"assistant\",\"requestId\":\"r%d\",\"message\":{"
	    "\"id\":\"m%d\",\"type\":\"message\",\"role\":\"assistant\","
	    "\"model\":\"claude-sonnet-4-5-20250929\",\"content\":[{"
	    "\"type\":\"text\",\"text\":\"Done.\"}],"
	    "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":9000,"
	    "\"output_tokens\":10,\"cache_creation_input_tokens\":0,"
	    "\"cache_read_input_tokens\":0}},\"uuid\":\"a%d\","
	    "\"timestamp\":\"2026-01-15T09:00:01.000Z\"}\n", n, cwd, id, n,
	    n, n);
}

static inline void
pi_turn(struct hf_buf *b, const char *id, const char *cwd, int n)
{
	if (n == 0)
		hf_buf_printf(b, "{\"type\":\"session\",\"version\":3,"
		    "\"id\":\"%s\",\"timestamp\":\"%s\",\"cwd\":\"%s\"}\n", id,
		    codex_time, cwd);
	hf_buf_printf(b, "{\"type\":\"message\",\"id\":\"u%07d\","
	    "\"parentId\":", n);
	if (n == 0)
		hf_buf_puts(b, "null");
	else
		hf_buf_printf(b, "\"a%07d\"", n - 1);
	hf_buf_printf(b, ",\"timestamp\":\"%s\",\"message\":{"
	    "\"role\":\"user\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"Step %d.\"}]}}\n", codex_time, n);
	hf_buf_printf(b, "{\"type\":\"message\",\"id\":\"a%07d\","
	    "\"parentId\":\"u%07d\",\"timestamp\":\"%s\",\"message\":{"
	    "\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"Done.\"}],\"api\":\"x\",\"provider\":\"acme\","
	    "\"model\":\"acme-1\",\"usage\":{\"input\":9000,\"output\":9,"
	    "\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":9009,"
	    "\"cost\":{\"total\":0}},\"stopReason\":\"stop\"}}\n", n, n,
	    codex_time);
}

static inline void
codex_row(struct hf_buf *b, const char *type, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static inline void
codex_row(struct hf_buf *b, const char *type, const char *fmt, ...)
{
	va_list ap;

	hf_buf_printf(b, "{\"timestamp\":\"%s\",\"type\":\"%s\",\"payload\":",
	    codex_time, type);
	va_start(ap, fmt);
	hf_buf_vprintf(b, fmt, ap);
	va_end(ap);
	hf_buf_puts(b, "}\n");
}

static inline void
codex_turn(struct hf_buf *b, const char *id, const char *cwd, int n)
{
	if (n == 0)
		codex_row(b, "session_meta", "{\"id\":\"%s\","
		    "\"timestamp\":\"%s\",\"cwd\":\"%s\",\"originator\":"
		    "\"codex_cli_rs\",\"cli_version\":\"0.125.0\","
		    "\"source\":\"cli\"}", id, codex_time, cwd);
	codex_row(b, "event_msg", "{\"type\":\"task_started\","
	    "\"turn_id\":\"t%d\",\"model_context_window\":258400}", n);
	codex_row(b, "response_item", "{\"type\":\"message\","
	    "\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
	    "\"text\":\"Step %d.\"}]}", n);
	codex_row(b, "event_msg", "{\"type\":\"user_message\","
	    "\"message\":\"Step %d.\",\"images\":[]}", n);
	codex_row(b, "response_item", "{\"type\":\"message\","
	    "\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
	    "\"text\":\"Done.\"}]}");
	codex_row(b, "event_msg", "{\"type\":\"agent_message\","
	    "\"message\":\"Done.\"}");
	codex_row(b, "event_msg", "{\"type\":\"token_count\",\"info\":{"
	    "\"total_token_usage\":{\"total_tokens\":9010},"
	    "\"last_token_usage\":{\"input_tokens\":9000,"
	    "\"cached_input_tokens\":0,\"output_tokens\":10,"
	    "\"reasoning_output_tokens\":0,\"total_tokens\":9010},"
	    "\"model_context_window\":258400}}");
	codex_row(b, "event_msg", "{\"type\":\"task_complete\","
	    "\"turn_id\":\"t%d\",\"last_agent_message\":\"Done.\"}", n);
}

/* One turn more, in the file and in what it must hold. */
static inline void
session_more(const struct world *w, struct session *s)
{
	size_t before = s->text.len;
	char cwd[LINE];

	at(w, "work", cwd);
	if (strcmp(s->agent, "claude") == 0)
		claude_turn(&s->text, s->id, cwd, s->turns);
	else if (strcmp(s->agent, "pi") == 0)
		pi_turn(&s->text, s->id, cwd, s->turns);
	else
		codex_turn(&s->text, s->id, cwd, s->turns);
	s->turns++;
	put_file(s->path, hf_strn(s->text.data + before,
	    s->text.len - before), O_APPEND);
}

/* Where an agent keeps what is worked on in w's folder. */
static inline void
store_of(const struct world *w, const char *agent, char out[LINE])
{
	char cwd[LINE];

	at(w, "work", cwd);
	for (char *p = cwd; *p != '\0'; p++)
		if (strcmp(agent, "pi") == 0 ? *p == '/' :
		    !((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9')))
			*p = '-';
	if (strcmp(agent, "claude") == 0)
		line(out, "%s/home/.claude/projects/%s",
		    w->root, cwd);
	else if (strcmp(agent, "pi") == 0)
		line(out,
		    "%s/home/.pi/agent/sessions/-%s--", w->root, cwd);
	else
		line(out,
		    "%s/home/.codex/sessions/2026/01/15", w->root);
}

/* The n-th session of an agent, with two turns. */
static inline void
session_make(const struct world *w, struct session *s, const char *agent,
    int n)
{
	char store[LINE];

	memset(s, 0, sizeof(*s));
	s->agent = agent;
	snprintf(s->id, sizeof(s->id), "01a22e0a-0000-7000-8000-%012d", n);
	store_of(w, agent, store);
	make_folders(store);
	line(s->path, "%s/%s%s.jsonl", store,
	    strcmp(agent, "claude") == 0 ? "" : strcmp(agent, "pi") == 0 ?
	    "2026-01-15T09-00-00-000Z_" : "rollout-2026-01-15T09-00-00-",
	    s->id);
	unlink(s->path);
	session_more(w, s);
	session_more(w, s);
}

/* ---- what must hold ---- */

static inline bool
says(const struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static inline bool
says(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%s: ", s->agent, s->id);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

/* The source is byte for byte what its agent wrote. */
static inline bool
is_untouched(const struct session *s)
{
	struct hf_buf b = HF_BUF_INIT;
	bool same = hf_str_eq(get_file(s->path, &b), hf_buf_view(&s->text));

	hf_buf_release(&b);
	return same || says(s, "the source was changed");
}

/* The main of a session, parsed; NULL: none. A torn one ends the run. */
static inline struct hf_json *
main_of(const struct world *w, const struct session *s)
{
	char path[LINE];
	struct hf_buf b = HF_BUF_INIT;
	struct hf_json *j = NULL;
	struct hf_err err;

	line(path, "%s/state/mains/%s.%s.json", w->root,
	    s->agent, s->id);
	if (get_file(path, &b).n > 0 && (j = hf_json_parse(hf_buf_view(&b), 0,
	    NULL, NULL, &err)) == NULL)
		die("%s is torn: %s", path, err.msg);
	hf_buf_release(&b);
	return j;
}

/* Where a main leads to: the id and the attempt, "" when nowhere. */
static inline bool
redirect_of(const struct world *w, const struct session *s, char id[64],
    char attempt[64])
{
	struct hf_json *j = main_of(w, s);
	const struct hf_jval *v = hf_json_get(hf_json_root(j), "redirect");
	struct hf_str a = hf_json_get_str(v, "id");
	struct hf_str b = hf_json_get_str(v, "attempt");

	snprintf(id, 64, "%.*s", (int)a.n, a.n > 0 ? a.s : "");
	snprintf(attempt, 64, "%.*s", (int)b.n, b.n > 0 ? b.s : "");
	hf_json_free(j);
	return id[0] != '\0';
}

static inline void
check_value(const char *path, const char *name, const struct stat *st,
    void *arg)
{
	bool *good = arg;
	struct hf_buf b = HF_BUF_INIT;
	struct hf_json *j;
	struct hf_err err;

	if ((st->st_mode & 077) != 0) {
		fprintf(stderr, "%s is open to others\n", path);
		*good = false;
	}
	if (strstr(path, "/locks/") != NULL || name[0] == '.' ||
	    strncmp(name, "events.jsonl", 12) == 0)
		return;
	if (get_file(path, &b).n > 0) {
		j = hf_json_parse(hf_buf_view(&b), 0, NULL, NULL, &err);
		if (j == NULL) {
			fprintf(stderr, "%s is torn: %s\n", path, err.msg);
			*good = false;
		}
		hf_json_free(j);
	}
	hf_buf_release(&b);
}

/* Each value of the state is whole, and nobody else's to read. */
static inline bool
state_is_whole(const struct world *w)
{
	char path[LINE];
	bool good = true;

	walk(at(w, "state", path), check_value, &good);
	return good;
}

static inline void
add_picture(const char *path, const char *name, const struct stat *st,
    void *arg)
{
	uint64_t *sum = arg;
	struct hf_buf b = HF_BUF_INIT;

	(void)st;
	if (strncmp(name, "events.jsonl", 12) == 0)
		return;
	*sum += (uint64_t)hf_hash(hf_str(path)) * 31 +
	    (uint64_t)hf_hash(get_file(path, &b));
	hf_buf_release(&b);
}

/* What a folder of the world comes to, events apart. */
static inline uint64_t
picture(const struct world *w, const char *folder)
{
	char path[LINE];
	uint64_t sum = 0;

	walk(at(w, folder, path), add_picture, &sum);
	return sum;
}

#endif
