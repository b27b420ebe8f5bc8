#include "state/news.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "config/home.h"

enum { SEEN_MAX = 1 << 20, DAY_S = 86400 };

static bool
has_line(struct hf_str text, struct hf_str line)
{
	while (text.n > 0)
		if (hf_str_eq(hf_str_line(text, &text), line))
			return true;
	return false;
}

/* What was said last; nothing when that was too long ago. */
static int
read_seen(const struct hf_dir *d, const char *file, struct hf_buf *seen,
    struct hf_err *err)
{
	struct stat st;

	if (fstatat(d->fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    hf_clock_now() / 1000 - (int64_t)st.st_mtime > DAY_S)
		return 0;
	return hf_file_read(d, file, seen, err) < 0 ? -1 : 0;
}

int
hf_news(const char *name, struct hf_str text, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_buf seen = HF_BUF_MAX(SEEN_MAX), file = HF_BUF_INIT;
	struct hf_dir d = HF_DIR_INIT;
	struct hf_str rest = text, line;
	struct hf_err ignored;
	char *home = hf_home_state(err);
	bool there;
	int rc = 0;

	if (home == NULL)
		return -1;
	hf_buf_printf(&file, "%s.seen", name);
	there = hf_dir_open(&d, home, &ignored) == 0;
	if (there)
		rc = read_seen(&d, hf_buf_cstr(&file), &seen, err);
	while (rc == 0 && rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (has_line(hf_buf_view(&seen), line))
			continue;
		hf_buf_str(out, line);
		hf_buf_putc(out, '\n');
	}
	if (rc == 0 && there && !hf_str_eq(hf_str_trim(text),
	    hf_str_trim(hf_buf_view(&seen))))
		rc = hf_file_replace(&d, hf_buf_cstr(&file), text, err);
	hf_dir_close(&d);
	hf_buf_release(&seen);
	hf_buf_release(&file);
	free(home);
	return rc;
}
