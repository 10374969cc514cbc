package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A place is where an end of a link lies.
type place struct{ lane, row int32 }

// slowEnd finds the interval of a link's end from the definition, row by row.
func slowEnd(r *Reader, id trace.LocationID, t trace.Time, region trace.RegionID) place {
	for _, fits := range []func(v *rows.Lane, i int) bool{
		func(v *rows.Lane, i int) bool { return v.Begin[i] == t },
		func(v *rows.Lane, i int) bool { return v.Begin[i] <= t && t < v.End(i) },
		func(v *rows.Lane, i int) bool { return region != trace.NoRegion && v.End(i) == t },
	} {
		for n := r.Lanes()[id]; n < r.Lanes()[id+1]; n++ {
			v := r.Lane(int(n))
			for i := v.Len() - 1; i >= 0; i-- {
				if (region == trace.NoRegion || v.Region[i] == region) && fits(&v, i) {
					return place{int32(n - r.Lanes()[id]), int32(i)}
				}
			}
		}
	}
	return place{-1, -1}
}

func TestLinksFindTheirIntervals(t *testing.T) {
	type want struct{ region [2]trace.RegionID }
	regions := map[int64]want{} // by tag
	rnd := rand.New(rand.NewPCG(3, 3))
	path := build(t, Options{Memory: 1}, func(w trace.Writer) {
		var f []trace.RegionID
		for _, name := range []string{"a", "b", "c"} {
			f = append(f, w.Region(trace.Region{Name: name}))
		}
		for _, reach := range []int{3, 30, 300} { // one lane, a few, many
			s := w.Stream(thread(w, reach), trace.StreamOptions{})
			for range 400 {
				at := trace.Time(rnd.IntN(900))
				s.Interval(at, at+trace.Time(rnd.IntN(reach)), f[rnd.IntN(3)])
			}
			_ = s.Close()
		}
		for i := range int64(3000) {
			end := func() trace.End {
				e := trace.End{Location: trace.LocationID(rnd.IntN(3)), Time: trace.Time(rnd.IntN(1000)), Region: trace.NoRegion}
				if rnd.IntN(2) == 0 {
					e.Region = f[rnd.IntN(3)]
				}
				return e
			}
			l := trace.Link{Kind: trace.LinkFlow, From: end(), To: end(), Tag: i, Communicator: trace.NoCommunicator}
			regions[i] = want{[2]trace.RegionID{l.From.Region, l.To.Region}}
			w.Link(l)
		}
	})
	r := reopen(t, path)
	if n := r.Lanes()[3] - r.Lanes()[2]; n <= 8 {
		t.Fatalf("%d lanes are too few to be indexed", n)
	}
	seen := 0
	err := r.Links(context.Background(), store.Window{Begin: 0, End: r.Info().End}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			seen++
			k := regions[c.Tag[i]].region
			if got, want := (place{c.FromLane[i], c.FromRow[i]}), slowEnd(r, c.FromLocation[i], c.FromTime[i], k[0]); got != want {
				t.Fatalf("link %d from location %d at %d, region %d: %v, want %v", c.Tag[i], c.FromLocation[i], c.FromTime[i], k[0], got, want)
			}
			if got, want := (place{c.ToLane[i], c.ToRow[i]}), slowEnd(r, c.ToLocation[i], c.ToTime[i], k[1]); got != want {
				t.Fatalf("link %d to location %d at %d, region %d: %v, want %v", c.Tag[i], c.ToLocation[i], c.ToTime[i], k[1], got, want)
			}
		}
		return nil
	})
	if err != nil || seen != 3000 {
		t.Errorf("%d links, %v", seen, err)
	}
}

func TestLinkWindowsMissNothing(t *testing.T) {
	r := randomStore(t, 9, 3000)
	l := &r.C.Link
	for _, w := range randomWindows(r, 9, 30) {
		in := r.Window(w)
		r.Checks.Of("link").Touch(0, uint64(len(l.Kind)))
		want := 0
		for i := range l.Kind {
			if in.Begin < in.Until && min(l.FromTime[i], l.ToTime[i]) < in.Until && max(l.FromTime[i], l.ToTime[i]) >= in.Begin {
				want++
			}
		}
		got := 0
		err := r.Links(context.Background(), w, func(c *store.LinkColumns) error { got += len(c.Kind); return nil })
		if bound, failed := r.LinkCount(w); failed != nil || err != nil || got != want || bound < int64(got) {
			t.Errorf("[%d, %d): %d links of at most %d, want %d; %v, %v", w.Begin, w.End, got, bound, want, err, failed)
		}
	}
}

// Where a reader numbers its calls, a link ends on that one, though others of the same
// region begin at the same time. A number counts only where rows are records one by one.
func TestLinksEndOnNumberedCalls(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) {
		a := w.Region(trace.Region{Name: "a"})
		calls, gaps, spans := thread(w, 0), thread(w, 1), thread(w, 2)
		s := w.Stream(calls, trace.StreamOptions{})
		for range 3 { // three empty calls at once
			s.Enter(10, a)
			s.Leave(10, a)
		}
		_ = s.Close()
		s = w.Stream(gaps, trace.StreamOptions{})
		s.Enter(10, a+7) // is not defined
		s.Enter(10, a)
		s.Leave(20, a)
		s.Enter(30, a)
		s.Leave(40, a)
		_ = s.Close()
		s = w.Stream(spans, trace.StreamOptions{})
		s.Interval(50, 60, a)
		s.Interval(10, 20, a)
		_ = s.Close()
		for i, to := range []trace.End{
			{Location: gaps, Time: 10, Region: a, Number: 2}, {Location: spans, Time: 10, Region: a, Number: 2}, {Location: calls, Time: 10, Region: a, Number: 9},
		} {
			w.Link(trace.Link{Kind: trace.LinkFlow, Tag: int64(i), Communicator: trace.NoCommunicator,
				From: trace.End{Location: calls, Time: 10, Region: a, Number: uint32(i + 1)}, To: to})
		}
	})
	r := reopen(t, path)
	rows := map[int64][2]int32{}
	err := r.Links(context.Background(), store.Window{Begin: 0, End: r.Info().End}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			rows[c.Tag[i]] = [2]int32{c.FromRow[i], c.ToRow[i]}
		}
		return nil
	})
	// From: as numbered. To: the first of those that were kept, the interval at that
	// time, and, past the last number, the last that begins then.
	for tag, want := range [][2]int32{{0, 0}, {1, 0}, {2, 2}} {
		if got := rows[int64(tag)]; err != nil || got != want {
			t.Errorf("link %d goes from row %d to row %d, want %v; %v", tag, got[0], got[1], want, err)
		}
	}
}

// One by one or many at a time, in order of time or not, in memory or outside, links are
// kept by their time, and those to nowhere counted.
func TestLinksComeAloneOrTogether(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	links := make([]trace.Link, 5000)
	var want []trace.Link
	for i := range links {
		l := trace.Link{
			Kind: trace.LinkMessage, Size: int64(rnd.IntN(99)), Tag: int64(i), Communicator: trace.NoCommunicator, Count: int64(i % 3),
			From: trace.End{Location: trace.LocationID(rnd.IntN(2)), Time: trace.Time(i), Region: trace.NoRegion},
			To:   trace.End{Location: trace.LocationID(rnd.IntN(2)), Time: trace.Time(i + rnd.IntN(9)), Region: trace.NoRegion},
		}
		if i > 0 && rnd.IntN(9) == 0 {
			l.From.Location = 2 // is not defined
		}
		links[i] = l
		if l.From.Location < 2 {
			want = append(want, l)
		}
	}
	shuffled := slices.Clone(links)
	rnd.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
	for name, give := range map[string]func(trace.Writer){
		"one by one": func(w trace.Writer) {
			for _, l := range links {
				w.Link(l)
			}
		},
		"together":     func(w trace.Writer) { trace.AddLinks(w, links) },
		"in parts":     func(w trace.Writer) { trace.AddLinks(w, links[:4000]); trace.AddLinks(w, links[4000:]) },
		"in any order": func(w trace.Writer) { trace.AddLinks(w, shuffled) },
	} {
		for _, memory := range []int64{1, 0} {
			r := reopen(t, build(t, Options{Memory: memory}, func(w trace.Writer) {
				thread(w, 0)
				thread(w, 1)
				give(w)
			}))
			c := &r.C.Link
			r.Checks.Of("link").Touch(0, uint64(len(c.Tag)))
			if len(c.Tag) != len(want) || len(r.Info().Report) != 1 || r.Info().Report[0].Count != int64(len(links)-len(want)) {
				t.Fatalf("%s: %d links, want %d; report %v", name, len(c.Tag), len(want), r.Info().Report)
			}
			for i, l := range want {
				got := trace.Link{
					Kind: c.Kind[i], Size: c.Size[i], Tag: c.Tag[i], Communicator: c.Communicator[i], Count: c.Count[i],
					From: trace.End{Location: c.FromLocation[i], Time: c.FromTime[i], Region: trace.NoRegion},
					To:   trace.End{Location: c.ToLocation[i], Time: c.ToTime[i], Region: trace.NoRegion},
				}
				if l.Count = max(l.Count, 1); got != l {
					t.Fatalf("%s, memory %d: link %d is %+v, want %+v", name, memory, i, got, l)
				}
			}
		}
	}
}

// However many cores unpack them, links come in order of time and one batch at a time; who wants no more gets no more, and a panic of
// who takes them is one of who asked.
func TestManyLinksComeInOrderOnAnyNumberOfCores(t *testing.T) {
	const many = 40_000
	r := reopen(t, build(t, Options{}, func(w trace.Writer) {
		thread(w, 0)
		thread(w, 1)
		for i := range trace.Time(many) {
			w.Link(trace.Link{Kind: trace.LinkMessage, Tag: int64(i), Communicator: trace.NoCommunicator, From: trace.End{Time: i}, To: trace.End{Location: 1, Time: i + 5}})
		}
	}))
	enough := errors.New("enough")
	for _, cores := range []int{1, 2, 7} {
		r.Workers = cores
		for _, w := range []store.Window{{End: many}, {Begin: 3000, End: 3001}, {Begin: 5000, End: 31_000}} {
			next := max(int64(w.Begin)-5, 0)
			err := r.Links(t.Context(), w, func(c *store.LinkColumns) error {
				for _, tag := range c.Tag {
					if tag != next {
						return fmt.Errorf("link %d in place of %d", tag, next)
					}
					next++
				}
				return nil
			})
			if err != nil || next != int64(w.End) {
				t.Errorf("%d cores, [%d, %d): up to link %d; %v", cores, w.Begin, w.End, next, err)
			}
		}
		seen := 0
		err := r.Links(t.Context(), store.Window{End: many}, func(*store.LinkColumns) error {
			if seen++; seen == 12 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || seen != 12 {
			t.Errorf("%d cores: %d batches, %v", cores, seen, err)
		}
		func() {
			defer func() {
				if p := recover(); !strings.Contains(fmt.Sprint(p), "boom") {
					t.Errorf("%d cores: caught %v", cores, p)
				}
			}()
			_ = r.Links(t.Context(), store.Window{End: many}, func(*store.LinkColumns) error { panic("boom") })
		}()
	}
}
