//go:build !unix

package benchtest

import "time"

var started = time.Now()

// CPUTime is the time of the clock where processor time is not told.
func CPUTime() time.Duration { return time.Since(started) }
