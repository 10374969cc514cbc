/* Ranks of two threads each: ten rounds of a parallel region and a reduction of the whole job;
 * in every round the master thread sends one message to the next rank from inside the region. */
#include "parallax.h"
#include <mpi.h>
#include <omp.h>

static volatile double sink;

static void work(int n) {
	double s = 0;
	int i;
	for (i = 0; i < n * 20000; i++) s += i * 0.5;
	sink = s;
}

int main(int argc, char **argv) {
	int k, provided, rank, size;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (k = 0; k < 10; k++) {
		double mine = rank, all, got;
		parallax_begin("round");
#pragma omp parallel num_threads(2)
		{
			work(1 + omp_get_thread_num());
#pragma omp master
			MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0, &got, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp barrier
			work(1);
		}
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		parallax_end();
	}
	MPI_Finalize();
	return 0;
}
