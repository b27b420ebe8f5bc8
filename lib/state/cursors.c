#include "state/cursors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/io.h"
#include "base/mem.h"
#include "state/store.h"

enum { CURSOR_MAX = 1 << 20 };

struct hf_cursors {
	struct hf_dir dir;
	bool tried, made;
};

struct hf_cursors *
hf_cursors_open(void)
{
	struct hf_cursors *c = hf_calloc(1, sizeof(*c));

	c->dir = (struct hf_dir)HF_DIR_INIT;
	return c;
}

void
hf_cursors_close(struct hf_cursors *c)
{
	if (c != NULL)
		hf_dir_close(&c->dir);
	free(c);
}

static bool
folder(struct hf_cursors *c, bool make)
{
	char *top, *path;

	if (c->dir.fd >= 0)
		return true;
	if (make ? c->made : c->tried)
		return false;
	c->tried = true;
	c->made = c->made || make;
	if ((top = hf_store_dir(NULL)) == NULL)
		return false;
	path = hf_path_join(top, "cursors");
	if (make)
		hf_dir_make(&c->dir, path, NULL);
	else
		hf_dir_open(&c->dir, path, NULL);
	free(path);
	free(top);
	return c->dir.fd >= 0;
}

bool
hf_cursors_get(struct hf_cursors *c, const char *agent, const char *id,
    struct hf_buf *out)
{
	struct hf_buf key = HF_BUF_INIT;
	size_t max = out->max;
	bool got;

	if (!folder(c, false))
		return false;
	hf_store_name(&key, agent, id);
	out->max = CURSOR_MAX;
	got = hf_file_read(&c->dir, hf_buf_cstr(&key), out, NULL) > 0 &&
	    out->len > 0;
	out->max = max;
	hf_buf_release(&key);
	return got;
}

/* Whole or not at all, but for a crash of the machine. */
static void
replace(struct hf_cursors *c, const char *name, struct hf_str text)
{
	struct hf_buf tmp = HF_BUF_INIT;
	int fd;

	hf_buf_printf(&tmp, ".%ld.tmp", (long)getpid());
	fd = hf_file_open(&c->dir, hf_buf_cstr(&tmp),
	    O_WRONLY | O_CREAT | O_TRUNC);
	if (fd >= 0) {
		if (hf_io_write(fd, text.s, text.n) < 0 ||
		    renameat(c->dir.fd, hf_buf_cstr(&tmp), c->dir.fd,
		    name) < 0)
			unlinkat(c->dir.fd, hf_buf_cstr(&tmp), 0);
		close(fd);
	}
	hf_buf_release(&tmp);
}

void
hf_cursors_put(struct hf_cursors *c, const char *agent, const char *id,
    struct hf_str text)
{
	struct hf_buf was = HF_BUF_INIT, key = HF_BUF_INIT;

	if (text.n > CURSOR_MAX || (hf_cursors_get(c, agent, id, &was) &&
	    hf_str_eq(hf_buf_view(&was), text)) || !folder(c, true))
		goto out;
	hf_store_name(&key, agent, id);
	replace(c, hf_buf_cstr(&key), text);
out:
	hf_buf_release(&key);
	hf_buf_release(&was);
}

struct pruning {
	struct hf_cursors *c;
	int64_t before;		/* seconds */
};

static int
prune_one(const char *name, void *arg, struct hf_err *err)
{
	const struct pruning *p = arg;
	struct stat st;

	(void)err;
	if (fstatat(p->c->dir.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) && st.st_mtim.tv_sec < p->before)
		unlinkat(p->c->dir.fd, name, 0);
	return 0;
}

void
hf_cursors_prune(struct hf_cursors *c, int64_t days)
{
	struct pruning p = { c, hf_clock_now() / 1000 - days * 24 * 3600 };

	if (folder(c, false))
		hf_dir_each(&c->dir, prune_one, &p, NULL);
}
