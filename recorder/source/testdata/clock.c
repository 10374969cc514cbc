/* Drives the recorder by a clock of its own: calls of growing length, busy time between them
 * from 1 ns to 40 ms, so that windows double many times. Prints the busy intervals. */
static long long clock_now;
#define PLX_NOW clock_now
#include "core.c"

int main(void) {
	unsigned long long x = 88172645463325252ULL;
	int i;
	plx_start(0, 1);
	plx_worker_get();
	for (i = 0; i < 3000; i++) {
		long long begin = clock_now;
		plx_worker *w;
		x ^= x << 13; x ^= x >> 7; x ^= x << 17;
		clock_now += 1 + (long long)(x % (1ULL << (x >> 59)));
		printf("%lld %lld\n", begin, clock_now);
		if (i % 100 == 0) parallax_region_begin("hundred");
		w = plx_enter();
		clock_now += i;
		plx_leave(w, plx_name("call"), 8, 1);
		if (i % 100 == 99) parallax_region_end();
	}
	plx_write();
	return 0;
}
