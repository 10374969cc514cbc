package callmatrix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// Of many locations two groups call what the other does not, and one thing alike: no square is sliced.
func TestASquareIsFilledWhereOneGroupCallsOrAllCallAlike(t *testing.T) {
	var b strings.Builder
	b.WriteString("region first\nregion second\nregion both\n")
	for k := range 300 {
		fmt.Fprintf(&b, "location thread \"t%d\"\n  0..50 both\n  50..100 %s\n", k, []string{"first", "second"}[k%2])
	}
	c := viewtest.Case{Trace: b.String()}
	s := c.Compute(t, callmatrix.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 600})
	var numbers []string
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			switch m := m.(type) {
			case *scene.Text:
				if l.Name == "groups that call alone" {
					numbers = append(numbers, m.Text...)
				}
			case *scene.Polygon:
				if l.Name == "rings" && m.Len() > 0 {
					t.Errorf("%d slices are drawn", m.Len())
				}
			}
		}
	}
	if len(numbers) != 2 || numbers[0] == numbers[1] {
		t.Errorf("squares of one group bear %q, want two numbers", numbers)
	}
}
