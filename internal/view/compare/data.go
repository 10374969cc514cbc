package compare

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/runchange"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one part of the runs. A and B are medians over runs, shift that of all differences with its interval, and
// change that of all ratios, less one, with its interval of 95 %, which limits are held against. Difference is that
// of the means, which add up. With one run per side low, high, p and q are null, and the spread over steps is next to
// them. p is that of the ranks; p_normal that of Welch's test of the logarithms, where the sides do not overlap: it
// decides where there are too few runs for ranks.
type Row struct {
	Kind       string          `json:"kind" unit:""`
	CallPath   string          `json:"callpath" unit:""`
	Region     string          `json:"region" unit:""`
	Was        string          `json:"was,omitempty"`
	A          float64         `json:"a" unit:"of"`
	B          float64         `json:"b" unit:"of"`
	Difference float64         `json:"difference" unit:"of"`
	Ratio      *float64        `json:"ratio" unit:""`
	Shift      float64         `json:"shift" unit:"of"`
	Low        *float64        `json:"low" unit:"of"`
	High       *float64        `json:"high" unit:"of"`
	Change     *float64        `json:"change" unit:"share"`
	ChangeLow  *float64        `json:"change_low" unit:"share"`
	ChangeHigh *float64        `json:"change_high" unit:"share"`
	P          *float64        `json:"p" unit:""`
	PNormal    *float64        `json:"p_normal" unit:""`
	Q          *float64        `json:"q" unit:""`
	Delta      float64         `json:"delta" unit:""`
	Verdict    compare.Verdict `json:"verdict" unit:""`
	Detectable *float64        `json:"detectable" unit:"share"` // the least change that these runs could show
	Needed     *int            `json:"needed"`                  // runs a side that would show the least worth saying
	CallsA     *float64        `json:"calls_a" unit:""`         // null if they are not counted, as of samples
	CallsB     *float64        `json:"calls_b" unit:""`
	Matched    string          `json:"matched" unit:""`
	ValuesA    []float64       `json:"values_a"`
	ValuesB    []float64       `json:"values_b"`
	Steps      *Steps          `json:"steps,omitempty"`
	ID         *trace.RegionID `json:"-" about:"region"`
}

// Steps is the shift over the steps of one run per side. They are not independent, so it
// says how much steps vary, not whether another run would.
type Steps struct {
	Shift float64 `json:"shift"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	P     float64 `json:"p"`
}

// A Factor is part of the decomposition of the length: logs of all but the last add up
// to that of the last, the length.
type Factor struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	Log  float64 `json:"log"`
}

// A Run is one that takes part.
type Run struct {
	Name   string            `json:"name"`
	Source string            `json:"source"`
	Length float64           `json:"length"`
	Ranks  int               `json:"ranks"`
	Steps  int               `json:"steps"`
	Keys   map[string]string `json:"keys"`
}

// A Taken is a run with the side and the files that it was taken from.
type Taken struct {
	Side  string   `json:"side"`
	Run   string   `json:"run"`
	Files []string `json:"files"`
	Ranks int      `json:"ranks"`
	Steps int      `json:"steps"`
}

// Matched is the share of time by how call paths were matched.
type Matched struct {
	Share float64            `json:"share"` // on both sides
	By    map[string]float64 `json:"by"`
}

// Sum is the change of the length as a sum: length = parts + unrecorded, all differences of means.
type Sum struct {
	Of         string  `json:"of"` // run or step
	Length     float64 `json:"length"`
	Parts      float64 `json:"parts"`
	Unrecorded float64 `json:"unrecorded"`
	Rest       float64 `json:"rest"` // Unrecorded under its name of the release before
}

// Data is the "data" of the JSON output.
type Data struct {
	Runs    []Taken  `json:"runs"`
	A       []Run    `json:"a"`
	B       []Run    `json:"b"`
	Unit    string   `json:"unit"`
	Per     string   `json:"per"` // unit of times: location, or step
	Matched Matched  `json:"matched"`
	Length  Row      `json:"length"`
	Rows    []Row    `json:"rows"`
	Rest    *Row     `json:"rest"`
	Sum     Sum      `json:"sum"`
	Closing Sum      `json:"closing"` // Sum under its name of the release before
	Factors []Factor `json:"factors"`
	Text    string   `json:"text"`
}

// Data implements view.Result.
func (r *result) Data() any {
	d := Data{Runs: r.taken(), A: r.runsOf(0), B: r.runsOf(1), Unit: r.unit, Per: "location", Length: r.row(r.Length),
		Rows: make([]Row, len(r.Rows)), Factors: []Factor{}, Text: r.text}
	if r.Stepped {
		d.Per = "step"
	}
	d.Matched.By = map[string]float64{}
	for t, share := range r.Matched() {
		if d.Matched.By[compare.Tier(t).String()] = share; compare.Tier(t) != compare.OneSided {
			d.Matched.Share += share
		}
	}
	d.Sum = Sum{Of: r.Length.Name, Length: r.Length.Difference()}
	for i, q := range r.Rows {
		d.Rows[i] = r.row(q)
		if r.Parted == (q.Kind == "part") {
			d.Sum.Parts += q.Difference()
		}
	}
	if r.Rest != nil {
		x := r.row(r.Rest)
		d.Rest, d.Sum.Unrecorded = &x, r.Rest.Difference()
	} else {
		d.Sum.Unrecorded = d.Sum.Length - d.Sum.Parts
	}
	d.Sum.Rest = d.Sum.Unrecorded
	d.Closing = d.Sum
	for _, f := range r.Factors {
		d.Factors = append(d.Factors, Factor{f.Name, f.A, f.B, f.Log})
	}
	return d
}

// taken lists the runs of A, then those of B.
func (r *result) taken() []Taken {
	out := []Taken{}
	for side, runs := range r.Runs {
		for _, i := range runs {
			files := r.request.Runs[i].Files
			if len(files) == 0 {
				files = []string{r.request.Runs[i].Source}
			}
			out = append(out,
				Taken{[2]string{"A", "B"}[side], r.names[i], files, r.Prints[i].Ranks, len(r.Prints[i].Steps)})
		}
	}
	return out
}

func (r *result) runsOf(side int) []Run {
	out := []Run{}
	for _, i := range r.Runs[side] {
		p := r.Prints[i]
		keys := map[string]string{}
		for k, v := range r.keys[i] {
			keys[k] = v
		}
		out = append(out, Run{r.names[i], r.request.Runs[i].Source, p.Length, p.Size(), len(p.Steps), keys})
	}
	return out
}

// callsOf is the number of calls that a side has of a call path; nil if no run of it counts calls, and of anything
// else.
func (r *result) callsOf(q *runchange.Quantity, side int) *float64 {
	if q.Node < 0 || !slices.ContainsFunc(r.Nodes, func(x *runchange.Quantity) bool { return x.Calls[side] > 0 }) {
		return nil
	}
	return &q.Calls[side]
}

func (r *result) row(q *runchange.Quantity) Row {
	e := &q.Estimate
	x := Row{Kind: q.Kind, CallPath: q.CallPath, Region: q.Name, Was: q.Was, A: e.A, B: e.B, Difference: q.Difference(),
		Ratio: view.Defined(e.B / e.A), Shift: e.Shift,
		Low: view.Defined(e.Low), High: view.Defined(e.High), Q: view.Defined(q.Q), Delta: e.Delta, Verdict: q.Verdict,
		Change: view.Defined(e.Change.Share), ChangeLow: view.Defined(e.Change.Low),
		ChangeHigh: view.Defined(e.Change.High), PNormal: view.Defined(e.PNormal),
		Detectable: view.Defined(e.Detectable()),
		CallsA:     r.callsOf(q, 0), CallsB: r.callsOf(q, 1), ValuesA: q.Values[0], ValuesB: q.Values[1],
		Matched: "name"}
	if e.NA+e.NB > 2 {
		x.P = view.Defined(e.P)
	}
	if n := compare.Needed(q.Values[0], q.Values[1], max(r.Worth, 1e-4)); n > 0 && q.Verdict == compare.Unknown {
		x.Needed = &n
	}
	if q.Node >= 0 {
		x.Matched = r.Tree.Nodes[q.Node].Tier.String()
		if ids := r.regionsOf(q); len(ids) > 0 {
			x.ID = &ids[0]
		}
	}
	if s := q.Steps; s != nil && !math.IsNaN(s.Low) {
		x.Steps = &Steps{s.Shift, s.Low, s.High, s.P}
	}
	return x
}

// regionsOf finds the regions of the first run that a row is about.
func (r *result) regionsOf(q *runchange.Quantity) []trace.RegionID {
	if r.regions == nil {
		r.regions = map[string][]trace.RegionID{}
		for i, g := range r.request.Store().Regions() {
			name := trace.FoldAcrossRuns(g.Name, g.Role)
			r.regions[name] = append(r.regions[name], trace.RegionID(i))
		}
	}
	if ids := r.regions[q.Was]; q.Was != "" && len(ids) > 0 {
		return ids
	}
	return r.regions[q.Name]
}

// Table has a line for each row.
func (r *result) Table() *view.Table {
	rows := make([]Row, len(r.Rows))
	for i, q := range r.Rows {
		rows[i] = r.row(q)
	}
	return view.TableOf(rows, map[string]string{"of": r.axisUnit()}, nil)
}

// Item kinds of the pictures.
const (
	itemRow    uint8 = iota + 1 // A: row
	itemLength                  // the whole
	itemCell                    // A: row, B: run
	itemStep                    // A: run, B: step
	itemRank                    // A: unit
	itemNode                    // A: node of the tree
	itemRest
)

// Fact implements view.Facts.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	a, b := int(it.A), int(it.B)
	switch it.Of {
	case itemRow:
		return r.fact(r.Rows[a]), true
	case itemLength:
		return r.fact(r.Length), true
	case itemRest:
		return r.fact(r.Rest), true
	case itemNode:
		q := r.Nodes[a]
		f := r.fact(q)
		f.Say("with all it calls, A", r.format(q.Inclusive[0]), view.Cell(q.Inclusive[0]))
		f.Say("with all it calls, B", r.format(q.Inclusive[1]), view.Cell(q.Inclusive[1]))
		return f, true
	case itemCell:
		q, v := r.heat()[a], r.valueOf(r.heat()[a], b)
		f := view.Fact{Title: label(q) + ", " + r.names[b], Regions: r.regionsOf(q)}
		f.Say("side", [2]string{"A", "B"}[r.side[b]], "")
		f.Say("time", r.format(v), view.Cell(v))
		f.Say("median of A", r.format(q.Estimate.A), view.Cell(q.Estimate.A))
		f.Say("against it", relative(v, q.Estimate.A), "")
		return f, true
	case itemStep:
		s := &r.Prints[a].Steps[b]
		f := view.Fact{Title: s.Name + ", " + r.names[a]}
		f.Say("length", r.format(s.Total), view.Cell(s.Total))
		for k, t := range s.Terms {
			if t > 0 {
				f.Say(runchange.Terms[k], r.format(t), view.Cell(t))
			}
		}
		return f, true
	case itemRank:
		x := r.ranks()[a]
		f := view.Fact{Title: x.name}
		f.Say("useful in A", r.format(x.a), view.Cell(x.a))
		f.Say("useful in B", r.format(x.b), view.Cell(x.b))
		f.Say("change", relative(x.b, x.a), "")
		return f, true
	}
	return view.Fact{}, false
}

func (r *result) fact(q *runchange.Quantity) view.Fact {
	e := &q.Estimate
	f := view.Fact{Title: label(q), Text: q.CallPath}
	if q.Node >= 0 {
		f.Regions = r.regionsOf(q)
	}
	f.Say("A", r.format(e.A), view.Cell(e.A))
	f.Say("B", r.format(e.B), view.Cell(e.B))
	f.Say("shift", r.signed(e.Shift), view.Cell(e.Shift))
	f.Say("difference of the means", r.signed(q.Difference()), view.Cell(q.Difference()))
	f.Say("verdict", verdictWords[q.Verdict], "")
	if !math.IsNaN(e.Low) {
		f.Say("interval", Interval(e), "")
		f.Say("p", probability(e.P), view.Cell(e.P))
		if !math.IsNaN(e.PNormal) {
			f.Say("p, if runs are spread like a bell", probability(e.PNormal), view.Cell(e.PNormal))
		}
		if !math.IsNaN(q.Q) {
			f.Say("q, among all questions", probability(q.Q), view.Cell(q.Q))
		}
	}
	if d := e.Detectable(); !math.IsNaN(d) {
		f.Say("least change these runs show", percent(d), "")
	}
	if s := q.Steps; s != nil && !math.IsNaN(s.Low) {
		f.Say("over steps", r.signed(s.Low)+" … "+r.signed(s.High), "")
	}
	if q.Node >= 0 {
		f.Say("matched by", r.Tree.Nodes[q.Node].Tier.String(), "")
		if a, b := r.callsOf(q, 0), r.callsOf(q, 1); a != nil && b != nil {
			f.Say("calls in A, in B", view.FormatCount(*a)+", "+view.FormatCount(*b), "")
		}
	}
	return f
}

var verdictWords = map[compare.Verdict]string{compare.Changed: "changed",
	compare.Same: "not changed by more than is worth saying", compare.Unknown: "cannot tell"}
