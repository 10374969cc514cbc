package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// collect makes a demo and fails where it is not a clean trace.
func collect(t testing.TB, name string, o Options) *collected {
	t.Helper()
	d, ok := Find(name)
	if !ok {
		t.Fatalf("no demo %q", name)
	}
	c := newCollected()
	if err := d.Write(context.Background(), o, c); err != nil {
		t.Fatalf("write %s: %v", name, err)
	}
	for i, f := range c.faults {
		t.Errorf("%s: %s", name, f)
		if i == 5 {
			break
		}
	}
	return c
}

// smallNames are all demos at sizes that a test can hold.
func smallNames() []string {
	return []string{
		"stencil", "stencil?balanced", "stencil?locations=1&intervals=500", "stencil?locations=7&intervals=3000", "stencil?locations=16&intervals=20000&seed=7",
		"training-loader?locations=2&intervals=3000", "training-launch", "training", "training?balanced", "training?locations=1&intervals=600", "training?locations=3&intervals=9000", "training?locations=40&intervals=100000&seed=7",
		"uniform?locations=10&intervals=1003", "uniform?locations=1000&intervals=100", "uniform?locations=3&intervals=100000",
		"g5k188", "g5k188?balanced&intervals=4000&seed=3", "g5k433",
		"s3d?intervals=32768", "s3d?balanced&intervals=16384&seed=5", "zgrd?intervals=40960",
	}
}

func TestEveryDemoIsListedWithItsTruth(t *testing.T) {
	for _, d := range Demos {
		if d.Name == "" || d.Title == "" || len(d.Truth) == 0 || d.Write == nil || d.Options.Locations == 0 || d.Options.Intervals == 0 {
			t.Errorf("demo %q lacks a field", d.Name)
		}
	}
}

func TestFind(t *testing.T) {
	cases := []struct {
		name string
		want Options
		ok   bool
	}{
		{"stencil", stencilOptions, true},
		{"stencil?balanced", Options{Locations: 64, Intervals: 43_000, Seed: 1, Balanced: true}, true},
		{"stencil?locations=8&intervals=100&seed=3", Options{Locations: 8, Intervals: 100, Seed: 3}, true},
		{"uniform?intervals=100000000", Options{Locations: 1000, Intervals: 100_000_000, Seed: 1}, true},
		{"stencil?ranks=8", Options{}, false},
		{"stencil?locations=-1", Options{}, false},
		{"stencil?", Options{}, false},
		{"", Options{}, false},
		{"nosuch", Options{}, false},
	}
	for _, c := range cases {
		d, ok := Find(c.name)
		if ok != c.ok {
			t.Errorf("Find(%q) says %v", c.name, ok)
		}
		if ok && d.Options != c.want {
			t.Errorf("Find(%q) has %+v, want %+v", c.name, d.Options, c.want)
		}
	}
}

func TestBalancedDemosTellAnotherTruth(t *testing.T) {
	for _, name := range []string{"stencil", "training", "training-loader", "training-launch", "shop", "million", "g5k188", "g5k433", "s3d", "zgrd"} {
		faulty, _ := Find(name)
		balanced, _ := Find(name + "?balanced")
		if strings.Join(faulty.Truth, "") == strings.Join(balanced.Truth, "") {
			t.Errorf("%s says the same with and without faults", name)
		}
	}
}

func TestSameArgumentsGiveTheSameTrace(t *testing.T) {
	var got strings.Builder
	for _, name := range smallNames() {
		one := collect(t, name, Options{workers: 1}).hash()
		if many := collect(t, name, Options{workers: 5}).hash(); many != one {
			t.Errorf("%s: one goroutine and five differ", name)
		}
		fmt.Fprintln(&got, one, name)
	}
	golden := filepath.Join("testdata", "hashes.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("traces have changed; run with -update if that is meant\n got:\n%s\nwant:\n%s", got.String(), want)
	}
	if collect(t, "stencil?seed=2", Options{}).hash() == collect(t, "stencil", Options{}).hash() {
		t.Error("another seed gives the same trace")
	}
}

func TestRolesAreThoseThatReadersGive(t *testing.T) {
	for _, name := range []string{"stencil?locations=4&intervals=2000", "training?locations=4&intervals=2000", "uniform?locations=4&intervals=2000", "g5k188", "g5k433"} {
		c := collect(t, name, Options{})
		for _, r := range c.regions {
			if want := trace.RoleOf(r.Name, r.Category); r.Role != want && r.Category != "marker" {
				t.Errorf("%s: %q has role %v, a reader would say %v", name, r.Name, r.Role, want)
			}
		}
	}
}

func TestIntervalsAreAsManyAsAskedFor(t *testing.T) {
	for _, name := range []string{"stencil?locations=8", "training?locations=8", "uniform?locations=8", "g5k188", "g5k433"} {
		for _, n := range []int64{20_000, 150_000} {
			got := collect(t, name, Options{Intervals: n}).count()
			if diff := got - n; diff < -n/10 || diff > n/10 {
				t.Errorf("%s makes %d intervals, %d were asked for", name, got, n)
			}
		}
	}
}

func TestLinksEndOnIntervals(t *testing.T) {
	for _, name := range []string{"stencil", "training", "stencil?locations=7&intervals=3000"} {
		c := collect(t, name, Options{})
		if len(c.links) == 0 {
			t.Errorf("%s has no links", name)
		}
		starts := map[[3]int64]bool{}
		for at, r := range c.rows {
			for _, i := range r.intervals {
				starts[[3]int64{int64(at), int64(i.begin), int64(i.region)}] = true
			}
		}
		for _, l := range c.links {
			if l.To.Time < l.From.Time {
				t.Errorf("%s: link arrives at %d before it leaves at %d", name, l.To.Time, l.From.Time)
			}
			if !starts[[3]int64{int64(l.From.Location), int64(l.From.Time), int64(l.From.Region)}] {
				t.Errorf("%s: link leaves from no interval: %+v", name, l.From)
			}
			if !c.isOpen(l.To) {
				t.Errorf("%s: link arrives at no interval: %+v", name, l.To)
			}
			if t.Failed() {
				break
			}
		}
	}
}

// isOpen reports whether an interval of the end's region is open at its time.
func (c *collected) isOpen(e trace.End) bool {
	for _, i := range c.rows[e.Location].intervals {
		if i.region == e.Region && i.begin <= e.Time && e.Time < i.end {
			return true
		}
	}
	return false
}

func TestWritingStopsWhenItIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, d := range Demos {
		if err := d.Write(ctx, Options{}, &discard{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

func TestTooManyToSimulateIsAnError(t *testing.T) {
	for _, name := range []string{"stencil", "training"} {
		d, _ := Find(name)
		if err := d.Write(context.Background(), Options{Intervals: 1 << 50}, newCollected()); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDemosOfOneSizeRefuseOthers(t *testing.T) {
	for _, name := range []string{"million", "g5k188", "g5k433", "s3d", "zgrd"} {
		d, _ := Find(name)
		if err := d.Write(context.Background(), Options{Locations: 10}, newCollected()); err == nil || !strings.Contains(err.Error(), "processes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
