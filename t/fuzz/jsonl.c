/*
 * Rows of a damaged transcript: whatever the bytes, the rows lie in the file
 * in order, their strings are valid, each is found again by its place, and
 * what is counted does not hang on whether rows are skimmed.
 */
#define _GNU_SOURCE	/* memfd_create */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "json/jsonl.h"
#include "must.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
valid(const struct hf_jval *v)
{
	struct hf_str key = HF_STR_NONE;
	const struct hf_jval *e;
	struct hf_jiter it;

	must(hf_utf8_valid(hf_json_str(v)), "a string is not UTF-8");
	hf_json_iter(&it, v);
	while ((e = hf_json_next(&it, &key)) != NULL) {
		must(hf_utf8_valid(key), "a name is not UTF-8");
		valid(e);
	}
}

static void
same_again(int fd, const struct hf_jsonl_row *row, struct hf_buf *scratch)
{
	struct hf_buf a = HF_BUF_INIT, b = HF_BUF_INIT;
	struct hf_json *j = hf_jsonl_at(fd, row->off, row->raw.n, scratch,
	    NULL);

	hf_json_write(&a, row->v);
	hf_json_write(&b, hf_json_root(j));
	must(hf_str_eq(hf_buf_view(&a), hf_buf_view(&b)),
	    "a row is another the second time");
	hf_json_free(j);
	hf_buf_release(&a);
	hf_buf_release(&b);
}

static struct hf_jsonl_stats
go(int fd, const uint8_t *data, size_t size, bool skim)
{
	struct hf_buf scratch = HF_BUF_INIT;
	struct hf_jsonl_row row;
	struct hf_jsonl_stats stats;
	struct hf_err err;
	struct hf_jsonl r;
	uint64_t end = 0;

	hf_jsonl_init(&r, fd, "fuzz", 0, UINT64_MAX);
	r.skim = skim;
	while (hf_jsonl_next(&r, &row, &err) > 0) {
		must(row.off >= end && row.off + row.raw.n <= size,
		    "a row is out of its place");
		must(memcmp(row.raw.s, data + row.off, row.raw.n) == 0,
		    "raw is not what is in the file");
		end = row.off + row.raw.n;
		valid(row.v);
		if (!skim)
			same_again(fd, &row, &scratch);
	}
	stats = r.stats;
	must(stats.bytes == size && stats.end <= size && stats.end >= end,
	    "the count of bytes is wrong");
	hf_jsonl_release(&r);
	hf_buf_release(&scratch);
	return stats;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct hf_jsonl_stats a, b;

	if (fd < 0 || (size > 0 && hf_io_write(fd, data, size) < 0))
		abort();
	a = go(fd, data, size, false);
	b = go(fd, data, size, true);
	must(a.rows == b.rows && a.bad == b.bad && a.mended == b.mended &&
	    a.end == b.end && a.lines == b.lines && a.torn == b.torn,
	    "skimming changes what is counted");
	close(fd);
	return 0;
}
