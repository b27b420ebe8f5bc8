/*
 * The main of a fuzzer where there is no libFuzzer: runs it once over the
 * empty input and over each file that is named or lies in a folder named.
 * A folder that is not there holds nothing. 'make check' replays so what
 * was found before.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX	(16 * 1024 * 1024)

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char input[INPUT_MAX];

static int
replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *exact;
	size_t n;

	if (f == NULL) {
		fprintf(stderr, "cannot open '%s': %s\n", path,
		    strerror(errno));
		return -1;
	}
	n = fread(input, 1, sizeof(input), f);
	fclose(f);
	/* A piece of just its size: a read beyond it is seen. */
	exact = malloc(n > 0 ? n : 1);
	if (exact == NULL)
		return -1;
	memcpy(exact, input, n);
	/* Named first: a crash leaves the name as the last line. */
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 0;
}

static int
replay_folder(const char *path)
{
	struct dirent **names;
	char file[4096];
	int n, rv = 0;

	n = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.') {
			snprintf(file, sizeof(file), "%s/%s", path,
			    names[i]->d_name);
			if (replay_file(file) == -1)
				rv = -1;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return rv;
}

int
main(int argc, char **argv)
{
	struct stat st;
	int rv = 0;

	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &st) == -1)
			continue;
		if ((S_ISDIR(st.st_mode) ? replay_folder(argv[i]) :
		    replay_file(argv[i])) == -1)
			rv = 1;
	}
	return rv;
}
