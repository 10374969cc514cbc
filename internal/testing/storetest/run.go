package storetest

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Open makes a store of the records that fill writes and opens it for reading. It closes the store when the test
// ends.
type Open func(t *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader

// Run holds a store against the contract: cases written by hand, then random
// traces whose every answer must equal that of the reference.
func Run(t *testing.T, open Open) {
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { runCase(t, open, c) })
		}
	})
	t.Run("writing", func(t *testing.T) { runWriting(t, open) })
	t.Run("random", func(t *testing.T) {
		seeds := uint64(12)
		if testing.Short() {
			seeds = 4
		}
		for seed := range seeds {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { RunSeed(t, open, seed, 60) })
		}
	})
	t.Run("many rows in few lanes", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes seconds under the race detector")
		}
		RunSeed(t, open, 1001, 3000)
	})
	t.Run("conduct", func(t *testing.T) { runConduct(t, open) })
}

// RunSeed holds a store against the reference on one random trace with so many
// records a location. Run takes some seeds; more can be tried by hand.
func RunSeed(t *testing.T, open Open, seed uint64, size int) {
	compareAll(t, open, func(w trace.Writer) { randomTrace(w, seed, size) }, seed)
}

// both fills the store under test and the reference alike.
func both(t *testing.T, open Open, fill func(trace.Writer)) (want *reader, got store.Reader, d *digest) {
	t.Helper()
	d = &digest{}
	got = open(t, fill, []trace.Summary{d})
	m := NewMemory(&digest{})
	fill(m)
	return m.Reader().(*reader), got, d
}

// compareAll holds every query of a store against the reference.
func compareAll(t *testing.T, open Open, fill func(trace.Writer), seed uint64) {
	t.Helper()
	want, got, d := both(t, open, fill)
	compareEverything(t, want, got, seed)
	for _, fault := range d.faults() {
		t.Errorf("a summary was built from a wrong stretch: %s", fault)
	}
}

func compareEverything(t *testing.T, want *reader, got store.Reader, seed uint64) {
	t.Helper()
	compareTables(t, want, got)
	if t.Failed() {
		return // nothing else can be right
	}
	c := newComparison(want, got)
	c.rows(t, seed)
	for i, w := range windowsOf(want, seed) {
		name := fmt.Sprintf("window %d [%d, %d) of %v", i, w.Begin, w.End, w.Locations)
		for _, check := range []struct {
			what string
			f    func(store.Window) string
		}{
			{"Count", c.count}, {"Intervals", c.intervals}, {"Time", c.time}, {"Summaries", c.summaries},
			{"Groups", c.groups}, {"RoleTime", c.roleTime},
			{"Links", c.links}, {"Instants", c.instants}, {"Samples", c.samples}, {"AttributeColumn", c.attributes},
			{"Profile", c.profile}, {"ProfileTotals", c.profileTotals},
		} {
			if diff := check.f(w); diff != "" {
				t.Errorf("%s, %s:\n%s", check.what, name, diff)
			}
		}
		if t.Failed() {
			return
		}
	}
}
