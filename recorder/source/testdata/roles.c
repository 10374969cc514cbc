/* Regions with roles that their names do not tell. */
#include "../c/parallax.h"

static void spin(void) {
	volatile double x = 0;
	long k;
	for (k = 0; k < 2000000; k++) x += (double)k;
}

int main(void) {
	int i;
	for (i = 0; i < 5; i++) {
		parallax_begin_as("halo", "communication");
		spin();
		parallax_end();
		parallax_begin_as("wait", "compute");
		spin();
		parallax_end();
	}
	return 0;
}
