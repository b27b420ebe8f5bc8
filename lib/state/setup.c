#include "state/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claude.h"
#include "agent/codex.h"
#include "agent/gemini.h"
#include "agent/pi.h"
#include "base/env.h"
#include "base/io.h"
#include "config/hookset.h"
#include "json/lex.h"
#include "state/report.h"

/* Settings of agents are small; what is larger is no settings file. */
enum { SETTINGS_MAX = 8 << 20, FILES_MAX = 2, MODE = 07777 };

static const char mark[] = "handoff setup";

/* ---- what each agent gets ---- */

/* Claude Code counts in seconds. A handoff that a model writes takes its
 * time, so where one may be waited for, so may the hook. */
static const struct hf_hookset claude_hooks[] = {
	{ "SessionStart", 0 }, { "UserPromptSubmit", 0 },
	{ "UserPromptExpansion", 120 }, { "Stop", 0 }, { "PreCompact", 300 },
	{ NULL, 0 }
};
static const struct hf_hookset codex_hooks[] = {
	{ "SessionStart", 0 }, { "UserPromptSubmit", 0 }, { "Stop", 0 },
	{ NULL, 0 }
};
static const struct hf_hookset gemini_hooks[] = {
	{ "SessionStart", 0 }, { "BeforeAgent", 0 }, { "AfterAgent", 0 },
	{ NULL, 0 }
};

/* @DRIVER@ is a JSON string, @COMMAND@ a shell's word. */
static const char claude_command[] =
"---\n"
"description: Hand this session off to a fresh one\n"
"argument-hint: \"[what the brief is to focus on]\"\n"
"disable-model-invocation: true\n"
"---\n"
"<!-- handoff setup claude: its UserPromptExpansion hook answers this\n"
"command without any tokens. What follows is for when hooks are off. -->\n"
"Run this command in the shell, show what it prints, and do nothing else:\n"
"\n"
"    @COMMAND@ now\n";

static const char pi_extension[] =
"// handoff setup @AGENT@: this file only calls the handoff command.\n"
"// 'handoff setup @AGENT@ --remove' removes it.\n"
"import { spawnSync } from \"node:child_process\";\n"
"\n"
"const handoff = @DRIVER@;\n"
"\n"
"export default function (pi: any) {\n"
"\tlet context = \"\";\n"
"\n"
"\tfunction hook(ctx: any, event: string, more: object): any {\n"
"\t\ttry {\n"
"\t\t\tconst sessions = ctx.sessionManager;\n"
"\t\t\tconst file = sessions?.getSessionFile?.();\n"
"\t\t\tif (!file || process.env.HANDOFF_FORK === \"1\") return null;\n"
"\t\t\tconst input = JSON.stringify({\n"
"\t\t\t\thook_event_name: event, transcript_path: file,\n"
"\t\t\t\tsession_id: sessions.getSessionId?.(), cwd: ctx.cwd, ...more });\n"
"\t\t\tconst ran = spawnSync(handoff, [\"hook\", \"@AGENT@\"],\n"
"\t\t\t\t{ input, encoding: \"utf8\", timeout: 120000 });\n"
"\t\t\treturn ran.status === 0 && ran.stdout ?\n"
"\t\t\t\tJSON.parse(ran.stdout) : null;\n"
"\t\t} catch {\n"
"\t\t\treturn null;\n"
"\t\t}\n"
"\t}\n"
"\tfunction say(ctx: any, text: string) {\n"
"\t\tif (ctx.hasUI) ctx.ui.notify(text, \"warning\");\n"
"\t\telse console.error(text);\n"
"\t}\n"
"\n"
"\tpi.on(\"input\", async (event: any, ctx: any) => {\n"
"\t\tconst answer = hook(ctx, \"UserPromptSubmit\", { prompt: event.text });\n"
"\t\tcontext += answer?.hookSpecificOutput?.additionalContext ?? \"\";\n"
"\t\tif (answer?.decision !== \"block\") return undefined;\n"
"\t\tsay(ctx, answer.reason);\n"
"\t\treturn { action: \"handled\", handled: true };\n"
"\t});\n"
"\tpi.on(\"before_agent_start\", async () => {\n"
"\t\tif (context === \"\") return undefined;\n"
"\t\tconst content = context;\n"
"\t\tcontext = \"\";\n"
"\t\treturn { message:\n"
"\t\t\t{ customType: \"handoff-inbox\", content, display: true } };\n"
"\t});\n"
"\tpi.on(\"agent_end\", async (_event: any, ctx: any) => {\n"
"\t\thook(ctx, \"Stop\", {});\n"
"\t});\n"
"\tpi.registerCommand(\"handoff\", {\n"
"\t\tdescription: \"Hand this session off to a fresh one\",\n"
"\t\thandler: async (args: string, ctx: any) => {\n"
"\t\t\tconst answer = hook(ctx, \"UserPromptExpansion\",\n"
"\t\t\t\t{ prompt: `/handoff ${args ?? \"\"}` });\n"
"\t\t\tsay(ctx, answer?.reason ?? \"Handoff failed: run 'handoff now'\");\n"
"\t\t},\n"
"\t});\n"
"}\n";

enum kind { HOOKS, WHOLE, NOTIFY };

struct file {
	enum kind kind;
	char *path;			/* what a person calls it */
	const struct hf_hookset *hooks;
	const char *text;		/* WHOLE: its content, not filled in */
	/* As it is, and as it is to be. */
	char *real;			/* behind symbolic links */
	bool there;
	mode_t mode;
	struct hf_buf was, now;
	int changed;			/* 1: now is to be stored */
};
struct set {
	const char *agent;
	const char *driver;
	struct file f[FILES_MAX];
	size_t n;
	const char *note;		/* what a person is to do besides */
};

static void
release(struct set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->f[i].path);
		free(s->f[i].real);
		hf_buf_release(&s->f[i].was);
		hf_buf_release(&s->f[i].now);
	}
}

/* path is ours from here; NULL: it could not be told. */
static int
add_file(struct set *s, enum kind kind, char *dir, const char *name,
    const struct hf_hookset *hooks, const char *text)
{
	struct file *f = &s->f[s->n];

	if (dir == NULL)
		return -1;
	memset(f, 0, sizeof(*f));
	f->kind = kind;
	f->path = hf_path_join(dir, name);
	f->hooks = hooks;
	f->text = text;
	f->mode = 0600;
	s->n++;
	free(dir);
	return 0;
}

static char *
omp_dir(struct hf_err *err)
{
	const char *dir = hf_env("PI_CODING_AGENT_DIR");
	const char *config = hf_env("PI_CONFIG_DIR");
	char *home, *base, *agent;

	if (dir != NULL)
		return hf_pi_dir(dir, err);
	if ((home = hf_pi_dir("~", err)) == NULL)
		return NULL;
	base = hf_path_join(home, config != NULL ? config : ".omp");
	agent = hf_path_join(base, "agent");
	free(home);
	free(base);
	return agent;
}

static int
files_of(struct set *s, struct hf_err *err)
{
	const char *pi = hf_env("PI_CODING_AGENT_DIR");

	if (strcmp(s->agent, "claude") == 0)
		return add_file(s, HOOKS, hf_claude_dir("", err),
		    "settings.json", claude_hooks, NULL) < 0 ? -1 :
		    add_file(s, WHOLE, hf_claude_dir("commands", err),
		    "handoff.md", NULL, claude_command);
	if (strcmp(s->agent, "codex") == 0)
		return add_file(s, HOOKS, hf_codex_home(err), "hooks.json",
		    codex_hooks, NULL) < 0 ? -1 : add_file(s, NOTIFY,
		    hf_codex_home(err), "config.toml", NULL, NULL);
	if (strcmp(s->agent, "gemini") == 0)
		return add_file(s, HOOKS, hf_gemini_home(err),
		    "settings.json", gemini_hooks, NULL);
	if (strcmp(s->agent, "pi") == 0)
		return add_file(s, WHOLE, hf_pi_dir(pi != NULL ? pi :
		    "~/.pi/agent", err), "extensions/handoff.ts", NULL,
		    pi_extension);
	return add_file(s, WHOLE, omp_dir(err), "extensions/handoff.ts",
	    NULL, pi_extension);
}

static const char *const agents[] = { "claude", "codex", "gemini", "pi",
	"omp", NULL };

const char *const *
hf_setup_agents(void)
{
	return agents;
}

static int
open_set(struct set *s, const char *agent, struct hf_err *err)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; agents[i] != NULL; i++)
		if (strcmp(agents[i], agent) == 0)
			break;
	if (agents[i] == NULL)
		return hf_err_set(err, HF_E_USAGE, "'%s' cannot be set up: "
		    "claude, codex, gemini, pi, omp, cron, systemd can",
		    agent);
	s->agent = agents[i];
	return files_of(s, err);
}

/* ---- reading ---- */

/* What the path leads to: settings are often links into somebody's dot
 * files, which a replaced file would cut. */
static int
load(struct file *f, struct hf_err *err)
{
	struct stat st;

	f->was.max = SETTINGS_MAX;
	f->real = realpath(f->path, NULL);
	if (f->real == NULL && errno != ENOENT && errno != ENOTDIR)
		return hf_err_sys(err, errno, "cannot read '%s'", f->path);
	if (f->real == NULL && lstat(f->path, &st) == 0)
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' is a link that leads nowhere", f->path);
	if (f->real == NULL) {
		f->real = hf_strdup(f->path);
		return 0;
	}
	if (stat(f->real, &st) < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", f->path);
	if (!S_ISREG(st.st_mode))
		return hf_err_set(err, HF_E_CONFIG, "'%s' is no file",
		    f->path);
	f->there = true;
	f->mode = st.st_mode & MODE;
	return hf_io_slurp_path(f->real, &f->was, err);
}

/* ---- what it is to be ---- */

static char *
hook_command(const struct set *s)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_text_shell(&b, hf_str(s->driver));
	hf_buf_printf(&b, " hook %s", s->agent);
	return hf_buf_steal(&b);
}

static void
fill_in(const struct set *s, const char *text, struct hf_buf *out)
{
	while (*text != '\0') {
		if (strncmp(text, "@DRIVER@", 8) == 0) {
			hf_json_quote(out, hf_str(s->driver));
			text += 8;
		} else if (strncmp(text, "@COMMAND@", 9) == 0) {
			hf_text_shell(out, hf_str(s->driver));
			text += 9;
		} else if (strncmp(text, "@AGENT@", 7) == 0) {
			hf_buf_puts(out, s->agent);
			text += 7;
		} else {
			hf_buf_putc(out, *text++);
		}
	}
}

static bool
is_marked(const struct file *f)
{
	return hf_str_find(hf_buf_view(&f->was), hf_str(mark), 0) !=
	    SIZE_MAX;
}

static int
plan_whole(const struct set *s, struct file *f, bool removed,
    struct hf_err *err)
{
	if (f->there && !is_marked(f)) {
		if (removed)
			return 0;
		return hf_err_set(err, HF_E_CONFIG, "'%s' is there and not "
		    "ours: it is left alone", f->path);
	}
	if (removed) {
		f->changed = f->there;
		return 0;
	}
	fill_in(s, f->text, &f->now);
	f->changed = !f->there || !hf_str_eq(hf_buf_view(&f->was),
	    hf_buf_view(&f->now));
	return 0;
}

/* Is the line the key notify of TOML's top table? */
static bool
is_notify(struct hf_str line)
{
	line = hf_str_trim(line);
	if (hf_str_starts(line, "\"notify\""))
		line = hf_strn(line.s + 8, line.n - 8);
	else if (hf_str_starts(line, "notify"))
		line = hf_strn(line.s + 6, line.n - 6);
	else
		return false;
	line = hf_str_trim(line);
	return line.n > 0 && line.s[0] == '=';
}

static bool
is_our_notify(struct hf_str line)
{
	return is_notify(line) &&
	    hf_str_find(line, hf_str(mark), 0) != SIZE_MAX;
}

/* One line at the very top, where no table has begun. Someone else's
 * notify is left alone: there can be only one. */
static int
plan_notify(struct set *s, struct file *f, bool removed)
{
	struct hf_str rest = hf_buf_view(&f->was), line;
	struct hf_buf ours = HF_BUF_INIT;
	bool top = true, theirs = false;

	if (!removed) {
		hf_buf_puts(&ours, "notify = [");
		hf_json_quote(&ours, hf_str(s->driver));
		hf_buf_printf(&ours, ", \"hook\", \"codex\", \"notify\"] "
		    "# %s\n", mark);
	}
	hf_buf_str(&f->now, hf_buf_view(&ours));
	while (rest.n > 0) {
		const char *begin = rest.s;

		line = hf_str_line(rest, &rest);
		if (hf_str_starts(hf_str_trim(line), "["))
			top = false;
		if (is_our_notify(line))
			continue;
		theirs = theirs || (top && is_notify(line));
		hf_buf_str(&f->now, hf_strn(begin,
		    (size_t)(rest.n > 0 ? rest.s - begin :
		    f->was.data + f->was.len - begin)));
	}
	f->changed = !theirs && !hf_str_eq(hf_buf_view(&f->was),
	    hf_buf_view(&f->now));
	if (theirs && !removed)
		s->note = "notify in config.toml is somebody else's and left "
		    "alone; the hooks do without it.";
	hf_buf_release(&ours);
	return 0;
}

static int
plan(struct set *s, struct file *f, bool removed, struct hf_err *err)
{
	char *command;
	int rc;

	if (load(f, err) < 0)
		return -1;
	if (f->kind == WHOLE)
		return plan_whole(s, f, removed, err);
	if (f->kind == NOTIFY)
		return plan_notify(s, f, removed);
	if (removed && !f->there)
		return 0;
	command = hook_command(s);
	rc = removed ? hf_hookset_remove(&f->now, hf_buf_view(&f->was),
	    err) : hf_hookset_add(&f->now, hf_buf_view(&f->was), f->hooks,
	    command, err);
	free(command);
	if (rc < 0) {
		hf_err_prefix(err, "'%s' is left alone", f->path);
		return -1;
	}
	f->changed = rc;
	return 0;
}

/* ---- doing it ---- */

static int
store(const struct file *f, struct hf_err *err)
{
	char *folder = hf_path_dir(f->real);
	struct hf_dir d = HF_DIR_INIT;
	struct hf_buf again = HF_BUF_MAX(SETTINGS_MAX);
	const char *name = hf_path_base(f->real);
	int rc = hf_dir_make(&d, folder, err);

	/* The agent writes its settings too. */
	if (rc == 0 && hf_file_read(&d, name, &again, err) < 0)
		rc = -1;
	if (rc == 0 && !hf_str_eq(hf_buf_view(&again),
	    hf_buf_view(&f->was)) && (again.len > 0 || f->was.len > 0))
		rc = hf_err_set(err, HF_E_CHANGED,
		    "'%s' was changed meanwhile: try again", f->path);
	if (rc == 0 && f->now.len == 0)
		rc = hf_file_remove(&d, name, err) < 0 ? -1 : 0;
	else if (rc == 0)
		rc = hf_file_replace(&d, name, hf_buf_view(&f->now), err);
	if (rc == 0 && f->now.len > 0 && f->there && f->mode != 0600 &&
	    fchmodat(d.fd, name, f->mode, 0) < 0)
		rc = hf_err_sys(err, errno, "cannot set the mode of '%s'",
		    f->path);
	hf_buf_release(&again);
	hf_dir_close(&d);
	free(folder);
	return rc;
}

/* What hooks would be added, as they would stand in an empty file. */
static void
show_hooks(const struct set *s, const struct file *f, struct hf_buf *said)
{
	struct hf_buf alone = HF_BUF_INIT;
	char *command = hook_command(s);

	if (hf_hookset_add(&alone, HF_STR_NONE, f->hooks, command, NULL) > 0)
		hf_text_safe(said, hf_buf_view(&alone), true);
	free(command);
	hf_buf_release(&alone);
}

static void
show_file(const struct set *s, const struct file *f, struct hf_buf *said)
{
	hf_report_path(said, hf_str(f->path));
	if (!f->changed) {
		hf_buf_puts(said, ": nothing to add\n");
		return;
	}
	hf_buf_puts(said, f->kind == WHOLE ? ": would be written:\n" :
	    ": would get:\n");
	if (f->kind == HOOKS)
		show_hooks(s, f, said);
	else
		hf_text_safe(said, f->kind == WHOLE ? hf_buf_view(&f->now) :
		    hf_str_line(hf_buf_view(&f->now), NULL), true);
	if (said->len > 0 && said->data[said->len - 1] != '\n')
		hf_buf_putc(said, '\n');
	hf_buf_putc(said, '\n');
}

static int
do_file(const struct file *f, enum hf_setup_do what, struct hf_buf *said,
    struct hf_err *err)
{
	if (f->changed && store(f, err) < 0)
		return -1;
	hf_report_path(said, hf_str(f->path));
	hf_buf_puts(said, !f->changed ? ": nothing to do\n" :
	    f->now.len == 0 ? ": removed\n" :
	    what == HF_SETUP_REMOVE ? ": ours is out\n" :
	    f->there ? ": changed\n" : ": written\n");
	return 0;
}

static const char *
advice(const struct set *s)
{
	if (s->note != NULL)
		return s->note;
	if (strcmp(s->agent, "codex") == 0)
		return "Codex runs hooks only once they are trusted: start "
		    "codex and say yes (/hooks).";
	return NULL;
}

static void
end_words(const struct set *s, enum hf_setup_do what, struct hf_buf *said)
{
	size_t changed = 0;

	for (size_t i = 0; i < s->n; i++)
		changed += s->f[i].changed > 0;
	if (what != HF_SETUP_REMOVE && advice(s) != NULL)
		hf_buf_printf(said, "%s\n", advice(s));
	if (what == HF_SETUP_SHOW && changed > 0)
		hf_buf_printf(said, "Nothing is written: 'handoff setup %s "
		    "--write' does it.\n", s->agent);
	else if (what == HF_SETUP_WRITE && changed > 0)
		hf_buf_puts(said, "Sessions that are open must be started "
		    "anew to see it.\n");
}

int
hf_setup(const char *agent, enum hf_setup_do what, const char *driver,
    struct hf_buf *said, struct hf_err *err)
{
	struct set s;
	int rc = open_set(&s, agent, err);

	s.driver = driver;
	/* All is planned before anything is written. */
	for (size_t i = 0; i < s.n && rc == 0; i++)
		rc = plan(&s, &s.f[i], what == HF_SETUP_REMOVE, err);
	for (size_t i = 0; i < s.n && rc == 0; i++) {
		if (what == HF_SETUP_SHOW)
			show_file(&s, &s.f[i], said);
		else
			rc = do_file(&s.f[i], what, said, err);
	}
	if (rc == 0)
		end_words(&s, what, said);
	release(&s);
	return rc;
}

/* ---- looking ---- */

static char *
program_of(const char *command)
{
	struct hf_str c = hf_str(command);
	size_t end = hf_str_find(c, HF_STR(" hook"), 0);

	if (end == SIZE_MAX)
		return hf_strdup(command);
	if (c.n > 1 && c.s[0] == '\'' && c.s[end - 1] == '\'')
		return hf_strndup(c.s + 1, end - 2);
	return hf_strndup(c.s, end);
}

/* The text between const handoff = "…". */
static char *
program_in(const struct file *f)
{
	static const struct hf_str before = { "const handoff = ", 16 };
	struct hf_str t = hf_buf_view(&f->was);
	size_t at = hf_str_find(t, before, 0);
	struct hf_json *j;
	char *out = NULL;

	if (at == SIZE_MAX)
		return NULL;
	at += before.n;
	j = hf_json_parse(hf_strn(t.s + at, t.n - at), HF_JSON_PREFIX, NULL,
	    NULL, NULL);
	if (hf_json_type(hf_json_root(j)) == HF_J_STR)
		out = hf_strndup(hf_json_str(hf_json_root(j)).s,
		    hf_json_str(hf_json_root(j)).n);
	hf_json_free(j);
	return out;
}

static int
look(const struct file *f, char **command, struct hf_err *err)
{
	const struct hf_hookset *h;
	char *said;
	int n, want = 0;

	if (f->kind == NOTIFY)
		return 1;		/* hooks do without it */
	if (f->kind == WHOLE) {
		if (*command == NULL)
			*command = f->there ? program_in(f) : NULL;
		return f->there && is_marked(f);
	}
	n = hf_hookset_count(hf_buf_view(&f->was), f->hooks, &said, err);
	if (n < 0) {
		hf_err_prefix(err, "'%s'", f->path);
		return -1;
	}
	for (h = f->hooks; h->event != NULL; h++)
		want++;
	if (said != NULL)
		*command = program_of(said);
	free(said);
	return n == want;
}

int
hf_setup_is(const char *agent, char **command, struct hf_err *err)
{
	struct set s;
	int rc, all = 1;

	*command = NULL;
	rc = open_set(&s, agent, err);
	for (size_t i = 0; i < s.n && rc >= 0; i++) {
		rc = load(&s.f[i], err);
		if (rc == 0)
			rc = look(&s.f[i], command, err);
		all = all && rc > 0;
	}
	release(&s);
	return rc < 0 ? -1 : all;
}
