/*
 * masked FILE: masks it, as one text and line by line, and says how many
 * secrets were in it and how fast that was, in processor time.
 */
#include <stdio.h>
#include <time.h>

#include "base/io.h"
#include "brief/secrets.h"

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
say(const char *how, size_t bytes, size_t found, double took)
{
	printf("%s: %zu bytes, %zu masked, %.0f MB/s\n", how, bytes, found,
	    (double)bytes / 1e6 / (took > 0 ? took : 1e-9));
}

int
main(int argc, char **argv)
{
	struct hf_buf in = HF_BUF_MAX(SIZE_MAX / 2);
	struct hf_buf out = HF_BUF_MAX(SIZE_MAX / 2);
	struct hf_secrets *s;
	struct hf_str text;
	struct hf_err err;
	size_t found = 0;
	double start;

	if (argc != 2)
		return 64;
	if ((s = hf_secrets_load(NULL, NULL, &err)) == NULL ||
	    hf_io_slurp_path(argv[1], &in, &err) < 0) {
		fprintf(stderr, "masked: %s\n", err.msg);
		return 74;
	}
	/* The first time, memory is not there yet. */
	hf_secrets_mask(s, &out, hf_buf_view(&in));
	hf_buf_clear(&out);
	start = seconds();
	found = hf_secrets_mask(s, &out, hf_buf_view(&in));
	say("whole", in.len, found, seconds() - start);
	hf_buf_clear(&out);
	start = seconds();
	found = 0;
	text = hf_buf_view(&in);
	while (text.n > 0)
		found += hf_secrets_mask(s, &out, hf_str_line(text, &text));
	say("lines", in.len, found, seconds() - start);
	hf_buf_release(&in);
	hf_buf_release(&out);
	hf_secrets_free(s);
	return 0;
}
