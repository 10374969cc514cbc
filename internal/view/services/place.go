package services

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	leastPitch  = 20 // of boxes in a column
	mostPitch   = 74
	leastColumn = 104
	passWeight  = 0.35 // room of an arrow that passes a column, as a part of a box's
	sweeps      = 12
)

// A box is a service in the picture, or several that are drawn as one; or, without any, where
// arrows to a service pass a column.
type box struct {
	services   []int // places in result.services, most calls first
	column     int
	place      float64 // in its column, while the order is looked for
	x, y, w, h float32
}

// A wire is an arrow: the calls of edges between two boxes, by way of others without services.
type wire struct {
	edges  []int // places in result.edges
	way    []int // boxes
	back   bool  // to the left
	beside bool  // within a column
}

// A plan is where everything lies.
type plan struct {
	boxes   []box
	wires   []wire
	columns [][]int // boxes from top to bottom
	folded  int     // services that are drawn with others
}

// layers gives each service the length of the longest way to it from where calls come in. Circles are
// cut where a search from there, most calls first, meets them.
func (r *result) layers() []int {
	n := len(r.services)
	index := make(map[trace.LocationID]int, n)
	entry := make([]int64, n)
	for i := range r.services {
		index[r.services[i].At] = i
	}
	next := make([][]int, n)
	edges := make([]int, len(r.edges))
	for i := range edges {
		edges[i] = i
	}
	slices.SortStableFunc(edges, func(a, b int) int { return cmp.Compare(r.edges[b].Calls, r.edges[a].Calls) })
	for _, i := range edges {
		e := &r.edges[i]
		to := index[e.At]
		from, ok := index[e.by]
		if !ok { // not in the source, or of a region that is not shown
			entry[to] += e.Calls
			continue
		}
		next[from] = append(next[from], to)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(entry[b], entry[a]) })
	// Depth first; done services in the order of their end, so that callers come before callees when reversed.
	state, ended := make([]uint8, n), make([]int, 0, n)
	type open struct{ node, at int }
	for _, root := range order {
		if state[root] != 0 {
			continue
		}
		state[root] = 1
		stack := []open{{root, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.at == len(next[top.node]) {
				state[top.node] = 2
				ended = append(ended, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			to := next[top.node][top.at]
			switch state[to] {
			case 0:
				top.at++
				state[to] = 1
				stack = append(stack, open{to, 0})
			case 1: // a circle: this call leads back
				next[top.node] = slices.Delete(next[top.node], top.at, top.at+1)
			default:
				top.at++
			}
		}
	}
	layer := make([]int, n)
	for i := len(ended) - 1; i >= 0; i-- {
		for _, to := range next[ended[i]] {
			layer[to] = max(layer[to], layer[ended[i]]+1)
		}
	}
	return layer
}

// plan puts services into columns that fit, and finds an order in which arrows cross little.
func (r *result) plan(w, h float32, top int) *plan {
	layer := r.layers()
	deep := slices.Max(layer) + 1
	columns := min(deep, max(int(w/leastColumn), 1))
	rows := max(int(h/leastPitch), 1)
	members := make([][]int, columns)
	for i, l := range layer {
		c := l * columns / deep
		members[c] = append(members[c], i)
	}
	byCalls := func(a, b int) int {
		return cmp.Or(cmp.Compare(r.services[b].Calls, r.services[a].Calls), cmp.Compare(a, b))
	}
	alone := make([]bool, len(layer))
	for _, list := range members {
		slices.SortFunc(list, byCalls)
		n := min(len(list), rows)
		if n < len(list) {
			n = max(rows-1, 0) // the last place is of the others
		}
		for _, i := range list[:n] {
			alone[i] = true
		}
	}
	if top > 0 && top < len(layer) {
		all := make([]int, len(layer))
		for i := range all {
			all[i] = i
		}
		slices.SortFunc(all, byCalls)
		for _, i := range all[top:] {
			alone[i] = false
		}
	}
	p := &plan{columns: make([][]int, columns)}
	at := make([]int, len(layer))
	for c, list := range members {
		rest := -1
		for _, i := range list {
			if !alone[i] && rest >= 0 {
				p.boxes[rest].services = append(p.boxes[rest].services, i)
				at[i] = rest
				continue
			}
			at[i] = len(p.boxes)
			if !alone[i] {
				rest = at[i]
			}
			p.boxes = append(p.boxes, box{services: []int{i}, column: c})
			p.columns[c] = append(p.columns[c], at[i])
		}
	}
	for i := range p.boxes {
		if n := len(p.boxes[i].services); n > 1 {
			p.folded += n
		}
	}
	p.wire(r, at)
	p.sort()
	p.spread(w, h)
	return p
}

// wire joins boxes. Arrows to one box from far away pass the columns between together.
func (p *plan) wire(r *result, at []int) {
	index := make(map[trace.LocationID]int, len(r.services))
	for i := range r.services {
		index[r.services[i].At] = i
	}
	type ends struct{ from, to int }
	number := map[ends]int{}
	passes := map[ends]int{} // column and box → the box that passes
	for i := range r.edges {
		from, ok := index[r.edges[i].by]
		k := ends{0, at[index[r.edges[i].At]]}
		if !ok {
			continue
		}
		if k.from = at[from]; k.from == k.to {
			continue
		}
		n, known := number[k]
		if !known {
			n = len(p.wires)
			number[k] = n
			a, b := p.boxes[k.from].column, p.boxes[k.to].column
			x := wire{way: []int{k.from}, back: b < a, beside: a == b}
			for c := a + 1; c < b; c++ {
				via, known := passes[ends{c, k.to}]
				if !known {
					via = len(p.boxes)
					passes[ends{c, k.to}] = via
					p.boxes = append(p.boxes, box{column: c})
					p.columns[c] = append(p.columns[c], via)
				}
				x.way = append(x.way, via)
			}
			x.way = append(x.way, k.to)
			p.wires = append(p.wires, x)
		}
		p.wires[n].edges = append(p.wires[n].edges, i)
	}
}

// sort orders the boxes of columns by the middle of their neighbours, to and fro.
func (p *plan) sort() {
	left, right := make([][]int, len(p.boxes)), make([][]int, len(p.boxes))
	for i := range p.wires {
		x := &p.wires[i]
		if x.back || x.beside {
			continue
		}
		for k := 1; k < len(x.way); k++ {
			a, b := x.way[k-1], x.way[k]
			right[a], left[b] = append(right[a], b), append(left[b], a)
		}
	}
	number := func(c []int) {
		for i, b := range c {
			p.boxes[b].place = (float64(i) + 0.5) / float64(len(c))
		}
	}
	for _, c := range p.columns {
		number(c)
	}
	for sweep := range sweeps {
		for k := range p.columns {
			c, side := p.columns[k], left
			if sweep%2 == 1 {
				c, side = p.columns[len(p.columns)-1-k], right
			}
			middle := make(map[int]float64, len(c))
			for _, b := range c {
				sum := 0.0
				for _, o := range side[b] {
					sum += p.boxes[o].place
				}
				if middle[b] = p.boxes[b].place; len(side[b]) > 0 {
					middle[b] = sum / float64(len(side[b]))
				}
			}
			slices.SortStableFunc(c, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
			number(c)
		}
	}
}

// spread gives boxes their place in pixels.
func (p *plan) spread(w, h float32) {
	wide := w / float32(len(p.columns))
	for c, list := range p.columns {
		weight := float32(0)
		for _, b := range list {
			weight += p.boxes[b].weight()
		}
		pitch := min(h/max(weight, 1), mostPitch)
		y := (h - pitch*weight) / 2
		for _, b := range list {
			x := &p.boxes[b]
			high := pitch * x.weight()
			x.w, x.h = min(max(wide*0.64, min(wide-36, 92)), 190), min(high*0.86, 48)
			x.x = float32(c)*wide + (wide-x.w)/2
			if len(x.services) == 0 {
				x.h = 0
			}
			x.y = y + (high-x.h)/2
			y += high
		}
	}
}

func (b *box) weight() float32 {
	if len(b.services) == 0 {
		return passWeight
	}
	return 1
}
