package timeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Whether links are read or their sums, symbols stand for the same number of links in
// the same cells, of the whole run and of windows that links cross; also of those that
// arrive before they are sent.
func TestSumsOfLinksGiveTheSameSymbols(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	const length, rows = 100_000, 6
	text := ""
	for i := range rows {
		text += fmt.Sprintf("location process p%d\n  0..%d main\n", i, length)
	}
	for range 12000 {
		from := random.IntN(length + 1)
		to := min(max(from+random.IntN(20_000)-2_000, 0), length)
		text += fmt.Sprintf("link message %d p%d -> %d p%d size=1\n", from, random.IntN(rows), to, random.IntN(rows))
	}
	reader := summer{storetest.Text(t, text, all.Summaries...)}
	size := scene.Size{Width: 1200, Height: 300}
	for _, spec := range []view.Spec{{}, {From: "20us", To: "60us"}, {From: "99us"}, {To: "33333"}, {From: "40us", To: "70us", Locations: []string{"p1", "p2"}}} {
		read := computeBy(t, reading{fewRows, 1 << 40}, reader, spec, nil, size)
		sums := computeBy(t, reading{fewRows, 0}, reader, spec, nil, size)
		a, b := read.links, sums.links
		if a.inside != b.inside || a.hidden != b.hidden || a.called != b.called {
			t.Errorf("%+v: not drawn %d, %d, %d, by sums %d, %d, %d", spec, a.inside, a.hidden, a.called, b.inside, b.hidden, b.called)
		}
		if len(a.bursts) == 0 || len(a.bursts) != len(b.bursts) {
			t.Fatalf("%+v: %d symbols, by sums %d", spec, len(a.bursts), len(b.bursts))
		}
		for i := range a.bursts {
			x, y := &a.bursts[i], &b.bursts[i]
			if x.count != y.count || x.rows != y.rows || x.begin != y.begin || x.end != y.end {
				t.Errorf("%+v: symbol %d of %d links on %v at %d, by sums %d on %v at %d", spec, i, x.count, x.rows, x.begin, y.count, y.rows, y.begin)
			}
		}
	}
}

// Cells of time are powers of two; what is said of the last one ends with the run.
func TestNoFactEndsAfterTheRun(t *testing.T) {
	const length = 100_000
	text := "location machine m\n"
	for i := range 40 {
		text += fmt.Sprintf("location process m/p%d\n  0..%d main\n", i, length)
	}
	for i := range 4000 {
		text += fmt.Sprintf("link message %d m/p%d -> %d m/p%d size=1\n", i*25, i%40, length, (i+1)%40)
	}
	size := scene.Size{Width: 900, Height: 300}
	r := computeBy(t, reading{fewRows, 1 << 40}, storetest.Text(t, text, all.Summaries...), view.Spec{}, map[string][]string{"depth": {"1"}}, size)
	if len(r.links.bursts) == 0 {
		t.Fatal("no symbol stands for links")
	}
	for _, it := range r.Scene(size).Items {
		if f, ok, _ := view.FactOf(r, it); ok && f.End != nil && *f.End > length {
			t.Errorf("%s: ends at %d, the run at %d", f.Title, *f.End, length)
		}
	}
}

// A summer keeps sums of links, as large stores do.
type summer struct{ store.Reader }

func (s summer) EachLinkSum(ctx context.Context, w store.Window, f func([]store.LinkSum) error) error {
	return store.EachLinkSum(ctx, s.Reader, w, f)
}
func (s summer) LinkSums(ctx context.Context, w store.Window) ([]store.LinkSum, error) {
	return store.LinkSums(ctx, s.Reader, w)
}
