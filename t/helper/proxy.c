/*
 * proxy PORT CONTROL: passes connections on to PORT of 127.0.0.1 and prints
 * the port that it listens on. What it does to them is in the file CONTROL,
 * read anew for each piece of data:
 *
 *	pass		nothing
 *	slow MS		each piece waits so long
 *	lose N		the N-th answer from now on is dropped, and its
 *			connection cut: what was asked for has been done
 *	cut N		the N-th piece of a request from now on is dropped,
 *			and its connection cut: nothing has been done
 *	hole		what comes is swallowed, nothing is answered
 *
 * A change of CONTROL begins a new count. For tests; one thread.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAIRS = 256 };

struct pair { int client, server; };

static struct pair pairs[PAIRS];
static size_t npairs;
static const char *control;
static char mode[64];
static long number, count;

/* The mode as the file has it now. */
static void
look(void)
{
	char line[64] = "pass";
	FILE *f = fopen(control, "r");

	if (f == NULL || fgets(line, sizeof(line), f) == NULL)
		memcpy(line, "pass", 5);
	if (f != NULL)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, mode) == 0)
		return;
	memcpy(mode, line, sizeof(mode));
	number = strtol(mode + strcspn(mode, "0123456789"), NULL, 10);
	count = 0;
}

static bool
is(const char *word)
{
	return strncmp(mode, word, strlen(word)) == 0;
}

static int
open_port(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((unsigned short)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (port == 0) {
		socklen_t len = sizeof(a);

		if (bind(fd, (struct sockaddr *)&a, len) < 0 ||
		    listen(fd, 64) < 0 ||
		    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
			return -1;
		printf("%d\n", ntohs(a.sin_port));
		fflush(stdout);
		return fd;
	}
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
add(int listener, int port)
{
	struct pair p = { accept(listener, NULL, NULL), -1 };

	if (p.client < 0)
		return;
	p.server = open_port(port);
	if (p.server < 0 || npairs == PAIRS) {
		close(p.client);
		if (p.server >= 0)
			close(p.server);
		return;
	}
	pairs[npairs++] = p;
}

static void
drop(size_t i)
{
	close(pairs[i].client);
	close(pairs[i].server);
	pairs[i] = pairs[--npairs];
}

/* Passes one piece on; false when the connection is over. */
static bool
move(int from, int to, bool answer)
{
	static char piece[65536];
	ssize_t n = read(from, piece, sizeof(piece)), done = 0;

	if (n <= 0)
		return false;
	look();
	if (is("hole"))
		return true;
	if (is(answer ? "lose" : "cut") && ++count == number)
		return false;
	if (is("slow"))
		usleep((useconds_t)number * 1000);
	while (done < n) {
		ssize_t w = write(to, piece + done, (size_t)(n - done));

		if (w <= 0)
			return false;
		done += w;
	}
	return true;
}

int
main(int argc, char **argv)
{
	struct pollfd p[1 + 2 * PAIRS];
	int listener, port;

	if (argc != 3)
		return 64;
	port = (int)strtol(argv[1], NULL, 10);
	control = argv[2];
	signal(SIGPIPE, SIG_IGN);
	if ((listener = open_port(0)) < 0)
		return 1;
	for (;;) {
		size_t n = npairs;

		p[0] = (struct pollfd){ listener, POLLIN, 0 };
		for (size_t i = 0; i < n; i++) {
			p[1 + 2 * i] = (struct pollfd){ pairs[i].client,
				POLLIN, 0 };
			p[2 + 2 * i] = (struct pollfd){ pairs[i].server,
				POLLIN, 0 };
		}
		if (poll(p, 1 + 2 * n, -1) < 0)
			continue;
		/* From behind: what is dropped is replaced by the last one. */
		for (size_t i = n; i > 0; i--) {
			struct pair *c = &pairs[i - 1];

			if ((p[2 * i - 1].revents != 0 &&
			    !move(c->client, c->server, false)) ||
			    (p[2 * i].revents != 0 &&
			    !move(c->server, c->client, true)))
				drop(i - 1);
		}
		if (p[0].revents != 0)
			add(listener, port);
	}
}
