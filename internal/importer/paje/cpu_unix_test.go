//go:build unix

package paje_test

import (
	"syscall"
	"time"
)

// cpuTime is the processor time used so far, which other work on the machine
// does not lengthen.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
