package routetest

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A statement holds all numbers that texts of a view may state: those of its data and table, the lengths of their
// lists, the request, and the numbers of single intervals, of regions and of roles on a location and below it.
// Sorted, without signs.
type statement struct{ all []float64 }

func (r *Run) statement() *statement {
	s := &statement{}
	var data any
	must(r, json.Unmarshal(r.data, &data))
	s.walk(data)
	if d, ok := data.(map[string]any); ok {
		if n, ok := d["slices"].(float64); ok {
			s.all = append(s.all, float64(r.Window.End-r.Window.Begin)/n)
		}
	}
	t := r.Result.Table()
	for _, row := range t.Rows {
		for _, c := range row {
			s.walk(c)
		}
	}
	s.all = append(s.all, float64(len(t.Rows)), 0, 1)
	for _, t := range []trace.Time{r.Window.Begin, r.Window.End, r.Window.End - r.Window.Begin, r.End} {
		s.all = append(s.all, float64(t))
	}
	s.recorded(r)
	slices.Sort(s.all)
	s.all = slices.Compact(s.all)
	return s
}

func (s *statement) recorded(r *Run) {
	r.lanes(&r.Window, func(l *Lane) {
		for i, row := range l.Rows {
			length := row.End - row.Begin
			for _, t := range []trace.Time{row.Begin, row.End, length, l.exclusive(i),
				r.Window.clip(row.Begin, row.End)} {
				s.all = append(s.all, float64(t))
			}
		}
	})
	for _, l := range r.Links {
		s.all = append(s.all, float64(l.FromTime), float64(l.ToTime), math.Abs(float64(l.ToTime-l.FromTime)),
			float64(l.Size))
	}
	type below struct {
		id   trace.LocationID
		what any
	}
	sums := map[below]sum{}
	for c, v := range r.totals(&r.Window) {
		for up := c.Location; ; up = r.Tree.Parent[up] {
			for _, what := range []any{c.Region, r.Regions[c.Region].Role, r.Regions[c.Region].Name,
				r.Regions[c.Region].Role.Busy()} {
				t := sums[below{up, what}]
				sums[below{up, what}] = sum{t.Calls + v.Calls, t.Inclusive + v.Inclusive, t.Exclusive + v.Exclusive}
			}
			if up == trace.NoLocation {
				break
			}
		}
	}
	for _, id := range r.holders(&r.Window) {
		for _, t := range r.states(id, r.Window.Begin, r.Window.End) {
			if t.Role == trace.RoleNone {
				continue
			}
			for up := id; ; up = r.Tree.Parent[up] {
				k := below{up, "idle"}
				if t.Role.Busy() {
					k.what = "busy"
				}
				sums[k] = sum{Exclusive: sums[k].Exclusive + float64(t.End-t.Begin)}
				if up == trace.NoLocation {
					break
				}
			}
		}
	}
	for k, v := range sums {
		if _, region := k.what.(trace.RegionID); region && k.id != trace.NoLocation {
			of := sums[below{k.id, true}].Exclusive + sums[below{k.id, false}].Exclusive
			s.all = append(s.all, v.Exclusive/max(of, 1), v.Exclusive/float64(max(r.Window.End-r.Window.Begin, 1)))
		}
		s.all = append(s.all, v.Calls, v.Inclusive, v.Exclusive)
	}
}

func (s *statement) walk(x any) {
	switch x := x.(type) {
	case map[string]any:
		for _, v := range x {
			s.walk(v)
		}
	case []any:
		s.all = append(s.all, float64(len(x)))
		for _, v := range x {
			s.walk(v)
		}
	case int64:
		s.all = append(s.all, math.Abs(float64(x)))
	case float64:
		s.all = append(s.all, math.Abs(x))
	}
}

// A figure is a number in a text, as it is written: so far as its last digit goes.
type figure struct {
	text  string
	unit  string
	value float64 // in ns, bytes, shares or plainly
	slack float64
	below bool // it is less than that, and something
}

var figures = regexp.MustCompile(
	`(?:^|[\s(\[≤≥<>=×~+-])(< |> -)?(\d[\d,]*(?:\.\d+)?)( ?(?:ns|µs|ms|s|min|h|%|KiB|MiB|GiB|B|k|M|G)\b| ?%)?`,
)

var sizes = map[string]float64{"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "B": 1, "KiB": 1 << 10,
	"MiB": 1 << 20, "GiB": 1 << 30, "k": 1e3, "M": 1e6, "G": 1e9}

// figuresIn reads the numbers of a text.
func figuresIn(text string) (out []figure) {
	for _, m := range figures.FindAllStringSubmatch(text, -1) {
		digits := strings.ReplaceAll(m[2], ",", "")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			continue
		}
		last := 1.0
		if _, after, ok := strings.Cut(digits, "."); ok {
			last = math.Pow(10, -float64(len(after)))
		}
		unit := strings.TrimSpace(m[3])
		size := sizes[unit]
		out = append(out,
			figure{strings.TrimSpace(m[1] + m[2] + m[3]), unit, v * size, last * size / 2 * (1 + 1e-9), m[1] != ""})
	}
	return out
}

// among reports whether one of the sorted numbers rounds to the figure.
func (f figure) among(sorted []float64) bool {
	slack := f.slack + 1e-9*math.Abs(f.value)
	if f.below {
		i, found := slices.BinarySearch(sorted, 0)
		for found && i < len(sorted) && sorted[i] == 0 {
			i++
		}
		return i < len(sorted) && sorted[i] < f.value
	}
	i, _ := slices.BinarySearch(sorted, f.value-slack)
	return i < len(sorted) && sorted[i] <= f.value+slack
}

// derived are lines of tooltips with more than the data, and the tests that check them.
var derived = map[string]string{
	"source exclusive of the file": "the sums of files, which sourceRoute adds up",
	"groups time in common":        "pairs are not listed; the groups' route holds them",
	"groups calls in common":       "pairs are not listed; the groups' route holds them",
	"treemap gain as one":          "inner nodes are not listed; entropy.TestTreesEqualTheOracle",
	"treemap loss as one":          "inner nodes are not listed; entropy.TestTreesEqualTheOracle",
	"treemap drawn as one above":   "inner nodes are not listed; entropy.TestThresholdsEqualAlgorithm1",
	"moments as one bar":           "drawn from the moments beside it; moment.TestTwoBarsInvertTheMoments",
	"moments as two bars":          "drawn from the moments beside it; moment.TestTwoBarsInvertTheMoments",
	"timeline from":                "the edge of a cell, which --all does not list; timeline's brute_test.go",
	"timeline to":                  "the edge of a cell, which --all does not list; timeline's brute_test.go",
	"requests waits most for":      "whom a request waits for is not listed one by one; the view's own tests",
	"moments stands out":           "a sentence; see sentences",
}

// tooltips checks that the data state the numbers of tooltips: the exact number of a line must be among the data of
// the thing it is about, and the readable number rounded from that.
func (r *Run) tooltips(all func() *statement, s *speech) {
	size := scene.Size{Width: 900, Height: 600}
	sc := r.Result.Scene(size)
	seen, most := map[string]bool{}, 40
	if len(r.Lanes) > 100 {
		most = 8
	}
	for y := 7; y < size.Height; y += 41 {
		for x := 7; x < size.Width; x += 53 {
			if len(seen) > most {
				return
			}
			f, ok, _ := view.PickAt(r.Result, sc, float64(x), float64(y))
			key := f.Title + fmt.Sprint(f.Lines)
			if !ok || seen[key] {
				continue
			}
			seen[key] = true
			r.tooltip(all, s, &f)
		}
	}
}

func (r *Run) tooltip(all func() *statement, s *speech, f *view.Fact) {
	if r.View.Name == "activity" && f.Begin != nil && r.Window.Regions == nil {
		r.activityTooltip(f)
		return
	}
	if r.View.Name == "contrast" && (r.Window.Begin > 0 || r.Window.End < r.End) { // B is the time outside
		return
	}
	if r.View.Name == "steps" && strings.Contains(f.Title, " (mean of ") { // steps are listed, means are not
		return
	}
	if r.View.Name == "callmatrix" && f.Count > 1 { // the data distinguish the members of a slice
		return
	}
	of := s.spokenOf(f.Title, f.Text)
	if f.Text != "" {
		here := newThings()
		for _, id := range f.Locations {
			here.locations[id] = true
		}
		var there []float64
		for _, rec := range s.records {
			if rec.at(f.Begin, f.End, here) {
				there = append(there, rec.numbers...)
			}
		}
		r.sentence(all, s, f.Text, here.with(of), there)
	}
	for _, id := range f.Locations {
		of.locations[id] = true
	}
	for _, id := range f.Regions {
		of.regions[r.Regions[id].Name] = true
	}
	var said []view.FactLine
	var wanted [][]float64
	for _, l := range f.Lines {
		if of = of.with(s.spokenOf(l.Label)); l.Exact == "" {
			of = of.with(s.spokenOf(l.Value))
		}
		exact := exactly(l.Exact)
		if exact == nil || derived[r.View.Name+" "+l.Label] != "" || strings.HasPrefix(l.Label, "later than ") {
			continue
		}
		if r.View.Name == "timeline" && strings.Contains(l.Value, " %, ") { // of a cell; timeline's brute_test.go
			continue
		}
		shown := figuresIn(l.Value)
		for i, v := range exact {
			if i < len(shown) && (shown[i].unit == "%") == !strings.HasSuffix(l.Exact, " ns") &&
				!shown[i].among([]float64{math.Abs(v)}) {
				r.wrong("tooltip of %s says %s is %s, exactly %s", f.Title, l.Label, l.Value, l.Exact)
			}
		}
		said, wanted = append(said, l), append(wanted, exact)
	}
	known := append(s.known(of), s.measured(&r.Window, of)...)
	known = append(known, float64(r.Window.Begin), float64(r.Window.End), float64(r.Window.End-r.Window.Begin), 0, 1)
	if f.Begin != nil {
		w := r.window(trace.Selection{Begin: *f.Begin, End: *f.End, Locations: r.Window.Locations})
		known = append(append(known, s.measured(&w, of)...), float64(w.Begin), float64(w.End), float64(w.End-w.Begin))
	}
	slices.Sort(known)
	var missing []int
	for i := range wanted {
		if !allAmong(wanted[i], known) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return
	}
	// A thing without a name, such as a bin, is one record that states all of it.
	for _, rec := range s.records {
		numbers := rec.numbers
		if rec.keys[f.Text] { // the very sentence
			numbers = rec.deep
		} else if !rec.about.within(of) && !rec.at(f.Begin, f.End, of) {
			continue
		}
		if !slices.ContainsFunc(missing, func(i int) bool { return !allAmong(wanted[i], numbers) }) {
			return
		}
	}
	l := said[missing[0]]
	r.wrong("tooltip of %s says %s is %s (%s), which the data do not state of it", f.Title, l.Label, l.Value, l.Exact)
}

// allAmong reports whether each of some numbers is among sorted ones.
func allAmong(list, sorted []float64) bool {
	for _, v := range list {
		v = math.Abs(v)
		if !(figure{value: v, slack: 1e-6 * v}).among(sorted) {
			return false
		}
	}
	return true
}

// activityTooltip recomputes the shares of a column, which may be of several bins.
func (r *Run) activityTooltip(f *view.Fact) {
	ids := r.holders(&r.Window)
	want := map[string]float64{}
	for _, id := range ids {
		for _, s := range r.states(id, *f.Begin, *f.End) {
			want[r.activityName(s)] += float64(s.End-s.Begin) / float64(*f.End-*f.Begin) / float64(len(ids))
		}
	}
	for _, l := range f.Lines[2:] { // after from and to
		if v := exactly(l.Exact); len(v) == 1 && !(r.Options["by"] == "regions" && r.sharesLanes()) {
			r.same("tooltip from "+view.FormatTime(*f.Begin)+": "+l.Label, v[0], want[l.Label])
		}
	}
}

// exactly reads "4,096 ns", "0.25" or "40, 41".
func exactly(text string) (out []float64) {
	for _, part := range strings.Split(text, ", ") {
		part, _, _ = strings.Cut(part, " ")
		v, err := strconv.ParseFloat(strings.ReplaceAll(part, ",", ""), 64)
		if err != nil {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// sentences holds the notes, the title and the description of a picture against the data.
func (r *Run) sentences(all func() *statement, s *speech) {
	sc := r.Result.Scene(scene.Size{Width: 900, Height: 600})
	for _, text := range append(slices.Clone(r.Notes), sc.Title, sc.Description) {
		r.sentence(all, s, text, newThings(), nil)
	}
}

// quantiles are the names of the parts of a square in a call matrix.
var quantiles = []float64{0.02, 0.25, 0.5, 0.75, 0.98}

var exponent = regexp.MustCompile(`\d[eE][-+]?\d`)

// sentence checks the numbers of a text against the things it names: a number with a unit must be one of the things
// named, or of the whole; a number of locations, calls or messages must be one that the data or the raw records
// count. Known are further numbers of its subject.
func (r *Run) sentence(all func() *statement, s *speech, text string, of things, known []float64) {
	of = of.with(s.spokenOf(text))
	plain := s.withoutNames(text)
	said := slices.DeleteFunc(figuresIn(plain), func(f figure) bool { return f.unit == "" })
	switch {
	case len(said) == 0:
	case of.empty():
		known = slices.Clone(all().all)
	default:
		known = append(append(known, s.known(of)...), s.measured(&r.Window, of)...)
		for _, rec := range s.records {
			if rec.about.empty() || rec.keys[text] {
				known = append(known, rec.deep...)
			}
		}
		known = append(known, float64(r.Window.Begin), float64(r.Window.End), float64(r.Window.End-r.Window.Begin),
			float64(r.End))
	}
	slices.Sort(known)
	for _, f := range said {
		if !f.among(known) && !s.compared(text, f) && !(r.View.Name == "callmatrix" && f.among(quantiles)) {
			r.wrong("%q: the data do not state %s of it", text, f.text)
		}
	}
	for _, m := range countedWords.FindAllStringSubmatch(plain, -1) {
		n, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if !s.howMany(&r.Window, n, m[2]) {
			r.wrong("%q: the data count no %s %s", text, m[1], m[2])
		}
	}
	if exponent.MatchString(plain) {
		r.wrong("%q: a number that nobody reads", text)
	}
}

// words holds tooltips and sentences against the data.
func (r *Run) words() {
	if r.Result == nil {
		return
	}
	// few say something of nothing named
	s, all := newSpeech(r.Raw, r.data, r.Result.Table()), sync.OnceValue(r.statement)
	r.tooltips(all, s)
	r.sentences(all, s)
}
