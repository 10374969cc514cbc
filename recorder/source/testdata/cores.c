/* Three threads share one core: each works for 50 ms of processor time from a barrier on. */
#define _GNU_SOURCE
#include "parallax.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

static pthread_barrier_t all;

static long ran(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *work(void *given) {
	long begin;
	pthread_barrier_wait(&all);
	parallax_begin("kernel");
	for (begin = ran(); ran() - begin < 50000000;) ;
	parallax_end();
	return given;
}

int main(void) {
	pthread_t t[3];
	cpu_set_t had, one;
	int i, core = 0;
	sched_getaffinity(0, sizeof had, &had);
	while (!CPU_ISSET(core, &had)) core++;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	sched_setaffinity(0, sizeof one, &one);
	pthread_barrier_init(&all, 0, 3);
	for (i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
	for (i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
