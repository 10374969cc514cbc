//go:build unix

package zipkin

import "golang.org/x/sys/unix"

// cpuSeconds is the processor time that the process has used: on a busy machine it
// tells more than a clock.
func cpuSeconds() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
