/*
 * Descriptors: whole reads and writes, lines from stdin, a stdout that is
 * checked, stderr one line a problem.
 */
#ifndef HF_BASE_IO_H
#define HF_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* All n bytes, EINTR (signals do not end it) and short writes handled; -1
 * with errno. */
int	hf_io_write(int fd, const void *p, size_t n);
/* At most n bytes, EINTR handled; as read(2). */
ssize_t	hf_io_read(int fd, void *p, size_t n);
/* n bytes at off, fewer only at the end of the file; -1 with errno. */
ssize_t	hf_io_pread(int fd, void *p, size_t n, off_t off);
/* Appends all of fd up to the buffer's maximum; HF_E_OVERFLOW beyond it.
 * A signal ends it with HF_E_CANCELLED. name is for messages. */
int	hf_io_slurp(int fd, struct hf_buf *out, const char *name,
	    struct hf_err *err);
/* The same for a file: HF_E_NOT_FOUND when there is none, HF_E_IO for a
 * folder. */
int	hf_io_slurp_path(const char *path, struct hf_buf *out,
	    struct hf_err *err);

/* Lines of a descriptor. */
struct hf_lines {
	int fd;
	const char *name;
	size_t max;		/* longest line; beyond it HF_E_OVERFLOW */
	struct hf_buf buf;
	size_t pos;
	bool eof;
};
void	hf_lines_init(struct hf_lines *l, int fd, const char *name,
	    size_t max);
/* 1 and the line without its LF (borrowed until the next call), 0 at the
 * end, -1 on error; HF_E_CANCELLED when a signal came. *whole, if not NULL,
 * is false for a last line without LF. */
int	hf_lines_next(struct hf_lines *l, struct hf_str *line, bool *whole,
	    struct hf_err *err);
void	hf_lines_release(struct hf_lines *l);

/* Writes to stdout at once, whole. A failure is HF_E_IO naming stdout, or
 * HF_E_CANCELLED when a signal came while nobody read. */
int	hf_out(struct hf_str a, struct hf_err *err);
/* At the end of a program: is stdout still good? (close checked; a stdout
 * that was closed at the start is no failure where nothing was written) */
int	hf_out_close(struct hf_err *err);

/* "hf-x: message" on stderr, control bytes made harmless, one write; cut
 * at 4 KiB. errno is kept. */
void	hf_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void	hf_warn_err(const struct hf_err *err);
/* The program's name for hf_warn; borrowed, "handoff" until it is set. */
void	hf_set_prog(const char *name);
const char *hf_prog(void);

#endif
