package all_test

import (
	"fmt"
	"image/color"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

func openDemo(t *testing.T, name string) store.Reader {
	d, ok := demo.Find(name)
	if !ok {
		t.Fatal("no demo " + name)
	}
	return viewtest.Local(t, func(w trace.Writer) {
		if err := d.Write(t.Context(), d.Options, w); err != nil {
			t.Fatal(err)
		}
	})
}

// colouredLooks are views whose colours are those of regions or services.
var colouredLooks = []struct {
	view    string
	options map[string][]string
}{
	{"timeline", nil}, {"kaleidoscope", map[string][]string{"paint": {"region"}}}, {"activity", map[string][]string{"by": {"regions"}}},
	{"alignment", nil}, {"treemap", nil}, {"criticalpath", nil}, {"services", nil},
}

// legendsOf asks for the views that a run can show.
func legendsOf(t *testing.T, r store.Reader) map[string][]scene.LegendEntry {
	out := map[string][]scene.LegendEntry{}
	for _, look := range colouredLooks {
		v := all.Views[slices.IndexFunc(all.Views, func(v *view.View) bool { return v.Name == look.view })]
		if v.Needs.Missing(r) != "" {
			continue
		}
		q := (&viewtest.Case{Options: look.options, Size: scene.Size{Width: 1200, Height: 700}}).Request(t, v, r)
		result, err := v.Compute(t.Context(), q)
		if err != nil {
			t.Logf("%s: %v", v.Name, err)
			continue
		}
		s := result.Scene(q.Size)
		out[v.Name] = slices.DeleteFunc(slices.Clone(s.Legend), func(e scene.LegendEntry) bool { return e.Colour == scene.None || e.Ramps() })
	}
	return out
}

const (
	firstEntries  = 12
	leastDistance = 10
)

// The first entries of a legend are plainly different in both themes; further ones never have one colour unless words say so; and a
// region has one colour in all views.
func TestColoursAreDistinctAndTheSameInAllViews(t *testing.T) {
	sets := map[string]func(t *testing.T) store.Reader{}
	for _, name := range []string{"stencil", "training", "shop", "quicksort"} {
		sets["demo "+name] = func(t *testing.T) store.Reader { return openDemo(t, name) }
	}
	for _, name := range []string{"otf2-hpl16-deep-a", "otf2-lammps-imbalanced16", "paje-hpl128-g5k", "kineto-ddp-8rank", "go-nethttp",
		"chrome-clang", "go-compile"} {
		sets[name] = func(t *testing.T) store.Reader { return viewtest.Import(t, "data", name) }
	}
	for set, open := range sets {
		t.Run(set, func(t *testing.T) {
			of := map[string]string{} // the colour of a region, and where it was seen first
			for name, legend := range legendsOf(t, open(t)) {
				checkDistinct(t, name, legend)
				for _, e := range legend {
					if e.Region == scene.NoID || e.Flags != 0 {
						continue
					}
					key := fmt.Sprint(e.Region, " ", e.Label)
					if c, ok := of[key]; ok && c != fmt.Sprint(e.Colour) {
						t.Errorf("%s: %s has the colour %d, elsewhere %s", name, e.Label, e.Colour, c)
					}
					of[key] = fmt.Sprint(e.Colour)
				}
			}
		})
	}
}

func checkDistinct(t *testing.T, name string, legend []scene.LegendEntry) {
	for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
		joined := scene.JoinSame(legend, theme)
		samples := map[color.NRGBA]string{}
		for _, e := range joined {
			if e.Colour == scene.None || e.Flags != 0 {
				continue // words behind the sample of another
			}
			c := e.Colour.RGBA(theme)
			if other, ok := samples[c]; ok {
				t.Errorf("%s, %s: %s and %s have one colour, and nothing says so", name, theme, other, e.Label)
			}
			samples[c] = e.Label
		}
		first := legend[:min(len(legend), firstEntries)]
		for i, a := range first {
			for _, b := range first[:i] {
				d := scene.Difference(a.Colour.RGBA(theme), b.Colour.RGBA(theme))
				if a.Flags == b.Flags && d < leastDistance {
					t.Errorf("%s, %s: %s and %s are %.1f apart, want %d", name, theme, a.Label, b.Label, d, leastDistance)
				}
			}
		}
	}
}

// A region that two runs have is drawn in one colour in views of both.
func TestARegionHasOneColourInBothRuns(t *testing.T) {
	a, b := openDemo(t, "stencil?locations=8&intervals=2000"), openDemo(t, "quicksort")
	alone := view.Run{Name: "a", Store: a}
	own, err := view.ColoursOf(t.Context(), &alone)
	if err != nil {
		t.Fatal(err)
	}
	q := view.Request{Runs: []view.Run{alone, {Name: "b", Store: b}}, Selection: trace.Selection{End: a.Info().End}}
	both, err := q.Colours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := q.Second().Colours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	regions := a.Regions()
	for i := range regions {
		if own.Of(&regions[i]) != both.Of(&regions[i]) {
			t.Errorf("%s has another colour beside a second run", regions[i].Name)
		}
	}
	regions = append(regions, b.Regions()...)
	for i := range regions {
		if both.Of(&regions[i]) != second.Of(&regions[i]) {
			t.Errorf("%s has two colours in one picture", regions[i].Name)
		}
	}
}
