/*
 * ports N: N ports of 127.0.0.1 that are free, on one line. All are held
 * until all are found, so that no two are the same.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int
main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	while (n-- > 0) {
		struct sockaddr_in a = { .sin_family = AF_INET };
		socklen_t len = sizeof(a);
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
		    getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
			perror("ports");
			return 1;
		}
		printf("%d%c", ntohs(a.sin_port), n > 0 ? ' ' : '\n');
	}
	return 0;
}
