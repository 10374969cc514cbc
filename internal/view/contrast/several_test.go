package contrast_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/contrast"
)

// Goroutines of one function are one row: their times add up to more than all of the time, and no share is said of it.
func TestTimesOfSeveralAtOnceAreNoShares(t *testing.T) {
	var b strings.Builder
	b.WriteString("region running role=compute\nregion waiting role=synchronization\nlocation process go\n" +
		"  location processor P0\n    0..1000 running\n  location group goroutines\n")
	for f, function := range []string{"main.one", "main.two", "main.three", "main.four", "main.five"} {
		fmt.Fprintf(&b, "    location group %s\n", function)
		for g := range 5 {
			end := 100 + 10*f + g
			if f == 0 {
				end = 900
			}
			fmt.Fprintf(&b, "      location goroutine \"goroutine %d\"\n        0..%d waiting\n", 10*f+g, end)
		}
	}
	c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"rows": {"threads"}}}
	s := c.Compute(t, contrast.View, c.Open(t)).Scene(scene.Size{Width: 1200, Height: 700})
	all := ""
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if text, ok := m.(*scene.Text); ok {
				all += strings.Join(text.Text, "\n") + "\n"
			}
		}
	}
	if strings.Contains(all, "of the time") || !strings.Contains(all, "+3.") {
		t.Errorf("words of the picture:\n%s", all)
	}
}
