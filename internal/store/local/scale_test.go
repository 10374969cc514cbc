package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Large traces of unusual shapes, only where PARALLAX_BENCH_SHAPE names one: they
// take minutes and gigabytes. Each prints what it took.
func TestScale(t *testing.T) {
	shape := os.Getenv("PARALLAX_BENCH_SHAPE")
	if shape == "" {
		t.Skip("PARALLAX_BENCH_SHAPE is not set")
	}
	fill := map[string]func(trace.Writer){
		"plain":             func(w trace.Writer) { writeBench(w, 10_000, 10_000) },
		"one-location":      func(w trace.Writer) { writeBench(w, 1, 100_000_000) },
		"million-locations": func(w trace.Writer) { writeBench(w, 1_000_000, 100) },
		"million-streams":   func(w trace.Writer) { writeInterleaved(w, 1_000_000, 20) },
		"unsorted":          func(w trace.Writer) { writeUnsorted(w, 20_000_000) },
		"overlapping":       func(w trace.Writer) { writeOverlapping(w, 10_000_000, 100_000) },
		"links":             func(w trace.Writer) { writeLinks(w, 10_000_000) },
		"profile":           func(w trace.Writer) { writeProfiles(w, 100_000, 200) },
		"attributes":        func(w trace.Writer) { writeFacts(w, 10_000_000) },
		"regions":           func(w trace.Writer) { writeManyRegions(w, 1_000_000) },
		"deep":              func(w trace.Writer) { writeDeep(w, 6_000_000) },
		"bursts":            func(w trace.Writer) { writeBursts(w, 200_000, 100) },
	}[shape]
	if fill == nil {
		t.Fatalf("no shape %q", shape)
	}
	dir, err := os.MkdirTemp(os.Getenv("PARALLAX_BENCH_DIR"), "parallax-bench-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bench.plx")
	start, cpu := time.Now(), benchtest.CPUTime()
	lap := func(what string) {
		t.Logf("%s: %.2f s, processor %.2f s; %s", what, time.Since(start).Seconds(), (benchtest.CPUTime() - cpu).Seconds(), memoryPeak())
		start, cpu = time.Now(), benchtest.CPUTime()
	}
	w, err := Create(path, Options{Summaries: []trace.Summary{benchSummary{}}})
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	lap("write")
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	lap("finish")
	r, err := Open(path, []trace.Summary{benchSummary{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lap("open")
	i := r.Info()
	t.Logf("%d locations, %d lanes, %d intervals, %d links, %d profile rows, %.1f MB", r.Locations().Len(), len(r.C.LaneEnd), i.Intervals, i.Links, i.Profile, float64(i.SizeBytes)/1e6)
	for _, x := range benchWindows(r) {
		for range 2 {
			if _, err := r.Time(context.Background(), x.w); err != nil {
				t.Fatal(err)
			}
			lap("time " + x.name)
		}
		if _, err := r.TotalTime(context.Background(), x.w); err != nil {
			t.Fatal(err)
		}
		lap("total time " + x.name)
	}
	if err := everything(r); err != nil {
		t.Error(err)
	}
	lap("all queries")
}

// memoryPeak is what the system says of this process, where it does.
func memoryPeak() string {
	b, _ := os.ReadFile("/proc/self/status")
	var out []string
	for _, line := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "RssAnon") {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(out, ", ")
}

func thread(w trace.Writer, i int) trace.LocationID {
	return w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: fmt.Sprint("thread ", i), Rank: trace.NoRank})
}

// writeInterleaved keeps all streams open and goes round them.
func writeInterleaved(w trace.Writer, streams, rounds int) {
	regions := []trace.RegionID{w.Region(trace.Region{Name: "f"}), w.Region(trace.Region{Name: "g"})}
	all := make([]trace.Stream, streams)
	for i := range all {
		all[i] = w.Stream(thread(w, i), trace.StreamOptions{})
	}
	for k := range trace.Time(rounds) {
		for i, s := range all {
			t := k*1_000_000 + trace.Time(i)
			s.Enter(t, regions[0])
			s.Enter(t+1000, regions[1])
			s.Leave(t+2000, regions[1])
			s.Leave(t+3000, regions[0])
		}
	}
	for _, s := range all {
		_ = s.Close()
	}
}

// writeUnsorted gives one location intervals in no order.
func writeUnsorted(w trace.Writer, n int) {
	f := w.Region(trace.Region{Name: "f"})
	s := w.Stream(thread(w, 0), trace.StreamOptions{Unordered: true})
	for i := range n {
		k := trace.Time(uint64(i) * 2654435761 % uint64(n))
		s.Interval(k*100, k*100+60+k%80, f)
	}
	_ = s.Close()
}

// writeOverlapping gives one location intervals of which many are open at once.
func writeOverlapping(w trace.Writer, n, lanes int) {
	f := w.Region(trace.Region{Name: "f"})
	s := w.Stream(thread(w, 0), trace.StreamOptions{})
	for i := range trace.Time(n) {
		s.Interval(i*10, i*10+trace.Time(lanes)*10, f)
	}
	_ = s.Close()
}

func writeLinks(w trace.Writer, n int) {
	writeBench(w, 1000, 1000)
	for i := range n {
		a, b := trace.LocationID(2+i%900), trace.LocationID(2+i*7%900)
		t := trace.Time(uint64(i) * 2654435761 % 1_000_000)
		w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: a, Time: t, Region: trace.NoRegion}, To: trace.End{Location: b, Time: t + 500, Region: trace.NoRegion}, Communicator: trace.NoCommunicator})
	}
}

func writeProfiles(w trace.Writer, locations, regions int) {
	m := w.Metric(trace.Metric{Name: "time"})
	var paths []trace.CallPathID
	for i := range regions {
		paths = append(paths, w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: fmt.Sprint("f", i)})}))
	}
	for i := range locations {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint(i), Rank: locations - i})
		for k, p := range paths {
			w.Profile(trace.ProfileRow{Location: id, Path: p, Metric: m, Calls: 1, Inclusive: float64(k), Exclusive: float64(i)})
		}
	}
}

// writeManyRegions enters each region twice on one location.
func writeManyRegions(w trace.Writer, n int) {
	s := w.Stream(thread(w, 0), trace.StreamOptions{})
	for i := range 2 * n {
		r := w.Region(trace.Region{Name: fmt.Sprint("region ", i%n)})
		s.Enter(trace.Time(i)*10, r)
		s.Leave(trace.Time(i)*10+7, r)
	}
	_ = s.Close()
}

// writeDeep enters and never leaves.
func writeDeep(w trace.Writer, n int) {
	f := w.Region(trace.Region{Name: "f"})
	s := w.Stream(thread(w, 0), trace.StreamOptions{})
	for i := range n {
		s.Enter(trace.Time(i), f)
	}
	_ = s.Close()
}

// writeBursts puts all rows of a location into a short time of a long run.
func writeBursts(w trace.Writer, locations, rows int) {
	f := w.Region(trace.Region{Name: "f"})
	for i := range locations {
		s := w.Stream(thread(w, i), trace.StreamOptions{})
		for k := range trace.Time(rows) {
			at := trace.Time(i)*10_000_000 + k*20
			s.Enter(at, f)
			s.Leave(at+15, f)
		}
		_ = s.Close()
	}
}

// writeFacts gives one location intervals out of order, each with two attributes.
func writeFacts(w trace.Writer, n int) {
	f, a, b := w.Region(trace.Region{Name: "f"}), w.Attribute("a"), w.Attribute("b")
	s := w.Stream(thread(w, 0), trace.StreamOptions{Unordered: true})
	for i := range n {
		k := trace.Time(uint64(i) * 2654435761 % uint64(n))
		s.Interval(k*100, k*100+60, f)
		s.Attribute(a, trace.Integer(int64(k)))
		s.Attribute(b, trace.Text(fmt.Sprint("text ", i)))
	}
	_ = s.Close()
}
