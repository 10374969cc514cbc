package search_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/search"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const calls = `
region main role=compute
region aten::mm role=compute
region aten::addmm role=compute
region MPI_Send role=communication
location process "rank 0" rank=0
  0..1000 main
    10..110 aten::mm stream=7 bytes=4096 phase="warm up"
    200..205 aten::mm stream=8 bytes=128
    300..500 aten::addmm stream=7 note=retry
    600..620 MPI_Send trace=4bf92f3577b34da6
location process "rank 1" rank=1
  0..900 main
    5..10 aten::mm stream=7
    700..890 MPI_Send trace=00f067aa0ba902b7
`

func found(t *testing.T, r store.Reader, text string, change func(*search.Options)) *search.Answer {
	t.Helper()
	q, err := search.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	o := search.Options{Limit: 100, Bins: 10}
	o.Begin, o.End = 0, r.Info().End+1
	if change != nil {
		change(&o)
	}
	a, err := search.Find(t.Context(), r, q, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func names(r store.Reader, a *search.Answer) string {
	var out []string
	for _, h := range a.Hits {
		out = append(out, fmt.Sprintf("%s@%d", r.Regions()[h.Region].Name, h.Begin))
	}
	return strings.Join(out, " ")
}

func TestWordsNamesDurationsAndAttributesFindIntervals(t *testing.T) {
	c := viewtest.Case{Trace: calls}
	r := c.Open(t)
	for _, x := range []struct{ query, want string }{
		{"mm", "aten::mm@5 aten::mm@10 aten::mm@200 aten::addmm@300"},
		{"MM aten", "aten::mm@5 aten::mm@10 aten::mm@200 aten::addmm@300"},
		{"add mm", "aten::addmm@300"},
		{"mm >50ns", "aten::mm@10 aten::addmm@300"},
		{"mm >=5ns <=100ns", "aten::mm@5 aten::mm@10 aten::mm@200"},
		{">0.18us <1us", "aten::addmm@300 main@0 MPI_Send@700"},
		{"main self>600", "main@0 main@0"},
		{"stream=7", "aten::mm@5 aten::mm@10 aten::addmm@300"},
		{"mm stream=7 bytes>1000", "aten::mm@10"},
		{"bytes>100", "aten::mm@10 aten::mm@200"},
		{`phase="warm up"`, "aten::mm@10"},
		{"retry", "aten::addmm@300"},
		{"4bf92f3577b34da6", "MPI_Send@600"},
		{"4BF92F", "MPI_Send@600"},
		{"128", "aten::mm@200"},
		{"nowhere", ""},
		{"nothing=7", ""},
		{`"=7"`, ""},
	} {
		got := strings.Split(names(r, found(t, r, x.query, nil)), " ")
		want := strings.Split(x.want, " ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", x.query, got, want)
		}
	}
}

func TestUnreadableSearchesAreErrorsWithAReason(t *testing.T) {
	for text, why := range map[string]string{"": "nothing to search for", "  ": "nothing", `"open`: "not closed", ">5parsecs": "duration", "bytes>many": "number", ">30%": "duration"} {
		if _, err := search.Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

// Hits are named from a place on, and before it; where they lie in the whole is told.
func TestHitsAreNamedAroundAPlace(t *testing.T) {
	r := viewtest.Local(t, func(w trace.Writer) {
		g := w.Region(trace.Region{Name: "work"})
		for k := range 7 {
			id := w.Location(trace.Location{Name: fmt.Sprint("rank ", k), Parent: trace.NoLocation, Kind: trace.KindProcess})
			s := w.Stream(id, trace.StreamOptions{})
			for i := range 3000 {
				at := trace.Time(10*i + k)
				s.Enter(at, g)
				s.Leave(at+5, g)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	all, mu := []trace.Time{}, sync.Mutex{}
	if err := r.Intervals(t.Context(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, c.Begin...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	for _, at := range []trace.Time{0, 3, 4321, 29_998, 40_000} {
		k, _ := slices.BinarySearch(all, at)
		for _, before := range []bool{false, true} {
			a := found(t, r, "work", func(o *search.Options) { o.At, o.Before, o.Limit = at, before, 20 })
			want, index := all[k:min(k+20, len(all))], k
			if before {
				want, index = all[max(k-20, 0):k], max(k-20, 0)
			}
			got := []trace.Time{}
			for _, h := range a.Hits {
				got = append(got, h.Begin)
			}
			if !slices.Equal(got, want) || a.Index != int64(index) || a.Count != 21_000 {
				t.Errorf("from %d, before %v: %v of %d, the first is %d; want %v, %d", at, before, got, a.Count, a.Index, want, index)
			}
			sum := int64(0)
			for _, n := range a.Bins {
				if n < 2000 || n > 2200 {
					t.Errorf("a tenth has %d", n)
				}
				sum += n
			}
			if sum != a.Count {
				t.Errorf("bins hold %d of %d", sum, a.Count)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"mm >5ms", `a="b c"`, "self<=3us", "x=1e9 y<2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { _, _ = search.Parse(s) })
}
