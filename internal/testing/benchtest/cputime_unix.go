//go:build unix

package benchtest

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the processor time that this process has used on all cores: on a busy machine it varies less than
// a clock.
func CPUTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
