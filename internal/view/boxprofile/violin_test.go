package boxprofile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

// twoModes has polls that come back at once or after long, and steps that are alike.
func twoModes() string {
	var b strings.Builder
	b.WriteString("location process \"rank 0\" rank=0\n")
	at := 0
	for i := range 200 {
		long := 3 + i%2
		if i%3 == 0 {
			long = 500 + i%50
		}
		fmt.Fprintf(&b, "  %dus..%dus poll\n  %dus..%dus step\n", at, at+long, at+1000, at+1040+i%9)
		at += 2000
	}
	return b.String()
}

// TestCallsWithTwoModesHaveAnOutline: a box alone would hide that nothing lies between.
func TestCallsWithTwoModesHaveAnOutline(t *testing.T) {
	c := viewtest.Case{Trace: twoModes(), Size: scene.Size{Width: 800, Height: 300}}
	outlines := func(violin string) int {
		c.Options = map[string][]string{"violin": {violin}}
		s := c.Compute(t, boxprofile.View, c.Open(t)).Scene(c.Size)
		for _, l := range s.Layers {
			if l.Name == "violins" {
				return l.Marks[0].Len()
			}
		}
		return 0
	}
	if auto, all, none := outlines("auto"), outlines("all"), outlines("none"); auto != 1 || all != 2 || none != 0 {
		t.Errorf("%d outlines by themselves, %d of all, %d of none; want 1, 2, 0", auto, all, none)
	}
	c.Options = nil
	d := data(t, c)
	if h := find(d, "poll", "rank 0").Heaps; len(h) != 2 || h[0] < 2500 || h[0] > 4500 || h[1] < 4e5 || h[1] > 7e5 {
		t.Errorf("poll piles up at %v", h)
	}
	if h := find(d, "step", "rank 0").Heaps; h != nil {
		t.Errorf("step piles up at %v", h)
	}
}
