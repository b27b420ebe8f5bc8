#include "brief/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/file.h"
#include "base/io.h"
#include "config/home.h"

static const char key_name[] = "placeholder.key";
static const char before[] = "[secret:";
enum { BEFORE_LEN = sizeof(before) - 1, DIGITS = 12 };

/* Is the file one that only its owner could read and write? */
static int
check(const struct stat *st, const char *path, struct hf_err *err)
{
	const char *what = NULL;

	if (!S_ISREG(st->st_mode))
		what = "is no regular file";
	else if (st->st_uid != geteuid())
		what = "belongs to another user";
	else if ((st->st_mode & 077) != 0)
		what = "can be used by others; chmod 600 it";
	else if (st->st_size != HF_SHA_LEN)
		what = "is no key; remove it";
	if (what == NULL)
		return 0;
	return hf_err_set(err, HF_E_CONFIG, "the key '%s' %s", path, what);
}

/* 1 and the key, 0 without the file, -1. */
static int
read_key(struct hf_seal *s, struct hf_err *err)
{
	char *path = hf_path_join(s->dir, key_name);
	struct stat st;
	int fd, rc = -1;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
	    O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		rc = 0;
	} else if (fd < 0 && errno == ELOOP) {
		hf_err_set(err, HF_E_CONFIG,
		    "the key '%s' is a symbolic link", path);
	} else if (fd < 0 || fstat(fd, &st) < 0) {
		hf_err_set(err, HF_E_CONFIG, "cannot read the key '%s': %s",
		    path, strerror(errno));
	} else if (check(&st, path, err) == 0) {
		if (hf_io_pread(fd, s->key, sizeof(s->key), 0) ==
		    (ssize_t)sizeof(s->key))
			rc = 1;
		else
			hf_err_set(err, HF_E_CONFIG,
			    "cannot read the key '%s'", path);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

int
hf_seal_open(struct hf_seal *s, struct hf_err *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->dir = hf_home_state(err);
	if (s->dir == NULL) {
		/* Without a home there is no state, and no fault either. */
		return hf_env("HANDOFF_HOME") != NULL ||
		    hf_env("HANDOFF_PROFILE") != NULL ? -1 : 0;
	}
	rc = read_key(s, err);
	if (rc < 0) {
		hf_seal_close(s);
		return -1;
	}
	s->ready = s->lasting = rc > 0;
	return 0;
}

void
hf_seal_close(struct hf_seal *s)
{
	free(s->dir);
	memset(s, 0, sizeof(*s));
}

/* Keeps a new key, or takes that of a process that was faster. */
static int
keep_key(struct hf_seal *s)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;
	int rc = -1;

	if (s->dir == NULL || hf_dir_make(&d, s->dir, &err) < 0)
		return -1;
	hf_random(s->key, sizeof(s->key));
	if (hf_file_create(&d, key_name, hf_strn((const char *)s->key,
	    sizeof(s->key)), &err) == 0)
		rc = 0;
	else if (err.code == HF_E_EXISTS && read_key(s, &err) > 0)
		rc = 0;
	hf_dir_close(&d);
	return rc;
}

void
hf_seal_mark(struct hf_seal *s, struct hf_str value, char out[HF_SEAL_LEN])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t mac[HF_SHA_LEN];

	if (!s->ready) {
		s->lasting = keep_key(s) == 0;
		if (!s->lasting)
			hf_random(s->key, sizeof(s->key));
		s->ready = true;
	}
	hf_hmac(hf_strn((const char *)s->key, sizeof(s->key)), value, mac);
	memcpy(out, before, BEFORE_LEN);
	for (size_t i = 0; i < DIGITS; i++)
		out[BEFORE_LEN + i] = digit[(mac[i / 2] >>
		    (i % 2 == 0 ? 4 : 0)) & 15];
	out[HF_SEAL_LEN - 1] = ']';
}

bool
hf_seal_at(struct hf_str text, size_t at)
{
	const char *p = text.s + at;

	if (text.n - at < HF_SEAL_LEN || memcmp(p, before, BEFORE_LEN) != 0 ||
	    p[HF_SEAL_LEN - 1] != ']')
		return false;
	for (size_t i = BEFORE_LEN; i < HF_SEAL_LEN - 1; i++)
		if (!(p[i] >= '0' && p[i] <= '9') &&
		    !(p[i] >= 'a' && p[i] <= 'f'))
			return false;
	return true;
}
