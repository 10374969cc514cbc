package jfr

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "work.jfr.gz", Most: 12, Cuts: 60}})
}

func FuzzReader(f *testing.F) {
	small := filepath.Join(f.TempDir(), "small.jfr")
	if err := os.WriteFile(small, smallRecording(), 0o644); err != nil {
		f.Fatal(err)
	}
	importertest.Fuzz(f, Format, "x.jfr", small)
}

// The JDK's own tool counts events by type: each is in the trace, or in the report.
func TestEventsAreThoseThatTheJDKCounts(t *testing.T) {
	f, err := os.Open("testdata/summary.golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]float64{}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		name, n, _ := strings.Cut(scan.Text(), " ")
		want[name], _ = strconv.ParseFloat(n, 64)
	}
	if want["jdk.ThreadPark"] == 0 || want["app.Round"] == 0 {
		t.Fatalf("summary: %v", want)
	}
	r := importertest.Import(t, Format, "testdata/work.jfr.gz")
	got := map[string]float64{}
	err = r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			got[r.Metrics()[p.Metric].Name] += p.Exclusive
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for metric, name := range map[string]string{"samples": "jdk.ExecutionSample", "native samples": "jdk.NativeMethodSample"} {
		if got[metric] != want[name] {
			t.Errorf("%s: %v, want %v", metric, got[metric], want[name])
		}
	}
	w := importertest.CountOf(t, Format, "testdata/work.jfr.gz")
	all := 0.0
	for _, name := range []string{"ThreadSleep", "ThreadPark", "ThreadStart", "ThreadEnd", "FileRead", "SocketRead", "GarbageCollection", "GCPhasePause"} {
		all += want["jdk."+name]
	}
	all += want["app.Round"]
	if n := float64(w.Intervals + w.Instants); n != all {
		t.Errorf("%v intervals and instants, want %v", n, all)
	}
	for id, region := range w.Regions {
		n := float64(w.Calls[trace.RegionID(id)])
		switch region.Name {
		case "ThreadSleep", "ThreadPark", "SocketRead", "GarbageCollection", "GCPhasePause":
			if n != want["jdk."+region.Name] {
				t.Errorf("%s: %v, want %v", region.Name, n, want["jdk."+region.Name])
			}
		case "app.Round":
			if n != want["app.Round"] {
				t.Errorf("%s: %v, want %v", region.Name, n, want["app.Round"])
			}
		}
	}
	if n := float64(w.Samples); n != 3*want["jdk.CPULoad"]+2*want["jdk.GCHeapSummary"] {
		t.Errorf("%v values of counters, want %v loads and %v of the heap", n, 3*want["jdk.CPULoad"], 2*want["jdk.GCHeapSummary"])
	}
	left := float64(importertest.Report(r.Info().Report)["skipped events that only describe (flags, modules, settings, statistics)"])
	if described := want["jdk.BooleanFlag"] + want["jdk.ActiveSetting"] + want["jdk.JVMInformation"]; left != described {
		t.Errorf("%v events left out, want %v", left, described)
	}
}

// Numbers are base 128, and the ninth byte is whole.
func TestNumbers(t *testing.T) {
	for want, b := range map[int64][]byte{
		0: {0}, 127: {0x7f}, 300: {0xac, 0x02}, 7340: {0xac, 0x39}, -1: {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		-1 << 63: {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	} {
		c := cursorOf(b)
		if got := c.number(); got != want || c.Failed() || c.Left() != 0 {
			t.Errorf("% x: %d, want %d", b, got, want)
		}
	}
}

// Texts come in five forms.
func TestTexts(t *testing.T) {
	for want, b := range map[string][]byte{
		"größe": append([]byte{3, 7}, "größe"...), "grö": {5, 3, 'g', 'r', 0xf6}, "ab": {4, 2, 'a', 'b'}, "": {1},
	} {
		c := cursorOf(b)
		if got, _, _ := c.text(); got != want || c.Failed() {
			t.Errorf("% x: %q, want %q", b, got, want)
		}
	}
	c := cursorOf([]byte{2, 5})
	if _, ref, is := c.text(); !is || ref != 5 {
		t.Error("a text may be a constant")
	}
}

// Ticks are turned into ns without losing any.
func TestTicks(t *testing.T) {
	k := &chunk{startNanos: 1_700_000_000_000_000_000, startTicks: 100, perSecond: 2_500_000_000}
	if got := k.time(100 + 2_500_000_000*3600*24); got != 1_700_000_000_000_000_000+86400*1_000_000_000 {
		t.Errorf("a day later: %d", got)
	}
	if got := k.span(-5); got != -2 {
		t.Errorf("five ticks before: %d ns, want -2", got)
	}
}

// A period that the recording states turns counts into time: 9 samples taken every 10 ms, 6 native ones every 20 ms.
func TestAStatedPeriodTurnsSamplesIntoTime(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/work.jfr.gz")
	got := map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			got[r.Metrics()[p.Metric].Name] += p.Exclusive
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{"samples": 9, "sampled time": 90e6, "native samples": 6, "sampled native time": 120e6} {
		if got[metric] != want {
			t.Errorf("%s: %v, want %v", metric, got[metric], want)
		}
	}
	for _, m := range r.Metrics() {
		if m.Default != (m.Name == "sampled time") {
			t.Errorf("%s stands for time: %v", m.Name, m.Default)
		}
	}
}

// async-profiler states its interval in ns, and where it counts events of the hardware, in events.
func TestAnIntervalOfEventsIsNoTime(t *testing.T) {
	for _, c := range []struct {
		event string
		want  string
	}{{"itimer", "sampled time"}, {"cache-misses", "samples"}} {
		file := filepath.Join(t.TempDir(), "set.jfr")
		if err := os.WriteFile(file, recordingWith([][3]string{{"2005", "event", c.event}, {"2001", "interval", "10000000"}}), 0o644); err != nil {
			t.Fatal(err)
		}
		r := importertest.Import(t, Format, file)
		for _, m := range r.Metrics() {
			if m.Default != (m.Name == c.want) {
				t.Errorf("%s: %s stands for time: %v", c.event, m.Name, m.Default)
			}
		}
	}
}
