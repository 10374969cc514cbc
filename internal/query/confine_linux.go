package query

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// confine makes the system keep the bounds of this process, with some memory to spare: its watcher is quicker,
// and the runtime counts memory here that it has not touched.
func confine(b Bounds, most time.Duration) {
	const runtimeReserves = 256 << 20
	set := func(resource int, n int64) {
		_ = syscall.Setrlimit(resource, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)})
	}
	set(syscall.RLIMIT_CORE, 0)
	set(syscall.RLIMIT_DATA, b.Memory+runtimeReserves)
	set(syscall.RLIMIT_FSIZE, b.Disk)
	if most > 0 {
		set(syscall.RLIMIT_CPU, int64((most+overtime)/time.Second)+1)
	}
}

type processUsage struct{ memory, disk int64 }

// usageOf returns the usage of a process: memory without pages of files, and files that were unlinked.
func usageOf(pid int) (u processUsage) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := bytes.Fields(statm); err == nil && len(f) > 2 {
		resident, _ := strconv.ParseInt(string(f[1]), 10, 64)
		shared, _ := strconv.ParseInt(string(f[2]), 10, 64)
		u.memory = (resident - shared) * int64(os.Getpagesize())
	}
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	for _, f := range files {
		name := fmt.Sprintf("/proc/%d/fd/%s", pid, f.Name())
		if to, err := os.Readlink(name); err != nil || !strings.HasSuffix(to, " (deleted)") {
			continue
		}
		var s syscall.Stat_t
		if syscall.Stat(name, &s) == nil && s.Mode&syscall.S_IFMT == syscall.S_IFREG {
			u.disk += s.Blocks * 512
		}
	}
	return u
}
