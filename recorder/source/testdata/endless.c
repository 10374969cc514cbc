/* A program that works until it is killed. */
#include "parallax.h"
#include <unistd.h>

int main(void) {
	for (;;) {
		parallax_begin("solve");
		usleep(1000);
		parallax_end();
	}
}
