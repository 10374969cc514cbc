package span

import (
	"fmt"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// skew gathers evidence of clocks that disagree.
type skew struct {
	count  int64
	worst  trace.Time
	offset int64
}

// finish places spans that have no time, joins spans with their parents, and
// reports. O(spans).
func (w *Writer) finish() error {
	w.placeUntimed()
	missing, example := int64(0), ""
	own, ownExample := int64(0), ""
	for i := range int32(w.nodes.count) {
		n := w.nodes.at(i)
		p, ok := w.parentOf(i)
		switch {
		case ok:
			w.join(w.nodes.at(p), n)
		case n.is(hasParent) && n.parentKey() == n.key():
			if own++; own == 1 {
				ownExample = w.place(n.offset)
			}
		case n.is(hasParent):
			if missing++; missing == 1 {
				example = w.place(n.offset)
			}
		}
	}
	importer.Tell(w.w, trace.Guessed, "spans whose parent is not in the source: taken for roots", missing, example)
	importer.Tell(w.w, trace.Repaired, "spans that are their own parent: taken for roots", own, ownExample)
	w.joinReferences()
	w.flushLinks()
	if w.skew.count > 0 {
		w.w.Report(trace.Guessed,
			"spans that begin before their caller on another host: clocks disagree, times are left as they are "+
				"(--align messages fits them)", w.skew.count,
			fmt.Sprintf("%s: by %d µs, the most", w.place(w.skew.offset), w.skew.worst/1000))
	}
	traces := 0
	for _, held := range w.held {
		if held {
			traces++
		}
	}
	w.w.Property("traces", fmt.Sprint(traces))
	var failed error
	for _, r := range w.order {
		if err := r.stream.Close(); err != nil {
			failed = err
		}
	}
	return failed
}

// parentOf finds the parent of a span. The server's half of a shared span is a
// child of the client's half.
func (w *Writer) parentOf(i int32) (int32, bool) {
	n := w.nodes.at(i)
	if n.is(isTwin) && n.is(isShared|isServer) {
		first, _ := w.nodes.first(n.key())
		for at := first; at >= 0; at = w.nodes.at(at).next {
			if at != i && w.nodes.at(at).is(isClient) {
				return at, true
			}
		}
	}
	if up := n.parentKey(); n.is(hasParent) && up != n.key() {
		first, ok := w.nodes.first(up)
		if !ok {
			return 0, false
		}
		best := first
		for at := w.nodes.at(first).next; at >= 0; at = w.nodes.at(at).next {
			if w.nodes.at(at).claim(n) > w.nodes.at(best).claim(n) {
				best = at
			}
		}
		return best, true
	}
	return 0, false
}

// claim returns how much a span of the id that a child names is its parent, where several have it:
// the server's half on the child's row, any on its row, the server's half.
func (p *node) claim(child *node) (rank int) {
	if p.row == child.row {
		rank += 2
	}
	if p.is(isServer) {
		rank++
	}
	return rank
}

// placeUntimed gives spans without time the begin of their nearest ancestor that
// has one, else of all spans.
func (w *Writer) placeUntimed() {
	w.placeZeros()
	for k := range w.later {
		l := &w.later[k]
		n := w.nodes.at(l.node)
		l.span.Begin = w.first
		at := l.node
		for range mostSteps { // bounded, since parents may run in a circle
			p, ok := w.parentOf(at)
			if !ok {
				break
			}
			if at = p; w.nodes.at(at).is(isTimed) {
				l.span.Begin = w.nodes.at(at).begin
				break
			}
		}
		n.begin = l.span.Begin
		if n.end = n.begin; n.begin <= Latest-l.span.Duration {
			n.end += l.span.Duration
		}
		w.report(trace.Guessed, "spans without time: they begin with their parent", 1, w.place(l.span.Offset))
		w.write(&l.span, n)
	}
	w.later = nil
}

// placeZeros lets 0 be a time where all other times are near it.
func (w *Writer) placeZeros() {
	if w.latest > aDay {
		return
	}
	rest := w.later[:0]
	for k := range w.later {
		l := &w.later[k]
		if !l.span.Zero {
			rest = append(rest, *l)
			continue
		}
		n := w.nodes.at(l.node)
		n.begin, n.end = 0, l.span.Duration
		n.flags |= isTimed
		w.write(&l.span, n)
	}
	w.later = rest
}

// aDay is how far from 0 times may be so that 0 is one of them.
const aDay = trace.Time(24 * time.Hour)

// mostSteps is how far up a parent with a time is looked for.
const mostSteps = 64

// join links a child with its parent. Their ids decide, never their times; the store
// nests by it on one row, and keeps the link where that cannot be.
func (w *Writer) join(p, n *node) {
	if p.row != n.row && n.is(isTimed) && p.is(isTimed) && n.begin < p.begin {
		w.skew.count++
		if d := p.begin - n.begin; d > w.skew.worst {
			w.skew.worst, w.skew.offset = d, n.offset
		}
	}
	w.link(trace.LinkSpawn, p, n)
}

// link passes links on in batches, which costs less.
func (w *Writer) link(kind trace.LinkKind, from, to *node) {
	w.links = append(w.links, trace.Link{Kind: kind, Size: -1, Communicator: trace.NoCommunicator,
		From: trace.End{Location: w.order[from.row].at, Time: from.begin, Region: from.region, Number: from.number},
		To:   trace.End{Location: w.order[to.row].at, Time: to.begin, Region: to.region, Number: to.number}})
	if len(w.links) == linkBatch {
		w.flushLinks()
	}
}

const linkBatch = 256

func (w *Writer) flushLinks() {
	trace.AddLinks(w.w, w.links)
	w.links = w.links[:0]
}

func (w *Writer) joinReferences() {
	missing := int64(0)
	for _, r := range w.refs {
		at, ok := w.nodes.first(r.to)
		if !ok {
			missing++
			continue
		}
		if at != r.node {
			w.link(trace.LinkFlow, w.nodes.at(at), w.nodes.at(r.node))
		}
	}
	importer.Tell(w.w, trace.MissingLinks, "references to spans that are not in the source", missing, "")
}
