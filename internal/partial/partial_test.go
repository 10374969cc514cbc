package partial

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// A writer gives up its lock shortly before it gives the directory its name.
func TestADirectoryThatGetsItsNameIsNoLeftover(t *testing.T) {
	dir := t.TempDir()
	var ended atomic.Bool
	removed := make(chan int)
	go func() {
		n := 0
		for !ended.Load() {
			n += RemoveStale(dir)
		}
		removed <- n
	}()
	for i := range 1000 {
		path := filepath.Join(dir, fmt.Sprintf(".x%s%d", PartMark, i))
		temp := filepath.Join(path, TempName)
		if err := os.MkdirAll(temp, 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := LockDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Fatalf("directory %d: %v", i, err)
		}
	}
	ended.Store(true)
	if n := <-removed; n > 0 {
		t.Errorf("%d directories were taken for leftovers", n)
	}
}

func TestADirectoryOfAKilledWriterIsRemoved(t *testing.T) {
	dir := t.TempDir()
	temp := filepath.Join(dir, ".x"+PartMark+"1", TempName)
	if err := os.MkdirAll(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := LockDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	if n := RemoveStale(dir); n != 0 {
		t.Errorf("%d removed while the writer lives", n)
	}
	lock.file.Close() // as the system does when a process ends
	if n := RemoveStale(dir); n != 1 {
		t.Errorf("%d removed, want 1", n)
	}
}
