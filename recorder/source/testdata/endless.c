/* A program that works until it is killed: its main thread; threads it waits for, with -DTHREADS; a team of OpenMP;
 * processes of MPI, with -DRANKS. */
#include <stdio.h>
#include <unistd.h>
#ifdef RANKS
#include <mpi.h>
#else
#include "parallax.h"
#endif
#ifdef THREADS
#include <pthread.h>
#endif

static void *solve(void *given) {
	for (;;) {
#ifdef RANKS
		MPI_Barrier(MPI_COMM_WORLD);
		usleep(1000);
#elif defined _OPENMP
#pragma omp parallel num_threads(2)
		usleep(1000);
#else
		parallax_begin("solve");
		usleep(1000);
		parallax_end();
#endif
	}
	return given;
}

int main(void) {
#ifdef RANKS
	char name[32];
	FILE *f;
	MPI_Init(0, 0);
	snprintf(name, sizeof name, "pid.%d", (int)getpid());
	if ((f = fopen(name, "w"))) fprintf(f, "%d\n", (int)getpid()), fclose(f);
#endif
#ifdef THREADS
	pthread_t t[2];
	pthread_create(t, 0, solve, 0);
	pthread_create(t + 1, 0, solve, 0);
	pthread_join(t[0], 0);
#endif
	solve(0);
	return 0;
}
