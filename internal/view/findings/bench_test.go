package findings

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
)

// BenchmarkStore computes the findings of an open store, named by PARALLAX_STORE:
// how long they take does not grow with the intervals beyond MostScanned.
func BenchmarkStore(b *testing.B) {
	path := os.Getenv("PARALLAX_STORE")
	if path == "" {
		b.Skip("PARALLAX_STORE names no store")
	}
	r, err := local.Open(path, all.Summaries)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	values, err := view.NewValues(View, nil)
	if err != nil {
		b.Fatal(err)
	}
	sel, err := view.Spec{}.Resolve(r)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		begun := time.Now()
		result, err := compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Values: values, Selection: sel, Size: scene.Size{Width: 960, Height: 540}})
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%d findings in %v", len(result.Data().(Data).Findings), time.Since(begun))
	}
}
