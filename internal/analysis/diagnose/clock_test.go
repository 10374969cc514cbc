package diagnose

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Lines of import reports about clocks say that they disagree, or something else.
func TestOnlySomeLinesSayThatClocksDisagree(t *testing.T) {
	for what, want := range map[string]bool{
		"messages that arrive before they are sent: as recorded":                                  true,
		"collectives that a process leaves before another has entered: as recorded":               true,
		"spans that begin before their caller on another host: clocks disagree":                   true,
		"links that end before they begin, kept as they are (clocks that differ)":                 true,
		"files whose times have no known base, taken as if on one clock":                          true,
		"times on a clock that no snapshot compares with the trace's, taken for the same":         true,
		"complete records without a duration, taken from the thread's clock (tdur)":               false,
		"times of a clock that counts no nanoseconds, taken as such":                              false,
		"clocks without a resolution, taken to count nanoseconds":                                 false,
		"clock offsets of joined sources, as given":                                               false,
		"calls without a time of the wall's clock, placed by the CPU's":                           false,
		"unit of time: the table does not tell the rate of its clock":                             false,
		"clocks of processes fitted to each other, since effects came before their causes; twice": false,
	} {
		if clocksDisagree(what) != want {
			t.Errorf("%s: %v", what, !want)
		}
	}
}

// Joined sources with offsets are on one clock: such a run is cut into slices of time as any other.
func TestOffsetsOfJoinedSourcesAreNoSkew(t *testing.T) {
	for what, want := range map[string]bool{
		"clock offsets of joined sources, as given":                false,
		"messages that arrive before they are sent: as they stand": true,
	} {
		m := storetest.NewMemory()
		m.Report(trace.Guessed, what, 1, "")
		f := &facts{store: m.Reader()}
		if f.skewed() != want {
			t.Errorf("%s: %v", what, !want)
		}
	}
}
