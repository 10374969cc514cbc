package entropy

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// A firstCase is a tree of rows of values, with the answer of an independent program.
type firstCase struct {
	Name   string
	Tree   any // a row, or a list of trees
	Values []json.RawMessage
	Counts []int
	Slices int
	Answer struct {
		First struct {
			Why                     Why
			P, From, To, Gain, Loss float64
			SpreadFrom              float64 `json:"spread_from"`
			SpreadTo                any     `json:"spread_to"`
			Parts                   int
		}
		Stretches [][5]float64
		At        [][4]float64
	}
}

func loadFirst(t *testing.T) (v struct{ Treemap, Overview []firstCase }) {
	t.Helper()
	b, err := os.ReadFile("testdata/firstp.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// build makes the tree of a shape; leaf is told the node of each row. A row that stands
// for several leaves becomes a node above them.
func (c *firstCase) build(leaf func(node, row int)) *Tree {
	t := &Tree{}
	add := func(parent int32) int32 {
		t.Parent, t.Last = append(t.Parent, parent), append(t.Last, int32(t.Len()))
		return int32(t.Len() - 1)
	}
	var walk func(shape any, parent int32)
	walk = func(shape any, parent int32) {
		at := add(parent)
		switch x := shape.(type) {
		case []any:
			for _, s := range x {
				walk(s, at)
			}
		case float64:
			row := int(x)
			if c.Counts == nil || c.Counts[row] == 1 {
				leaf(int(at), row)
				break
			}
			for range c.Counts[row] {
				leaf(int(add(at)), row)
			}
		}
		t.Last[at] = int32(t.Len() - 1)
	}
	walk(c.Tree, -1)
	return t
}

func (c *firstCase) labels(t *testing.T) *Labels {
	t.Helper()
	var rows [][]float64
	for _, r := range c.Values {
		var row []float64
		if err := json.Unmarshal(r, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	at := map[int]int{}
	tree := c.build(func(node, row int) { at[node] = row })
	values := make([][]float64, len(rows[0]))
	for x := range values {
		values[x] = make([]float64, tree.Len())
		for node, row := range at {
			values[x][node] = rows[row][x]
			if c.Counts != nil {
				values[x][node] /= float64(c.Counts[row])
			}
		}
	}
	return Label(tree, values, GainValues)
}

func close9(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// TestRangesOfPAndTheFirstPEqualTheOracle: all stretches of p of a treemap, and the one that it
// begins with.
func TestRangesOfPAndTheFirstPEqualTheOracle(t *testing.T) {
	for _, c := range loadFirst(t).Treemap {
		l := c.labels(t)
		p := l.Axis(Normalised).P
		thresholds, significant := l.Thresholds()
		list := l.Stretches(thresholds, significant)
		if len(list) != len(c.Answer.Stretches) {
			t.Errorf("%s: %d stretches, want %d", c.Name, len(list), len(c.Answer.Stretches))
			continue
		}
		for k, s := range list {
			got := [5]float64{p(s.From), p(s.To), s.Gain / l.Gain[0], s.Loss / l.Loss[0], float64(s.Parts)}
			for i, want := range c.Answer.Stretches[k] {
				if !close9(got[i], want) {
					t.Errorf("%s: stretch %d is %v, want %v", c.Name, k, got, c.Answer.Stretches[k])
					break
				}
			}
		}
		spread := l.Spread()
		k, why := First(list, spread, l.Loss[0])
		checkFirst(t, &c, list[k], why, spread, p, l.Gain[0], l.Loss[0])
	}
}

func checkFirst(t *testing.T, c *firstCase, s Stretch, why Why, spread Spread, p func(float64) float64, gain, loss float64) {
	t.Helper()
	want := c.Answer.First
	if why != want.Why || s.Parts != want.Parts || !close9(s.Gain/gain, want.Gain) || !close9(s.Loss/loss, want.Loss) ||
		!close9(p(s.From), want.From) || !close9(p(s.To), want.To) || !close9(spread.Of(s.From), want.SpreadFrom) {
		t.Errorf("%s: begins with %v, p %v to %v, since %s; want %+v", c.Name, s, p(s.From), p(s.To), why, want)
	}
	if to, ok := want.SpreadTo.(float64); ok && !close9(spread.Of(s.To), to) || !ok && !math.IsInf(spread.Of(s.To), 1) {
		t.Errorf("%s: deviations up to %v, want %v", c.Name, spread.Of(s.To), want.SpreadTo)
	}
	if got := spread.Middle(s, p); !close9(got, want.P) {
		t.Errorf("%s: p = %v, want %v", c.Name, got, want.P)
	}
}

func (c *firstCase) spaceTime(t *testing.T) *SpaceTime {
	t.Helper()
	at := map[int]int{}
	tree := c.build(func(node, row int) { at[node] = row })
	var rows [][][]float64 // by slice and variable
	for _, r := range c.Values {
		var row [][]float64
		if err := json.Unmarshal(r, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	cells := &Cells{}
	for x := range rows[0][0] {
		v, f := make([]float64, tree.Len()*c.Slices), make([]float64, tree.Len()*c.Slices)
		for node, row := range at {
			for s := range c.Slices {
				v[node*c.Slices+s] = rows[row][s][x]
				f[node*c.Slices+s] = xlog2(rows[row][s][x])
			}
		}
		cells.Sum, cells.Info = append(cells.Sum, v), append(cells.Info, f)
	}
	st, err := NewCells(context.Background(), tree, c.Slices, cells, GainValues)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestFirstPOfOverviewsEqualsTheOracle: the stretch that an overview begins with, and the
// list of stretches at several p.
func TestFirstPOfOverviewsEqualsTheOracle(t *testing.T) {
	ctx := context.Background()
	for _, c := range loadFirst(t).Overview {
		st := c.spaceTime(t)
		gain, loss := st.Whole()
		p := st.Axis(Normalised).P
		e, err := NewEnvelope(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		s, why, err := e.First(ctx, st.Spread())
		if err != nil {
			t.Fatal(err)
		}
		checkFirst(t, &c, s, why, st.Spread(), p, gain, loss)
		list, _, err := e.Stretches(ctx, s, 2e7)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(list, s) {
			t.Errorf("%s: the first stretch is not listed", c.Name)
		}
		for _, at := range c.Answer.At {
			for _, x := range list {
				if p(x.From) < at[0] && at[0] <= p(x.To) && (!close9(x.Gain/gain, at[1]) || !close9(x.Loss/loss, at[2]) || x.Parts != int(at[3])) {
					t.Errorf("%s at p = %v: %v, want %v", c.Name, at[0], x, at)
				}
			}
		}
	}
}

// TestRangesOfPOfAnOverviewAreItsCuts: they adjoin from 0 to 1, each threshold has another
// cut on either side, and inside each the programme finds the cut that it names.
func TestRangesOfPOfAnOverviewAreItsCuts(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		st := randomSpaceTime(t, r)
		e, err := NewEnvelope(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			if _, _, err := e.First(ctx, st.Spread()); err != nil {
				t.Fatal(err)
			}
			e.Rest()
		}
		list, complete, err := e.Stretches(ctx, Stretch{}, 1e9)
		if err != nil || !complete || list[0].From != 0 || !math.IsInf(list[len(list)-1].To, 1) {
			t.Fatalf("%v, complete %v, %v", list, complete, err)
		}
		for k, s := range list {
			if k > 0 && (s.From != list[k-1].To || s.Parts >= list[k-1].Parts) {
				t.Errorf("%v after %v", s, list[k-1])
			}
			for _, at := range []float64{0.001, 0.5, 0.999} {
				to := min(s.To, 4*s.From+1e-6)
				odds := s.From + at*(to-s.From)
				parts, _, err := st.Best(ctx, Weights{odds, 1})
				if err != nil {
					t.Fatal(err)
				}
				var loss float64
				for _, p := range parts {
					loss += p.Loss
				}
				if len(parts) != s.Parts || !close9(loss, s.Loss) {
					t.Errorf("%v at %v: %d parts, loss %v", s, odds, len(parts), loss)
				}
			}
		}
	}
}

func randomSpaceTime(t *testing.T, r *rand.Rand) *SpaceTime {
	t.Helper()
	c := firstCase{Slices: 3 + r.IntN(8)}
	var machines []any
	row := 0.0
	for range 1 + r.IntN(4) {
		var leaves []any
		for range 2 + r.IntN(4) {
			values := make([][]float64, c.Slices)
			for s := range values {
				values[s] = []float64{float64(5 + r.IntN(3)*r.IntN(20)), float64(r.IntN(9))}
			}
			b, _ := json.Marshal(values)
			c.Values = append(c.Values, b)
			leaves = append(leaves, row)
			row++
		}
		machines = append(machines, leaves)
	}
	c.Tree = machines
	return c.spaceTime(t)
}

func TestANarrowRangeOfDeviationsIsOneNumber(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		from, to *float64
		want     string
	}{
		{share(0.01), share(0.11), "1-11 %"},
		{share(1.25), share(1.26), "about 126 %"},
		{share(0.79), share(0.792), "79 %"},
		{share(0), share(0.3), "30 %"},
		{share(0.5), nil, "50 % or any share above"},
	} {
		choice := Choice{SpreadFrom: c.from, SpreadTo: c.to}
		if got := choice.spreads(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A first picture that draws everything apart is taken only if no other one lasts: long stretches that aggregate some
// come before it, and one that aggregates all does not.
func TestAFirstPictureAggregatesSomeIfThatLasts(t *testing.T) {
	s := Spread{Mean: 1e6, Variables: 1}
	of := func(c ...float64) (list []Stretch) { // stretches that end at these deviations
		from := 0.0
		for k, x := range append(c, math.Inf(1)) {
			list = append(list, Stretch{From: from, To: s.Odds(x), Loss: float64(k), Gain: float64(k), Parts: 128 >> (2 * k)})
			from = s.Odds(x)
		}
		list[len(list)-1].To, list[len(list)-1].Parts = Never, 1
		return list
	}
	for _, c := range []struct {
		name string
		ends []float64
		want int
	}{
		{"the longest is the finest, a shorter one lasts", []float64{0.03, 0.1}, 1},
		{"no other lasts", []float64{0.1, 0.2}, 0},
		{"only all as one lasts", []float64{0.03, 0.05}, 2}, // ln(0.5/0.05) is the longest anyway
		{"all as one lasts, the finest longer", []float64{0.09, 0.1}, 0},
	} {
		k, why := First(of(c.ends...), s, 10)
		if k != c.want || why != WhyStretch {
			t.Errorf("%s: begins with %d by %s, want %d", c.name, k, why, c.want)
		}
	}
}

// A choice is said in words that fit its picture.
func TestChoicesAreSaidAsTheyAre(t *testing.T) {
	s, axis := Spread{Mean: 1e6, Variables: 1}, Axis{Gain: 1e6, Loss: 1e6, Scale: Normalised}
	for want, c := range map[string]struct {
		Stretch
		Why
	}{
		"nothing is drawn as one, because the members of each group differ by at least 4 %":  {Stretch{To: s.Odds(0.04), Parts: 9}, WhyStretch},
		"what differs by less than 2-20 % is drawn as one":                                   {Stretch{From: s.Odds(0.02), To: s.Odds(0.2), Gain: 1, Loss: 1}, WhyStretch},
		"chosen: the finest picture of at most 256 boxes; what differs by less than 10-20 %": {Stretch{From: s.Odds(0.1), To: s.Odds(0.2), Gain: 1, Loss: 1}, WhyParts},
	} {
		choice := Choose(c.Stretch, c.Why, s, axis)
		if got := choice.String(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	choice := Choose(Stretch{From: s.Odds(1.7), To: s.Odds(1.8), Gain: 1, Loss: 1}, WhyParts, s, axis)
	if got := choice.String(); !strings.HasSuffix(got, "chosen: the finest picture of at most 256 boxes") {
		t.Errorf("a deviation of 170 %% is said: %q", got)
	}
}
