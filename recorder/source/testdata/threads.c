/* Threads that work and wait, each for itself and for others: kernels with a lock, a sleep, a
 * barrier, a join around them. Prints the work as the program sees it, a line a stretch:
 *
 *   thread, begin and end inside the region, begin and end outside of it
 *
 * in ns of the same clock since the first. "exit" ends the process while one thread works. */
#include "parallax.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, KERNELS = 20 };

static pthread_barrier_t gate;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long zero;
static struct { long long in[2], out[2]; } work[THREADS][2 * KERNELS];

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec - zero;
}

static void spin(long long ns) {
	long long end = now() + ns;
	while (now() < end) ;
}

static void pause_ns(long ns) {
	struct timespec t = {0, ns};
	nanosleep(&t, 0);
}

static void *run(void *arg) {
	int me = (int)(long)arg, i;
	char name[16];
	snprintf(name, sizeof name, "kernel %d", me);
	pthread_barrier_wait(&gate); /* all begin at once: nobody's first region is lost */
	for (i = 0; i < KERNELS; i++) {
		long long *in = work[me][2 * i].in, *out = work[me][2 * i].out;
		out[0] = now();
		parallax_begin(name);
		in[0] = now();
		spin(100000 * (me + 1));
		in[1] = now();
		pause_ns(300000); /* in the region, but not busy for at least so long */
		out[1] = in[1];
		out = work[me][2 * i + 1].out, out[0] = in[1] + 300000;
		in = work[me][2 * i + 1].in, in[0] = now();
		spin(50000);
		in[1] = now();
		parallax_end();
		out[1] = now();
		if (i % 5 == 0) pthread_barrier_wait(&gate);
		pthread_mutex_lock(&lock);
		parallax_begin("wait");
		pause_ns(50000);
		parallax_end();
		pthread_mutex_unlock(&lock);
		parallax_wait("a neighbour");
		spin(20000);
		parallax_end();
	}
	return 0;
}

static void *endless(void *arg) {
	parallax_begin("endless");
	*(volatile int *)arg = 1;
	for (;;) spin(1000000);
	return 0;
}

int main(int n, char **args) {
	pthread_t threads[THREADS], last;
	volatile int running = 0;
	int i, k;
	zero = now();
	pthread_barrier_init(&gate, 0, THREADS);
	for (i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, run, (void *)(long)i);
	parallax_begin("team");
	for (i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
	parallax_end();
	if (n > 1 && !strcmp(args[1], "exit")) {
		pthread_create(&last, 0, endless, (void *)&running);
		while (!running) sched_yield();
		spin(5000000);
	}
	for (i = 0; i < THREADS; i++)
		for (k = 0; k < 2 * KERNELS; k++)
			printf("%d %lld %lld %lld %lld\n", i, work[i][k].in[0], work[i][k].in[1], work[i][k].out[0], work[i][k].out[1]);
	return 0;
}
