/*
 * Signals: INT, TERM and HUP set a flag that waits look at; SIGPIPE is
 * ignored. What was begun is cleaned up, then the program dies by the
 * signal (hf_sig_die).
 */
#ifndef HF_BASE_SIG_H
#define HF_BASE_SIG_H

struct hf_err;

/* Once, at the start. One of the three that was ignored by then (nohup)
 * stays ignored. Blocked calls return with EINTR when one comes. */
void	hf_sig_init(void);
/* In the child of a fork, at once: what wakes the parent is not its. */
void	hf_sig_fork(void);
/* The first signal that came, 0 if none. */
int	hf_sig_got(void);
/* The read end of a pipe that becomes readable when one came, and stays
 * so; for poll. -1 before hf_sig_init, which poll passes over. */
int	hf_sig_fd(void);
/* -1 with HF_E_CANCELLED when a signal came, else 0. */
int	hf_sig_check(struct hf_err *err);
/* Sleeps ms milliseconds or until a signal; 0, or -1 as hf_sig_check. */
int	hf_sig_sleep(long ms, struct hf_err *err);
/* Default action and raise(); returns only if no signal came. */
void	hf_sig_die(void);

#endif
