/*
 * mockd FOLDER: a model's server for tests, on loopback alone. The port is
 * written to FOLDER/port once it listens; it ends with its parent or by
 * TERM.
 *
 * What it answers is in FOLDER/script, read anew for each request; the N-th
 * request is answered by the N-th line, the last line is used for ever:
 *
 *	STATUS FILE [type=T] [split=N] [delay=MS] [cut=N] [chunked]
 *	    [header=NAME:VALUE]
 *	reset			closes before it answers
 *	hang			never answers
 *	big N			200 and N bytes of one endless line
 *
 * FILE is the body ("-" for none), in FOLDER; its type is by its name (.sse,
 * .json). split writes pieces of N bytes, delay waits between them, cut
 * closes after N bytes of the body. Connections are kept.
 *
 * Each request is written whole to FOLDER/N.req, its body to FOLDER/N.body,
 * and "N CONNECTION PATH" to FOLDER/log.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"

enum { HEAD_MAX = 64 << 10, BODY_MAX = 64 << 20, PIECE = 64 << 10 };

struct answer {
	int status;
	char file[256], type[64], header[256];
	size_t split, cut, big;
	long delay;
	bool chunked, reset, hang;
};

static atomic_int *requests;

static void
die(const char *what)
{
	fprintf(stderr, "mockd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
pause_ms(long ms)
{
	poll(NULL, 0, (int)ms);
}

/* ---- the script ---- */

static void
option(struct answer *a, const char *word)
{
	const char *v = strchr(word, '=');

	v = v != NULL ? v + 1 : "";
	if (strncmp(word, "type=", 5) == 0)
		snprintf(a->type, sizeof(a->type), "%s", v);
	else if (strncmp(word, "split=", 6) == 0)
		a->split = (size_t)strtoul(v, NULL, 10);
	else if (strncmp(word, "cut=", 4) == 0)
		a->cut = (size_t)strtoul(v, NULL, 10);
	else if (strncmp(word, "delay=", 6) == 0)
		a->delay = strtol(v, NULL, 10);
	else if (strncmp(word, "header=", 7) == 0)
		snprintf(a->header, sizeof(a->header), "%s\r\n", v);
	else if (strcmp(word, "chunked") == 0)
		a->chunked = true;
}

static void
parse(struct answer *a, char *line)
{
	char *save, *word = strtok_r(line, " ", &save);
	const char *dot;
	int n = 0;

	memset(a, 0, sizeof(*a));
	a->cut = SIZE_MAX;
	for (; word != NULL; word = strtok_r(NULL, " ", &save), n++)
		if (n == 0 && strcmp(word, "reset") == 0)
			a->reset = true;
		else if (n == 0 && strcmp(word, "hang") == 0)
			a->hang = true;
		else if (n == 0 && strcmp(word, "big") == 0)
			a->status = 200;
		else if (n == 0)
			a->status = (int)strtol(word, NULL, 10);
		else if (n == 1 && strcmp(line, "big") == 0)
			a->big = (size_t)strtoul(word, NULL, 10);
		else if (n == 1)
			snprintf(a->file, sizeof(a->file), "%s", word);
		else
			option(a, word);
	dot = strrchr(a->file, '.');
	if (a->type[0] == '\0')
		snprintf(a->type, sizeof(a->type), "%s", a->big > 0 ||
		    (dot != NULL && strcmp(dot, ".sse") == 0) ?
		    "text/event-stream" : "application/json");
}

static void
choose(struct answer *a, int n)
{
	struct hf_buf text = HF_BUF_INIT, last = HF_BUF_INIT;
	struct hf_err err = { HF_OK, "" };
	struct hf_str rest, line;

	if (hf_io_slurp_path("script", &text, &err) < 0)
		die(err.msg);
	for (rest = hf_buf_view(&text); rest.n > 0 && n > 0;) {
		line = hf_str_line(rest, &rest);
		if (line.n == 0)
			continue;
		hf_buf_clear(&last);
		hf_buf_str(&last, line);
		n--;
	}
	hf_buf_cstr(&last);
	parse(a, last.data);
	hf_buf_release(&text);
	hf_buf_release(&last);
}

/* ---- a request ---- */

static size_t
content_length(struct hf_str head)
{
	static const char name[] = "content-length:";
	size_t at = hf_str_ifind(head, name, 0);

	return at == SIZE_MAX ? 0 :
	    (size_t)strtoul(head.s + at + sizeof(name) - 1, NULL, 10);
}

/* Reads one into b; the length of its head, 0 at the end. */
static size_t
receive(int fd, struct hf_buf *b)
{
	char chunk[PIECE];
	size_t end = SIZE_MAX, whole = SIZE_MAX;
	ssize_t n;

	hf_buf_clear(b);
	while (b->len < whole) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		hf_buf_add(b, chunk, (size_t)n);
		if (end == SIZE_MAX)
			end = hf_str_find(hf_buf_view(b), HF_STR("\r\n\r\n"),
			    0);
		if (end != SIZE_MAX)
			whole = end + 4 + content_length(hf_strn(b->data,
			    end + 2));
	}
	return end + 4;
}

static void
save(int n, const char *suffix, struct hf_str a)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%d.%s", n, suffix);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || hf_io_write(fd, a.s, a.n) < 0)
		die(name);
	close(fd);
}

static void
note(int n, int connection, struct hf_str request)
{
	struct hf_str line = hf_str_line(request, NULL);
	struct hf_buf b = HF_BUF_INIT;
	int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	size_t from = hf_str_find(line, HF_STR(" "), 0) + 1;
	size_t to = hf_str_find(line, HF_STR(" "), from);

	hf_buf_printf(&b, "%d %d %.*s\n", n, connection, (int)(to - from),
	    line.s + from);
	if (fd < 0 || hf_io_write(fd, b.data, b.len) < 0)
		die("log");
	close(fd);
	hf_buf_release(&b);
}

/* ---- an answer ---- */

static int
send_piece(int fd, const struct answer *a, struct hf_str piece)
{
	char size[32];

	if (a->delay > 0)
		pause_ms(a->delay);
	if (!a->chunked)
		return hf_io_write(fd, piece.s, piece.n);
	snprintf(size, sizeof(size), "%zx\r\n", piece.n);
	return hf_io_write(fd, size, strlen(size)) < 0 ||
	    hf_io_write(fd, piece.s, piece.n) < 0 ||
	    hf_io_write(fd, "\r\n", 2) < 0 ? -1 : 0;
}

static int
send_body(int fd, const struct answer *a, struct hf_str body)
{
	size_t step = a->split > 0 ? a->split : body.n, n, sent = 0;

	while (sent < body.n && sent < a->cut) {
		n = body.n - sent < step ? body.n - sent : step;
		n = a->cut - sent < n ? a->cut - sent : n;
		if (send_piece(fd, a, hf_strn(body.s + sent, n)) < 0)
			return -1;
		sent += n;
	}
	if (sent < body.n)
		return -1;
	return a->chunked ? hf_io_write(fd, "0\r\n\r\n", 5) : 0;
}

static int
send_big(int fd, const struct answer *a)
{
	static char piece[PIECE];
	size_t sent;

	memset(piece, 'x', sizeof(piece));
	if (hf_io_write(fd, "data: ", 6) < 0)
		return -1;
	for (sent = 0; sent < a->big; sent += sizeof(piece)) {
		/* An event now and then, so that no line is too long. */
		memcpy(piece, "\n\n: ", 4);
		if (hf_io_write(fd, piece, sizeof(piece)) < 0)
			return -1;
	}
	return -1;
}

/* 0 when the connection may be used again. */
static int
respond(int fd, const struct answer *a)
{
	struct hf_buf body = HF_BUF_INIT, head = HF_BUF_INIT;
	struct hf_err err = { HF_OK, "" };
	int rc;

	if (a->hang)
		for (;;)
			pause();
	if (a->reset)
		return -1;
	if (a->file[0] != '\0' && strcmp(a->file, "-") != 0 &&
	    hf_io_slurp_path(a->file, &body, &err) < 0)
		die(err.msg);
	hf_buf_printf(&head, "HTTP/1.1 %d mock\r\nContent-Type: %s\r\n%s",
	    a->status, a->type, a->header);
	if (a->big > 0)
		hf_buf_puts(&head, "Connection: close\r\n\r\n");
	else if (a->chunked)
		hf_buf_puts(&head, "Transfer-Encoding: chunked\r\n\r\n");
	else
		hf_buf_printf(&head, "Content-Length: %zu\r\n\r\n",
		    body.len);
	rc = hf_io_write(fd, head.data, head.len);
	if (rc == 0)
		rc = a->big > 0 ? send_big(fd, a) :
		    send_body(fd, a, hf_buf_view(&body));
	hf_buf_release(&head);
	hf_buf_release(&body);
	return rc;
}

static void
serve(int fd, int connection)
{
	struct hf_buf request = HF_BUF_MAX(BODY_MAX);
	struct answer a;
	size_t head;
	int n, one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while ((head = receive(fd, &request)) > 0) {
		n = atomic_fetch_add(requests, 1) + 1;
		choose(&a, n);
		save(n, "req", hf_buf_view(&request));
		save(n, "body", hf_strn(request.data + head,
		    request.len - head));
		note(n, connection, hf_buf_view(&request));
		if (respond(fd, &a) < 0)
			break;
	}
	close(fd);
	exit(0);
}

/* ---- listening ---- */

static int
listen_here(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *f;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) < 0 ||
	    listen(fd, 64) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &n) < 0)
		die("cannot listen");
	f = fopen("port.new", "w");
	if (f == NULL || fprintf(f, "%d\n", ntohs(at.sin_port)) < 0 ||
	    fclose(f) != 0 || rename("port.new", "port") < 0)
		die("port");
	return fd;
}

int
main(int argc, char **argv)
{
	int server, fd, connection = 0;

	if (argc != 2 || chdir(argv[1]) < 0)
		die("usage: mockd FOLDER");
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	requests = mmap(NULL, sizeof(*requests), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (requests == MAP_FAILED)
		die("mmap");
	server = listen_here();
	for (;;) {
		fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			die("accept");
		connection++;
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
			close(server);
			serve(fd, connection);
		}
		close(fd);
	}
}
