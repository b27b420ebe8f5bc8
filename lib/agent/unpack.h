/*
 * Transcripts that are not rows as they lie there: compressed ones (Codex
 * packs idle rollouts with zstd), exports that are one JSON object over
 * many lines; and files without a name to unpack or spool them into.
 */
#ifndef HF_AGENT_UNPACK_H
#define HF_AGENT_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What is unpacked or spooled has at most so many bytes. */
#define HF_UNPACK_MAX	((uint64_t)64 << 30)

/* Does fd begin with zstd's magic bytes (positioned read)? */
bool	hf_unpack_is(int fd);
/* A new descriptor on a file without a name in $TMPDIR or /tmp; -1. */
int	hf_unpack_temp(struct hf_err *err);
/* fd unpacked into such a file, from its start: the new descriptor, or -1:
 * HF_E_TRUNCATED, HF_E_INVALID (damaged), HF_E_OVERFLOW, HF_E_IO (a full
 * disk is named), HF_E_CANCELLED. name is for messages. */
int	hf_unpack(int fd, const char *name, struct hf_err *err);
/* Appends the first bytes of fd's content, at most max. What is damaged or
 * cut short ends it early; that is no error. */
int	hf_unpack_head(int fd, const char *name, size_t max,
	    struct hf_buf *out, struct hf_err *err);
/* Is fd one JSON object that begins with a line of its own ("{")? Then 1,
 * and *out gets a new descriptor on such a file, which has it as one row. 0
 * for anything else, and for one of more than 256 MiB; -1: HF_E_IO,
 * HF_E_CANCELLED. */
int	hf_unpack_document(int fd, const char *name, int *out,
	    struct hf_err *err);
/* What is left of fd, which may be a pipe, in such a file. */
int	hf_unpack_spool(int fd, const char *name, struct hf_err *err);

#endif
