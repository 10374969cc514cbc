//go:build unix

package load_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

// What is asked for is not less than an import takes: also of files that are packed some twenty times smaller than they are, and of
// formats in which a few bytes are a row.
func TestAnImportTakesNoMoreRoomThanIsAskedFor(t *testing.T) {
	for _, name := range []string{"ml/resnet50-workers0", "kineto-ddp-8rank", "paje-hpl128-g5k", "ml/epoch/epoch_16proc.prv.gz", "go-nethttp/nethttp.trace", "public/task-tree/grain-fib-48cores", "otf2-hpl16-deep-a"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := loader(t, filepath.Join(dir, "cache"))
			found, done, err := l.Find([]string{importertest.Shared(t, name)})
			defer done()
			if err != nil {
				t.Fatal(err)
			}
			made := filepath.Join(dir, "made")
			if err := os.Mkdir(made, 0o755); err != nil {
				t.Fatal(err)
			}
			end, most := make(chan struct{}), make(chan int64)
			go func() {
				n := int64(0)
				for {
					n = max(n, onDisk(made))
					select {
					case <-end:
						most <- max(n, onDisk(made))
						return
					case <-time.After(time.Millisecond):
					}
				}
			}()
			err = l.Write(context.Background(), found[0], filepath.Join(made, "run.plx"))
			close(end)
			took := <-most
			if err != nil {
				t.Fatal(err)
			}
			if room := found[0].Room(); room < took {
				t.Errorf("%d bytes are asked for of a source of %d, and %d are taken", room, found[0].Packed(), took)
			}
		})
	}
}

// onDisk is what a directory takes of the disk; holes take nothing.
func onDisk(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone by now
		}
		if info, err := d.Info(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok && !d.IsDir() {
				n += s.Blocks * 512
			}
		}
		return nil
	})
	return n
}
