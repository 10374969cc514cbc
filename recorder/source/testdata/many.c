/* 600 threads, one after the other: each names a kernel. */
#include "parallax.h"
#include <pthread.h>

static void *work(void *given) {
	volatile long k;
	parallax_begin("kernel");
	for (k = 0; k < 20000; k++) ;
	parallax_end();
	return given;
}

int main(void) {
	int i;
	for (i = 0; i < 600; i++) {
		pthread_t t;
		pthread_create(&t, 0, work, 0);
		pthread_join(t, 0);
	}
	return 0;
}
