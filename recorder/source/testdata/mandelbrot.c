/* Three times a picture of Mandelbrot's set: rows by a static schedule, which is uneven, by a dynamic one, and by a tree
 * of tasks that wait for the tasks they make. */
#include "parallax.h"
#include <stdio.h>

#ifndef N
#define N 480
#endif
static int picture[N][N];
static int point(double x, double y) {
	double a = 0, b = 0;
	int k;
	for (k = 0; k < 400 && a * a + b * b < 4; k++) { double t = a * a - b * b + x; b = 2 * a * b + y; a = t; }
	return k;
}
static void row(int i) { int j; for (j = 0; j < N; j++) picture[i][j] = point(-2.2 + 3.0 * j / N, -0.2 + 1.4 * i / N); }
static void part(int from, int to) {
	if (to - from <= 8) { int i; for (i = from; i < to; i++) row(i); return; }
#pragma omp task
	part(from, (from + to) / 2);
#pragma omp task
	part((from + to) / 2, to);
#pragma omp taskwait
}
static void fixed(void) {
	int i;
#pragma omp parallel for schedule(static)
	for (i = 0; i < N; i++) row(i);
}
static void shared(void) {
	int i;
#pragma omp parallel for schedule(dynamic, 4)
	for (i = 0; i < N; i++) row(i);
}
static void tree(void) {
#pragma omp parallel
#pragma omp single
	part(0, N);
}
int main(void) {
	int k;
	for (k = 0; k < 3; k++) {
		parallax_begin("static"); fixed(); parallax_end();
		parallax_begin("dynamic"); shared(); parallax_end();
		parallax_begin("tasks"); tree(); parallax_end();
	}
	printf("%d\n", picture[N / 2][N / 2]);
	return 0;
}
