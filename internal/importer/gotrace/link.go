package gotrace

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A heldLink waits for a goroutine of which no stack was seen yet: the row that it
// would get now is not the one where it belongs.
type heldLink struct {
	kind trace.LinkKind
	from *goroutine
	to   *goroutine
	at   trace.Time
}

// hold and release keep both goroutines of a link from being used for others.
func (l *heldLink) hold()    { l.from.held++; l.to.held++ }
func (l *heldLink) release() { l.from.held--; l.to.held-- }

// link joins an event on one goroutine to another goroutine, whose next state is about to begin. No cause is nil.
func (c *actors) link(kind trace.LinkKind, cause, to *goroutine, t trace.Time) {
	if cause == nil || cause == to {
		return // the network poller, a timer, a signal
	}
	c.join(heldLink{kind, cause, to, t}, true)
}

// join writes a link, or holds it. If it happens now, the rows that it means are
// known: the state that the one goroutine is in, unless something is within, and
// the state that the other one is about to begin.
func (c *actors) join(l heldLink, now bool) {
	for _, g := range [...]*goroutine{l.from, l.to} {
		if g.stream != nil {
			continue
		}
		if g.start == nil {
			l.hold()
			g.early.links = append(g.early.links, l)
			return
		}
		c.locate(g)
	}
	out := c.newLink(l.kind)
	out.From = trace.End{Location: l.from.at, Time: l.at, Region: trace.NoRegion}
	out.To = trace.End{Location: l.to.at, Time: l.at, Region: trace.NoRegion}
	switch {
	case l.kind == trace.LinkSpawn: // from life to life, so that creations make a tree
		out.From.Region, out.To.Region = l.from.start.region, l.to.start.region
		out.From.Number, out.To.Number = life, life
	case now:
		if out.To.Number = l.to.rows + 1; !l.from.marked() {
			out.From.Number = l.from.state
		}
	}
}

// linkBatch is the number of links that are given at a time.
const linkBatch = 256

// newLink returns a link whose ends are to be filled in.
func (c *actors) newLink(kind trace.LinkKind) *trace.Link {
	if len(c.links) == linkBatch {
		c.giveLinks()
	}
	c.links = append(c.links, trace.Link{Kind: kind, Size: -1, Communicator: trace.NoCommunicator})
	return &c.links[len(c.links)-1]
}

func (c *actors) giveLinks() {
	trace.AddLinks(c.w, c.links)
	c.links = c.links[:0]
}
