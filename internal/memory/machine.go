package memory

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Share returns the budget if the user sets none: a quarter of this process's memory, since a machine is rarely
// ours alone.
func Share() int64 {
	m := Machine()
	if m <= 0 {
		return unknownShare
	}
	return max(m/4, Least)
}

const (
	unknownShare = 1 << 30
	// Least is the need of the program itself and one picture.
	Least = 128 << 20
)

// Machine returns the bytes that this process may have: the machine's memory, or less if a control group limits it;
// 0 if unknown.
func Machine() int64 {
	m := physical()
	if g := groupLimit(os.ReadFile); g > 0 && (m <= 0 || g < m) {
		return g
	}
	return m
}

// groupLimit returns the smallest limit of the control groups of this process, of version 2 or 1; 0 if there is
// none.
func groupLimit(read func(string) ([]byte, error)) int64 {
	text, err := read("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(math.MaxInt64)
	take := func(file string) {
		if b, err := read(file); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 {
				least = min(least, n)
			}
		}
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if part[0] != "0" || part[1] != "" {
			if !strings.Contains(","+part[1]+",", ",memory,") {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + part[2]); ; dir = path.Dir(dir) { // a limit holds for all below
			take(path.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	if least >= 1<<60 { // version 1 writes a number near the largest for "none"
		return 0
	}
	return least
}
