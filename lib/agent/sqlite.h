/*
 * A SQLite database of a program that may be running, only read: the only
 * caller of libsqlite3.
 *
 * Nothing of it is ever opened for writing, and no file is made. SQLite
 * itself does not promise that for a database in WAL mode: a reader opens
 * the log and the shared index for writing, and makes them where they are
 * not. So its file system layer is wrapped: every file is opened read-only,
 * a log that is not there is an empty one, and the index of the log is in
 * our own memory, made anew by reading the log. The price is that the
 * program does not know of us. It may move pages from the log into the
 * database while we read, so what was read counts only if hf_sqlite_same
 * says so at the end.
 */
#ifndef HF_AGENT_SQLITE_H
#define HF_AGENT_SQLITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct hf_sqlite;
struct hf_sqlite_stmt;

/* Opens a database and begins to read what it is now. HF_E_NOT_FOUND when
 * there is none, HF_E_NOT_A_SESSION when it is no database, HF_E_BUSY when a
 * writer does not let go of it for a second, HF_E_CHANGED when it is damaged
 * or was changed meanwhile; HF_E_IO. Queries fail in the same ways. */
struct hf_sqlite *hf_sqlite_open(const char *path, struct hf_err *err);
void	hf_sqlite_close(struct hf_sqlite *db);	/* NULL is nothing */
/* Is the database still the one that was opened, but for what was appended
 * to its log? */
bool	hf_sqlite_same(const struct hf_sqlite *db);

/* A query with one "?", which becomes arg; NULL for a wrong one: a table or
 * a column that is not there is HF_E_UNSUPPORTED. */
struct hf_sqlite_stmt *hf_sqlite_query(struct hf_sqlite *db,
	    const char *sql, struct hf_str arg, struct hf_err *err);
/* 1 the next row, 0 none, -1. */
int	hf_sqlite_step(struct hf_sqlite_stmt *st, struct hf_err *err);
void	hf_sqlite_done(struct hf_sqlite_stmt *st);	/* NULL is nothing */
/* A column of the row by its name, until the next step: its text, none for
 * NULL and for a column that is not there; its integer, or none. */
struct hf_str hf_sqlite_text(const struct hf_sqlite_stmt *st,
	    const char *column);
int64_t	hf_sqlite_int(const struct hf_sqlite_stmt *st, const char *column,
	    int64_t none);

#endif
