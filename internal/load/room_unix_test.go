//go:build unix

package load_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// asked gives the room that is asked for before a source is imported, and what the import takes at the most.
func asked(t *testing.T, source string) (room, took int64) {
	t.Helper()
	dir := t.TempDir()
	l := loader(t, filepath.Join(dir, "cache"))
	found, done, err := l.Find([]string{source})
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
	took = most()
	if err != nil {
		t.Fatal(err)
	}
	return found[0].Room(), took
}

// What is asked for is not less than an import takes: also of files that are packed some twenty times smaller than they are, and of
// formats in which a few bytes are a row.
func TestAnImportTakesNoMoreRoomThanIsAskedFor(t *testing.T) {
	for _, name := range []string{"ml/resnet50-workers0", "kineto-ddp-8rank", "paje-hpl128-g5k", "ml/epoch/epoch_16proc.prv.gz", "go-nethttp/nethttp.trace", "public/task-tree/grain-fib-48cores", "otf2-hpl16-deep-a"} {
		t.Run(name, func(t *testing.T) {
			if room, took := asked(t, importertest.Shared(t, name)); room < took {
				t.Errorf("%d bytes are asked for, and %d are taken", room, took)
			}
		})
	}
}

// How much of the disk a text takes depends on how long its records are: of short ones on one thread, which are all sorted at once, as much as
// it has itself.
func TestRoomDependsOnTheLengthOfEvents(t *testing.T) {
	for name, c := range map[string]struct {
		more string // of an event
		most float64
	}{"short": {"", 1}, "long": {`,"args":{"at":"` + strings.Repeat("x", 200) + `"}`, 0.5}} {
		t.Run(name, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "a.json")
			var b bytes.Buffer
			b.WriteString("[")
			for i := range 200_000 {
				fmt.Fprintf(&b, "{\"ph\":\"X\",\"name\":\"f%d\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1%s},\n", i%30, 1000+100*i+i%7, 1+i%50, c.more)
			}
			b.WriteString("{}]")
			if err := os.WriteFile(source, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if room, took := asked(t, source); room < took || float64(room) > c.most*float64(b.Len()) {
				t.Errorf("%d bytes are asked for of a text of %d, and %d are taken", room, b.Len(), took)
			}
		})
	}
}
