/* Threads that name no regions, and wait for a lock. One of them has a name. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *given) {
	int i;
	volatile double x = 0;
	long k;
	for (i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		for (k = 0; k < 2000000; k++) x += (double)k;
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	return given;
}

int main(void) {
	pthread_t t[3];
	int i;
	for (i = 0; i < 3; i++) pthread_create(t + i, 0, work, 0);
	pthread_setname_np(t[1], "loader");
	for (i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
