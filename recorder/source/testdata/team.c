/* Three rounds of two parallel regions, the second with tasks, and a named region around all. */
#include "parallax.h"
#include <omp.h>

static volatile double sink;

static void work(int n) {
	double s = 0;
	int i;
	for (i = 0; i < n * 20000; i++) s += i * 0.5;
	sink = s;
}

int main(void) {
	int k;
	for (k = 0; k < 3; k++) {
		parallax_begin("round");
#pragma omp parallel num_threads(2)
		{
			work(1 + omp_get_thread_num());
#pragma omp barrier
#pragma omp critical
			work(1);
		}
#pragma omp parallel num_threads(2)
#pragma omp single
		{
			int i;
			for (i = 0; i < 8; i++)
#pragma omp task
				work(1);
#pragma omp taskwait
		}
		parallax_end();
	}
	return 0;
}
