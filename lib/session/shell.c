#include "session/shell.h"

#include <string.h>

#include "base/buf.h"

enum { LINE_MAX_BYTES = 65536, COMPLAINTS = 8192, HEREDOCS = 4,
	CHECKS_MAX = 8, TAIL_LINES = 20 };

/* ---- words ---- */

struct lexer {
	struct hf_shell *sh;
	struct hf_str t;
	size_t i;
	struct hf_str heredoc[HEREDOCS];	/* marks that end them */
	size_t nheredocs;
	struct hf_buf word;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
ends_word(char c)
{
	return is_blank(c) || c == '\n' || strchr(";|&<>()", c) != NULL;
}

/* A quoted part, without its quotes. */
static void
quoted(struct lexer *l, char quote, bool *plain)
{
	char c;

	for (l->i++; l->i < l->t.n && (c = l->t.s[l->i]) != quote; l->i++) {
		if (quote == '"' && c == '\\' && l->i + 1 < l->t.n)
			c = l->t.s[++l->i];
		else if (quote == '"' && (c == '$' || c == '`'))
			*plain = false;
		hf_buf_putc(&l->word, c);
	}
	if (l->i < l->t.n)
		l->i++;
}

/* The word at the place of the lexer, in the arena. */
static struct hf_str
word(struct lexer *l, bool *plain)
{
	char c;

	*plain = true;
	hf_buf_clear(&l->word);
	while (l->i < l->t.n && !ends_word(c = l->t.s[l->i])) {
		if (c == '\'' || c == '"') {
			quoted(l, c, plain);
			continue;
		}
		if (c == '\\' && l->i + 1 < l->t.n) {
			l->i++;
			if (l->t.s[l->i] != '\n')
				hf_buf_putc(&l->word, l->t.s[l->i]);
		} else {
			if (strchr("$`*?{}", c) != NULL)
				*plain = false;
			hf_buf_putc(&l->word, c);
		}
		l->i++;
	}
	return hf_strn(hf_arena_copy(&l->sh->arena, hf_buf_cstr(&l->word),
	    l->word.len), l->word.len);
}

static void
blanks(struct lexer *l)
{
	while (l->i < l->t.n && (is_blank(l->t.s[l->i]) ||
	    (l->t.s[l->i] == '\\' && l->i + 1 < l->t.n &&
	    l->t.s[l->i + 1] == '\n')))
		l->i += l->t.s[l->i] == '\\' ? 2 : 1;
}

static bool
take(struct lexer *l, const char *lit)
{
	if (!hf_str_starts(hf_strn(l->t.s + l->i, l->t.n - l->i), lit))
		return false;
	l->i += strlen(lit);
	return true;
}

/* Behind the end of a line: the bodies of its here-documents go by. */
static void
heredocs(struct lexer *l)
{
	struct hf_str line, rest;
	size_t k;

	for (k = 0; k < l->nheredocs; k++) {
		rest = hf_strn(l->t.s + l->i, l->t.n - l->i);
		while (rest.n > 0) {
			line = hf_str_line(rest, &rest);
			if (hf_str_eq(hf_str_trim(line), l->heredoc[k]))
				break;
		}
		l->i = l->t.n - rest.n;
	}
	l->nheredocs = 0;
}

/* ---- commands ---- */

static struct hf_shell_command *
current(struct lexer *l)
{
	return &l->sh->cmd[l->sh->n];
}

static void
end_command(struct lexer *l, enum hf_shell_link link)
{
	struct hf_shell_command *c = current(l);

	if (c->n == 0 && c->nout == 0)
		return;
	c->link = link;
	if (l->sh->n + 1 < HF_SHELL_COMMANDS)
		l->sh->n++;
	memset(current(l), 0, sizeof(*c));
}

static void
begin_heredoc(struct lexer *l)
{
	bool plain;
	struct hf_str mark;

	take(l, "-");
	blanks(l);
	mark = word(l, &plain);
	if (l->nheredocs < HEREDOCS)
		l->heredoc[l->nheredocs++] = mark;
}

/* "> f", ">> f", "2>&1", "< f", "<<EOF". */
static void
redirect(struct lexer *l)
{
	struct hf_shell_command *c = current(l);
	bool plain, output = false;
	struct hf_str to;

	if (!take(l, "<<<") && take(l, "<<")) {
		begin_heredoc(l);
		return;
	}
	if (!take(l, "<"))
		output = take(l, "&>>") || take(l, "&>") || take(l, ">>") ||
		    take(l, ">|") || take(l, ">");
	if (take(l, "&"))		/* to another descriptor */
		output = false;
	blanks(l);
	to = word(l, &plain);
	if (output && plain && to.n > 0 && c->nout < HF_SHELL_FILES)
		c->out[c->nout++] = to;
}

/* Is it the number of a descriptor in front of a redirection? */
static bool
descriptor(const struct lexer *l, struct hf_str w)
{
	return w.n == 1 && w.s[0] >= '0' && w.s[0] <= '9' &&
	    l->i < l->t.n && (l->t.s[l->i] == '>' || l->t.s[l->i] == '<');
}

static void
add_word(struct lexer *l)
{
	struct hf_shell_command *c = current(l);
	bool plain;
	struct hf_str w = word(l, &plain);

	if (descriptor(l, w) || c->n == HF_SHELL_WORDS)
		return;
	/* Words of the shell's own in front of a command. */
	if (c->n == 0 && (hf_str_is(w, "then") || hf_str_is(w, "do") ||
	    hf_str_is(w, "if") || hf_str_is(w, "else") ||
	    hf_str_is(w, "while") || hf_str_is(w, "!") ||
	    hf_str_is(w, "{") || hf_str_is(w, "}")))
		return;
	c->plain[c->n] = plain;
	c->word[c->n++] = w;
}

static void
step(struct lexer *l)
{
	char c = l->t.s[l->i];

	if (c == '#') {
		while (l->i < l->t.n && l->t.s[l->i] != '\n')
			l->i++;
	} else if (c == '\n') {
		l->i++;
		heredocs(l);
		end_command(l, HF_SHELL_END);
	} else if (hf_str_starts(hf_strn(l->t.s + l->i, l->t.n - l->i),
	    "&>") || c == '>' || c == '<') {
		redirect(l);
	} else if (take(l, "&&")) {
		end_command(l, HF_SHELL_AND);
	} else if (take(l, "||")) {
		end_command(l, HF_SHELL_OR);
	} else if (take(l, "|&") || take(l, "|")) {
		end_command(l, HF_SHELL_PIPE);
	} else if (strchr(";&()", c) != NULL) {
		l->i++;
		end_command(l, HF_SHELL_END);
	} else {
		add_word(l);
	}
}

void
hf_shell_parse(struct hf_shell *sh, struct hf_str line)
{
	struct lexer l = { .sh = sh, .t = line };
	size_t before;

	hf_arena_clear(&sh->arena);
	sh->n = 0;
	sh->pipefail = hf_str_find(line, HF_STR("pipefail"), 0) != SIZE_MAX;
	memset(&sh->cmd[0], 0, sizeof(sh->cmd[0]));
	if (l.t.n > LINE_MAX_BYTES)
		l.t.n = LINE_MAX_BYTES;
	for (;;) {
		blanks(&l);
		if (l.i >= l.t.n)
			break;
		before = l.i;
		step(&l);
		if (l.i == before)
			l.i++;
	}
	end_command(&l, HF_SHELL_END);
	hf_buf_release(&l.word);
}

void
hf_shell_release(struct hf_shell *sh)
{
	hf_arena_clear(&sh->arena);
	sh->n = 0;
}

/* ---- what a command is ---- */

static bool
in(const char *const *list, struct hf_str w)
{
	for (; *list != NULL; list++)
		if (hf_str_is(w, *list))
			return true;
	return false;
}

static struct hf_str
base(struct hf_str w)
{
	size_t i;

	for (i = w.n; i > 0 && w.s[i - 1] != '/'; i--)
		;
	return hf_strn(w.s + i, w.n - i);
}

static bool
is_assignment(struct hf_str w)
{
	size_t i;

	for (i = 0; i < w.n && ((w.s[i] >= 'A' && w.s[i] <= 'Z') ||
	    (w.s[i] >= 'a' && w.s[i] <= 'z') || w.s[i] == '_' ||
	    (i > 0 && w.s[i] >= '0' && w.s[i] <= '9')); i++)
		;
	return i > 0 && i < w.n && w.s[i] == '=';
}

static bool
is_number(struct hf_str w)
{
	size_t i;

	for (i = 0; i < w.n && ((w.s[i] >= '0' && w.s[i] <= '9') ||
	    strchr(".smh", w.s[i]) != NULL); i++)
		;
	return w.n > 0 && i == w.n && w.s[0] >= '0' && w.s[0] <= '9';
}

static bool
is_python(struct hf_str w)
{
	return hf_str_is(w, "python") || hf_str_is(w, "python3") ||
	    hf_str_is(w, "py");
}

/* How many words from i on only say how to run what follows; 0: none. */
static size_t
wrapper(const struct hf_shell_command *c, size_t i)
{
	static const char *const alone[] = { "sudo", "env", "time", "nice",
		"nohup", "exec", "command", "npx", "bunx", "stdbuf",
		"xvfb-run", "builtin", NULL };
	static const char *const runners[] = { "poetry", "uv", "pipenv",
		"rye", "hatch", "pdm", NULL };
	struct hf_str w = base(c->word[i]);

	if (is_assignment(c->word[i]) || in(alone, w))
		return 1;
	if (hf_str_is(w, "timeout"))
		return i + 1 < c->n && is_number(c->word[i + 1]) ? 2 : 1;
	if (i + 1 < c->n && ((in(runners, w) &&
	    hf_str_is(c->word[i + 1], "run")) || (is_python(w) &&
	    hf_str_is(c->word[i + 1], "-m")) || (hf_str_is(w, "bundle") &&
	    hf_str_is(c->word[i + 1], "exec")) || ((hf_str_is(w, "pnpm") ||
	    hf_str_is(w, "yarn") || hf_str_is(w, "npm")) &&
	    (hf_str_is(c->word[i + 1], "exec") ||
	    hf_str_is(c->word[i + 1], "dlx")))))
		return 2;
	return 0;
}

size_t
hf_shell_name(const struct hf_shell_command *c, struct hf_str *name)
{
	size_t i = 0, n;

	while (i < c->n && (n = wrapper(c, i)) > 0) {
		i += n;
		/* Options of the wrapper. */
		while (i < c->n && c->word[i].n > 1 &&
		    c->word[i].s[0] == '-')
			i++;
	}
	*name = i < c->n ? base(c->word[i]) : HF_STR_NONE;
	return i < c->n ? i : c->n;
}

/* The next word behind i that is no option. */
static struct hf_str
operand(const struct hf_shell_command *c, size_t i)
{
	for (i++; i < c->n; i++)
		if (c->word[i].n == 0 || c->word[i].s[0] != '-')
			return c->word[i];
	return HF_STR_NONE;
}

bool
hf_shell_looks(const struct hf_shell_command *c)
{
	static const char *const viewers[] = { "ls", "cat", "grep", "egrep",
		"fgrep", "rg", "ag", "find", "fd", "head", "tail", "wc",
		"which", "type", "test", "[", "[[", "diff", "cmp", "stat",
		"file", "du", "df", "ps", "pgrep", "pwd", "cd", "pushd",
		"popd", "echo", "printf", "export", "set", "source", ".",
		"sleep", "tree", "less", "more", "sort", "uniq", "cut",
		"awk", "jq", "env", "date", "whoami", "uname", "true",
		"false", "tee", "sed", "tr", "xargs", "basename", "dirname",
		"realpath", "readlink", "nl", "od", "xxd", "hexdump",
		"mkdir", "exit", "unset", "alias", "id", "hostname", "lsof",
		"netstat", "ss", "column", "strings", "man", "history",
		"wait", "kill", "pkill", "curl", "wget", NULL };
	static const char *const git[] = { "status", "log", "diff", "show",
		"branch", "blame", "grep", "ls-files", "rev-parse", "stash",
		"remote", "config", "describe", "reflog", "cat-file",
		"check-ignore", "merge-base", NULL };
	struct hf_str name;
	size_t i = hf_shell_name(c, &name);

	if (i == c->n || in(viewers, name))
		return true;
	return hf_str_is(name, "git") && in(git, operand(c, i));
}

bool
hf_shell_masks(const struct hf_shell *sh)
{
	bool runs = false;
	size_t i;

	for (i = 0; i < sh->n; i++) {
		runs = runs || !hf_shell_looks(&sh->cmd[i]);
		if (!runs || i + 1 == sh->n)
			continue;
		if ((sh->cmd[i].link == HF_SHELL_PIPE && !sh->pipefail) ||
		    sh->cmd[i].link == HF_SHELL_OR ||
		    sh->cmd[i].link == HF_SHELL_END)
			return true;
	}
	return false;
}

/* ---- the same check, written otherwise ---- */

/* Options whose values say which part is looked at. */
static bool
restricts(struct hf_str w)
{
	static const char *const options[] = { "-p", "--package", "-k", "-t",
		"-run", "--run", "--grep", "-g", "--filter", "--test",
		"--tests", "-m", "--testNamePattern", "--spec", "-L", "-R",
		"--suite", "--target", NULL };
	size_t eq = hf_str_find(w, HF_STR("="), 0);

	return in(options, hf_strn(w.s, eq != SIZE_MAX ? eq : w.n));
}

/* Options whose values say how, not what. */
static bool
takes_value(struct hf_str w)
{
	static const char *const options[] = { "-o", "-c", "-C", "-D", "-W",
		"-A", "-O", "-e", "-I", "-F", "-j", "-n", "--reporter",
		"--format", "--color", "--config", "--profile",
		"--log-level", "--output-format", "--max-warnings", NULL };

	return in(options, w);
}

/* Is word i behind the name one that says what is looked at? Numbers,
 * assignments and how it is done do not. */
static bool
counts(const struct hf_shell_command *c, size_t i)
{
	struct hf_str w = c->word[i];

	if (w.n == 0 || is_number(w) || is_assignment(w))
		return false;
	if (w.s[0] == '-')
		return restricts(w) && hf_str_find(w, HF_STR("="), 0) !=
		    SIZE_MAX;
	return !takes_value(c->word[i - 1]);
}

/* Is b a, or in the folder a? */
static bool
includes(struct hf_str a, struct hf_str b)
{
	if (hf_str_eq(a, b))
		return true;
	if (hf_str_ends(a, "/..."))
		a.n -= 4;
	else if (hf_str_ends(a, "/"))
		a.n--;
	return a.n > 0 && b.n > a.n && memcmp(a.s, b.s, a.n) == 0 &&
	    b.s[a.n] == '/';
}

static bool
has_verb(struct hf_str name)
{
	static const char *const names[] = { "git", "npm", "yarn", "pnpm",
		"bun", "cargo", "go", "docker", "make", "gmake", "mvn",
		"gradle", "gradlew", "dotnet", "rake", "just", "terraform",
		"kubectl", "helm", "composer", "mix", "swift", "zig",
		"stack", "cabal", "sbt", "deno", "ruff", "tox", "nox",
		"bazel", "meson", "ninja", "task", "invoke", "rails", "php",
		"python", "python3", "node", "ruby", "sh", "bash", "perl",
		NULL };

	return in(names, name);
}

/* The place of the verb: "npm run test" is "npm test". */
static size_t
verb_at(const struct hf_shell_command *c, size_t name)
{
	size_t i;

	for (i = name + 1; i < c->n; i++)
		if (c->word[i].n > 0 && c->word[i].s[0] != '-' &&
		    !is_number(c->word[i]) && !is_assignment(c->word[i]) &&
		    !(hf_str_is(c->word[i], "run") && i + 1 < c->n))
			return i;
	return c->n;
}

static struct hf_str
kept(struct hf_arena *a, struct hf_str w)
{
	return hf_strn(hf_arena_copy(a, w.n > 0 ? w.s : "", w.n), w.n);
}

static void
check_of(const struct hf_shell_command *c, struct hf_arena *a,
    struct hf_shell_check *out)
{
	struct hf_str name;
	size_t i = hf_shell_name(c, &name), at;

	memset(out, 0, sizeof(*out));
	out->name = kept(a, name);
	if (has_verb(name) && (at = verb_at(c, i)) < c->n) {
		out->verb = kept(a, c->word[at]);
		i = at;
	}
	for (i++; i < c->n && out->n < HF_SHELL_OPERANDS; i++)
		if (counts(c, i))
			out->operand[out->n++] = kept(a, c->word[i]);
}

size_t
hf_shell_checks(const struct hf_shell *sh, struct hf_arena *a,
    struct hf_shell_check **out)
{
	size_t i, n = 0;

	for (i = 0; i < sh->n; i++)
		n += !hf_shell_looks(&sh->cmd[i]);
	*out = NULL;
	if (n == 0)
		return 0;
	n = n < CHECKS_MAX ? n : CHECKS_MAX;
	*out = hf_arena_alloc(a, n * sizeof(**out));
	for (i = n = 0; i < sh->n && n < CHECKS_MAX; i++)
		if (!hf_shell_looks(&sh->cmd[i]))
			check_of(&sh->cmd[i], a, &(*out)[n++]);
	return n;
}

static bool
is_everything(struct hf_str w)
{
	return hf_str_is(w, ".") || hf_str_is(w, "./...") ||
	    hf_str_is(w, "...");
}

bool
hf_shell_covers(const struct hf_shell_check *a,
    const struct hf_shell_check *b)
{
	size_t i, k;

	if (!hf_str_eq(a->name, b->name) || !hf_str_eq(a->verb, b->verb))
		return false;
	for (i = 0; i < a->n; i++) {
		for (k = 0; k < b->n && !includes(a->operand[i],
		    b->operand[k]); k++)
			;
		if (k == b->n && !is_everything(a->operand[i]))
			return false;
	}
	return true;
}

/* ---- what output says ---- */

/* "3 failed", "12 errors": not "0 failed". */
static bool
counted(struct hf_str line, const char *word)
{
	size_t at = 0, i;

	while ((at = hf_str_ifind(line, word, at)) != SIZE_MAX) {
		for (i = at; i > 0 && line.s[i - 1] == ' '; i--)
			;
		if (i < at && i > 0 && line.s[i - 1] >= '0' &&
		    line.s[i - 1] <= '9') {
			for (i--; i > 0 && line.s[i - 1] >= '0' &&
			    line.s[i - 1] <= '9'; i--)
				;
			if (line.s[i] != '0')
				return true;
		}
		at++;
	}
	return false;
}

static bool
bad_line(struct hf_str line)
{
	static const char *const leads[] = { "FAILED", "FAIL ", "FAIL:",
		"FAIL\t", "--- FAIL", "not ok ", "npm ERR!", "error:",
		"error[", "Error:", "ERROR:", "[ERROR]", "ERROR ", "make: ***",
		"Traceback (most recent call last)", "panic:", "fatal:",
		"Segmentation fault", "AssertionError", "E   ", "ninja: error",
		NULL };
	static const char *const parts[] = { ": error: ", ": error TS",
		": fatal error", " error TS", "BUILD FAILURE", "BUILD FAILED",
		"test result: FAILED", "*** [", NULL };
	static const char *const counts_of[] = { "failed", "failures",
		"failure", "errors", "error", "problems", "failing", NULL };
	size_t i;

	line = hf_str_trim(line);
	for (i = 0; leads[i] != NULL; i++)
		if (hf_str_starts(line, leads[i]))
			return true;
	for (i = 0; parts[i] != NULL; i++)
		if (hf_str_find(line, hf_str(parts[i]), 0) != SIZE_MAX)
			return true;
	for (i = 0; counts_of[i] != NULL; i++)
		if (counted(line, counts_of[i]))
			return true;
	return false;
}

bool
hf_shell_complains(struct hf_str output)
{
	struct hf_str line, rest = hf_str_trim(output);

	/* What counts stands at the end. */
	if (rest.n > COMPLAINTS)
		rest = hf_strn(rest.s + rest.n - COMPLAINTS, COMPLAINTS);
	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (bad_line(line))
			return true;
	}
	return false;
}

/* What a client says behind or before a command's output. */
static bool
client_line(struct hf_str line)
{
	return line.n == 0 || hf_str_starts(line, "Command exited with") ||
	    hf_str_starts(line, "Exit code ") ||
	    hf_str_starts(line, "Wall time:");
}

/* The last line but one that is no client's, from the end of t. */
static struct hf_str
last_line(struct hf_str *t)
{
	struct hf_str line;
	size_t from;

	do {
		*t = hf_str_trim(*t);
		for (from = t->n; from > 0 && t->s[from - 1] != '\n'; from--)
			;
		line = hf_str_trim(hf_strn(t->s + from, t->n - from));
		t->n = from;
	} while (t->n > 0 && client_line(line));
	return client_line(line) ? HF_STR_NONE : line;
}

void
hf_shell_telling(struct hf_buf *out, struct hf_str output, bool failed)
{
	struct hf_str rest = output, last = last_line(&rest), line;
	struct hf_str bad[2] = { HF_STR_NONE, HF_STR_NONE };
	size_t n = 0, lines;

	if (failed && bad_line(last))
		bad[n++] = last;
	for (lines = 0; failed && n < 2 && lines < TAIL_LINES && rest.n > 0;
	    lines++) {
		line = last_line(&rest);
		if (bad_line(line))
			bad[n++] = line;
	}
	if (n == 0)
		bad[n++] = last;
	while (n-- > 0) {
		hf_buf_str(out, bad[n]);
		if (n > 0)
			hf_buf_puts(out, "; ");
	}
}

/* ---- files ---- */

struct effects {
	void (*cb)(enum hf_shell_effect e, struct hf_str dir,
	    struct hf_str path, struct hf_str to, void *arg);
	void *arg;
	struct hf_str dir;
	char to[4096];		/* a file in the folder it is moved to */
};

static void
tell(struct effects *fx, enum hf_shell_effect e, struct hf_str path,
    struct hf_str to)
{
	if (path.n > 0)
		fx->cb(e, fx->dir, path, to, fx->arg);
}

/* Operands behind the name of command c, at most max; options and words
 * that a shell would expand are left out. */
static size_t
operands(const struct hf_shell_command *c, size_t i, struct hf_str *out,
    size_t max)
{
	size_t n = 0;

	for (i++; i < c->n && n < max; i++)
		if (c->word[i].n > 0 && c->word[i].s[0] != '-' &&
		    c->plain[i])
			out[n++] = c->word[i];
	return n;
}

/* Where from goes to: to itself, or into it when it is a folder. */
static struct hf_str
target(struct effects *fx, struct hf_str from, struct hf_str to, bool many)
{
	struct hf_str name = base(from);
	bool folder = many || hf_str_ends(to, "/") || hf_str_is(to, ".") ||
	    hf_str_is(to, "..") || (hf_str_find(base(to), HF_STR("."), 0) ==
	    SIZE_MAX && hf_str_find(name, HF_STR("."), 0) != SIZE_MAX);

	if (!folder)
		return to;
	if (hf_str_ends(to, "/"))
		to.n--;
	if (to.n + name.n + 1 > sizeof(fx->to))
		return HF_STR_NONE;
	memcpy(fx->to, to.s, to.n);
	fx->to[to.n] = '/';
	memcpy(fx->to + to.n + 1, name.s, name.n);
	return hf_strn(fx->to, to.n + 1 + name.n);
}

static void
copied(struct effects *fx, const struct hf_str *w, size_t n, bool moved)
{
	struct hf_str to;
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		to = target(fx, w[i], w[n - 1], n > 2);
		if (moved)
			tell(fx, HF_SHELL_MOVES, w[i], to);
		else
			tell(fx, HF_SHELL_WRITES, to, HF_STR_NONE);
	}
}

static bool
has_option(const struct hf_shell_command *c, const char *lead)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		if (hf_str_starts(c->word[i], lead))
			return true;
	return false;
}

/* sed -i and perl -pi edit what stands behind their script. */
static void
in_place(struct effects *fx, const struct hf_shell_command *c,
    const struct hf_str *w, size_t n)
{
	size_t i = has_option(c, "-e") || has_option(c, "-f") ||
	    has_option(c, "--expression") ? 0 : 1;

	for (; i < n; i++)
		tell(fx, HF_SHELL_WRITES, w[i], HF_STR_NONE);
}

static void
by_command(struct effects *fx, const struct hf_shell_command *c)
{
	struct hf_str name, w[HF_SHELL_WORDS], *args = w;
	size_t at = hf_shell_name(c, &name), n, i;

	if (at == c->n)
		return;
	n = operands(c, at, w, HF_SHELL_WORDS);
	if (hf_str_is(name, "git") && n > 0) {
		name = w[0];
		args++;
		n--;
		if (!hf_str_is(name, "mv") && !hf_str_is(name, "rm"))
			return;
	}
	if (hf_str_is(name, "rm") || hf_str_is(name, "unlink"))
		for (i = 0; i < n; i++)
			tell(fx, HF_SHELL_REMOVES, args[i], HF_STR_NONE);
	else if (hf_str_is(name, "mv"))
		copied(fx, args, n, true);
	else if (hf_str_is(name, "cp") && !has_option(c, "-r") &&
	    !has_option(c, "-R") && !has_option(c, "-a"))
		copied(fx, args, n, false);
	else if (hf_str_is(name, "tee") || hf_str_is(name, "touch"))
		for (i = 0; i < n; i++)
			tell(fx, HF_SHELL_WRITES, args[i], HF_STR_NONE);
	else if ((hf_str_is(name, "sed") && (has_option(c, "-i") ||
	    has_option(c, "--in-place"))) || (hf_str_is(name, "perl") &&
	    (has_option(c, "-pi") || has_option(c, "-i"))))
		in_place(fx, c, args, n);
}

void
hf_shell_files(const struct hf_shell *sh,
    void (*cb)(enum hf_shell_effect e, struct hf_str dir,
    struct hf_str path, struct hf_str to, void *arg), void *arg)
{
	struct effects fx = { .cb = cb, .arg = arg };
	const struct hf_shell_command *c;
	size_t i, k;

	for (i = 0; i < sh->n; i++) {
		c = &sh->cmd[i];
		if (c->n == 2 && hf_str_is(c->word[0], "cd")) {
			fx.dir = c->plain[1] ? c->word[1] : HF_STR_NONE;
			continue;
		}
		by_command(&fx, c);
		for (k = 0; k < c->nout; k++)
			tell(&fx, HF_SHELL_WRITES, c->out[k], HF_STR_NONE);
	}
}
