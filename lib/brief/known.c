#include "brief/known.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"
#include "base/io.h"
#include "brief/chars.h"
#include "brief/dotenv.h"
#include "brief/words.h"

enum {
	VALUE_MIN = 8,		/* characters of a variable's value */
	PATH_LONGEST = 4096,
	DOTENV_MAX = 1 << 20,
	FILE_MAX = 16 << 20
};

struct collect {
	struct hf_literals *l;
	const struct hf_config *c;
	const char *cwd;
};

bool
hf_known_name(struct hf_str name)
{
	static const char *const end[] = { "KEY", "SECRET", "TOKEN",
	    "PASSWORD", "PASS", "AUTH", "CREDENTIAL", "CREDENTIALS",
	    "PRIVATE", "PASSWD", "PASSPHRASE" };	/* OAUTH is AUTH */

	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		size_t n = strlen(end[i]);

		if (name.n >= n && hf_str_ieq(hf_strn(name.s + name.n - n, n),
		    hf_strn(end[i], n)))
			return true;
	}
	return false;
}

bool
hf_known_variable(struct hf_str name)
{
	return name.n >= 3 && (hf_chars(name.s[0]) & HF_CH_DIGIT) == 0 &&
	    hf_chars_run(name, 0, HF_CH_WORD, name.n) == name.n;
}

/* Does it lead to something, from cwd where it is relative? */
static bool
is_path(struct hf_str value, const char *cwd)
{
	struct hf_err err;
	const char *home;
	char *path, *full = NULL;
	bool there;

	if (value.n > PATH_LONGEST || memchr(value.s, '\n', value.n) != NULL)
		return false;
	path = hf_strndup(value.s, value.n);
	if (hf_str_starts(value, "~/") &&
	    (home = hf_env_home(&err)) != NULL)
		full = hf_path_join(home, path + 2);
	else if (path[0] != '/' && cwd != NULL)
		full = hf_path_join(cwd, path);
	there = (full != NULL || path[0] == '/') &&
	    access(full != NULL ? full : path, F_OK) == 0;
	free(full);
	free(path);
	return there;
}

/* An address with nothing in it that is known to few: no user, no query,
 * no piece that looks like a token. */
static bool
is_address(struct hf_str value)
{
	size_t from = 0;

	if (!hf_str_istarts(value, "http://") &&
	    !hf_str_istarts(value, "https://"))
		return false;
	for (size_t i = 0; i <= value.n; i++) {
		if (i < value.n && memchr("@?#", value.s[i], 3) != NULL)
			return false;
		if (i < value.n && value.s[i] != '/' && value.s[i] != '.' &&
		    value.s[i] != '-')
			continue;
		if (i - from >= 16 && hf_chars_garbled(hf_strn(
		    value.s + from, i - from)))
			return false;
		from = i + 1;
	}
	return true;
}

static void
variable(struct hf_str name, struct hf_str value, void *arg)
{
	struct collect *k = arg;
	const char *own = k->c != NULL ? k->c->key_env : NULL;

	value = hf_str_trim(value);
	if (!(own != NULL && hf_str_is(name, own)) && !hf_known_name(name))
		return;
	if (hf_utf8_count(value) < VALUE_MIN || hf_words_template(value) ||
	    hf_words_plain(value) || is_address(value) ||
	    is_path(value, k->cwd))
		return;
	hf_literals_add(k->l, value, hf_known_variable(name) ? name :
	    HF_STR_NONE);
}

static void
environment(struct collect *k)
{
	char **env = hf_env_all();
	const char *eq;

	for (size_t i = 0; env[i] != NULL; i++)
		if ((eq = strchr(env[i], '=')) != NULL)
			variable(hf_strn(env[i], (size_t)(eq - env[i])),
			    hf_str(eq + 1), k);
}

/* A regular file, links followed; -1 with errno. */
static int
open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static void
dotenv(struct collect *k)
{
	struct hf_buf text = HF_BUF_MAX(DOTENV_MAX);
	char *path = hf_path_join(k->cwd, ".env");
	int fd = open_regular(path);
	struct hf_err err;

	if (fd >= 0) {
		/* Of one that is too large, or that a signal cut short, the
		 * beginning counts. */
		hf_io_slurp(fd, &text, path, &err);
		hf_dotenv_each(hf_buf_view(&text), variable, k);
		close(fd);
	}
	free(path);
	hf_buf_release(&text);
}

/* Relative, it is relative to the configuration. */
static char *
file_path(const struct hf_config *c, struct hf_err *err)
{
	const char *home;
	char *dir, *path;

	if (c->secrets_file[0] == '/' || c->path == NULL)
		return hf_strdup(c->secrets_file);
	if (strncmp(c->secrets_file, "~/", 2) == 0)
		return (home = hf_env_home(err)) != NULL ?
		    hf_path_join(home, c->secrets_file + 2) : NULL;
	dir = hf_path_dir(c->path);
	path = hf_path_join(dir, c->secrets_file);
	free(dir);
	return path;
}

/* A line each; an empty one, and one of "#" or "# text", is none. */
static int
entries(struct collect *k, struct hf_str text, const char *path,
    struct hf_err *err)
{
	size_t number = 0;

	while (text.n > 0) {
		struct hf_str line = hf_str_trim(hf_str_line(text, &text));

		number++;
		if (line.n == 0 || hf_str_is(line, "#") ||
		    hf_str_starts(line, "# "))
			continue;
		if (!hf_literals_add(k->l, line, HF_STR_NONE))
			return hf_err_set(err, HF_E_CONFIG, "secrets.file: "
			    "'%s', line %zu: shorter than %d bytes", path,
			    number, HF_LITERAL_MIN);
	}
	return 0;
}

static int
file(struct collect *k, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(FILE_MAX);
	char *path = file_path(k->c, err);
	int fd = -1, rc = -1;

	if (path == NULL)
		return -1;
	if ((fd = open_regular(path)) < 0) {
		hf_err_set(err, HF_E_CONFIG, "secrets.file: cannot read "
		    "'%s': %s", path, errno == EINVAL ?
		    "not a regular file" : strerror(errno));
	} else if (hf_io_slurp(fd, &text, path, err) < 0) {
		if (err->code != HF_E_CANCELLED)
			err->code = HF_E_CONFIG;
		hf_err_prefix(err, "secrets.file");
	} else {
		rc = entries(k, hf_buf_view(&text), path, err);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	hf_buf_release(&text);
	return rc;
}

int
hf_known_load(struct hf_literals *l, const struct hf_config *c,
    const char *cwd, struct hf_err *err)
{
	struct collect k = { l, c, cwd };

	environment(&k);
	if (cwd != NULL)
		dotenv(&k);
	if (c != NULL && c->secrets_file != NULL && c->secrets_file[0] != '\0')
		return file(&k, err);
	return 0;
}
