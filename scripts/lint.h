/*
 * Given to clang-tidy before each file but lib/base/err.c: what it cannot
 * see of functions in other files. Without it, it takes each error that is
 * returned for one that may as well be none.
 */
#include "base/err.h"

#define hf_err_set(err, ...)	(hf_err_set((err), __VA_ARGS__), -1)
#define hf_err_sys(err, ...)	(hf_err_sys((err), __VA_ARGS__), -1)
#define hf_err_open(err, ...)	(hf_err_open((err), __VA_ARGS__), -1)
