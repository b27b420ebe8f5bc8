/*
 * What main() of every command is: hf_cmd_main("hf-x", run, argc, argv).
 */
#ifndef HF_BASE_CMD_H
#define HF_BASE_CMD_H

#include "base/err.h"

/* Sets the program's name and the signals up, calls run, checks stdout,
 * and dies by a signal that came. run returns the exit status, or -1 with
 * *err set; that is printed and mapped to its status. */
int	hf_cmd_main(const char *prog,
	    int (*run)(int argc, char **argv, struct hf_err *err),
	    int argc, char **argv);

#endif
