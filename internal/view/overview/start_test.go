package overview_test

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

// What is kept beside a large run gives the picture that reading the run gives, and is not taken for any other.
func TestStoredOverviewsGiveTheSamePicture(t *testing.T) {
	usual, work := *overview.ManyIntervals, *overview.MostWork
	defer func() { *overview.ManyIntervals, *overview.MostWork = usual, work }()
	*overview.MostWork = 1 // few stretches
	d, _ := demo.Find("stencil?locations=32&intervals=8000")
	r := viewtest.Local(t, func(w trace.Writer) {
		if err := d.Write(context.Background(), demo.Options{}, w); err != nil {
			t.Fatal(err)
		}
	})
	size := scene.Size{Width: 1000, Height: 600}
	cases := []viewtest.Case{
		{Size: size},
		{Size: size, Options: map[string][]string{"p": {"0.01"}, "scale": {"paper"}}},
		{Size: size, Options: map[string][]string{"bins": {"30"}}},
		{Size: size, Options: map[string][]string{"gain": {"entropy"}}},
		{Size: size, Options: map[string][]string{"hierarchy": {"tree"}}},
		{Size: size, Options: map[string][]string{"arrange": {"groups"}}},
		{Size: size, Spec: view.Spec{From: "20%", To: "70%"}},
		{Size: size, Spec: view.Spec{Locations: []string{"rank:0-9"}}},
	}
	look := func(c *viewtest.Case) (any, []string, *scene.Scene) {
		x := c.Compute(t, overview.View, r)
		return x.Data(), x.Notes(), x.Scene(size)
	}
	for k := range cases {
		c := &cases[k]
		*overview.ManyIntervals = math.MaxInt64
		if _, kept := overview.StartOfRun.Found(&view.Run{Store: r}); kept {
			t.Fatal("a small run has something kept")
		}
		data, notes, picture := look(c)
		*overview.ManyIntervals = 0
		for _, turn := range []string{"made", "kept"} {
			d, n, p := look(c)
			if !reflect.DeepEqual(d, data) || !reflect.DeepEqual(n, notes) || !reflect.DeepEqual(p, picture) {
				t.Errorf("%+v, %s: the picture is another one: %q, want %q", c.Options, turn, n, notes)
			}
		}
	}
	if _, kept := overview.StartOfRun.Found(&view.Run{Store: r}); !kept {
		t.Error("nothing is kept")
	}
}
