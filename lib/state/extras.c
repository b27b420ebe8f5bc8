#include "state/extras.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/io.h"
#include "base/mem.h"
#include "brief/brief.h"

enum { SHORT_ID = 6 };

/* ---- the title ---- */

/* "{id6}" is the beginning of the successor's id. */
static void
fill_suffix(struct hf_buf *out, const char *suffix, const char *id)
{
	const char *at = strstr(suffix, "{id6}");

	if (at == NULL) {
		hf_buf_puts(out, suffix);
		return;
	}
	hf_buf_add(out, suffix, (size_t)(at - suffix));
	hf_buf_add(out, id, strnlen(id, SHORT_ID));
	hf_buf_puts(out, at + strlen("{id6}"));
}

/* Appends the row where the file ends with a whole one, and puts its times
 * back: it must not look newer than it is. */
static int
append_row(const char *path, struct hf_str row, struct hf_err *err)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	struct timespec times[2];
	struct stat st;
	char last = '\0';
	int rc = 0;

	if (fd < 0)
		return hf_err_sys(err, errno, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0 ||
	    hf_io_pread(fd, &last, 1, st.st_size - 1) != 1 || last != '\n') {
		rc = hf_err_set(err, HF_E_CHANGED,
		    "'%s' does not end with a whole row", path);
	} else if (hf_io_write(fd, row.s, row.n) < 0) {
		rc = hf_err_sys(err, errno, "cannot write '%s'", path);
	} else {
		times[0] = st.st_atim;
		times[1] = st.st_mtim;
		if (futimens(fd, times) < 0)
			rc = hf_err_sys(err, errno,
			    "cannot set the times of '%s'", path);
	}
	close(fd);
	return rc;
}

int
hf_extras_title(const struct hf_config *c, const struct hf_attempt *r,
    struct hf_err *err)
{
	const struct hf_agent *a = hf_agent_by_name(hf_str(r->source.agent));
	struct hf_buf title = HF_BUF_INIT, suffix = HF_BUF_INIT;
	struct hf_buf row = HF_BUF_INIT;
	struct hf_session s;
	int rc = 0;

	if (c->title_suffix == NULL || a == NULL || a->title_row == NULL)
		return 0;
	hf_session_init(&s);
	if (hf_session_peek(r->source.path, &s, err) < 0) {
		rc = -1;
		goto out;
	}
	fill_suffix(&suffix, c->title_suffix, r->target.id);
	if (s.title != NULL)
		hf_buf_puts(&title, s.title);
	/* Done before, by a run that did not come to its end. */
	if (hf_str_ends(hf_buf_view(&title), hf_buf_cstr(&suffix)))
		goto out;
	hf_buf_str(&title, hf_buf_view(&suffix));
	a->title_row(&s, hf_buf_view(&title), &row);
	if (row.len > 0)
		rc = append_row(r->source.path, hf_buf_view(&row), err) < 0 ?
		    -1 : 1;
out:
	hf_session_release(&s);
	hf_buf_release(&row);
	hf_buf_release(&suffix);
	hf_buf_release(&title);
	return rc;
}

/* ---- the file ---- */

static int
render(const struct hf_attempt *r, struct hf_buf *out, struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(hf_str(r->brief), 0, NULL, NULL,
	    err);
	struct hf_brief b;
	int rc = -1;

	hf_brief_init(&b);
	if (j != NULL && hf_brief_from_json(&b, hf_json_root(j), err) == 0) {
		hf_brief_markdown(out, &b);
		rc = 0;
	}
	hf_brief_release(&b);
	hf_json_free(j);
	return rc;
}

int
hf_extras_save(const struct hf_attempt *r, char **path, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT, name = HF_BUF_INIT;
	char *state = hf_store_dir(err), *folder = NULL;
	struct hf_dir d = HF_DIR_INIT;
	char time[HF_TIME_LEN];
	int rc = -1;

	if (state == NULL || r->brief == NULL)
		goto out;
	folder = hf_path_join(state, "briefs");
	hf_clock_format(r->begun, time);
	/* Sortable, and fit for any file system: no colons. */
	for (char *p = time; *p != '\0'; p++)
		if (*p == ':' || *p == '.')
			*p = '-';
	hf_buf_printf(&name, "handoff-%s.md", time);
	if (render(r, &text, err) == 0 && hf_dir_make(&d, folder, err) == 0)
		rc = hf_file_replace(&d, hf_buf_cstr(&name),
		    hf_buf_view(&text), err);
	if (rc == 0)
		*path = hf_path_join(folder, hf_buf_cstr(&name));
out:
	hf_dir_close(&d);
	free(folder);
	free(state);
	hf_buf_release(&name);
	hf_buf_release(&text);
	return rc;
}
