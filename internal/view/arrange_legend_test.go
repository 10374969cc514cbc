package view

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func TestGroupsPastTheLastHueHaveOneColourAndAnEntry(t *testing.T) {
	seen := map[scene.Colour]bool{}
	for k := range mostNamed {
		if c := GroupColour(k); seen[c] || c == GroupColour(mostNamed) {
			t.Errorf("group %d has the colour of another", k+1)
		} else {
			seen[c] = true
		}
	}
	members := make([]int, 36)
	for k := range members {
		members[k] = 2
	}
	e, ok := OtherGroups(members)
	if !ok || e.Label != "others: 24 groups, 48 locations" || e.Colour != GroupColour(12) || e.Colour != GroupColour(35) {
		t.Errorf("the legend has %+v", e)
	}
	if _, ok := OtherGroups(members[:12]); ok {
		t.Error("twelve groups have a colour each")
	}
	a := &Arrangement{Groups: make([]ArrangedGroup, 14)}
	s := scene.New(scene.Size{Width: 100, Height: 100}, "", "")
	if a.Explain(s); len(s.Legend) != 13 || s.Legend[12].Label != "others: 2 groups, 0 locations" {
		t.Errorf("legend %+v", s.Legend)
	}
}
