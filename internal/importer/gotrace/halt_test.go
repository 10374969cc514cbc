package gotrace

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// What `go tool trace -pprof=net|sync|syscall` of Go 1.26 gives for this trace, in ms; of chanrecv1 less the 100.10 ms
// of a goroutine of the runtime.
func TestLinesHaveTheTimeThatGoroutinesWereBlockedThere(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "go-sync/sync.trace"))
	got := map[string]float64{}
	err := r.Lines(context.Background(), nil, func(rows []trace.LineRow) error {
		for i := range rows {
			if x := &rows[i]; x.Callee == trace.NoCallPath && r.Metrics()[x.Metric].Name == "blocked time" {
				got[fmt.Sprintf("%s:%d", store.FileOfLine(r, x), x.Line)] += x.Exclusive / 1e6
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]float64{
		"runtime/chan.go:509": 311.84 - 100.10, "runtime/select.go:351": 33.02, "sync/mutex.go:46": 21.88,
		"sync/waitgroup.go:206": 3.47, "internal/poll/fd_unix.go:165": 31.93,
		"internal/syscall/unix/waitid_linux.go:18": 33.66, "syscall/zsyscall_linux_amd64.go:964": 3.11,
		"syscall/zsyscall_linux_amd64.go:736": 0.40,
	} {
		if math.Abs(got[at]-want) > 0.011 {
			t.Errorf("%s: %.3f ms, go tool trace says %.2f", at, got[at], want)
		}
	}
	for _, g := range r.Regions() {
		if g.Name == "testing.tRunner" && g.File != "testing/testing.go" {
			t.Errorf("%s is in %q", g.Name, g.File)
		}
	}
}
