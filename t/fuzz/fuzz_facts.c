/*
 * What is known of any transcript: facts, the brief computed from them, and
 * the check of that brief, which must find nothing in it that is made up.
 * The first byte says whose transcript it is.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "brief/extract.h"
#include "brief/ground.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(struct hf_walk *w, struct hf_brief *b)
{
	struct hf_ground how = { .mode = HF_GROUND_REPAIR };
	struct hf_jtree *t = hf_jtree_new();
	struct hf_err err;

	hf_walk_seek(w, 0);
	hf_ground(&how, b, w, t, &err);
	hf_jtree_free(t);
}

static void
brief(struct hf_walk *w)
{
	struct hf_extract how = { .budget = 500 };
	struct hf_facts f;
	struct hf_brief b;
	struct hf_err err;

	if (hf_facts_read(w, &f, &err) < 0)
		return;
	if (hf_extract(&f, &how, &b, &err) == 0) {
		if (b.goal.n == 0)
			abort();
		check(w, &b);
		hf_brief_release(&b);
	}
	hf_facts_release(&f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hf_agent *const *agents;
	struct hf_session s;
	struct hf_walk w;
	struct hf_err err;
	char path[64];
	size_t count;
	int fd;

	agents = hf_agents(&count);
	if (size < 2 || (fd = memfd_create("transcript", MFD_CLOEXEC)) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (hf_io_write(fd, (const char *)data + 1, size - 1) < 0)
		abort();
	hf_session_init(&s);
	s.agent = agents[data[0] % count];
	hf_session_set(&s.path, hf_str(path));
	if (hf_walk_open(&w, &s, UINT64_MAX, &err) == 0) {
		brief(&w);
		hf_walk_close(&w);
	}
	hf_session_release(&s);
	close(fd);
	return 0;
}
