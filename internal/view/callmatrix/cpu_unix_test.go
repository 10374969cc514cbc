//go:build unix

package callmatrix_test

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of processors: on a busy machine only
// that can be compared.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
