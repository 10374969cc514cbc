package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/partial"
)

func TestRemainsOfKilledWritersAreRemoved(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, age time.Duration, locked bool) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, partial.TempName), 0o755); err != nil {
			t.Fatal(err)
		}
		if locked {
			lock, err := partial.LockDir(filepath.Join(path, partial.TempName))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { lock.Close() })
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return path
	}
	killed := make(".run.plx.part-1", 0, false)
	dead, err := os.Create(filepath.Join(killed, partial.TempName, partial.LockName))
	if err != nil {
		t.Fatal(err)
	}
	if partial.TryLock(dead) != nil {
		t.Skip("no locks on this system: nothing is taken for left behind")
	}
	dead.Close() // as the system does when a process ends
	cases := []struct {
		what, path string
		stays      bool
	}{
		{"of a killed writer", killed, false},
		{"of a running writer", make(".run.plx.part-2", 48*time.Hour, true), true},
		{"without a lock, of just now", make(".run.plx.part-3", 0, false), true},
		{"without a lock, of the day before yesterday", make(".run.plx.part-4", 48*time.Hour, false), false},
		{"not ours", make("run.plx.part-5", 48*time.Hour, false), true},
		{"a store", make("run.plx", 48*time.Hour, false), true},
	}
	if n := RemoveStale(dir); n != 2 {
		t.Errorf("%d removed, want 2", n)
	}
	for _, c := range cases {
		if _, err := os.Stat(c.path); (err == nil) != c.stays {
			t.Errorf("%s: stays %v, want %v", c.what, err == nil, c.stays)
		}
	}
}

func TestAWriterCleansUpAfterAKilledOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.plx")
	killed, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(filepath.Join(killed.Temp, partial.LockName), os.O_RDWR, 0); err != nil || partial.TryLock(f) == nil {
		t.Skip("no locks on this system")
	} else {
		f.Close()
	}
	running, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Abort()
	if _, err := os.Stat(killed.Dir); err != nil {
		t.Fatal("what a running writer writes was removed")
	}
	killed.CloseTemporary()
	// The system ends the lock of a killed process, and leaves its file.
	if err := os.WriteFile(filepath.Join(killed.Temp, partial.LockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Abort()
	if _, err := os.Stat(killed.Dir); err == nil {
		t.Error("what the killed writer left is still there")
	}
	if _, err := os.Stat(running.Dir); err != nil {
		t.Error("what the running writer writes was removed")
	}
}
