/*
 * What comes of a stream does not depend on how it is split. The first byte
 * says where: pieces of so many bytes against the whole at once.
 */
#include <stdint.h>
#include <stdlib.h>

#include "model/sse.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
gather(struct hf_str name, struct hf_str data, void *arg, struct hf_err *err)
{
	struct hf_buf *out = arg;

	(void)err;
	hf_buf_str(out, name);
	hf_buf_putc(out, '\0');
	hf_buf_str(out, data);
	hf_buf_putc(out, '\0');
	return 0;
}

static void
feed(struct hf_buf *out, struct hf_str a, size_t step)
{
	struct hf_sse s = { .event = gather, .arg = out };
	struct hf_err err = { HF_OK, "" };
	size_t n;

	hf_sse_init(&s);
	while (a.n > 0) {
		n = step < a.n ? step : a.n;
		if (hf_sse_feed(&s, hf_strn(a.s, n), &err) < 0)
			abort();
		a = hf_strn(a.s + n, a.n - n);
	}
	if (hf_sse_end(&s, &err) < 0)
		abort();
	hf_sse_release(&s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_buf whole = HF_BUF_INIT, split = HF_BUF_INIT;
	struct hf_str a;
	size_t step;

	if (size < 2)
		return 0;
	step = (size_t)data[0] % 17 + 1;
	a = hf_strn((const char *)data + 1, size - 1);
	feed(&whole, a, a.n);
	feed(&split, a, step);
	if (!hf_str_eq(hf_buf_view(&whole), hf_buf_view(&split)))
		abort();
	hf_buf_release(&whole);
	hf_buf_release(&split);
	return 0;
}
