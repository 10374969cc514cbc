package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A quantity is one number of each run.
type quantity struct {
	kind     string // length, part (of a step), path (exclusive time of a call path) or rest
	callpath string
	name     string
	was      string // its name in A, where that is another
	role     trace.Role
	node     int32 // of the tree; -1: none
	values   [2][]float64
	// inclusive is the mean time with all that is called, by side.
	inclusive [2]float64
	calls     [2]float64

	estimate compare.Estimate
	q        float64 // NaN: not asked
	verdict  compare.Verdict
	// steps is the estimate over steps of one run a side; its values are not independent.
	steps *compare.Estimate
}

// difference is that of the means: differences of parts add up to that of the whole.
func (q *quantity) difference() float64 { return mean(q.values[1]) - mean(q.values[0]) }

// leastShare is the part of the length that a quantity must reach in some run to be asked about: the
// choice does not look at sides, so it favours nothing.
const leastShare = 0.001

// termWords are the parts of a step as people who train networks know them.
var termWords = [step.Terms]string{"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec",
	"Other"}

var termRoles = [step.Terms]trace.Role{trace.RoleCompute, trace.RoleCopy, trace.RoleCopy, trace.RoleCommunication,
	trace.RoleOverhead, trace.RoleIO, trace.RoleCompute, trace.RoleNone}

// measure gathers the quantities to compare.
func (r *result) measure(pins []string) error {
	r.unit = r.prints[r.runs[0][0]].Unit
	if err := r.request.OneUnit(r.prints, slices.Concat(r.runs[0], r.runs[1])...); err != nil {
		return err
	}
	r.stepped, r.parted = fingerprint.BySteps(r.prints)
	pinned := map[string]string{}
	for _, p := range pins {
		old, now, ok := strings.Cut(p, "=")
		if !ok || old == "" || now == "" {
			return fmt.Errorf("--match %q: want OLD=NEW, names of a region in A and in B", p)
		}
		pinned[trace.FoldAcrossRuns(old, trace.RoleNone)] = trace.FoldAcrossRuns(now, trace.RoleNone)
	}
	r.length = r.each("length", "run", func(p *fingerprint.Print) float64 { return p.Length })
	if r.stepped {
		r.length = r.each("length", "step", func(p *fingerprint.Print) float64 { return meanStep(p, -1) })
	}
	if r.parted {
		for t := range step.Terms {
			q := r.each("part", termWords[t], func(p *fingerprint.Print) float64 { return meanStep(p, int(t)) })
			q.callpath, q.role = "step → "+termWords[t], termRoles[t]
			if slices.Max(q.values[0])+slices.Max(q.values[1]) > 0 {
				r.rows = append(r.rows, q)
			}
		}
	}
	r.paths(pinned)
	if !r.parted {
		r.rest = r.each("rest", "(nothing recorded)", func(p *fingerprint.Print) float64 {
			sum := 0.0
			for i := range p.Paths {
				sum += p.Paths[i].Exclusive
			}
			if r.stepped {
				return meanStep(p, -1) - sum/r.per(p)
			}
			return p.Length - sum/r.per(p)
		})
	}
	return nil
}

// each makes a quantity of a number of each run.
func (r *result) each(kind, name string, of func(*fingerprint.Print) float64) *quantity {
	q := &quantity{kind: kind, name: name, callpath: name, node: -1}
	for s, side := range r.runs {
		for _, i := range side {
			q.values[s] = append(q.values[s], of(r.prints[i]))
		}
	}
	return q
}

// meanStep is the mean over steps of a part, or of the whole (-1).
func meanStep(p *fingerprint.Print, term int) float64 {
	sum := 0.0
	for i := range p.Steps {
		if term < 0 {
			sum += p.Steps[i].Total
		} else {
			sum += p.Steps[i].Terms[term]
		}
	}
	return sum / float64(len(p.Steps))
}

// per is the divisor of times of call paths: locations, or steps of all ranks.
func (r *result) per(p *fingerprint.Print) float64 {
	if r.stepped {
		return p.StepParts()
	}
	return float64(max(p.Locations, 1))
}

// paths joins the call trees of all runs and makes a quantity of each node.
func (r *result) paths(pins map[string]string) {
	var trees [][]compare.Path
	var sides []int
	var of []*fingerprint.Print
	var place []int // of a run in the values of its side
	for s, side := range r.runs {
		for k, i := range side {
			p := r.prints[i]
			trees, sides, of, place = append(trees, p.Tree()), append(sides, s), append(of, p), append(place, k)
		}
	}
	r.tree = compare.Match(trees, sides, pins)
	r.nodes = make([]*quantity, len(r.tree.Nodes))
	for n := range r.tree.Nodes {
		x := &r.tree.Nodes[n]
		q := &quantity{kind: "path", name: x.Name, was: x.Was, role: x.Role, node: int32(n),
			callpath: r.tree.CallPath(int32(n))}
		for s := range q.values {
			q.values[s] = make([]float64, len(r.runs[s]))
		}
		r.nodes[n] = q
	}
	for t := range trees {
		s, per := sides[t], r.per(of[t])
		for j := range trees[t] {
			q, x := r.nodes[r.tree.Place[t][j]], &of[t].Paths[j]
			q.values[s][place[t]] += x.Exclusive / per
			q.inclusive[s] += x.Inclusive / per / float64(len(r.runs[s]))
			q.calls[s] += x.Calls / per / float64(len(r.runs[s]))
		}
	}
	for _, q := range r.nodes {
		if slices.Max(q.values[0]) > 0 || slices.Max(q.values[1]) > 0 {
			r.rows = append(r.rows, q)
		}
	}
}

// judge estimates everything, controls for how much was asked, and puts the rows in order.
func (r *result) judge() {
	r.length.estimate = compare.Of(r.length.values[0], r.length.values[1])
	r.length.q = r.length.estimate.Decisive() // the one question that was asked before looking
	r.length.verdict = r.length.estimate.Judge(r.length.q, r.worth)
	whole := max(slices.Max(r.length.values[0]), slices.Max(r.length.values[1]))
	ask := func(q *quantity) float64 {
		q.estimate, q.q = compare.Of(q.values[0], q.values[1]), math.NaN()
		if len(q.values[0])+len(q.values[1]) > 2 &&
			max(slices.Max(q.values[0]), slices.Max(q.values[1])) >= leastShare*whole {
			return q.estimate.Decisive()
		}
		return math.NaN()
	}
	tree := make([]compare.Question, len(r.nodes))
	for n, q := range r.nodes {
		tree[n] = compare.Question{Parent: int(r.tree.Nodes[n].Parent), P: ask(q)}
	}
	for n, q := range compare.Down(tree) {
		r.nodes[n].q = q
	}
	// Parts of steps are asked about apart: they tell the same time from another side.
	var parts []*quantity
	var flat []compare.Question
	for _, q := range r.rows {
		if q.kind == "part" {
			parts, flat = append(parts, q), append(flat, compare.Question{Parent: -1, P: ask(q)})
		}
	}
	for i, q := range compare.Down(flat) {
		parts[i].q = q
	}
	all := r.rows
	if r.rest != nil {
		ask(r.rest)
		all = append(slices.Clone(all), r.rest)
	}
	for _, q := range all {
		q.verdict = q.estimate.Judge(q.q, r.worth)
	}
	if r.stepped && len(r.runs[0]) == 1 && len(r.runs[1]) == 1 {
		r.overSteps()
	}
	slices.SortStableFunc(r.rows, func(x, y *quantity) int {
		return cmp.Or(cmp.Compare(math.Abs(y.difference()), math.Abs(x.difference())),
			cmp.Compare(x.callpath, y.callpath))
	})
}

// overSteps returns the spread over steps if there is one run per side.
func (r *result) overSteps() {
	a, b := r.prints[r.runs[0][0]], r.prints[r.runs[1][0]]
	values := func(p *fingerprint.Print, term int) (out []float64) {
		for i := range p.Steps {
			if term < 0 {
				out = append(out, p.Steps[i].Total)
			} else {
				out = append(out, p.Steps[i].Terms[term])
			}
		}
		return out
	}
	over := func(q *quantity, term int) {
		e := compare.Of(values(a, term), values(b, term))
		q.steps = &e
	}
	over(r.length, -1)
	for _, q := range r.rows {
		if t := slices.Index(termWords[:], q.name); q.kind == "part" && t >= 0 {
			over(q, t)
		}
	}
}
