/*
 * What "make eval" is made of: sessions with planted items, written as each
 * agent writes them, handed off round after round by the real commands, and
 * the briefs compared with what was planted.
 */
#ifndef HF_EVAL_H
#define HF_EVAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "brief/brief.h"
#include "json/json.h"

/* The value of a variable, DEPLOY_TOKEN, that the commands are run with. */
#define EV_TOKEN	"zk3.staging.4411.eu-west"

enum { EV_ROUNDS = 5, EV_FIELDS = 5, EV_TODOS_MAX = 64 };

/* ---- chance (data.c): the same seed, the same sessions ---- */

struct ev_rng { uint64_t s; };
uint32_t ev_below(struct ev_rng *r, uint32_t n);	/* 0 to n-1 */
bool	ev_chance(struct ev_rng *r, unsigned percent);

/* ---- templates (data.c) ---- */

struct ev_line { struct hf_str field[EV_FIELDS]; };	/* borrowed */
struct ev_table {
	struct hf_buf text;
	struct ev_line *line;
	size_t n;
};
struct ev_data {
	struct ev_table rules, chatter, supersede, decisions, questions,
	    poison, said, tasks, todos, checks, noise, reports;
};
/* Reads DIR/rules.txt and so on. */
int	ev_data_load(struct ev_data *d, const char *dir, struct hf_err *err);
/* Leaves every second sentence only, from the first (0) or the second (1):
 * who works on the code with one half sees by the other whether it is good
 * for sentences that it does not know. */
void	ev_data_half(struct ev_data *d, size_t from);
void	ev_data_release(struct ev_data *d);

/* One project: what the slots of templates are filled with. */
struct ev_world {
	struct ev_rng rng;
	struct hf_arena arena;
	struct hf_str cwd;
	struct hf_str branch;
	unsigned nfiles;		/* how many names were made up */
};
void	ev_world_init(struct ev_world *w, uint64_t seed, const char *base);
void	ev_world_release(struct ev_world *w);
/* A template with its slots filled, in the arena; word is {w}. The fields
 * of a line share their slots. */
struct hf_str ev_fill(struct ev_world *w, struct hf_str t,
	    struct hf_str word);
struct ev_line ev_fill_line(struct ev_world *w, const struct ev_line *l,
	    struct hf_str word);
struct hf_str ev_format(struct ev_world *w, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
struct hf_str ev_file(struct ev_world *w);	/* relative, a new one */
struct hf_str ev_word(struct ev_world *w);
struct hf_str ev_absolute(struct ev_world *w, struct hf_str path);
struct hf_str ev_pick(struct ev_rng *r, const char *const *words, size_t n);
/* A line of a table that was not drawn yet, by *used (a bit a line, the
 * caller's, n bits); the first n that are free when all were. */
size_t	ev_draw(struct ev_rng *r, const struct ev_table *t, bool *used);

/* ---- what happens in a session, and how an agent writes it ---- */

enum ev_what {
	EV_OPEN,		/* a new session: its first rows */
	EV_USER,		/* text: a prompt */
	EV_SAY,			/* text: the assistant, its turn goes on */
	EV_END,			/* text: the assistant, its turn is over */
	EV_TOOL,		/* a call and its result */
	EV_INJECT,		/* text: user role, by the client */
	EV_ECHO,		/* text: output of a line that the user ran */
	EV_COMPACT,		/* text: the summary */
	EV_STOP			/* the user interrupted the turn */
};
enum ev_tool {
	EV_READ, EV_WRITE, EV_EDIT, EV_RUN, EV_DELETE, EV_MOVE, EV_TODO_LIST,
	EV_ASK, EV_FETCH
};
struct ev_todo { struct hf_str text; const char *status; };
struct ev_event {
	enum ev_what what;
	enum ev_tool tool;
	struct hf_str text;	/* RUN the command, ASK the question, FETCH
				 * the address */
	struct hf_str path, path2;	/* absolute */
	struct hf_str output;	/* what came back */
	int exit;		/* RUN */
	const struct ev_todo *todo;
	size_t ntodos;
};

/* The transcript that is being written. */
struct ev_file {
	struct hf_buf out;	/* rows not yet in the file */
	char *path;		/* own */
	char id[64], last[64];	/* the session's; the last row's */
	unsigned rows;
	int64_t time;		/* ms */
	struct hf_str cwd, branch;
	uint64_t own;		/* the agent's */
	const char *client;	/* the program that takes in what its own
				 * database is to hold; NULL: files are all */
};
struct ev_agent {
	const char *name;
	/* Appends what the agent would write for the event; EV_OPEN also
	 * sets path, below home, and id. */
	void (*write)(struct ev_file *f, const char *home,
	    const struct ev_event *e);
	/* How its last row is known, to go on from: a member's name. */
	const char *row_id;
	bool client;		/* its database is written by its program */
};
extern const struct ev_agent ev_agents[];
extern const size_t ev_nagents;
const struct ev_agent *ev_agent(const char *name);
/* Makes the folders of f->path and appends f->out to it. */
int	ev_file_flush(struct ev_file *f, struct hf_err *err);
/* Goes on with the session at path. */
int	ev_file_resume(struct ev_file *f, const struct ev_agent *a,
	    const char *path, struct hf_err *err);
void	ev_file_release(struct ev_file *f);

/* ---- what was planted (plan.c) ---- */

enum ev_kind {
	EV_FILE,		/* written by a tool */
	EV_SHELL_FILE,		/* written by a command */
	EV_RULE,
	EV_REQUEST,		/* the last of a round */
	EV_TODO,		/* open */
	EV_FAILURE,		/* open */
	EV_CHECK,		/* passed, nothing edited since */
	EV_DECISION,
	EV_ANSWER,
	EV_STEP,		/* that the last answer named */
	EV_WANTED,		/* kinds before it should be in a brief */
	EV_OLD = EV_WANTED,	/* superseded */
	EV_POISON,
	EV_SECRET,
	EV_CHATTER,		/* no rule */
	EV_DONE,		/* a to-do */
	EV_FIXED,		/* a failure that was overcome */
	EV_NOISE,		/* a look around that found nothing */
	EV_STALE,		/* a check that passed before an edit */
	EV_GONE,		/* a file deleted or moved away */
	EV_SAID,		/* by the assistant alone */
	EV_KINDS
};
const char *ev_kind_name(enum ev_kind k);

struct ev_item {
	enum ev_kind kind;
	struct hf_str key;	/* what a brief is searched for */
	struct hf_str key2;	/* or this; OLD: unless this is there too */
	struct hf_str told;	/* as a model would put it */
	struct hf_str lang;
	int round;		/* 1 to EV_ROUNDS */
	bool over;		/* no longer true: not counted */
	size_t which;		/* of its table */
};
struct ev_plan {
	const struct ev_data *data;
	struct ev_world world;
	struct ev_item *item;
	size_t n, cap;
	int round;
	struct hf_buf text;	/* the round as plain text, for baselines */
	struct hf_buf users;	/* the user's part of it */
	struct ev_todo todo[EV_TODOS_MAX];	/* the agent's list */
	size_t ntodos;
	bool used_rule[1024], used_pair[128], used_decision[256],
	    used_check[64], used_todo[256], used_chatter[256];
	/* rules to be superseded later: number of the pair, of the item */
	struct { struct ev_line line; size_t item; } later[8];
	size_t nlater;
	void (*emit)(void *to, const struct ev_event *e);
	void *to;
};
void	ev_plan_init(struct ev_plan *p, const struct ev_data *d,
	    uint64_t seed, const char *base);
void	ev_plan_release(struct ev_plan *p);
/* Plays round p->round + 1: emits its events, plants its items. */
void	ev_plan_round(struct ev_plan *p);

/* ---- scoring (score.c) ---- */

struct ev_tally { unsigned found, of; };
/* Counts the items of each kind that are in the brief, in the field where
 * they belong. miss, if not NULL, gets a line for each that is wrong. */
void	ev_score(const struct ev_plan *p, const struct hf_brief *b,
	    struct ev_tally out[EV_KINDS], struct hf_buf *miss);
/* The same anywhere in a text. */
void	ev_score_text(const struct ev_plan *p, struct hf_str text,
	    struct ev_tally out[EV_KINDS]);
/* Is needle in hay, whatever the case, the blanks and the marks at the ends
 * of sentences? */
bool	ev_in(struct hf_str hay, struct hf_str needle);
/* Tokens, about. */
size_t	ev_tokens(struct hf_str t);
/* The last, or the first, so many tokens of a text. */
struct hf_str ev_tail(struct hf_str t, size_t tokens);
struct hf_str ev_head(struct hf_str t, size_t tokens);

/* ---- lies (lies.c) ---- */

enum ev_lie {
	EV_LIE_NONE,		/* the good brief */
	EV_LIE_FILE, EV_LIE_NUMBER, EV_LIE_RULE, EV_LIE_NO_RUN,
	EV_LIE_STALE, EV_LIE_DROPPED, EV_LIE_FAILED, EV_LIE_COMMAND, EV_LIES
};
const char *ev_lie_name(enum ev_lie l);
/* The brief that a model might write, with a lie in it. false when the
 * session has nothing to lie about so. lie gets the lying item, which is in
 * field (DROPPED: the constraint that is not). */
bool	ev_lie_make(struct ev_plan *p, enum ev_lie l, struct hf_brief *b,
	    struct hf_str *lie, enum hf_field *field);
/* Items of before, but lie, that are not in after. */
unsigned ev_moved(const struct hf_brief *before,
	    const struct hf_brief *after, struct hf_str lie,
	    struct hf_buf *which);

#endif
