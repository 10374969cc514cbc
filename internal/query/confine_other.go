//go:build !linux

package query

import "time"

// confine has nothing that the system keeps: the process watches its memory itself, and its time is kept by who
// started it.
func confine(Bounds, time.Duration) {}

type processUsage struct{ memory, disk int64 }

func usageOf(int) processUsage { return processUsage{} }
