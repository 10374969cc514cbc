package kaleidoscope

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// mostMixed is how many calls of a sector are looked at one by one for its colours: of more a sample.
	mostMixed = 256
	// manySectors is how many there are at least in a picture for each to be looked at in half as many places.
	manySectors = 2048
	// mostEnds is how many first and last calls of lanes are looked at for their time.
	mostEnds = 2 * invocation.MostBlocks
)

// A mix is the content of a merged sector, as far as it has begun.
type mix struct {
	calls     int // looked at
	colours   []mixed
	colour    scene.Colour // of most of them
	low, high float64      // shares of a ramp
	lit       bool
	solid     int32 // level that holds nine tenths of its calls
}

// A mixed colour has so many calls, one of which is a node of the forest.
type mixed struct {
	colour scene.Colour
	calls  int
	node   invocation.Node
}

// A mixer finds the mixes of sectors, one after the other, with memory to use again.
type mixer struct {
	*painter
	tally  *invocation.Tally // nil: calls are looked at one by one
	places []int32
	nodes  []invocation.Node
	levels []int32
}

// newMixer makes one for a picture with so many sectors.
func newMixer(p *painter, sectors int) *mixer {
	m := &mixer{painter: p}
	if r := p.result; r.forest.calls.Joined() && !r.light.on &&
		(p.regions != nil || p.paint == "location" || p.paint == "processor" || p.paint == "time" ||
			p.paint == "depth" || p.paint == "children") {
		m.tally = r.forest.calls.NewTally(len(p.regions))
		if sectors > manySectors {
			m.tally.Blocks = invocation.MostBlocks / 2
		}
	}
	return m
}

// mixOf finds the colours of a sector, the most frequent first.
func (p *mixer) mixOf(it *invocation.Item) *mix {
	m := &mix{colour: scene.UIAggregate, low: 1, lit: !p.result.light.on}
	if p.tally != nil {
		p.count(it, m)
	} else {
		p.lookAtEach(it, m)
	}
	slices.SortStableFunc(m.colours, func(a, b mixed) int { return cmp.Compare(b.calls, a.calls) })
	switch {
	case m.calls == 0:
	case p.ramps():
		m.colour = scene.Ramp(p.ramp, (m.low+m.high)/2)
	default:
		m.colour = m.colours[0].colour
	}
	return m
}

// add counts calls like one.
func (m *mix) add(c scene.Colour, n *invocation.Node, calls int) {
	m.calls += calls
	for i := range m.colours {
		if m.colours[i].colour == c {
			m.colours[i].calls += calls
			return
		}
	}
	m.colours = append(m.colours, mixed{c, calls, *n})
}

// widen takes a share of the ramp.
func (m *mix) widen(share float64) { m.low, m.high = min(m.low, share), max(m.high, share) }

// count takes what is known of many calls at once.
func (p *mixer) count(it *invocation.Item, m *mix) {
	r, t := p.result, p.tally
	d, calls := r.detail, r.forest.calls
	from, to := d.node(it.First), d.node(it.End-1)+1
	what := invocation.Facts(0)
	if p.paint == "region" {
		what = invocation.OfRegion
	}
	var parts [][2]int32
	r.begun(from, to, func(from, to int32) { parts = append(parts, [2]int32{from, to}) })
	t.Clear()
	blocks := t.Blocks
	t.Blocks = max(blocks/int64(max(len(parts), 1)), 1)
	for _, x := range parts {
		calls.Tally(x[0], x[1], what, t)
	}
	t.Blocks = blocks
	m.solid = max(t.Solid()-d.level, it.Level)
	switch p.paint {
	case "region":
		for _, id := range t.Seen {
			n := invocation.Node{Call: invocation.Call{Region: id}}
			m.add(p.colourOf(&n), &n, int(t.Regions[id]))
		}
	case "time": // calls of a lane come by their begin
		p.nodes = r.forest.pick(p.ends(parts), invocation.OfBegin, p.nodes[:0])
		for i := range p.nodes {
			m.widen(p.magnitude(&p.nodes[i]))
		}
		m.calls = int(t.Calls)
	case "children":
		for _, x := range parts {
			least, most := calls.MadeIn(x[0], x[1], t)
			m.widen(p.scale.share(float64(least)))
			m.widen(p.scale.share(float64(most)))
		}
		m.calls = int(t.Calls)
	case "depth":
		m.widen(p.magnitude(&invocation.Node{Level: it.Level + d.level}))
		m.widen(p.magnitude(&invocation.Node{Level: it.Deepest + d.level}))
		m.calls = int(t.Calls)
	default:
		for _, x := range parts {
			calls.EachLane(x[0], x[1], func(id trace.LocationID, calls int32) {
				n := invocation.Node{Call: invocation.Call{Location: id}}
				m.add(p.colourOf(&n), &n, int(calls))
			})
		}
	}
}

// ends are the first and the last call of each lane in some stretches, or if they have many lanes of some parts.
func (p *mixer) ends(stretches [][2]int32) []int32 {
	p.places = p.places[:0]
	for _, x := range stretches {
		p.result.forest.calls.EachStretch(x[0], x[1], func(_, from, to int32) {
			if len(p.places) <= mostEnds {
				p.places = append(p.places, from, to-1)
			}
		})
	}
	if len(p.places) > mostEnds {
		p.places = p.places[:0]
		for k := range mostEnds {
			x := stretches[k*len(stretches)/mostEnds]
			p.tally.Ends(x[0], x[1], func(node int32) { p.places = append(p.places, node) })
		}
	}
	return p.places
}

// lookAtEach looks at some calls of a sector, with their levels in the tree that is shown.
func (p *mixer) lookAtEach(it *invocation.Item, m *mix) {
	r := p.result
	p.sample(it)
	m.solid = invocation.Solid(it.Level, p.levels)
	for i := range p.nodes {
		n := &p.nodes[i]
		if r.until < r.forest.end && n.Begin > r.until {
			continue
		}
		m.lit = m.lit || r.light.has(n)
		if p.ramps() {
			m.calls++
			m.widen(p.magnitude(n))
			continue
		}
		m.add(p.colourOf(n), n, 1)
	}
}

func (p *mixer) sample(it *invocation.Item) {
	r := p.result
	d, rows := r.detail, r.forest.calls.OfRows()
	p.places, p.levels = p.places[:0], p.levels[:0]
	invocation.Sample(it.First, it.End, mostMixed, func(k int32) {
		p.places = append(p.places, d.node(k))
		if !rows {
			p.levels = append(p.levels, d.outline.Level(k))
		}
	})
	what := r.facts()
	if rows {
		what |= invocation.OfLevel
	}
	p.nodes = r.forest.pick(p.places, what, p.nodes[:0])
	if rows {
		for i := range p.nodes {
			p.levels = append(p.levels, p.nodes[i].Level-d.level)
		}
	}
}
