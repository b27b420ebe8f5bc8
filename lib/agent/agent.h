/*
 * The one interface that every agent implements, and what all share.
 *
 * A new agent is one file that defines a struct hf_agent, and one line in
 * the table of agent.c. What an agent does is to translate: its records
 * into rows that the fold (session/metrics), the text (session/render) and
 * the facts (session/facts) understand, and a brief into a session that it
 * resumes. It keeps no policy: which rows are on the active branch, what
 * a turn or a duplicate is, is decided once, in lib/session.
 *
 * How each kind of store fits (FORMATS.md):
 *  - a JSONL file with a tree (claude, pi, omp): each record gives one row
 *    with id and parent;
 *  - a JSONL file that is a list (codex): rows have parent HF_PARENT_PREV;
 *    a paginated fork opens the parent's file first, up to its cut, as an
 *    earlier part of the same source; cumulative counters become growth in
 *    the agent's own scan state;
 *  - a JSONL or JSON file updated in place (gemini): a row with an id that
 *    was there replaces it (HF_ROW_REPLACES); a $set of all messages is a
 *    row HF_ROW_LIST followed by its messages, of which those that were
 *    there before are repeated; several files of one id are parts of one
 *    source;
 *  - a database (opencode): a session's path is FILE#ID (struct hf_rows);
 *    open() writes its messages as rows of a file without a name; an export
 *    is a file with one record. The successor is published through the
 *    agent's own import.
 */
#ifndef HF_AGENT_AGENT_H
#define HF_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "json/json.h"

struct hf_agent;
struct hf_scan;

/* ---- a session ---- */

struct hf_session {
	const struct hf_agent *agent;
	char *id, *path, *cwd, *model, *title, *parent;	/* own; NULL: none */
	char *provider;			/* the model's, where it needs one */
	char *branch;			/* git branch, last seen */
	char *permission;		/* permission mode, last seen */
	char *version;			/* the client's */
	bool subagent, archived, headless;
	bool titled;			/* title was given, not the prompt */
	int64_t mtime;			/* ms */
	int64_t prompted;		/* last genuine user row, ms; -1. From a
					 * peek: the oldest row near the end
					 * where none is among those */
	int64_t size;
};
void	hf_session_init(struct hf_session *s);
void	hf_session_release(struct hf_session *s);
/* Replaces an owned string; none keeps what is there. Nothing is allocated
 * when it is the same, so it may be called for every row. */
void	hf_session_set(char **field, struct hf_str a);
/* The title of a session that has none: the first prompt's first line that
 * is not blank, at most 80 characters ("…" when cut). Nothing when there is
 * a title already. */
void	hf_session_title_prompt(struct hf_session *s, struct hf_str prompt);
/* The title of a successor, from its source's: "x" → "x (handoff)", "x
 * (handoff)" → "x (handoff 2)"; "session (handoff)" for none. One line, no
 * control bytes, and never a "word:" at its start, which Claude Code takes
 * for a URL. The caller's. */
char	*hf_successor_title(struct hf_str title);

/* ---- records and rows ---- */

/* Where a record is: part (file) of the source, bytes. item numbers the
 * rows that one record gives. */
struct hf_ref {
	uint64_t off;
	uint32_t len, part, item;
};

enum hf_row_kind {
	HF_ROW_OTHER,		/* housekeeping: not in the revision */
	HF_ROW_PROMPT,		/* the user's own prompt: a turn */
	HF_ROW_SEED,		/* a brief of ours at the start */
	HF_ROW_INJECTED,	/* user role, not written by the user */
	HF_ROW_INTERRUPT,	/* the user stopped the turn */
	HF_ROW_ASSISTANT,
	HF_ROW_RESULT,		/* result of a tool */
	HF_ROW_COMPACTION,	/* a full compaction happened here */
	HF_ROW_SUMMARY,		/* its summary, when a row of its own */
	HF_ROW_RESET,		/* hides everything before it */
	HF_ROW_LIST,		/* the model sees what follows, and nothing
				 * before it; rows whose ids were there before
				 * are repeated (KEPT). Part of the chain */
	HF_ROW_QUEUED,		/* input waiting in the agent's queue */
};

/* What a row says about the turn; NONE looks through to the row before. */
enum hf_turn {
	HF_TURN_NONE, HF_TURN_OPEN, HF_TURN_CLOSED, HF_TURN_INTERRUPTED,
	HF_TURN_EXIT		/* client ended: an open turn is interrupted */
};

enum {
	HF_ROW_CHAIN = 1,	/* has its place in the tree or list */
	HF_ROW_SIDECHAIN = 2,	/* a sub-agent's row in the same file */
	HF_ROW_INHERITED = 4,	/* came with a fork: context, not spent */
	HF_ROW_ERROR = 8,	/* an API error; its usage says nothing */
	HF_ROW_SYNTHETIC = 16,	/* made by the client, no model call */
	HF_ROW_KEPT = 32,	/* repeated by a compaction or a replay: text,
				 * but not counted again */
	HF_ROW_REPLACES = 64,	/* takes the place of the row with its id */
	HF_ROW_KEEPS_CONTEXT = 128,	/* COMPACTION: the context figure
				 * before it already is the new one. Another
				 * row: its figure is a compaction's, no
				 * call's */
	HF_ROW_LEAF = 256,	/* names the leaf: its id, no row itself */
	HF_ROW_ESTIMATE = 512,	/* what follows the anchor is estimated */
	HF_ROW_MICRO = 1024,	/* a compaction that resets nothing */
	HF_ROW_GROWTH = 2048,	/* usage is growth of a counter, not one
				 * call's: added as it is */
};

struct hf_usage { int64_t input, cache_read, cache_write, output; };

enum hf_parent {
	HF_PARENT_ID, HF_PARENT_PREV, HF_PARENT_ROOT,
	HF_PARENT_BEFORE	/* what is before the row parent_id, which so
				 * leaves the branch with all behind it */
};

struct hf_row {
	enum hf_row_kind kind;
	enum hf_turn turn;
	unsigned flags;
	struct hf_ref ref;
	struct hf_str id, parent_id;
	enum hf_parent parent;
	struct hf_str kept;		/* COMPACTION: id of the first row
					 * that was kept; none: none was */
	struct hf_str call, request;	/* a model call's keys (M1) */
	struct hf_usage usage;
	bool has_usage;			/* usage is real (not all zero) */
	int64_t context;		/* context tokens stated here; -1.
					 * COMPACTION: tokens after it */
	int64_t window;			/* context window stated here; 0 */
	int64_t time;			/* ms; -1 */
	int queue;			/* QUEUED: +1 enqueued, -1 taken,
					 * INT_MIN all taken */
	const struct hf_jval *v;	/* the record, or the part of it that
					 * this row is; for blocks() */
};

/* One record of the source. */
struct hf_record {
	const struct hf_jval *v;
	struct hf_str raw;
	struct hf_ref ref;
	uint64_t line;
};

/* What an agent's row() works with. The consumer sets emit; the agent
 * calls it for each row, in order, with ref.item counted up from 0. */
struct hf_scan {
	struct hf_session *session;	/* filled as things are learned */
	void *own;			/* the agent's, own_size bytes, zero at
					 * the start; plain data, no pointers:
					 * a cursor stores it */
	struct hf_arena arena;		/* lives as long as the scan */
	int64_t window;			/* from the transcript; 0 */
	bool recognised;		/* a row of this format was seen */
	bool unsupported;		/* a later version of the format */
	/* Of the record's rows only this item is wanted, the nearest before
	 * it if there is no such one; others may be left out. */
	bool only;
	uint32_t item;
	void (*emit)(struct hf_scan *sc, const struct hf_row *row);
	void *to;			/* the consumer's */
};
void	hf_row_init(struct hf_row *row, const struct hf_record *rec);

/* ---- what is in a row ---- */

enum hf_block_kind {
	HF_BLOCK_TEXT, HF_BLOCK_THINKING, HF_BLOCK_CALL, HF_BLOCK_RESULT,
	HF_BLOCK_IMAGE		/* or other binary: text is a short label */
};
enum { HF_EXIT_UNKNOWN = -1000 };
struct hf_block {
	enum hf_block_kind kind;
	struct hf_str text;		/* TEXT, THINKING, RESULT, IMAGE */
	struct hf_str id, name;		/* CALL, RESULT: pairing; tool */
	const struct hf_jval *args;	/* CALL: its arguments, an object */
	bool error;			/* RESULT: failed */
	int exit;			/* RESULT: exit status if told */
};
struct hf_blocks {
	struct hf_block *b;
	size_t n, cap;
	struct hf_arena arena;		/* what had to be joined or parsed */
	struct hf_json *json[8];	/* arguments that were JSON in text */
	size_t njson;
};
void	hf_blocks_init(struct hf_blocks *bs);
void	hf_blocks_clear(struct hf_blocks *bs);
void	hf_blocks_release(struct hf_blocks *bs);
struct hf_block *hf_blocks_add(struct hf_blocks *bs, enum hf_block_kind k);
/* Joins the texts of an array of {text} with newlines into the arena; a
 * string as it is. Images in it become one-line labels. */
struct hf_str hf_blocks_text(struct hf_blocks *bs, const struct hf_jval *v);

/* ---- what a tool call does ---- */

enum hf_action_kind {
	HF_ACT_OTHER, HF_ACT_READ, HF_ACT_WRITE, HF_ACT_EDIT, HF_ACT_DELETE,
	HF_ACT_MOVE, HF_ACT_RUN, HF_ACT_TODOS, HF_ACT_TODO_ADD,
	HF_ACT_TODO_SET, HF_ACT_ASK, HF_ACT_SPAWN
};
struct hf_tool {			/* an agent's tools, ends with NULL */
	const char *name;		/* compared without case */
	enum hf_action_kind kind;
	const char *key;		/* argument with the path, command,
					 * list or question; "a|b": first
					 * that is there */
	const char *key2;		/* MOVE: target; TODO_SET: status */
};
struct hf_action {
	enum hf_action_kind kind;
	struct hf_str path, path2;	/* files, as written by the agent */
	struct hf_str command;		/* RUN; argv joined when a list */
	struct hf_str cwd;		/* RUN: where, if told */
	const struct hf_jval *items;	/* TODOS: the list; ASK: questions */
	struct hf_str item, status;	/* TODO_ADD, TODO_SET */
};
enum { HF_ACTIONS_MAX = 256 };
struct hf_actions {
	struct hf_action a[HF_ACTIONS_MAX];
	size_t n;			/* more are left out */
	struct hf_arena arena;
};
/* The actions of a call by the agent's table; patches (apply_patch's
 * format, also inside a shell command) give one action a file. */
void	hf_actions_of(const struct hf_agent *ag, const struct hf_block *call,
	    struct hf_actions *out);
void	hf_actions_release(struct hf_actions *as);

/* ---- who has it open ---- */

struct hf_live {
	bool offers;			/* the agent has such marks at all */
	bool open;			/* a process has it open */
	bool dead;			/* a mark is left of one that died */
	long pid;			/* 0: not told */
	char status[16];		/* "idle", "busy", "waiting", "" */
	char waiting[64];		/* for what */
};

/* ---- a successor ---- */

struct hf_seed {
	const struct hf_session *source;	/* maybe another agent's */
	const char *id;			/* of the successor */
	const char *attempt;		/* our handoff id */
	const char *cwd, *model, *title;	/* model: NULL unless the same
					 * agent's */
	const char *permission;		/* NULL: the agent's default */
	struct hf_str text;		/* the seed's text, tags and all */
	int64_t time;			/* ms */
};
struct hf_place {			/* own strings */
	char *dir;			/* final folder, absolute */
	char *name;			/* final name in it */
};
void	hf_place_release(struct hf_place *p);

struct hf_argv { char *v[16]; size_t n; };	/* own strings */
void	hf_argv_add(struct hf_argv *a, const char *s);
void	hf_argv_release(struct hf_argv *a);

enum hf_leaf_rule {
	HF_LEAF_LAST,		/* the last chain row */
	HF_LEAF_HINT		/* the newest row that descends from the last
				 * HF_ROW_LEAF, that one itself if none */
};

/* ---- sessions that are rows of a database ---- */

enum { HF_DIGEST_LEN = 72 };
/* What a transcript is the same by; of rows: the database's dev and ino,
 * how many there are, the newest's time, a hash over such figures. */
struct hf_file_id {
	uint64_t dev, ino, size;
	int64_t mtime_ns;
	char tail[HF_DIGEST_LEN];	/* "sha256:…" of the last 4096 bytes */
};

struct hf_rows {
	/* Is path of the form that the agent gives such sessions? */
	bool (*is)(const char *path);
	/* As hf_session_peek; s is initialised. */
	int (*peek)(const char *path, struct hf_session *s,
	    struct hf_err *err);
	int (*identify)(const char *path, struct hf_file_id *out,
	    struct hf_err *err);
};

/* ---- the interface ---- */

struct hf_source;
struct hf_agent {
	const char *name;		/* "claude" */
	const char *label;		/* "Claude Code" */
	const char *program;		/* "claude" */
	const char *session_env;	/* variable that names the session to
					 * child programs, or NULL */
	enum hf_leaf_rule leaf;
	const struct hf_tool *tools;
	size_t own_size;
	const struct hf_rows *rows;	/* NULL: each session is a file */

	/* The folder where its sessions are; the caller's; NULL with *err
	 * when it cannot be told. It may not exist. */
	char *(*root)(struct hf_err *err);
	/* How sure is it, 0 to 100, that a file with this path and these
	 * first records (at most 8, any may be NULL) is its own? */
	int (*recognise)(const char *path, const struct hf_jval *const *recs,
	    size_t n);
	/* Calls cb for each session file (absolute path), in no order; cb
	 * as for hf_dir_each. No folder is no error. */
	int (*each)(int (*cb)(const char *path, void *arg,
	    struct hf_err *err), void *arg, struct hf_err *err);
	/* Fills what the path tells: id, subagent, archived. */
	void (*by_path)(struct hf_session *s);
	/* The path of a session by its whole id when that is cheap: malloc'd,
	 * NULL if not there or not cheap. NULL: each() is used. */
	char *(*by_id)(const char *id);
	/* The parts of the source; NULL: the file itself, as JSONL. */
	int (*open)(struct hf_source *src, const struct hf_session *s,
	    struct hf_err *err);
	/* Translates one record; unknown ones give a row OTHER. Figures must
	 * not depend on strings beyond their first 256 bytes: in long rows
	 * the fold gets them cut (hf_source.skim). */
	void (*row)(struct hf_scan *sc, const struct hf_record *rec);
	/* What is in a row that row() gave (row->v). */
	void (*blocks)(const struct hf_row *row, struct hf_blocks *out);
	/* Estimated tokens of a row that no usage covers yet; NULL: 0. */
	int64_t (*estimate)(const struct hf_row *row);
	/* Who has it open; NULL: cannot be told. */
	void (*live)(const struct hf_session *s, struct hf_live *out);
	/* Running sub-agents of s: cb for each id; NULL: cannot be told. */
	void (*owned)(const struct hf_session *s,
	    void (*cb)(const char *id, void *arg), void *arg);

	/* A new session id. */
	void (*new_id)(int64_t ms, char out[64]);
	/* Where the successor goes. */
	int (*place)(const struct hf_seed *seed, struct hf_place *out,
	    struct hf_err *err);
	/* Its whole content. Pure: no I/O. */
	int (*draft)(const struct hf_seed *seed, struct hf_buf *out,
	    struct hf_err *err);
	/* After the file has its final name: registers, imports. Idempotent.
	 * NULL: nothing to do. */
	int (*publish)(const struct hf_seed *seed, const struct hf_place *p,
	    struct hf_err *err);
	/* The command that continues s, prompt (may be NULL) as its last
	 * words; to be run in s->cwd. */
	void (*resume)(const struct hf_session *s, const char *prompt,
	    struct hf_argv *out);
	/* A row that, appended to the session, sets its title; NULL: not
	 * proven harmless. */
	void (*title_row)(const struct hf_session *s, struct hf_str title,
	    struct hf_buf *out);
};

/* ---- the table and looking up ---- */

const struct hf_agent *const *hf_agents(size_t *n);
const struct hf_agent *hf_agent_by_name(struct hf_str name);
/* The agent in whose database the session of a path is; NULL: it is a file
 * of its own. */
const struct hf_agent *hf_agent_of_rows(const char *path);
/* The file in which the session of a path is: path itself, or the database;
 * the caller's. */
char	*hf_session_file(const char *path);

/* A file's session: which agent's it is and what its path and first and
 * last bytes (32 KiB each) tell. HF_E_NOT_A_SESSION, HF_E_UNSUPPORTED,
 * HF_E_EMPTY, HF_E_IO naming the file. */
int	hf_session_peek(const char *path, struct hf_session *s,
	    struct hf_err *err);
/* The same of an open source whose agent is not known (a transcript on
 * stdin): sets src->agent too. s->path stays NULL. Does not move it. */
int	hf_session_peek_source(struct hf_source *src, struct hf_session *s,
	    struct hf_err *err);
/* A session by path, id, unique id prefix (8 characters or more; of all
 * agents) or exact title, in this order. HF_E_NOT_FOUND, but what is wrong
 * with a store that cannot be read and so may have it; HF_E_USAGE listing
 * them when several fit. agent NULL: any. */
int	hf_session_find(const char *what, const struct hf_agent *agent,
	    struct hf_session *s, struct hf_err *err);
/* All sessions of all installed agents, newest first by their last genuine
 * user row. *n of them, the caller's. Unreadable ones are left out and
 * warned of. cwd not NULL: only those whose first cwd it is. */
int	hf_session_list(const struct hf_agent *agent, const char *cwd,
	    struct hf_session **out, size_t *n, struct hf_err *err);
void	hf_session_list_free(struct hf_session *s, size_t n);

/* ---- the source: records of a session ---- */

struct hf_source_part {
	int fd;				/* -1 when text is set */
	char *path;
	uint64_t limit;			/* bytes that belong to the history; of
					 * a packed file: of its content */
	struct hf_str text;		/* records in memory instead */
	char *own_text;
	bool inherited;			/* a parent's part */
	bool packed;			/* fd is not the file as it lies */
};
enum { HF_SOURCE_PARTS = 16 };
struct hf_source {
	const struct hf_agent *agent;
	struct hf_source_part part[HF_SOURCE_PARTS];
	size_t nparts;
	/* Sums over the parts so far; see hf_jsonl_stats. size: bytes read. */
	uint64_t rows, bad, mended, size;
	bool torn;			/* the last part of our own is torn */
	/* Set after opening, before the first next: */
	bool strict;			/* damage is HF_E_INVALID */
	bool explain;			/* each dropped row on stderr */
	bool skim;			/* long strings of next's records may
					 * be cut (skim.h) */
	struct hf_source_state *state;	/* internal */
};
/* Opens a session's records, up to limit bytes of s->path (UINT64_MAX:
 * all; of a compressed file always all). Compressed files (zstd) are
 * unpacked to a file without a name, and a file that is one JSON object
 * over many lines is one record. HF_E_NOT_A_SESSION for a folder or
 * what else is no regular file, HF_E_NOT_FOUND, HF_E_IO; HF_E_TRUNCATED
 * and HF_E_INVALID for a compressed file that is cut short or damaged. */
int	hf_source_open(struct hf_source *src, const struct hf_session *s,
	    uint64_t limit, struct hf_err *err);
/* A transcript from a descriptor (stdin): spooled if it cannot seek, and
 * unpacked if compressed. The descriptor stays the caller's. src->agent is
 * NULL: hf_session_peek_source tells it. */
int	hf_source_fd(struct hf_source *src, int fd, const char *name,
	    struct hf_err *err);
/* For open(): adds a part. limit counts unpacked bytes. */
int	hf_source_add(struct hf_source *src, const char *path,
	    uint64_t limit, bool inherited, struct hf_err *err);
/* For open(): adds records in memory, JSONL, the source's from now on. */
void	hf_source_add_text(struct hf_source *src, char *text, size_t n);
/* For open(): adds rows that were written to a file of our own, whose
 * descriptor is the source's from now on. */
int	hf_source_add_fd(struct hf_source *src, int fd, const char *name,
	    struct hf_err *err);
/* For open(): says, with explain, what of the history is left out and why;
 * the last of several. */
void	hf_source_note(struct hf_source *src, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* Begins at byte off of a part, where a row must begin, instead of at the
 * start; before the first next. The sums count from there. */
void	hf_source_from(struct hf_source *src, size_t part, uint64_t off);
/* How far it was read: all that a later reading needs to go on. */
struct hf_source_place {
	uint64_t off, lines, joining;	/* in the last part */
	uint64_t rows, bad, mended, size;
};
/* Once next gave 0. False: what is behind the end may still change what was
 * read, or the last part is no file as it lies. */
bool	hf_source_tell(const struct hf_source *src,
	    struct hf_source_place *out);
/* Goes on from there in the last part; before the first next. */
void	hf_source_resume(struct hf_source *src,
	    const struct hf_source_place *at);
/* 1 and the next record (until the next call), 0, -1. */
int	hf_source_next(struct hf_source *src, struct hf_record *rec,
	    struct hf_err *err);
/* A record again. Its memory is the source's until the next call of at. */
int	hf_source_at(struct hf_source *src, struct hf_ref ref,
	    struct hf_record *rec, struct hf_err *err);
void	hf_source_close(struct hf_source *src);

#endif
