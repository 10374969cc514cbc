//go:build unix

package local

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time this process has spent on all cores.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
