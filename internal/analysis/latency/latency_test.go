package latency_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/latency"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A call is a span as the store has it, with whom it calls as ids tell.
type call struct {
	name       string
	begin, end trace.Time
	failed     bool
	calls      []*call
}

func (c *call) length() trace.Time { return c.end - c.begin }

// named are the calls of a name that a call makes, by begin.
func (c *call) named(name string) (out []*call) {
	for _, k := range c.calls {
		if k.name == name {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *call) int { return int(a.begin - b.begin) })
	return out
}

// readCalls takes a run apart: nothing of the kernel is used.
func readCalls(t *testing.T, r store.Reader) (all []*call) {
	t.Helper()
	times := map[store.Row][2]trace.Time{}
	var mu sync.Mutex
	err := r.Intervals(t.Context(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Begin {
			times[store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}] = [2]trace.Time{c.Begin[i], c.End(i)}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	of := map[*viewtest.ReadSpan]*call{}
	spans := viewtest.ReadSpans(t, r)
	for _, s := range spans {
		c := &call{name: r.Regions()[s.Region].Name, begin: times[s.At][0], end: times[s.At][1]}
		facts, _ := r.IntervalAttributes(s.At)
		for _, a := range facts {
			c.failed = c.failed || a.Key == "error"
		}
		of[s] = c
		all = append(all, c)
	}
	for _, s := range spans {
		if s.Parent != nil {
			of[s.Parent].calls = append(of[s.Parent].calls, of[s])
		}
	}
	return all
}

// What the five faults of the shop cost is what its spans say, added up plainly.
func TestFaultsCostWhatTheSpansSay(t *testing.T) {
	d, _ := demo.Find("shop?intervals=6000")
	r := viewtest.Local(t, func(w trace.Writer) {
		if err := d.Write(t.Context(), d.Options, w); err != nil {
			t.Fatal(err)
		}
	})
	source := runfacts.SpanSourceOf(t.Context(), r)
	forest, err := request.Gather(source)
	if err != nil {
		t.Fatal(err)
	}
	chosen := make([]int32, len(forest.Requests))
	for i := range chosen {
		chosen[i] = int32(i)
	}
	type cost struct {
		calls int64
		lost  trace.Time
	}
	got := map[finding.Kind]cost{}
	found, err := latency.Find(forest, source, chosen)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found.Faults {
		if x.Kind != finding.SerialCalls || len(x.Ops) == 3 { // two where the third is made again
			got[x.Kind] = cost{x.Calls, x.Lost}
		}
	}
	want := map[finding.Kind]cost{}
	add := func(k finding.Kind, calls int, lost trace.Time) {
		want[k] = cost{want[k].calls + int64(calls), want[k].lost + lost}
	}
	all := readCalls(t, r)
	var quotes []trace.Time
	for _, c := range all {
		if c.name == "quote" {
			quotes = append(quotes, c.length())
		}
	}
	slices.Sort(quotes)
	median := quotes[len(quotes)/2]
	for _, c := range all {
		if list := c.named("select item"); len(list) > 0 {
			sum, longest := trace.Time(0), trace.Time(0)
			for _, k := range list {
				sum += k.length()
				longest = max(longest, k.length())
			}
			add(finding.RepeatedCalls, len(list), sum-longest)
		}
		if c.name == "quote" && c.length() > 3*median {
			add(finding.SlowOperation, 1, c.length()-median)
		}
		if c.name != "POST /checkout" {
			continue
		}
		charges := c.named("charge")
		if len(charges) == 2 {
			add(finding.Retry, 1, charges[1].begin-charges[0].begin)
		} else {
			a, b, m := c.named("reserve")[0].length(), charges[0].length(), c.named("send")[0].length()
			add(finding.SerialCalls, 3, a+b+m-max(a, b, m))
		}
		if s := c.named("reserve")[0]; s.failed {
			add(finding.FailedCalls, 1, s.length()-s.named("update stock")[0].length())
		}
	}
	if len(want) != 5 {
		t.Fatalf("the shop has %d kinds of faults", len(want))
	}
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%s: %+v, recomputed %+v", k, got[k], w)
		}
	}
}
