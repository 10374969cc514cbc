package overview_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

// inSteps is 64 ranks on nodes of 4 that compute and wait in 40 steps: one of them on each fourth node computes for
// longer. A step is about two of 80 slices long, and each rank begins
// at another time.
func inSteps() string {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion MPI_Wait role=communication\n")
	for rank := range 64 {
		if rank%4 == 0 {
			fmt.Fprintf(&b, "location machine node%02d\n", rank/4)
		}
		fmt.Fprintf(&b, "  location process p%d rank=%d\n", rank, rank)
		for step := range 40 {
			begin, busy := 10_000*step+rank*3_557%8_000, 5_000+(rank*7919+step*104_729)%1500
			if rank%16 == 0 {
				busy += 3_000
			}
			fmt.Fprintf(&b, "    %d..%d solve\n    %d..%d MPI_Wait\n", begin, begin+busy, begin+busy, begin+10_000)
		}
	}
	return b.String()
}

// Where slices are about as long as steps, the first picture has longer ones and shows who differs.
func TestSlicesAreLongerWhereStepsAreAsLong(t *testing.T) {
	look := func(options map[string][]string) (overview.Data, string) {
		c := viewtest.Case{Trace: inSteps(), Options: options}
		r := c.Compute(t, overview.View, c.Open(t))
		return r.Data().(overview.Data), strings.Join(r.Notes(), "; ")
	}
	usual, notes := look(map[string][]string{"bins": {"80"}})
	if usual.Loss < 0.2 || strings.Contains(notes, "would hide") {
		t.Fatalf("with 80 slices the picture hides %g: %s", usual.Loss, notes)
	}
	d, notes := look(nil)
	if d.Loss > 0.1 || len(d.Parts) > 256 || !strings.Contains(notes, "with 80 slices, the picture would hide") ||
		!strings.Contains(notes, fmt.Sprintf("%d slices of", d.Slices)) || d.Slices != 20 && d.Slices != 40 {
		t.Errorf("%d slices, %d boxes, %g hidden: %s", d.Slices, len(d.Parts), d.Loss, notes)
	}
	if other, _ := look(map[string][]string{"p": {"0.01"}}); other.Slices != d.Slices {
		t.Errorf("another p has %d slices, the first %d", other.Slices, d.Slices)
	}
}

// The start that is kept next to a large run has as many slices.
func TestAKeptStartHasTheSameSlices(t *testing.T) {
	usual := *overview.ManyIntervals
	defer func() { *overview.ManyIntervals = usual }()
	c := viewtest.Case{Trace: inSteps()}
	var want any
	var notes []string
	for turn, many := range []int64{math.MaxInt64, 0} {
		*overview.ManyIntervals = many
		r := c.Compute(t, overview.View, c.Open(t))
		if turn == 0 {
			want, notes = r.Data(), r.Notes()
		} else if !reflect.DeepEqual(r.Data(), want) || !reflect.DeepEqual(r.Notes(), notes) {
			t.Errorf("kept: %q, want %q", r.Notes(), notes)
		}
	}
}
