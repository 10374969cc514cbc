package formula

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// A number of the vectors: a JSON number, or NaN and the infinities as text.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	switch s := strings.Trim(string(b), `"`); s {
	case "NaN":
		*n = number(math.NaN())
	case "+Inf":
		*n = number(math.Inf(1))
	case "-Inf":
		*n = number(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(n))
	}
	return nil
}

type vectors struct {
	Listings    string
	Expressions []struct {
		Expr    string
		Rank    int
		MaxRank int `json:"maxRank"`
		Value   number
	}
	Errors []struct{ Kind, Text string }
	Points []struct {
		Viz         string
		Ranks       int
		RestrictDim float64 `json:"restrictDim"`
		At          []struct {
			Rank   int
			XYZ    []number `json:"xyz_color"`
			Placed []float64
		}
		PlacedCount int          `json:"placed_count"`
		Bounds      [][2]float64 `json:"bounds"`
		Sum         []float64
		Squares     []float64 `json:"sum_of_squares"`
		Distinct    int       `json:"distinct_points"`
	}
	FlatAxis struct {
		Events [][]float64
		Viz    string
		Raw    [][]number
		Placed [][]float64
	} `json:"flat_axis"`
	Unplaced struct {
		Text   string
		Ranks  int
		Raw    [][]number
		Placed []*[]float64
	}
	Language struct {
		Text, Name string
		Ranks      int
		Raw        [][]number
	}
	RangeFilter struct {
		Values []number
		Cases  []struct {
			Min, Max float64
			Shown    []bool
		}
	} `json:"range_filter"`
	Slices struct {
		Viz   string
		Ranks int
		Cases []struct {
			Axes          map[string]float64
			Width         float64
			Min, Max      float64
			Count         int
			First         []int    `json:"first_ranks"`
			VisibleCount  int      `json:"visible_count"`
			MeanSelection *float64 `json:"mean_selection"`
			MeanVisible   *float64 `json:"mean_visible"`
		}
	}
	Fill []struct {
		N      int
		Dims   [3]int
		Points [][3]float64
	}
	NodeMeans struct {
		Coords [][]int
		Values []float64
		Means  []json.RawMessage
	} `json:"node_means"`
}

func load(t testing.TB) (v vectors) {
	b, err := os.ReadFile("testdata/layout.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)*1e-3)
}

// demoEvents are the four events of the vectors.
func demoEvents(n int) [][]float64 {
	out := make([][]float64, 4)
	for r := range n {
		out[0] = append(out[0], float64((r*7919)%1009))
		out[1] = append(out[1], float64((r*r+3)%997))
		out[2] = append(out[2], float64(1000000+(r*31)%17))
		out[3] = append(out[3], float64(r%13))
	}
	return out
}

// input binds events as the paper does: the last one, or event3, is the colour.
func input(n int, events [][]float64) *Input {
	cols, scalars := map[string][]float64{}, map[string]float64{}
	for i, ev := range events {
		p := fmt.Sprintf("event%d.", i)
		lo, hi, sum := math.Inf(1), math.Inf(-1), 0.0
		for _, v := range ev {
			lo, hi, sum = min(lo, v), max(hi, v), sum+v
		}
		cols[p+"val"] = ev
		scalars[p+"min"], scalars[p+"max"], scalars[p+"mean"] = lo, hi, sum/float64(len(ev))
		cols["color"] = ev
	}
	return &Input{N: n,
		Column: func(s string) ([]float64, bool) { c, ok := cols[s]; return c, ok },
		Scalar: func(s string) (float64, bool) { x, ok := scalars[s]; return x, ok },
	}
}

func find(t testing.TB, layouts []*Layout, name string) *Layout {
	for _, l := range layouts {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no layout %q", name)
	return nil
}

func apply(t testing.TB, l *Layout, in *Input) *Result {
	r, err := l.Apply(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExpressions(t *testing.T) {
	for _, c := range load(t).Expressions {
		layouts, err := Parse("BEGIN_VIZ=t\nx=" + c.Expr + "\ny=0\nz=0\nEND_VIZ")
		if err != nil {
			t.Errorf("%q: %v", c.Expr, err)
			continue
		}
		r := apply(t, layouts[0], &Input{N: c.MaxRank})
		if got := r.Points[0].X[c.Rank]; !near(got, float64(c.Value)) {
			t.Errorf("%q = %v, want %v", c.Expr, got, c.Value)
		}
	}
}

func TestErrorsHaveTheirKindAndPlace(t *testing.T) {
	for _, c := range load(t).Errors {
		layouts, err := Parse(c.Text)
		if err == nil {
			for _, l := range layouts {
				if err = l.Check(&Input{N: 1}); err != nil {
					break
				}
			}
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.Kind || e.Line < 1 || e.Column < 1 {
			t.Errorf("%q: %v, want a %s error", c.Text, err, c.Kind)
		}
	}
	_, err := Parse("BEGIN_VIZ=a\nx = 1 + foo(2)\ny=0\nz=0\nEND_VIZ")
	var e *Error
	if !errors.As(err, &e) || e.Line != 2 || e.Column != 9 || e.Caret() != "x = 1 + foo(2)\n        ^" {
		t.Errorf("%v\n%s", err, e.Caret())
	}
}

func TestListingsPlaceEveryRankAsTheOracleDoes(t *testing.T) {
	v := load(t)
	layouts, err := Parse(v.Listings)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Points {
		l := find(t, layouts, c.Viz)
		r := apply(t, l, input(c.Ranks, demoEvents(c.Ranks)))
		p := &r.Points[0]
		for _, at := range c.At {
			for k, got := range []float64{p.X[at.Rank], p.Y[at.Rank], p.Z[at.Rank], p.Color[at.Rank]} {
				if !near(got, float64(at.XYZ[k])) {
					t.Errorf("%s of %d ranks: rank %d axis %d = %v, want %v", c.Viz, c.Ranks, at.Rank, k, got, at.XYZ[k])
				}
			}
		}
		placed := p.Place(r.Restrict)
		count, distinct := 0, map[[3]float64]bool{}
		for i := range placed {
			if placed[i] {
				count++
				distinct[[3]float64{math.Round(p.X[i]*1e6) + 0, math.Round(p.Y[i]*1e6) + 0, math.Round(p.Z[i]*1e6) + 0}] = true
			}
		}
		if count != c.PlacedCount || len(distinct) != c.Distinct {
			t.Errorf("%s of %d ranks: %d placed on %d places, want %d on %d", c.Viz, c.Ranks, count, len(distinct), c.PlacedCount, c.Distinct)
		}
		for a, axis := range [][]float64{p.X, p.Y, p.Z} {
			var sum, squares float64
			for i, x := range axis {
				if placed[i] {
					sum += x
					squares += x * x
				}
			}
			if math.Abs(sum-c.Sum[a]) > 1e-6*math.Max(1, math.Abs(c.Sum[a])) || math.Abs(squares-c.Squares[a]) > 1e-6*math.Max(1, c.Squares[a]) {
				t.Errorf("%s of %d ranks: axis %d sums to %v, %v; want %v, %v", c.Viz, c.Ranks, a, sum, squares, c.Sum[a], c.Squares[a])
			}
		}
	}
}

func TestFlatAxesCollapseAndWildPointsAreNotPlaced(t *testing.T) {
	v := load(t)
	layouts, _ := Parse(v.Listings)
	r := apply(t, find(t, layouts, v.FlatAxis.Viz), input(len(v.FlatAxis.Raw), v.FlatAxis.Events))
	p := &r.Points[0]
	for i, raw := range v.FlatAxis.Raw {
		if !near(p.X[i], float64(raw[0])) || !near(p.Y[i], float64(raw[1])) || !near(p.Z[i], float64(raw[2])) {
			t.Errorf("rank %d: %v %v %v, want %v", i, p.X[i], p.Y[i], p.Z[i], raw)
		}
	}
	p.Place(r.Restrict)
	for i, want := range v.FlatAxis.Placed {
		if !near(p.X[i], want[0]) || !near(p.Y[i], want[1]) || !near(p.Z[i], want[2]) {
			t.Errorf("rank %d is placed at %v %v %v, want %v", i, p.X[i], p.Y[i], p.Z[i], want)
		}
	}
	layouts, err := Parse(v.Unplaced.Text)
	if err != nil {
		t.Fatal(err)
	}
	u := apply(t, layouts[0], &Input{N: v.Unplaced.Ranks})
	for i, ok := range u.Points[0].Place(u.Restrict) {
		if ok != (v.Unplaced.Placed[i] != nil) {
			t.Errorf("rank %d is placed: %v", i, ok)
		}
	}
}

func TestTheLanguage(t *testing.T) {
	v := load(t).Language
	layouts, err := Parse(v.Text)
	if err != nil || layouts[0].Name != v.Name {
		t.Fatal(err)
	}
	p := apply(t, layouts[0], &Input{N: v.Ranks}).Points[0]
	for i, want := range v.Raw {
		if !near(p.X[i], float64(want[0])) || !near(p.Y[i], float64(want[1])) || !near(p.Z[i], float64(want[2])) || !near(p.Color[i], float64(want[3])) {
			t.Errorf("rank %d: %v %v %v %v, want %v", i, p.X[i], p.Y[i], p.Z[i], p.Color[i], want)
		}
	}
}

func TestFiltersSlicesBoxesAndMeans(t *testing.T) {
	v := load(t)
	for _, c := range v.RangeFilter.Cases {
		for i, x := range v.RangeFilter.Values {
			f := scene.SpaceFilter{Ranged: true, Min: c.Min, Max: c.Max}
			if got := f.Shows(float64(x), [3]float64{}); got != c.Shown[i] {
				t.Errorf("%v between %v and %v: %v", x, c.Min, c.Max, got)
			}
		}
	}
	layouts, _ := Parse(v.Listings)
	r := apply(t, find(t, layouts, v.Slices.Viz), input(v.Slices.Ranks, demoEvents(v.Slices.Ranks)))
	p := r.Points[0]
	for _, c := range v.Slices.Cases {
		f := scene.SpaceFilter{Ranged: true, Min: c.Min, Max: c.Max}
		for name, at := range c.Axes {
			a := strings.Index("xyz", name)
			f.Slice[a], f.At[a], f.Width[a] = true, at, c.Width
		}
		var ranks []int
		var sum, shownSum float64
		shown := 0
		for i := range p.X {
			at := [3]float64{p.X[i], p.Y[i], p.Z[i]}
			if !f.Holds(at) {
				continue
			}
			ranks = append(ranks, i)
			sum += p.Color[i]
			if f.Shows(p.Color[i], at) {
				shown++
				shownSum += p.Color[i]
			}
		}
		if len(ranks) != c.Count || shown != c.VisibleCount || !slices.Equal(ranks[:min(len(ranks), len(c.First))], c.First) {
			t.Errorf("%v: %d ranks, %d shown, first %v", c.Axes, len(ranks), shown, ranks[:min(len(ranks), 5)])
		}
		if c.MeanSelection != nil && !near(sum/float64(len(ranks)), *c.MeanSelection) || c.MeanVisible != nil && !near(shownSum/float64(shown), *c.MeanVisible) {
			t.Errorf("%v: means %v, %v", c.Axes, sum/float64(len(ranks)), shownSum/float64(shown))
		}
	}
	for _, c := range v.Fill {
		p, err := Fill(c.N, c.Dims)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Points {
			if got := [3]float64{p.X[i], p.Y[i], p.Z[i]}; got != want {
				t.Errorf("rank %d of %v at %v, want %v", i, c.Dims, got, want)
			}
		}
	}
	if _, err := Fill(9, [3]int{2, 2, 2}); err == nil {
		t.Error("nine locations fit into eight places")
	}
	means := NodeMeans(v.NodeMeans.Coords, v.NodeMeans.Values)
	for i, m := range means {
		if got, _ := json.Marshal([]any{m.At, m.Value}); string(got) != strings.ReplaceAll(string(compact(v.NodeMeans.Means[i])), ".0", "") {
			t.Errorf("mean %d: %s, want %s", i, got, v.NodeMeans.Means[i])
		}
	}
}

func compact(b []byte) []byte {
	var x any
	_ = json.Unmarshal(b, &x)
	b, _ = json.Marshal(x)
	return b
}

// TestShippedLayoutsEvaluate reads TAU's own examples.
func TestShippedLayoutsEvaluate(t *testing.T) {
	b, err := os.ReadFile("testdata/example_topologies.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(string(b)); err == nil {
		t.Error("the file has one name twice: strict reading must say so")
	}
	layouts, warnings, err := ParseCompatible(string(b))
	if err != nil || len(layouts) != 13 || len(warnings) == 0 {
		t.Fatalf("%d layouts, warnings %v, %v", len(layouts), warnings, err)
	}
	for _, l := range layouts {
		r, err := l.Apply(context.Background(), input(256, demoEvents(256)))
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		for k := range r.Points {
			placed := 0
			for _, ok := range r.Points[k].Place(r.Restrict) {
				if ok {
					placed++
				}
			}
			if placed == 0 {
				t.Errorf("%s: no point of %d is placed", l.Name, k)
			}
		}
	}
}

func TestRandomPlacesStayTheSame(t *testing.T) {
	layouts, err := Parse("BEGIN_VIZ=r\nx=rand()\ny=rand()\nz=rand()*rank\nEND_VIZ")
	if err != nil {
		t.Fatal(err)
	}
	a, b := apply(t, layouts[0], &Input{N: 5000}), apply(t, layouts[0], &Input{N: 5000})
	if !slices.Equal(a.Points[0].X, b.Points[0].X) || slices.Equal(a.Points[0].X, a.Points[0].Y) {
		t.Error("rand must depend on layout, rank and place alone")
	}
	for _, x := range a.Points[0].X {
		if x < 0 || x >= 1 {
			t.Fatal(x)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("BEGIN_VIZ=a\nx=1+rank*(2-3)^2,y=0\nz=metadata(Node Name)\nEND_VIZ")
	f.Add("BEGIN_VIZ=a\nx0=1\ny0=mod(rank,\n3)\nz0=0\nx1=rand()\ny1=1\nz1=1\nEND_VIZ")
	f.Fuzz(func(t *testing.T, text string) {
		layouts, _, err := ParseCompatible(text)
		if err != nil {
			return
		}
		for _, l := range layouts {
			_, _ = l.Apply(context.Background(), &Input{N: 3})
		}
		if _, err := Parse(text); err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T", err)
			}
			_ = e.Caret()
		}
	})
}

func BenchmarkSphereOfAMillion(b *testing.B) {
	v := load(b)
	layouts, _ := Parse(v.Listings)
	l := find(b, layouts, "sphere")
	in := &Input{N: 1_000_000}
	for b.Loop() {
		apply(b, l, in)
	}
}
