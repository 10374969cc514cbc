package waiting

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Holding is the action of a call on a lock, or on a condition that threads wait for.
type Holding uint8

// Actions of calls. A critical section takes the lock before its block and gives it back after it; the call
// tells all of it, the block the part in which it is held.
const (
	NoLock Holding = iota
	Acquires
	Releases
	Critical
	CriticalBlock
	Awaits  // a condition, a semaphore
	Signals // that it holds
)

var (
	releasing = []string{"unlock", "unset_lock", "unset_nest_lock", "end_critical", "critical_end", "lock_release",
		"releaselock", "release lock"}
	awaiting = []string{"cond_wait", "cond_timedwait", "cond_clockwait", "condition_variable::wait",
		"condition_variable_any::wait", "sem_wait", "sem_timedwait", "sem_clockwait"}
	signaling = []string{"cond_signal", "cond_broadcast", "::notify_one", "::notify_all", "sem_post"}
	acquiring = []string{"mutex_lock", "mutex::lock", "spin_lock", "spinlock", "rdlock", "wrlock", "set_lock",
		"set_nest_lock", "kmpc_critical", "critical_start", "lll_lock_wait", "lock_acquire", "acquirelock",
		"acquire lock", "monitorenter"}
)

// LockOf returns the action of a region on a lock or a condition, by its name.
func LockOf(g *trace.Region) Holding {
	name := strings.ToLower(g.Name)
	if strings.Contains(name, "critical") || strings.Contains(name, "ordered") {
		switch block := strings.Contains(name, "sblock") || strings.Contains(name, "block"); {
		case block:
			return CriticalBlock
		case g.Role == trace.RoleSynchronization && strings.Contains(name, "omp") && !contains(name, releasing) &&
			!contains(name, acquiring):
			return Critical
		}
	}
	switch {
	case strings.Contains(name, "trylock"), strings.Contains(name, "try_lock"), strings.Contains(name, "test_lock"),
		strings.Contains(name, "init"), strings.Contains(name, "destroy"):
	case contains(name, signaling):
		return Signals
	case g.Role == trace.RoleSynchronization && contains(name, awaiting):
		return Awaits
	case contains(name, releasing):
		return Releases
	case g.Role == trace.RoleSynchronization && contains(name, acquiring):
		return Acquires
	}
	return NoLock
}

func contains(name string, list []string) bool {
	for _, s := range list {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
