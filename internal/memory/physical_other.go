//go:build !linux && !darwin && !windows

package memory

func physical() int64 { return 0 }
