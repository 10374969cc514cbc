package tautrace

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/message"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Traces of several threads can be read in parts: a part reads all event files, and its share of the traces. The store
// joins the messages, which have the number of the trace that their records are in as their place.

// An outcome is what one part of a run knows when its files are read.
type outcome struct{ Started int64 }

// shares tells whether parts of a run can be read by themselves. One-sided messages have one begin and many ends, which
// are looked for in all traces.
func shares(run importer.Run) (why string, ok bool) {
	c := newConverter(run, quiet{})
	traces, err := c.definitions()
	if err != nil || len(traces) < 2 {
		return run.Source.Name + " has one trace", false
	}
	for _, events := range c.events {
		for _, e := range events {
			if e.means == meansPutSize || e.means == meansGetSize {
				return "it has one-sided messages, whose ends are in any of its files", false
			}
		}
	}
	return "", true
}

// quiet takes the reports of definitions that are read twice.
type quiet struct{ trace.Writer }

func (quiet) Report(trace.ReportKind, string, int64, string) {}

// ownFiles returns the range of traces that are read: each part has about as many bytes.
func (c *converter) ownFiles(traces []string) (first, end int) {
	if c.share == nil {
		return 0, len(traces)
	}
	size := map[string]int64{}
	for _, f := range c.run.Source.Files {
		size[f.Path] = f.Size
	}
	sizes := make([]int64, len(traces))
	for i, name := range traces {
		sizes[i] = size[name]
	}
	part, of := c.share.Share()
	return match.Own(sizes, part, of)
}

const communicators = 64 // of messages, in six bits

// tell gives the store the messages of a part, and what else the other parts need.
func (c *converter) tell(files int) error {
	f := match.Facts{Places: make([]trace.LocationID, files),
		Communicators: make([]trace.CommunicatorID, communicators), Example: c.run.Label(c.run.Files[0])}
	f.Alone[match.Message] = [2]string{message.Unreceived, message.Unsent}
	for i := range f.Places {
		f.Places[i] = trace.NoLocation
	}
	for i := range f.Communicators {
		f.Communicators[i] = trace.NoCommunicator
	}
	for at, id := range c.locations {
		if owner, ok := c.owners[at]; ok {
			f.Places[owner] = id
		}
	}
	owners := map[trace.LocationID]int{}
	for i, id := range f.Places {
		owners[id] = i
	}
	for side, list := range [2][]message.End{c.sent, c.received} {
		halves := make([]match.Half, len(list))
		for i := range list {
			e, h := &list[i], &halves[i]
			owner, ok := owners[e.Location]
			if !ok {
				return fmt.Errorf("%s: messages of threads that have no trace; import it as a whole", c.run.Source.Name)
			}
			h.Key = match.Key{Kind: match.Message, A: uint32(e.Communicator), B: uint32(e.From), C: uint32(e.To),
				D: uint64(e.Tag)}
			h.SetHash()
			h.Order, h.At, h.Seq, h.Size = e.Time, uint32(owner), uint32(i), e.Size
			h.Place(e.Time, match.Call{Region: e.Region})
		}
		c.share.Halves(side, halves)
	}
	var err error
	if f.Told, err = match.Fields(&outcome{c.started}); err == nil {
		c.share.Tell(f)
	}
	return err
}

// concludeParts ends the input of a run that was read in parts.
func concludeParts(w trace.Writer, told []match.Told) error {
	first := int64(0)
	for _, t := range told {
		var o outcome
		if err := match.SetFields(&o, t.Data); err != nil {
			return err
		}
		if o.Started > 0 && (first == 0 || o.Started < first) {
			first = o.Started
		}
	}
	started(w, first)
	return nil
}
