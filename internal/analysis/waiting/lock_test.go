package waiting_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestLocksAreKnownByTheNamesOfTheirCalls(t *testing.T) {
	for name, want := range map[string]waiting.Holding{
		"pthread_mutex_lock": waiting.Acquires, "pthread_mutex_unlock": waiting.Releases, "pthread_mutex_trylock": waiting.NoLock, "pthread_mutex_init": waiting.NoLock,
		"omp_set_lock": waiting.Acquires, "omp_unset_lock": waiting.Releases, "omp_test_lock": waiting.NoLock, "__kmpc_critical": waiting.Acquires, "__kmpc_end_critical": waiting.Releases,
		"GOMP_critical_start": waiting.Acquires, "GOMP_critical_end": waiting.Releases, "!$omp critical @cg.c:3": waiting.Critical, "!$omp critical sblock @cg.c:3": waiting.CriticalBlock,
		"std::mutex::lock()": waiting.Acquires, "std::mutex::unlock()": waiting.Releases, "pthread_rwlock_wrlock": waiting.Acquires, "compute": waiting.NoLock, "MPI_Win_lock": waiting.NoLock, "clock": waiting.NoLock,
		"pthread_cond_wait": waiting.Awaits, "pthread_cond_timedwait": waiting.Awaits, "pthread_cond_signal": waiting.Signals, "pthread_cond_broadcast": waiting.Signals, "pthread_cond_init": waiting.NoLock, "pthread_cond_destroy": waiting.NoLock,
		"std::condition_variable::wait(std::unique_lock<std::mutex>&)": waiting.Awaits, "std::condition_variable::notify_one()": waiting.Signals, "sem_wait": waiting.Awaits, "sem_post": waiting.Signals, "sem_init": waiting.NoLock,
	} {
		g := trace.Region{Name: name, Role: trace.RoleSynchronization}
		if got := waiting.LockOf(&g); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
