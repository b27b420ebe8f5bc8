/*
 * Command lines of agents, read as a shell would: what they run, which
 * files they write, and whether their status is that of what they run.
 * Nothing is expanded: a word with a variable, a substitution or a pattern
 * in it names no file.
 */
#ifndef HF_SESSION_SHELL_H
#define HF_SESSION_SHELL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/mem.h"

enum { HF_SHELL_COMMANDS = 32, HF_SHELL_WORDS = 48, HF_SHELL_FILES = 4 };

enum hf_shell_link {		/* what stands behind a command */
	HF_SHELL_END,		/* ";", a line's end, "&", nothing */
	HF_SHELL_AND, HF_SHELL_OR, HF_SHELL_PIPE
};
struct hf_shell_command {
	struct hf_str word[HF_SHELL_WORDS];	/* without quotes */
	bool plain[HF_SHELL_WORDS];	/* nothing in it to be expanded */
	size_t n;
	struct hf_str out[HF_SHELL_FILES];	/* redirected to */
	size_t nout;
	enum hf_shell_link link;
};
struct hf_shell {
	struct hf_shell_command cmd[HF_SHELL_COMMANDS];
	size_t n;			/* more are left out */
	bool pipefail;
	struct hf_arena arena;
};
/* *sh must be zero or used before. Here-documents are stepped over. */
void	hf_shell_parse(struct hf_shell *sh, struct hf_str line);
void	hf_shell_release(struct hf_shell *sh);

/* Where the command proper begins: behind assignments, env, time, timeout,
 * npx, "python -m" and the like; its name has no folder. n when there is
 * none. */
size_t	hf_shell_name(const struct hf_shell_command *c, struct hf_str *name);
/* Does it only look around (ls, grep, cat, git status …)? Its failure is an
 * answer. cd, export, echo and the like do too. */
bool	hf_shell_looks(const struct hf_shell_command *c);
/* May the line succeed although what it runs failed: a pipe into tail, "||
 * true", something else behind it? */
bool	hf_shell_masks(const struct hf_shell *sh);

/* What a command is about, whatever its spelling: "cd x && CI=1 npm run test
 * 2>&1 | tail" is npm, test. */
enum { HF_SHELL_OPERANDS = 8 };
struct hf_shell_check {
	struct hf_str name;
	struct hf_str verb;	/* "test" of npm; none where there are none */
	struct hf_str operand[HF_SHELL_OPERANDS];	/* what it looks at */
	size_t n;
};
/* Those of a line that do more than look around, at most 8, with their
 * texts in a; *out is NULL for none. */
size_t	hf_shell_checks(const struct hf_shell *sh, struct hf_arena *a,
	    struct hf_shell_check **out);
/* When a succeeds, is all well with what b looked at? */
bool	hf_shell_covers(const struct hf_shell_check *a,
	    const struct hf_shell_check *b);
/* Does output say that something failed ("3 failed", "not ok", "error:")? */
bool	hf_shell_complains(struct hf_str output);
/* Appends the line of output that tells most: the last, of a failure the
 * last ones that complain. Nothing for none. */
void	hf_shell_telling(struct hf_buf *out, struct hf_str output,
	    bool failed);

enum hf_shell_effect { HF_SHELL_WRITES, HF_SHELL_REMOVES, HF_SHELL_MOVES };
/* Calls cb for each file that the line writes, removes or moves (to); a
 * relative one is below dir if that is not none, the folder that the line
 * changed to. */
void	hf_shell_files(const struct hf_shell *sh,
	    void (*cb)(enum hf_shell_effect e, struct hf_str dir,
	    struct hf_str path, struct hf_str to, void *arg), void *arg);

#endif
