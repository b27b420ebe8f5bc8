/*
 * A program that is talked to in lines: started with an argv, no shell, in
 * a process group of its own, so that what is typed at the terminal does
 * not end it while we still need it. It is expected to end when its stdin
 * does. hf_sig_init must have been called.
 */
#ifndef HF_BASE_PEER_H
#define HF_BASE_PEER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct hf_peer {
	pid_t pid;		/* -1: none */
	int in, out;		/* its stdin and stdout; -1 */
	const char *name;	/* for messages; borrowed */
	struct hf_buf buf;	/* what came of the next lines */
	size_t pos;
};
#define HF_PEER_INIT	{ -1, -1, -1, NULL, HF_BUF_INIT, 0 }

/* Starts argv[0] (looked up in PATH without a slash); its stderr is ours.
 * max is the longest line that it may say. HF_E_NOT_FOUND: no such program;
 * HF_E_IO. */
int	hf_peer_start(struct hf_peer *p, const char *const *argv, size_t max,
	    struct hf_err *err);
/* Sends a line (without its LF) and receives one (borrowed until the next
 * call), both before deadline (of hf_clock_boot). A signal that comes in
 * between, or came before, leaves grace_ms at most: what is under way ought
 * to be known. HF_E_UNAVAILABLE: it has ended, does not answer in time, or
 * says more than a line may hold; HF_E_CANCELLED after a signal. */
int	hf_peer_send(struct hf_peer *p, struct hf_str line, int64_t deadline,
	    long grace_ms, struct hf_err *err);
int	hf_peer_recv(struct hf_peer *p, struct hf_str *line, int64_t deadline,
	    long grace_ms, struct hf_err *err);
/* Closes its stdin, waits wait_ms for it to end, then kills its group. */
void	hf_peer_end(struct hf_peer *p, long wait_ms);

#endif
