package cube

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A block holds the values of one metric for some locations: call node × location.
type block struct {
	exclusive, inclusive []float64
}

// blockBytes bounds the memory of the values that are worked on at once.
const blockBytes = 64 << 20

// values writes the rows, some locations at a time. Takes O(nodes × locations) a
// metric, and memory that does not grow with the locations.
func (c *converter) values(ctx context.Context) error {
	if len(c.tree.nodes) == 0 || len(c.columns) == 0 {
		c.w.Report(trace.MissingValues, "profiles without call nodes or locations", 1, c.box.label)
		return nil
	}
	matrices := make([]*matrix, len(c.metrics))
	parts := 1
	for i, d := range c.metrics {
		if d.kind == nil {
			continue
		}
		m, err := c.openMatrix(d.metric, d.kind, d.inclusive)
		if err != nil {
			return err
		}
		matrices[i] = m
		parts = max(parts, d.kind.parts)
	}
	width := max(1, blockBytes/(8*(2*parts+4)*len(c.tree.nodes)))
	for lo := 0; lo < len(c.columns); lo += width {
		b := &batch{converter: c, lo: lo, hi: min(lo+width, len(c.columns)), blocks: map[*definition]*block{},
			state: map[*definition]int{}}
		b.matrices = matrices
		if err := b.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A batch is the work on some locations.
type batch struct {
	*converter
	lo, hi   int
	matrices []*matrix
	blocks   map[*definition]*block // of metrics that others use
	state    map[*definition]int    // of derived metrics: 1 being computed, 2 done
	calls    []float64
}

func (b *batch) run(ctx context.Context) error {
	if visits, ok := b.byName["visits"]; ok && visits.kind != nil {
		visits.used = true
		x, err := b.load(visits)
		if err != nil {
			return err
		}
		b.blocks[visits] = x
		if x != nil {
			b.calls = b.joined(visits, x.exclusive)
		}
	}
	for _, d := range b.metrics {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := b.block(d)
		if err != nil {
			return err
		}
		if x != nil {
			b.write(d, x)
		}
	}
	return nil
}

// block returns the values of a metric, and keeps those that others use.
func (b *batch) block(d *definition) (*block, error) {
	if x, ok := b.blocks[d]; ok {
		return x, nil
	}
	var x *block
	var err error
	switch {
	case d.kind != nil:
		x, err = b.load(d)
	case d.derived != nil && b.state[d] == 0:
		b.state[d] = 1
		x, err = b.derive(d)
		b.state[d] = 2
	}
	if d.used {
		b.blocks[d] = x
	}
	return x, err
}

// load reads a stored metric and computes the other half.
func (b *batch) load(d *definition) (*block, error) {
	m := b.matrixOf(d)
	if m == nil {
		return nil, nil
	}
	kind, width, nodes := d.kind, b.hi-b.lo, len(b.tree.nodes)
	stored := make([]float64, nodes*width*kind.parts)
	has := make([]bool, nodes)
	for i := range nodes {
		raw, err := m.stripe(int32(i), b.lo, b.hi)
		if err != nil {
			b.w.Report(trace.MissingValues,
				"rows of values that are damaged", 1, b.box.place(d.ID+".data")+": "+err.Error())
			continue
		}
		if raw == nil {
			continue
		}
		has[i] = true
		for k := range width {
			at := (i*width + k) * kind.parts
			kind.read(m.order, raw[k*kind.size:], stored[at:at+kind.parts])
		}
		b.repair(d, stored[i*width*kind.parts:(i+1)*width*kind.parts])
	}
	other := append([]float64{}, stored...)
	for i := nodes - 1; i >= 0; i-- {
		p := b.tree.parent[i]
		if p < 0 {
			continue
		}
		for k := range width {
			from, to := (i*width+k)*kind.parts, (int(p)*width+k)*kind.parts
			if d.inclusive {
				kind.subtract(other[to:to+kind.parts], stored[from:from+kind.parts])
			} else if has[i] {
				kind.add(other[to:to+kind.parts], other[from:from+kind.parts], has[p])
			}
		}
		has[p] = has[p] || has[i] && !d.inclusive
	}
	if d.inclusive {
		return b.numbers(d, other, stored), nil
	}
	return b.numbers(d, stored, other), nil
}

func (b *batch) matrixOf(d *definition) *matrix {
	for i, x := range b.metrics {
		if x == d {
			return b.matrices[i]
		}
	}
	return nil
}

// repair removes values that are no numbers, and those that stand for "none" in minima and maxima.
func (b *batch) repair(d *definition, v []float64) {
	bad := int64(0)
	for i, x := range v {
		switch {
		case x-x != 0:
			bad++
			v[i] = 0
		case (d.kind.lowest || d.kind.most) && math.Abs(x) > 1e300:
			v[i] = 0
		}
	}
	importer.Tell(b.w, trace.MissingValues, "values that are no number", bad, b.box.place(d.ID+".data"))
}

// numbers turns vectors of parts into values, in our units.
func (b *batch) numbers(d *definition, exclusive, inclusive []float64) *block {
	n := len(exclusive) / d.kind.parts
	x := &block{make([]float64, n), make([]float64, n)}
	negative := int64(0)
	for i := range n {
		at := i * d.kind.parts
		x.exclusive[i] = d.kind.value(exclusive[at:at+d.kind.parts]) * d.scale
		x.inclusive[i] = d.kind.value(inclusive[at:at+d.kind.parts]) * d.scale
		// Rounding may leave a little less than nothing; more is an error of counters.
		if x.exclusive[i] < -1e-9*math.Abs(x.inclusive[i]) && d.inclusive {
			negative++
		}
	}
	importer.Tell(b.w, trace.Guessed,
		"exclusive values below zero: the children have more than their parent",
		negative, b.box.place(anchorName)+": "+d.Name)
	if d.kind.atomic || d.kind.bins > 0 {
		b.distributions(d, exclusive)
	}
	if d.kind.bins > 0 {
		return nil // how often something happened is no amount of it
	}
	return x
}

// distributions writes the values that are condensed distributions.
func (b *batch) distributions(d *definition, parts []float64) {
	width := b.hi - b.lo
	for i := range b.tree.nodes {
		for k := range width {
			p := parts[(i*width+k)*d.kind.parts:][:d.kind.parts]
			r := trace.AtomicRow{Location: b.columns[b.lo+k], Path: b.paths[i], Metric: d.id}
			if d.kind.atomic {
				r.Count, r.Min, r.Max, r.SumSquares = p[0], p[1]*d.scale, p[2]*d.scale, p[4]*d.scale*d.scale
				r.Mean = p[3] * d.scale / max(p[0], 1)
			} else {
				r.Count, r.Min, r.Max = sumOf(p[2:]), p[0]*d.scale, p[1]*d.scale
				for bin, n := range p[2:] {
					centre := r.Min + (r.Max-r.Min)*(float64(bin)+0.5)/float64(d.kind.bins)
					r.Mean += centre * n / max(r.Count, 1)
					r.SumSquares += centre * centre * n
				}
			}
			if r.Count > 0 {
				b.w.Atomic(r)
				if d.kind.bins > 0 {
					b.w.Report(trace.Guessed, "means of histograms, from the middles of their bins", 1,
						b.box.place(anchorName)+": "+d.Name)
				}
			}
		}
	}
}

// derive evaluates an expression for every cell. A metric derived before values
// are added up is the exclusive (or inclusive) half, of which the other is computed;
// one derived afterwards is computed for both.
func (b *batch) derive(d *definition) (*block, error) {
	uses := map[*definition]*block{}
	for _, m := range d.derived.uses {
		if m.derived != nil && b.state[m] == 1 || m.kind == nil && m.derived == nil {
			b.w.Report(trace.MissingValues, "derived metrics that use what is not evaluated", 1,
				b.box.place(anchorName)+": "+d.Name)
			return nil, nil
		}
		x, err := b.block(m)
		if err != nil {
			return nil, err
		}
		uses[m] = x
	}
	width, nodes := b.hi-b.lo, len(b.tree.nodes)
	x := &block{make([]float64, nodes*width), make([]float64, nodes*width)}
	half := func(to []float64, of func(*block) []float64) {
		for i := range to {
			to[i] = d.derived.value(func(m *definition) float64 {
				if uses[m] == nil {
					return 0
				}
				return of(uses[m])[i] / m.scale
			}) * d.scale
			if to[i]-to[i] != 0 {
				to[i] = 0
			}
		}
	}
	exclusive, inclusive := func(y *block) []float64 { return y.exclusive },
		func(y *block) []float64 { return y.inclusive }
	switch d.Type {
	case "PREDERIVED_EXCLUSIVE":
		half(x.exclusive, exclusive)
		copy(x.inclusive, x.exclusive)
		b.upwards(func(to, from int) { x.inclusive[to] += x.inclusive[from] })
	case "PREDERIVED_INCLUSIVE":
		half(x.inclusive, inclusive)
		copy(x.exclusive, x.inclusive)
		b.upwards(func(to, from int) { x.exclusive[to] -= x.inclusive[from] })
	default:
		half(x.exclusive, exclusive)
		half(x.inclusive, inclusive)
	}
	return x, nil
}

// upwards visits every cell with the one of its parent, children first.
func (b *batch) upwards(f func(to, from int)) {
	width := b.hi - b.lo
	for i := len(b.tree.nodes) - 1; i >= 0; i-- {
		if p := b.tree.parent[i]; p >= 0 {
			for k := range width {
				f(int(p)*width+k, i*width+k)
			}
		}
	}
}

// write yields the rows that are not zero.
func (b *batch) write(d *definition, x *block) {
	width := b.hi - b.lo
	exclusive, inclusive := b.joined(d, x.exclusive), b.joined(d, x.inclusive)
	for i := range b.tree.nodes {
		if int(b.first[i]) != i {
			continue
		}
		for k := range width {
			at := i*width + k
			r := trace.ProfileRow{Location: b.columns[b.lo+k], Path: b.paths[i], Metric: d.id, Exclusive: exclusive[at],
				Inclusive: inclusive[at]}
			if b.calls != nil {
				r.Calls = b.calls[at]
			}
			if r.Exclusive != 0 || r.Inclusive != 0 || d.standard && r.Calls != 0 {
				b.w.Profile(r)
			}
		}
	}
}

// joined adds up call nodes that share a path: they differ only in where the call
// stands. If there are none, the values are returned as they are.
func (b *batch) joined(d *definition, v []float64) []float64 {
	width, copied := b.hi-b.lo, false
	for i, f := range b.first {
		if int(f) == i {
			continue
		}
		if !copied {
			v, copied = append([]float64{}, v...), true
		}
		for k := range width {
			join(d, v, int(f)*width+k, i*width+k)
		}
	}
	return v
}

func join(d *definition, v []float64, to, from int) {
	switch {
	case d.kind != nil && d.kind.lowest:
		v[to] = min(v[to], v[from])
	case d.kind != nil && d.kind.most:
		v[to] = max(v[to], v[from])
	default:
		v[to] += v[from]
	}
}
