#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sig.h"
#include "check.h"
#include "scratch.h"

static struct hf_dir dir = HF_DIR_INIT;
static struct hf_err err;

/* The content of a file, "-" without one; valid until the next call. */
static const char *
content(const char *name)
{
	static struct hf_buf b = HF_BUF_INIT;

	hf_buf_clear(&b);
	switch (hf_file_read(&dir, name, &b, &err)) {
	case 0:
		return "-";
	case 1:
		return hf_buf_cstr(&b);
	default:
		return err.msg;
	}
}

static mode_t
mode(const char *name)
{
	struct stat st;

	if (fstatat(dir.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return st.st_mode & 0777;
}

static int
count_one(const char *name, void *arg, struct hf_err *e)
{
	(void)name, (void)e;
	++*(int *)arg;
	return 0;
}

static int
count_names(void)
{
	int n = 0;

	return hf_dir_each(&dir, count_one, &n, &err) < 0 ? -1 : n;
}

static void
test_paths(void)
{
	static const char *const good[] = { "a", "...", ".a", "a b" };
	static const char *const bad[] = { "", ".", "..", "a/b", "/" };
	static const struct { const char *path, *folder, *base; } parts[] = {
		{ "a", ".", "a" }, { "/a", "/", "a" }, { "a/b", "a", "b" },
		{ "//a", "/", "a" }, { "a//b", "a", "b" }, { "a/", "a", "" },
		{ "/a/b/c", "/a/b", "c" },
	};
	char name[256];
	char *s;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(hf_path_component(hf_str(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!hf_path_component(hf_str(bad[i])));
	CHECK(!hf_path_component(HF_STR_NONE));
	CHECK(!hf_path_component(HF_STR("a\0b")));
	memset(name, 'x', sizeof(name));
	CHECK(hf_path_component(hf_strn(name, 255)));
	CHECK(!hf_path_component(hf_strn(name, 256)));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		s = hf_path_dir(parts[i].path);
		CHECK_STR(s, parts[i].folder);
		CHECK_STR(hf_path_base(parts[i].path), parts[i].base);
		free(s);
	}
	s = hf_path_join("a", "b");
	CHECK_STR(s, "a/b");
	free(s);
	s = hf_path_join("/", "b");
	CHECK_STR(s, "/b");
	free(s);
	s = hf_path_join("", "b");
	CHECK_STR(s, "b");
	free(s);
}

static void
test_write(void)
{
	CHECK_INT(hf_file_replace(&dir, "a", HF_STR("one"), &err), 0);
	CHECK_STR(content("a"), "one");
	CHECK_INT(hf_file_replace(&dir, "a", HF_STR(""), &err), 0);
	CHECK_STR(content("a"), "");
	CHECK_INT(hf_file_create(&dir, "a", HF_STR("two"), &err), -1);
	CHECK_INT(err.code, HF_E_EXISTS);
	CHECK_STR(content("a"), "");
	CHECK_INT(hf_file_create(&dir, "b", HF_STR("two"), &err), 0);
	CHECK_STR(content("b"), "two");
	CHECK_INT(hf_file_append(&dir, "c", HF_STR("x\n"), &err), 0);
	CHECK_INT(hf_file_append(&dir, "c", HF_STR("y\n"), &err), 0);
	CHECK_STR(content("c"), "x\ny\n");
	CHECK_INT(count_names(), 3);
	CHECK_INT(hf_file_remove(&dir, "a", &err), 1);
	CHECK_INT(hf_file_remove(&dir, "a", &err), 0);
	CHECK_STR(content("a"), "-");
	CHECK_INT(hf_file_remove(&dir, "b", &err), 1);
	CHECK_INT(hf_file_remove(&dir, "c", &err), 1);
	CHECK_INT(hf_file_replace(&dir, "a/b", HF_STR("x"), &err), -1);
	CHECK_INT(err.code, HF_E_INVALID);
	CHECK_INT(hf_file_remove(&dir, "..", &err), -1);
	CHECK_INT(err.code, HF_E_INVALID);
	CHECK_INT(count_names(), 0);
}

static void
test_publish(void)
{
	CHECK_INT(hf_file_publish(&dir, "from", "to", &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	hf_file_replace(&dir, "from", HF_STR("f"), &err);
	hf_file_replace(&dir, "to", HF_STR("t"), &err);
	CHECK_INT(hf_file_publish(&dir, "from", "to", &err), -1);
	CHECK_INT(err.code, HF_E_EXISTS);
	CHECK_STR(content("from"), "f");
	CHECK_STR(content("to"), "t");
	hf_file_remove(&dir, "to", &err);
	CHECK_INT(hf_file_publish(&dir, "from", "to", &err), 0);
	CHECK_STR(content("from"), "-");
	CHECK_STR(content("to"), "f");

	/* Half done by one that took link and unlink. */
	CHECK_INT(linkat(dir.fd, "to", dir.fd, "from", 0), 0);
	CHECK_INT(hf_file_publish(&dir, "from", "to", &err), 0);
	CHECK_STR(content("from"), "-");
	CHECK_STR(content("to"), "f");
	hf_file_remove(&dir, "to", &err);
}

static void
test_modes(void)
{
	static const mode_t masks[] = { 0, 022, 077, 0277, 0777 };

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct hf_dir made = HF_DIR_INIT, sub = HF_DIR_INIT;
		char *path = hf_path_join(dir.path, "d/e/");
		mode_t old = umask(masks[i]);

		CHECK_INT(hf_file_replace(&dir, "r", HF_STR("x"), &err), 0);
		CHECK_INT(mode("r"), 0600);
		CHECK_INT(hf_file_create(&dir, "c", HF_STR("x"), &err), 0);
		CHECK_INT(mode("c"), 0600);
		CHECK_INT(hf_file_append(&dir, "a", HF_STR("x"), &err), 0);
		CHECK_INT(mode("a"), 0600);
		CHECK_INT(hf_dir_make(&made, path, &err), 0);
		CHECK_INT(mode("d"), 0700);
		CHECK_INT(mode("d/e"), 0700);
		CHECK_INT(hf_dir_sub(&sub, &made, "f", true, &err), 0);
		CHECK_INT(mode("d/e/f"), 0700);
		CHECK_INT(umask(old), masks[i]);
		unlinkat(made.fd, "f", AT_REMOVEDIR);
		unlinkat(dir.fd, "d/e", AT_REMOVEDIR);
		unlinkat(dir.fd, "d", AT_REMOVEDIR);
		hf_dir_close(&sub);
		hf_dir_close(&made);
		hf_file_remove(&dir, "r", &err);
		hf_file_remove(&dir, "c", &err);
		hf_file_remove(&dir, "a", &err);
		free(path);
	}
	CHECK_INT(count_names(), 0);
}

static int
stop_at_once(const char *name, void *arg, struct hf_err *e)
{
	(void)name, (void)arg, (void)e;
	return 1;
}

static int
refuse(const char *name, void *arg, struct hf_err *e)
{
	(void)arg;
	return hf_err_set(e, HF_E_REFUSED, "not '%s'", name);
}

static void
test_folders(void)
{
	struct hf_dir d = HF_DIR_INIT, sub = HF_DIR_INIT;
	char *missing = hf_path_join(dir.path, "missing");
	char *under = hf_path_join(dir.path, "file/x");

	CHECK_INT(hf_dir_open(&d, missing, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	CHECK_INT(hf_dir_open(&d, "", &err), -1);
	CHECK_INT(hf_dir_make(&d, "", &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	CHECK_INT(hf_dir_sub(&sub, &dir, "missing", false, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	CHECK_INT(hf_dir_sub(&sub, &dir, "../x", true, &err), -1);
	CHECK_INT(err.code, HF_E_INVALID);
	CHECK_INT(hf_dir_make(&d, missing, &err), 0);
	CHECK_STR(d.path, missing);
	hf_dir_close(&d);
	CHECK_INT(d.fd, -1);
	CHECK_INT(hf_dir_make(&d, missing, &err), 0);
	hf_dir_close(&d);
	CHECK_INT(hf_dir_sub(&sub, &dir, "missing", true, &err), 0);
	CHECK_STR(sub.path, missing);
	CHECK_INT(hf_dir_sync(&sub, &err), 0);
	hf_dir_close(&sub);

	hf_file_replace(&dir, "file", HF_STR("x"), &err);
	CHECK_INT(hf_dir_make(&d, under, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	CHECK_INT(hf_dir_each(&dir, stop_at_once, NULL, &err), 1);
	CHECK_INT(hf_dir_each(&dir, refuse, NULL, &err), -1);
	CHECK_INT(err.code, HF_E_REFUSED);
	/* Twice the same: no position is shared. */
	CHECK_INT(count_names(), 2);
	CHECK_INT(count_names(), 2);

	/* A link to nowhere can neither be opened nor made. */
	CHECK_INT(symlinkat("nowhere", dir.fd, "link"), 0);
	CHECK_INT(hf_dir_sub(&sub, &dir, "link", true, &err), -1);
	unlinkat(dir.fd, "link", 0);
	unlinkat(dir.fd, "missing", AT_REMOVEDIR);
	hf_file_remove(&dir, "file", &err);
	free(under);
	free(missing);

	CHECK_INT(hf_dir_open(&d, "/proc", &err), 0);
	CHECK(!hf_file_network(&d));
	hf_dir_close(&d);
}

static void
test_read(void)
{
	struct hf_buf b = HF_BUF_MAX(10);

	hf_buf_puts(&b, "12");
	hf_file_replace(&dir, "a", HF_STR("34567890"), &err);
	CHECK_INT(hf_file_read(&dir, "a", &b, &err), 1);
	CHECK_STR(hf_buf_cstr(&b), "1234567890");
	CHECK_INT(hf_file_read(&dir, "b", &b, &err), 0);
	hf_buf_cut(&b, 3);
	CHECK_INT(hf_file_read(&dir, "a", &b, &err), -1);
	CHECK_INT(err.code, HF_E_OVERFLOW);
	CHECK_STR(hf_buf_cstr(&b), "123");
	hf_buf_release(&b);

	CHECK_INT(symlinkat("a", dir.fd, "link"), 0);
	CHECK(strstr(content("link"), "symbolic link") != NULL);
	CHECK_INT(hf_file_append(&dir, "link", HF_STR("x"), &err), -1);
	CHECK_INT(mkfifoat(dir.fd, "fifo", 0600), 0);
	CHECK(strstr(content("fifo"), "not a regular file") != NULL);
	CHECK_INT(hf_file_append(&dir, "fifo", HF_STR("x"), &err), -1);
	CHECK_INT(mkdirat(dir.fd, "d", 0700), 0);
	CHECK(strstr(content("d"), "not a regular file") != NULL);
	unlinkat(dir.fd, "d", AT_REMOVEDIR);
	/* Replaced, not written through. */
	CHECK_INT(hf_file_replace(&dir, "link", HF_STR("new"), &err), 0);
	CHECK_STR(content("a"), "34567890");
	CHECK_STR(content("link"), "new");
	hf_file_remove(&dir, "fifo", &err);
	hf_file_remove(&dir, "link", &err);
	hf_file_remove(&dir, "a", &err);
}

/* A limit on the file's size cuts a write short, as a full disk does. */
static void
test_short_append(void)
{
	struct rlimit old, small;
	int rc;

	hf_file_append(&dir, "a", HF_STR("one\n"), &err);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 6;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	/* Nothing is said meanwhile: stdout may be a file too. */
	rc = hf_file_append(&dir, "a", HF_STR("two\n"), &err);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_INT(rc, -1);
	CHECK_INT(err.code, HF_E_IO);
	CHECK(strstr(err.msg, "no space left") != NULL);
	CHECK_STR(content("a"), "one\n");
	hf_file_remove(&dir, "a", &err);
}

/* 255 bytes, é in each place that a cut could fall on. */
static const char *
long_name(void)
{
	static char name[256];

	for (size_t i = 0; i < 254; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	memcpy(name + 254, "n", 2);
	return name;
}

static void
test_long_name(void)
{
	const char *name = long_name();

	CHECK_INT(hf_file_replace(&dir, name, HF_STR("long"), &err), 0);
	CHECK_STR(content(name), "long");
	CHECK_INT(hf_file_remove(&dir, name, &err), 1);
}

#ifdef HF_FAULTS

/* This program once more: PROGRAM do FOLDER VERB; 0, or 1 and the message
 * on stdout. */
static int
do_verb(const char *folder, const char *verb)
{
	int rc;

	if (hf_dir_open(&dir, folder, &err) < 0)
		rc = -1;
	else if (strcmp(verb, "replace") == 0)
		rc = hf_file_replace(&dir, "a", HF_STR("new"), &err);
	else if (strcmp(verb, "long") == 0)
		rc = hf_file_replace(&dir, long_name(), HF_STR("new"), &err);
	else if (strcmp(verb, "create") == 0)
		rc = hf_file_create(&dir, "b", HF_STR("new"), &err);
	else if (strcmp(verb, "append") == 0)
		rc = hf_file_append(&dir, "a", HF_STR("new"), &err);
	else if (strcmp(verb, "publish") == 0)
		rc = hf_file_publish(&dir, "a", "b", &err);
	else
		rc = hf_file_remove(&dir, "a", &err);
	if (rc < 0)
		printf("%s", err.msg);
	hf_dir_close(&dir);
	return rc < 0;
}

static struct hf_buf said = HF_BUF_INIT;

static int
run_verb(const char *self, const char *verb, const char *fail,
    const char *crash)
{
	const char *const argv[] = { self, "do", dir.path, verb, NULL };
	const char *vars[3] = { fail, crash, NULL };

	if (fail == NULL)
		vars[0] = crash, vars[1] = NULL;
	hf_buf_clear(&said);
	return scratch_run(argv, vars, &said, NULL);
}

static void
reset(void)
{
	hf_file_replace(&dir, "a", HF_STR("old"), &err);
	hf_file_remove(&dir, "b", &err);
}

/* Every step of every verb fails: an error, the old content, no litter. */
static void
test_failures(const char *self)
{
	static const struct { const char *verb, *fail; } cases[] = {
		{ "replace", "HANDOFF_FAIL_AT=file.open:ENOSPC" },
		{ "replace", "HANDOFF_FAIL_AT=file.write:ENOSPC" },
		{ "replace", "HANDOFF_FAIL_AT=file.fsync:ENOSPC" },
		{ "replace", "HANDOFF_FAIL_AT=file.close:ENOSPC" },
		{ "replace", "HANDOFF_FAIL_AT=file.rename:ENOSPC" },
		{ "create", "HANDOFF_FAIL_AT=file.open:ENOSPC" },
		{ "create", "HANDOFF_FAIL_AT=file.write:ENOSPC" },
		{ "create", "HANDOFF_FAIL_AT=file.fsync:ENOSPC" },
		{ "create", "HANDOFF_FAIL_AT=file.close:ENOSPC" },
		{ "create", "HANDOFF_FAIL_AT=file.link:ENOSPC" },
		{ "append", "HANDOFF_FAIL_AT=file.open:ENOSPC" },
		{ "append", "HANDOFF_FAIL_AT=file.write:ENOSPC" },
		{ "publish", "HANDOFF_FAIL_AT=file.rename:ENOSPC" },
		{ "remove", "HANDOFF_FAIL_AT=file.unlink:ENOSPC" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reset();
		printf("# %s %s\n", cases[i].verb, cases[i].fail);
		CHECK_INT(run_verb(self, cases[i].verb, cases[i].fail, NULL),
		    1);
		CHECK(strstr(hf_buf_cstr(&said),
		    "no space left on the disk") != NULL);
		CHECK_STR(content("a"), "old");
		CHECK_INT(count_names(), 1);
	}
	reset();
	CHECK_INT(run_verb(self, "replace", "HANDOFF_FAIL_AT=file.fsync:EIO",
	    NULL), 1);
	CHECK(strstr(hf_buf_cstr(&said), "Input/output error") != NULL);
}

/* The last step: the change is made, and the failure told. */
static void
test_dirsync(const char *self)
{
	const char *fail = "HANDOFF_FAIL_AT=file.dirsync:EIO";

	reset();
	CHECK_INT(run_verb(self, "replace", fail, NULL), 1);
	CHECK_STR(content("a"), "new");
	CHECK_INT(run_verb(self, "create", fail, NULL), 1);
	CHECK_STR(content("b"), "new");
	reset();
	CHECK_INT(run_verb(self, "publish", fail, NULL), 1);
	CHECK_STR(content("b"), "old");
	reset();
	CHECK_INT(run_verb(self, "remove", fail, NULL), 1);
	CHECK_INT(count_names(), 0);
	/* A file system that cannot flush a folder. */
	reset();
	CHECK_INT(run_verb(self, "replace",
	    "HANDOFF_FAIL_AT=file.dirsync:EINVAL", NULL), 0);
	CHECK_INT(run_verb(self, "replace",
	    "HANDOFF_FAIL_AT=file.dirsync:ENOTSUP", NULL), 0);
}

/* File systems without the one call or the other. */
static void
test_fallbacks(const char *self)
{
	const char *no_rename = "HANDOFF_FAIL_AT=file.rename:EINVAL";

	reset();
	CHECK_INT(run_verb(self, "create", "HANDOFF_FAIL_AT=file.link:EPERM",
	    NULL), 0);
	CHECK_STR(content("b"), "new");
	CHECK_INT(count_names(), 2);
	CHECK_INT(run_verb(self, "create", "HANDOFF_FAIL_AT=file.link:EPERM",
	    NULL), 1);
	CHECK(strstr(hf_buf_cstr(&said), "exists") != NULL);
	CHECK_INT(count_names(), 2);
	CHECK_INT(run_verb(self, "publish", no_rename, NULL), 1);
	CHECK(strstr(hf_buf_cstr(&said), "exists") != NULL);
	CHECK_STR(content("a"), "old");
	reset();
	CHECK_INT(run_verb(self, "publish", no_rename, NULL), 0);
	CHECK_STR(content("a"), "-");
	CHECK_STR(content("b"), "old");
	/* Killed between link and unlink: the next one completes it. */
	reset();
	CHECK_INT(run_verb(self, "publish", no_rename,
	    "HANDOFF_CRASH_AT=file.unlink"), 128 + SIGKILL);
	CHECK_INT(count_names(), 2);
	CHECK_INT(run_verb(self, "publish", no_rename, NULL), 0);
	CHECK_INT(count_names(), 1);
	CHECK_STR(content("b"), "old");
}

static int
check_temp(const char *name, void *arg, struct hf_err *e)
{
	(void)e;
	if (strcmp(name, "a") == 0)
		return 0;
	++*(int *)arg;
	CHECK(hf_str_starts(hf_str(name), ".a."));
	CHECK(hf_str_ends(hf_str(name), ".tmp"));
	CHECK_INT(strlen(name), strlen(".a.") + 16 + strlen(".tmp"));
	CHECK_INT(mode(name), 0600);
	CHECK_STR(content(name), "new");
	unlinkat(dir.fd, name, 0);
	return 0;
}

static void
test_crash(const char *self)
{
	int temps = 0;

	reset();
	CHECK_INT(run_verb(self, "replace", NULL,
	    "HANDOFF_CRASH_AT=file.rename"), 128 + SIGKILL);
	CHECK_STR(content("a"), "old");
	CHECK_INT(hf_dir_each(&dir, check_temp, &temps, &err), 0);
	CHECK_INT(temps, 1);
	CHECK_INT(run_verb(self, "replace", NULL,
	    "HANDOFF_CRASH_AT=file.dirsync"), 128 + SIGKILL);
	CHECK_STR(content("a"), "new");
}

static int
check_long(const char *name, void *arg, struct hf_err *e)
{
	(void)e;
	if (strcmp(name, "a") == 0)
		return 0;
	++*(int *)arg;
	CHECK(strlen(name) > 140 && strlen(name) <= 143);
	CHECK(hf_utf8_valid(hf_str(name)));
	unlinkat(dir.fd, name, 0);
	return 0;
}

static void
test_long_temp(const char *self)
{
	int temps = 0;

	reset();
	CHECK_INT(run_verb(self, "long", NULL,
	    "HANDOFF_CRASH_AT=file.rename"), 128 + SIGKILL);
	CHECK_INT(hf_dir_each(&dir, check_long, &temps, &err), 0);
	CHECK_INT(temps, 1);
}

static void
test_faults(const char *self)
{
	test_long_temp(self);
	test_failures(self);
	test_dirsync(self);
	test_fallbacks(self);
	test_crash(self);
	hf_buf_release(&said);
}

#endif

int
main(int argc, char **argv)
{
	char *scratch;

#ifdef HF_FAULTS
	if (argc == 4)
		return do_verb(argv[2], argv[3]);
#endif
	(void)argc, (void)argv;
	hf_sig_init();
	scratch = scratch_make();
	if (hf_dir_open(&dir, scratch, &err) < 0)
		return 1;
	test_paths();
	test_write();
	test_publish();
	test_modes();
	test_folders();
	test_read();
	test_short_append();
	test_long_name();
#ifdef HF_FAULTS
	test_faults(argv[0]);
#endif
	hf_dir_close(&dir);
	scratch_remove(scratch);
	return check_done();
}
