package timeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/timeline"
)

// many ranks of which not all have room.
func many(n int) string {
	var b strings.Builder
	b.WriteString("region work role=compute\n")
	for i := range n {
		fmt.Fprintf(&b, "location process \"proc %d\"\n  0..%d work\n", i, 100+i)
	}
	return b.String()
}

func labels(t *testing.T, c viewtest.Case, size scene.Size) []string {
	t.Helper()
	c.Size = size
	s := c.Compute(t, timeline.View, c.Open(t)).Scene(size)
	var out []string
	for _, r := range s.Frames[0].YScale.Rows {
		out = append(out, r.Label)
	}
	return out
}

func TestPinnedRowsStayAtTheTopWhateverIsScrolled(t *testing.T) {
	size := scene.Size{Width: 600, Height: 200}
	for scroll, first := range map[string]string{"0": "proc 0", "40": "proc 41"} { // one of those before is pinned
		rows := labels(t, viewtest.Case{Trace: many(100), Options: map[string][]string{"pin": {"proc 7", "proc 90"}, "scroll": {scroll}}}, size)
		if len(rows) < 5 || rows[0] != "↑ proc 7" || rows[1] != "↑ proc 90" || rows[2] != first {
			t.Errorf("scrolled by %s: %q", scroll, rows)
		}
	}
	all := labels(t, viewtest.Case{Trace: many(8), Options: map[string][]string{"pin": {"proc 7"}}}, size)
	if got := strings.Join(all, ", "); got != "↑ proc 7, proc 0, proc 1, proc 2, proc 3, proc 4, proc 5, proc 6" {
		t.Errorf("all fit: %s", got)
	}
}

func TestPinnedRowsLeaveHalfOfTheRoom(t *testing.T) {
	rows := labels(t, viewtest.Case{Trace: many(100), Options: map[string][]string{"pin": {"*"}}}, scene.Size{Width: 600, Height: 200})
	pinned := 0
	for _, r := range rows {
		if strings.HasPrefix(r, "↑") {
			pinned++
		}
	}
	if pinned == 0 || pinned >= len(rows) {
		t.Errorf("%d of %d rows are pinned", pinned, len(rows))
	}
}

func TestAPinnedRowIsHighEnoughForItsLabel(t *testing.T) {
	c := viewtest.Case{Trace: many(100), Options: map[string][]string{"pin": {"proc 90"}}, Size: scene.Size{Width: 600, Height: 500}}
	r := c.Compute(t, timeline.View, c.Open(t)).Scene(c.Size).Frames[0].YScale.Rows[0]
	if r.Label != "↑ proc 90" || r.To-r.From < 16 {
		t.Errorf("%q is %g high", r.Label, r.To-r.From)
	}
}
