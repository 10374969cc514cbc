package stack_test

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestLinesOfARegionAddUpAndCountAStackOnce(t *testing.T) {
	m := storetest.NewMemory()
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: trace.NoRank})
	main, f, g := m.Region(trace.Region{Name: "main"}), m.Region(trace.Region{Name: "f", File: "f.c"}),
		m.Region(trace.Region{Name: "g", File: "f.c"})
	p := stack.New(m, trace.Metric{Name: "time", Unit: "ns", Default: true})
	for _, s := range []struct {
		frames []stack.Frame
		value  float64
	}{
		{[]stack.Frame{{main, 0}, {f, 10}}, 1},
		{[]stack.Frame{{main, 0}, {f, 10}, {f, 10}, {f, 12}}, 2}, // a recursion
		{[]stack.Frame{{main, 0}, {f, 12}, {g, 20}}, 4},
		{[]stack.Frame{{main, 0}, {f, 0}}, 8},
	} {
		p.AddFrames(at, s.frames, []float64{s.value})
	}
	p.Finish()
	r := m.Reader()
	type key struct {
		region string
		line   uint32
		callee string
	}
	got := map[key][2]float64{}
	name := func(id trace.CallPathID) string { return r.Regions()[r.CallPaths()[id].Region].Name }
	err := r.Lines(context.Background(), nil, func(rows []trace.LineRow) error {
		for _, x := range rows {
			k := key{name(x.Path), x.Line, ""}
			if x.Callee != trace.NoCallPath {
				k.callee = name(x.Callee)
			}
			v := got[k]
			got[k] = [2]float64{v[0] + x.Inclusive, v[1] + x.Exclusive}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[key][2]float64{
		{"f", 10, ""}: {3, 1}, {"f", 12, ""}: {6, 2}, {"f", 0, ""}: {8, 8}, {"g", 20, ""}: {4, 4},
		{"f", 10, "f"}: {2, 0}, {"f", 12, "g"}: {4, 0},
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%v: %v, want %v", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d: %v", len(got), len(want), got)
	}
}
