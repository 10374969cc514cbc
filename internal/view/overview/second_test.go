package overview_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

func TestASecondRunIsCutByTheSamePOnOneAxis(t *testing.T) {
	a := storetest.Text(t, "region work\nregion wait role=synchronization\nlocation process \"rank 0\" rank=0\n  0..100 work\nlocation process \"rank 1\" rank=1\n  0..50 work\n  50..100 wait\n", all.Summaries...)
	b := storetest.Text(t, "region work\nlocation process \"rank 0\" rank=0\n  0..200 work\nlocation process \"rank 1\" rank=1\n  0..200 work\n", all.Summaries...)
	values, err := view.NewValues(overview.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := scene.Size{Width: 800, Height: 600}
	r, err := view.Ask(t.Context(), overview.View, &view.Request{Values: values, Selection: trace.Selection{End: 100}, Size: size,
		Runs: []view.Run{{Name: "a", Store: a}, {Name: "b", Store: b}}})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data().(overview.PairData)
	if d.P != d.With.P || d.With.ChosenBy != "option" {
		t.Errorf("p is %g and %g by %s", d.P, d.With.P, d.With.ChosenBy)
	}
	if f := r.Scene(size).Frames; len(f) != 2 || f[0].XScale.End != 200 || f[1].XScale.End != 200 {
		t.Errorf("axes are %+v", f)
	}
}
