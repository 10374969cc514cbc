package timeline

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/view/viewtest"
)

// A table is made where there is room for it: the view says beforehand how many rows it has at most.
func TestATableHasNoMoreRowsThanWereSaid(t *testing.T) {
	for _, all := range []string{"false", "true"} {
		c := viewtest.Case{Trace: `
location process p0 rank=0
  0..100 main
    10..20 solve
    21..90 io
location process p1 rank=1
  0..100 main
    10..90 io
`, Options: map[string][]string{"all": {all}}}
		r := c.Compute(t, View, c.Open(t)).(*result)
		got, said := len(r.Table().Rows), r.Rows()
		if got == 0 || got > said || all == "true" && (got != said || got != 5) {
			t.Errorf("all %s: %d rows, %d were said", all, got, said)
		}
	}
}
