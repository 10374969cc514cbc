//go:build !unix

package benchtest

import "time"

var started = time.Now()

// CPUTime returns wall-clock time on systems without processor time.
func CPUTime() time.Duration { return time.Since(started) }
