package gprof

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A layout is how a gmon.out writes numbers, which depends on the machine.
type layout struct {
	order binary.ByteOrder
	size  int // of an address
}

const (
	gmonHead = 20
	// mostGmon bounds a file: two bytes for each four of a program, and arcs.
	mostGmon = 1 << 30
)

// Tags of records.
const (
	histogram = iota
	arc
	blocks
)

// layoutOf finds the one layout in which the first record makes sense.
func layoutOf(b []byte) (layout, bool) {
	if len(b) <= gmonHead || string(b[:4]) != "gmon" {
		return layout{}, false
	}
	for _, l := range []layout{{binary.LittleEndian, 8}, {binary.BigEndian, 8}, {binary.LittleEndian, 4},
		{binary.BigEndian, 4}} {
		if l.order.Uint32(b[4:]) != 1 {
			continue
		}
		switch b[gmonHead] {
		case histogram:
			if h, ok := l.histogram(b[gmonHead+1:]); ok && h.rate > 0 && h.rate <= 1e6 {
				return l, true
			}
		case arc:
			if len(b) > gmonHead+1+2*l.size+4 {
				return l, true
			}
		}
	}
	return layout{}, false
}

// A head of a histogram of the program counter.
type histogramHead struct {
	low, high uint64
	bins      uint32
	rate      uint32
}

func (l layout) address(b []byte) uint64 {
	if l.size == 4 {
		return uint64(l.order.Uint32(b))
	}
	return l.order.Uint64(b)
}

// histogramSize is the length of its head.
func (l layout) histogramSize() int { return 2*l.size + 4 + 4 + 15 + 1 }

func (l layout) histogram(b []byte) (h histogramHead, ok bool) {
	if len(b) < l.histogramSize() {
		return h, false
	}
	h.low, h.high = l.address(b), l.address(b[l.size:])
	h.bins, h.rate = l.order.Uint32(b[2*l.size:]), l.order.Uint32(b[2*l.size+4:])
	return h, h.low < h.high && h.bins > 0 && uint64(h.bins) <= h.high-h.low
}

// A gmon is the content of a file.
type gmon struct {
	layout
	hits   map[uint64]float64 // seconds by address
	arcs   []calls
	starts []uint64 // where functions begin: what was called
}

type calls struct {
	from, to uint64
	count    float64
}

func readGmon(ctx context.Context, in io.Reader, label string, w trace.Writer) (*callgraph.Graph, error) {
	data, err := io.ReadAll(io.LimitReader(in, mostGmon))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l, ok := layoutOf(data)
	if !ok {
		return nil, importer.Malformed(label, fmt.Sprintf("byte %d", gmonHead), "is no gmon.out that can be read")
	}
	g := &gmon{layout: l, hits: map[uint64]float64{}}
	at := g.records(data)
	if at < len(data) || err != nil {
		w.Report(trace.MissingRest, "files that break off, read up to there", 1, fmt.Sprintf("%s: byte %d", label, at))
	}
	w.Report(trace.Guessed,
		"functions by the address that was called: gmon.out holds no names; gprof PROGRAM gmon.out prints them",
		int64(len(g.starts)), label)
	return g.graph(ctx)
}

// records reads until the end, or to where it makes no sense.
func (g *gmon) records(data []byte) int {
	at := gmonHead
	for at < len(data) {
		b := data[at+1:]
		n := 0
		switch data[at] {
		case histogram:
			h, ok := g.histogram(b)
			n = g.histogramSize() + 2*int(h.bins)
			if !ok || n > len(b) {
				return at
			}
			step := float64(h.high-h.low) / float64(h.bins)
			for i := range int(h.bins) {
				if hits := g.order.Uint16(b[g.histogramSize()+2*i:]); hits > 0 && h.rate > 0 {
					g.hits[h.low+uint64(float64(i)*step)] += float64(hits) / float64(h.rate)
				}
			}
			g.starts = append(g.starts, h.low)
		case arc:
			if n = 2*g.size + 4; n > len(b) {
				return at
			}
			c := calls{g.address(b), g.address(b[g.size:]), float64(g.order.Uint32(b[2*g.size:]))}
			g.arcs = append(g.arcs, c)
			g.starts = append(g.starts, c.to)
		case blocks:
			if len(b) < 4 || uint64(g.order.Uint32(b))*uint64(g.size*2) > uint64(len(b)-4) {
				return at
			}
			n = 4 + int(g.order.Uint32(b))*g.size*2
		default:
			return at
		}
		at += 1 + n
	}
	return at
}

// prologue is how far into a function the address lies that an arc tells as called, at least: behind the call that
// counts.
const prologue = 8

// function is the address by which the function is called that an address is in. Functions that no counted one called,
// such as main, cannot be distinguished from the one before them.
func (g *gmon) function(address uint64) uint64 {
	i, found := slices.BinarySearch(g.starts, address+prologue)
	if !found {
		i--
	}
	if i < 0 {
		return address
	}
	return g.starts[i]
}

// graph makes functions of addresses, and shares out their time by calls, as gprof does.
func (g *gmon) graph(ctx context.Context) (*callgraph.Graph, error) {
	slices.Sort(g.starts)
	g.starts = slices.Compact(g.starts)
	type function struct {
		self, whole, called float64
		arcs                []calls
		state               int // 0: not begun, 1: under way, 2: done
	}
	all := map[uint64]*function{}
	find := func(start uint64) *function {
		if all[start] == nil {
			all[start] = &function{}
		}
		return all[start]
	}
	for _, address := range slices.Sorted(maps.Keys(g.hits)) { // in order: sums of floats depend on it
		find(g.function(address)).self += g.hits[address]
	}
	for _, c := range g.arcs {
		c.from = g.function(c.from)
		find(c.from).arcs = append(find(c.from).arcs, c)
		if to := find(c.to); c.from != c.to {
			to.called += c.count // by others, which its time is shared out to
		}
	}
	out := callgraph.New()
	name := func(start uint64) *callgraph.Function { return out.Function(fmt.Sprintf("0x%x", start), "", "") }
	share := func(c calls) float64 {
		to := all[c.to]
		if to.state != 2 || to.called == 0 {
			return 0 // within a circle
		}
		return to.whole * c.count / to.called
	}
	// Callees come first, so that their time is known; without recursion, since chains of calls may be long.
	order := []uint64{}
	for start := range all {
		order = append(order, start)
	}
	slices.Sort(order)
	for _, root := range order {
		for stack := []uint64{root}; len(stack) > 0; {
			start := stack[len(stack)-1]
			f := all[start]
			if f.state == 2 {
				stack = stack[:len(stack)-1]
				continue
			}
			if f.state == 0 {
				f.state = 1
				for _, c := range f.arcs {
					if all[c.to].state == 0 {
						stack = append(stack, c.to)
					}
				}
				continue
			}
			stack = stack[:len(stack)-1]
			f.whole = f.self
			for _, c := range f.arcs {
				if c.to != start {
					f.whole += share(c)
				}
			}
			f.state = 2
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, start := range order {
		f := all[start]
		if f.self == 0 && f.called == 0 && len(f.arcs) == 0 {
			continue
		}
		from := name(start)
		from.Add([]float64{f.self})
		for _, c := range f.arcs {
			out.Call(from, name(c.to), c.count, []float64{share(c)})
		}
	}
	return out, nil
}
