package formula

import (
	"context"
	"hash/fnv"
	"maps"
	"math"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// An Input holds the values of the names of a layout, over N locations.
type Input struct {
	N int
	// Column gives a name's value per location, Scalar one that is the same for all.
	// Names come in lower case. rank, maxRank and lastRank need not be given: they are
	// then 0, 1, …, N and N-1.
	Column func(name string) ([]float64, bool)
	Scalar func(name string) (float64, bool)
	// Metadata gives metadata(key) per location: 0 if it is missing or no number.
	Metadata func(key string) []float64
}

// Points are the places and colours of one point a location.
type Points struct {
	X, Y, Z, Color []float64
}

// Result is a layout applied to all locations.
type Result struct {
	Points []Points
	// Restrict is set where the layout asks for each axis to be mapped to 0 … 1.
	Restrict bool
}

// chunk is the number of locations that are evaluated at once: columns of a chunk stay in
// the processor's cache.
const chunk = 2048

// alwaysGiven are names that an Input need not have.
var alwaysGiven = map[string]bool{"rank": true, "maxrank": true, "lastrank": true}

// Check finds the first name that is used before it is set and not given.
func (l *Layout) Check(in *Input) error {
	set := maps.Clone(alwaysGiven)
	var look func(n *node) *Error
	look = func(n *node) *Error {
		if n.op == "name" && !set[n.name] && !in.has(n.name) {
			return &Error{Kind: UnknownName, Line: n.at.line, Column: n.at.column,
				Text: "no name " + n.at.named() + " is set above or given", Hint: l.hintFor(n, in)}
		}
		for i := range n.args {
			if err := look(&n.args[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range l.statements {
		if err := look(&l.statements[i].expr); err != nil {
			return err
		}
		set[l.statements[i].name] = true
	}
	return nil
}

func (in *Input) has(name string) bool {
	if in.Scalar != nil {
		if _, ok := in.Scalar(name); ok {
			return true
		}
	}
	if in.Column != nil {
		if _, ok := in.Column(name); ok {
			return true
		}
	}
	return false
}

// Apply evaluates the layout for all locations, on all cores. O(N × size of the layout).
func (l *Layout) Apply(ctx context.Context, in *Input) (*Result, error) {
	if err := l.Check(in); err != nil {
		return nil, err
	}
	r := &Result{Points: make([]Points, l.Points)}
	for k := range r.Points {
		r.Points[k] = Points{make([]float64, in.N), make([]float64, in.N), make([]float64, in.N), make([]float64, in.N)}
	}
	chunks := (in.N + chunk - 1) / chunk
	newMachine := func() *machine { return l.newMachine(in) }
	if err := parallel.Each(ctx, chunks, newMachine, func(_ context.Context, m *machine, i int) error {
		m.run(l, i*chunk, min((i+1)*chunk, in.N), r)
		return nil
	}); err != nil {
		return nil, err
	}
	r.Restrict = l.Sets("restrictdim") // ParaProf checks whether it is set, not its value
	return r, ctx.Err()
}

// A value is a number for all locations of a chunk, or one for each.
type value struct {
	each []float64
	all  float64
}

func (v value) at(i int) float64 {
	if v.each != nil {
		return v.each[i]
	}
	return v.all
}

// A machine evaluates one chunk after the other.
type machine struct {
	in       *Input
	names    map[string]value
	from, to int
	seed     uint64
	place    uint64 // of rand in the layout
	free     [][]float64
	used     [][]float64
}

func (l *Layout) newMachine(in *Input) *machine {
	name := fnv.New64a()
	name.Write([]byte(l.Name))
	return &machine{in: in, names: map[string]value{}, seed: name.Sum64()}
}

func (m *machine) run(l *Layout, from, to int, r *Result) {
	m.begin(from, to)
	for i := range l.statements {
		m.names[l.statements[i].name] = m.eval(&l.statements[i].expr)
	}
	for k := range r.Points {
		p := &r.Points[k]
		m.store(p.X, l.axis("x", k))
		m.store(p.Y, l.axis("y", k))
		m.store(p.Z, l.axis("z", k))
		colour := "color"
		if c := l.axis("color", k); l.Sets(c) {
			colour = c
		}
		m.store(p.Color, colour)
	}
}

// begin forgets the locations before, and sets what is given of these.
func (m *machine) begin(from, to int) {
	m.from, m.to, m.place = from, to, 0
	m.free, m.used = append(m.free, m.used...), m.used[:0]
	clear(m.names)
	if _, given := m.lookup("rank"); !given {
		rank := m.column()
		for i := range rank {
			rank[i] = float64(from + i)
		}
		m.names["rank"] = value{each: rank}
	}
	most, given := m.lookup("maxrank")
	if !given {
		most = value{all: float64(m.in.N)}
		m.names["maxrank"] = most
	}
	m.names["lastrank"] = value{all: most.at(0) - 1}
}

// A Step is an assignment of a layout with its value for one location.
type Step struct {
	Name  string // as written
	Line  int
	Value float64
}

// Steps returns the value of each assignment for the i-th location.
func (l *Layout) Steps(in *Input, i int) ([]Step, error) {
	if err := l.Check(in); err != nil {
		return nil, err
	}
	m := l.newMachine(in)
	m.begin(i, i+1)
	var out []Step
	for k := range l.statements {
		s := &l.statements[k]
		v := m.eval(&s.expr)
		m.names[s.name] = v
		out = append(out, Step{s.at.text, s.at.line, v.at(0)})
	}
	return out, nil
}

func (m *machine) store(out []float64, name string) {
	v, ok := m.lookup(name)
	if !ok {
		v.all = math.NaN()
	}
	out = out[m.from:m.to]
	if v.each != nil {
		copy(out, v.each)
		return
	}
	for i := range out {
		out[i] = v.all
	}
}

func (m *machine) column() []float64 {
	var c []float64
	if n := len(m.free); n > 0 {
		c, m.free = m.free[n-1], m.free[:n-1]
	} else {
		c = make([]float64, chunk)
	}
	m.used = append(m.used, c)
	return c[:m.to-m.from]
}

func (m *machine) lookup(name string) (value, bool) {
	if v, ok := m.names[name]; ok {
		return v, true
	}
	if m.in.Scalar != nil {
		if s, ok := m.in.Scalar(name); ok {
			return value{all: s}, true
		}
	}
	if m.in.Column != nil {
		if c, ok := m.in.Column(name); ok {
			return value{each: c[m.from:m.to]}, true
		}
	}
	return value{}, false
}

func (m *machine) eval(n *node) value {
	switch n.op {
	case "num":
		return value{all: n.value}
	case "name":
		v, _ := m.lookup(n.name)
		return v
	case "key":
		if m.in.Metadata == nil {
			return value{}
		}
		if c := m.in.Metadata(n.name); c != nil {
			return value{each: c[m.from:m.to]}
		}
		return value{}
	case "rand":
		return m.random()
	}
	f := functions[n.op]
	if n.op == "if" {
		return m.choose(m.eval(&n.args[0]), m.eval(&n.args[1]), m.eval(&n.args[2]))
	}
	switch f.arity {
	case 0:
		return value{all: f.konst}
	case 1:
		return m.map1(f.f1, m.eval(&n.args[0]))
	case 2:
		return m.map2(n.op, f.f2, m.eval(&n.args[0]), m.eval(&n.args[1]))
	}
	args := make([]value, len(n.args))
	same := true
	for i := range args {
		args[i] = m.eval(&n.args[i])
		same = same && args[i].each == nil
	}
	return m.mapN(f.fn, args, same)
}

// choose takes yes or no for each location. Both are computed: nothing has effects.
func (m *machine) choose(when, yes, no value) value {
	if when.each == nil {
		if holds(when.all) {
			return yes
		}
		return no
	}
	out := m.column()
	a, b := m.spread(yes), m.spread(no)
	for i, w := range when.each {
		if out[i] = b[i]; holds(w) {
			out[i] = a[i]
		}
	}
	return value{each: out}
}

func (m *machine) map1(f func(float64) float64, a value) value {
	if a.each == nil {
		return value{all: f(a.all)}
	}
	out := m.column()
	for i, x := range a.each {
		out[i] = f(x)
	}
	return value{each: out}
}

// map2 has loops of its own for the four signs, where calling a function would
// cost more than the sum.
func (m *machine) map2(op string, f func(a, b float64) float64, a, b value) value {
	if a.each == nil && b.each == nil {
		return value{all: f(a.all, b.all)}
	}
	out := m.column()
	x, y := m.spread(a), m.spread(b)
	switch op {
	case "+":
		for i := range out {
			out[i] = x[i] + y[i]
		}
	case "-":
		for i := range out {
			out[i] = x[i] - y[i]
		}
	case "*":
		for i := range out {
			out[i] = x[i] * y[i]
		}
	case "/":
		for i := range out {
			out[i] = x[i] / y[i]
		}
	default:
		for i := range out {
			out[i] = f(x[i], y[i])
		}
	}
	return value{each: out}
}

func (m *machine) mapN(f func([]float64) float64, args []value, same bool) value {
	row := make([]float64, len(args))
	at := func(i int) float64 {
		for k := range args {
			row[k] = args[k].at(i)
		}
		return f(row)
	}
	if same {
		return value{all: at(0)}
	}
	out := m.column()
	for i := range out {
		out[i] = at(i)
	}
	return value{each: out}
}

func (m *machine) spread(v value) []float64 {
	if v.each != nil {
		return v.each
	}
	out := m.column()
	for i := range out {
		out[i] = v.all
	}
	return out
}

// random returns a number from 0 to 1 that depends on the layout's name, the rank and
// the place in the layout alone, so that pictures stay the same.
func (m *machine) random() value {
	m.place++
	out := m.column()
	for i := range out {
		z := m.seed + uint64(m.from+i)*0x9E3779B97F4A7C15 + m.place*0xD1B54A32D192ED03
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		out[i] = float64((z^z>>31)>>11) / (1 << 53)
	}
	return value{each: out}
}
