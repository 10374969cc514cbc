/* Twenty steps of work with messages round a ring and a reduction; rank 1 works more. Each
 * rank prints when it began and ended each piece of work, ns. Arguments: steps, and the rank
 * that aborts half-way, by MPI_Abort or, with a third argument, by a fault. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
	int rank, size, i, steps = argc > 1 ? atoi(argv[1]) : 20, fails = argc > 2 ? atoi(argv[2]) : -1;
	double in = 1, out, a[100], b[100];
	long long end = 0;
	char file[64];
	FILE *f;
	MPI_Comm row;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &row);
	snprintf(file, sizeof file, "work-%d.txt", rank);
	f = fopen(file, "w");
	for (i = 0; i < steps; i++) {
		MPI_Request r[2];
		long long begin;
		if (i == steps / 2 && rank == fails) {
			if (argc > 3) raise(SIGSEGV);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
		if (i == 2) MPI_Pcontrol(3);
		begin = now(); /* sleeping is work here, and does not depend on how busy the machine is */
		usleep(rank == 1 ? 20000 : 5000);
		end = now();
		fprintf(f, "%lld %lld\n", begin, end);
		MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Irecv(b, 100, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(a, 100, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_DOUBLE, row);
		/* the last rank of the world is the first of its row */
		MPI_Bcast(&out, 1, MPI_DOUBLE, 0, row);
	}
	MPI_Pcontrol(-3);
	fclose(f);
	MPI_Finalize();
	return 0;
}
