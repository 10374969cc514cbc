package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// The lines of a layout have the values of the location, also where only some are selected.
func TestAPointHasTheValuesOfTheLinesOfItsLayout(t *testing.T) {
	const text = "strict:a\nBEGIN_VIZ=a\nhalf=rank/2\nx=half+1,y=event0.val\nz=0\nEND_VIZ"
	c := viewtest.Case{Trace: ranks, Options: map[string][]string{"layout": {text}, "event0": {"MPI_Barrier"}},
		Spec: view.Spec{Locations: []string{"rank:1", "rank:3"}}}
	res := c.Compute(t, topology.View, c.Open(t))
	for i, want := range []string{"2: half=0.5 3: x=1.5 3: y=30 4: z=0", "2: half=1.5 3: x=2.5 3: y=90 4: z=0"} {
		f, found, err := view.FactOf(res, scene.Item{Of: 1, A: int32(i)})
		var got []string
		for _, l := range f.Lines {
			if l.Text > 0 {
				got = append(got, fmt.Sprintf("%d: %s=%s", l.Text, l.Label, l.Value))
			}
		}
		if !found || err != nil || strings.Join(got, " ") != want {
			t.Errorf("point %d: %q, %v; want %q", i, got, err, want)
		}
	}
}

func TestMistypedRegionsOfALayoutAreSuggested(t *testing.T) {
	c := viewtest.Case{Trace: ranks, Options: map[string][]string{"layout": {"text:a\nBEGIN_VIZ=a\nx=rank\ny=0\nz=metadata(hots)\nEND_VIZ\nBEGIN_UI=a\nevent0=MPI_Barier:exclusive\nEND_UI"}}}
	notes := strings.Join(c.Compute(t, topology.View, c.Open(t)).Notes(), "\n")
	if !strings.Contains(notes, "did you mean MPI_Barrier?") {
		t.Error(notes)
	}
}

// Whatever a completion offers as a name, a layout may use.
func TestNamesOfCompletionsAreGiven(t *testing.T) {
	for _, w := range topology.View.Completions {
		if w.Text != "" || w.Name == "restrictDim" || strings.HasPrefix(w.Name, "coord") {
			continue
		}
		data(t, map[string][]string{"layout": {"strict:a\nBEGIN_VIZ=a\nx=" + w.Name + "\ny=0\nz=0\nEND_VIZ"}})
	}
}
