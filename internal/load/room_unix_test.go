//go:build unix

package load_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/benchtest"
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
			most := benchtest.WatchDisk(made, time.Millisecond)
			err = l.Write(context.Background(), found[0], filepath.Join(made, "run.plx"))
			took := most()
			if err != nil {
				t.Fatal(err)
			}
			if room := found[0].Room(); room < took {
				t.Errorf("%d bytes are asked for of a source of %d, and %d are taken", room, found[0].Packed(), took)
			}
		})
	}
}
