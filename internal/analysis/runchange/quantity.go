package runchange

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

// A Quantity is one number of each run.
type Quantity struct {
	Kind     string // length, part (of a step), path (exclusive time of a call path) or rest
	CallPath string
	Name     string
	Was      string // its name in A, where that is another
	Role     trace.Role
	Node     int32 // of the tree; -1: none
	Values   [2][]float64
	// Inclusive is the mean time with all that is called, by side.
	Inclusive [2]float64
	Calls     [2]float64

	Estimate compare.Estimate
	Q        float64 // NaN: not asked
	Verdict  compare.Verdict
	// Steps is the estimate over steps of one run a side; its values are not independent.
	Steps *compare.Estimate
}

// Difference is that of the means: differences of parts add up to that of the whole.
func (q *Quantity) Difference() float64 { return q.Mean(1) - q.Mean(0) }

// Mean is the mean of a side; 0 of none.
func (q *Quantity) Mean(side int) float64 {
	if len(q.Values[side]) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range q.Values[side] {
		sum += x
	}
	return sum / float64(len(q.Values[side]))
}

// LeastShare is the part of the length that a quantity must reach in some run to be asked about: the
// choice does not look at sides, so it favours nothing.
const LeastShare = 0.001

// Terms are the parts of a step as people who train networks know them.
var Terms = [step.Terms]string{"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec",
	"Other"}

var termRoles = [step.Terms]trace.Role{trace.RoleCompute, trace.RoleCopy, trace.RoleCopy, trace.RoleCommunication,
	trace.RoleOverhead, trace.RoleIO, trace.RoleCompute, trace.RoleNone}

// measure gathers the quantities to compare.
func (c *Change) measure(pins []string) error {
	c.Stepped, c.Parted = fingerprint.BySteps(c.Prints)
	pinned := map[string]string{}
	for _, p := range pins {
		old, now, ok := strings.Cut(p, "=")
		if !ok || old == "" || now == "" {
			return fmt.Errorf("--match %q: want OLD=NEW, names of a region in A and in B", p)
		}
		pinned[trace.FoldAcrossRuns(old, trace.RoleNone)] = trace.FoldAcrossRuns(now, trace.RoleNone)
	}
	c.Length = c.each("length", "run", func(p *fingerprint.Print) float64 { return p.Length })
	if c.Stepped {
		c.Length = c.each("length", "step", func(p *fingerprint.Print) float64 { return meanStep(p, -1) })
	}
	if c.Parted {
		for t := range step.Terms {
			q := c.each("part", Terms[t], func(p *fingerprint.Print) float64 { return meanStep(p, int(t)) })
			q.CallPath, q.Role = "step → "+Terms[t], termRoles[t]
			if slices.Max(q.Values[0])+slices.Max(q.Values[1]) > 0 {
				c.Rows = append(c.Rows, q)
			}
		}
	}
	c.paths(pinned)
	if !c.Parted {
		c.Rest = c.each("rest", "(nothing recorded)", func(p *fingerprint.Print) float64 {
			sum := 0.0
			for i := range p.Paths {
				sum += p.Paths[i].Exclusive
			}
			if c.Stepped {
				return meanStep(p, -1) - sum/c.per(p)
			}
			return p.Length - sum/c.per(p)
		})
	}
	return nil
}

// each makes a Quantity of a number of each run.
func (c *Change) each(kind, name string, of func(*fingerprint.Print) float64) *Quantity {
	q := &Quantity{Kind: kind, Name: name, CallPath: name, Node: -1}
	for s, side := range c.Runs {
		for _, i := range side {
			q.Values[s] = append(q.Values[s], of(c.Prints[i]))
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
func (c *Change) per(p *fingerprint.Print) float64 {
	if c.Stepped {
		return p.StepParts()
	}
	return float64(max(p.Locations, 1))
}

// paths joins the call trees of all runs and makes a Quantity of each node.
func (c *Change) paths(pins map[string]string) {
	var trees [][]compare.Path
	var sides []int
	var of []*fingerprint.Print
	var place []int // of a run in the values of its side
	for s, side := range c.Runs {
		for k, i := range side {
			p := c.Prints[i]
			trees, sides, of, place = append(trees, p.Tree()), append(sides, s), append(of, p), append(place, k)
		}
	}
	c.Tree = compare.Match(trees, sides, pins)
	c.Nodes = make([]*Quantity, len(c.Tree.Nodes))
	for n := range c.Tree.Nodes {
		x := &c.Tree.Nodes[n]
		q := &Quantity{Kind: "path", Name: x.Name, Was: x.Was, Role: x.Role, Node: int32(n),
			CallPath: c.Tree.CallPath(int32(n))}
		for s := range q.Values {
			q.Values[s] = make([]float64, len(c.Runs[s]))
		}
		c.Nodes[n] = q
	}
	for t := range trees {
		s, per := sides[t], c.per(of[t])
		for j := range trees[t] {
			q, x := c.Nodes[c.Tree.Place[t][j]], &of[t].Paths[j]
			q.Values[s][place[t]] += x.Exclusive / per
			q.Inclusive[s] += x.Inclusive / per / float64(len(c.Runs[s]))
			q.Calls[s] += x.Calls / per / float64(len(c.Runs[s]))
		}
	}
	for _, q := range c.Nodes {
		if slices.Max(q.Values[0]) > 0 || slices.Max(q.Values[1]) > 0 {
			c.Rows = append(c.Rows, q)
		}
	}
}

// judge estimates everything, controls for how much was asked, and puts the rows in order.
func (c *Change) judge() {
	c.Length.Estimate = compare.Of(c.Length.Values[0], c.Length.Values[1])
	c.Length.Q = c.Length.Estimate.Decisive() // the one question that was asked before looking
	c.Length.Verdict = c.Length.Estimate.Judge(c.Length.Q, c.Worth)
	whole := max(slices.Max(c.Length.Values[0]), slices.Max(c.Length.Values[1]))
	ask := func(q *Quantity) float64 {
		q.Estimate, q.Q = compare.Of(q.Values[0], q.Values[1]), math.NaN()
		if len(q.Values[0])+len(q.Values[1]) > 2 &&
			max(slices.Max(q.Values[0]), slices.Max(q.Values[1])) >= LeastShare*whole {
			return q.Estimate.Decisive()
		}
		return math.NaN()
	}
	tree := make([]compare.Question, len(c.Nodes))
	for n, q := range c.Nodes {
		tree[n] = compare.Question{Parent: int(c.Tree.Nodes[n].Parent), P: ask(q)}
	}
	for n, q := range compare.Down(tree) {
		c.Nodes[n].Q = q
	}
	// Parts of steps are asked about apart: they tell the same time from another side.
	var parts []*Quantity
	var flat []compare.Question
	for _, q := range c.Rows {
		if q.Kind == "part" {
			parts, flat = append(parts, q), append(flat, compare.Question{Parent: -1, P: ask(q)})
		}
	}
	for i, q := range compare.Down(flat) {
		parts[i].Q = q
	}
	all := c.Rows
	if c.Rest != nil {
		ask(c.Rest)
		all = append(slices.Clone(all), c.Rest)
	}
	for _, q := range all {
		q.Verdict = q.Estimate.Judge(q.Q, c.Worth)
	}
	if c.Stepped && len(c.Runs[0]) == 1 && len(c.Runs[1]) == 1 {
		c.overSteps()
	}
	slices.SortStableFunc(c.Rows, func(x, y *Quantity) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Difference()), math.Abs(x.Difference())),
			cmp.Compare(x.CallPath, y.CallPath))
	})
}

// overSteps returns the spread over steps if there is one run per side.
func (c *Change) overSteps() {
	a, b := c.Prints[c.Runs[0][0]], c.Prints[c.Runs[1][0]]
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
	over := func(q *Quantity, term int) {
		e := compare.Of(values(a, term), values(b, term))
		q.Steps = &e
	}
	over(c.Length, -1)
	for _, q := range c.Rows {
		if t := slices.Index(Terms[:], q.Name); q.Kind == "part" && t >= 0 {
			over(q, t)
		}
	}
}
