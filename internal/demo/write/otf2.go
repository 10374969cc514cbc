package write

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// OTF2 is the standard of HPC tracing: a directory with an archive called traces,
// which otf2-print, Vampir and Scalasca open.
//
//	process, device              location group; the rank is its place in MPI's world
//	thread, stream               location; a process with records of its own has one too
//	other locations              system tree nodes
//	region                       region; the category is its paradigm where that exists
//	Enter and Leave, Interval    Enter, Leave
//	instant                      marker
//	counter                      metric class, or an instance about its process
//	message                      MpiSend, MpiRecv
//	spawn                        ThreadCreate, ThreadBegin
//	attributes                   attribute lists; texts by mapping tables of each location
//	communicator, topology       group and Comm; CartTopology
//
// Links are known only when both ends are, so records wait in a file for each
// location and meet their links when the archive is completed, on all cores.
// Steals, wakes and flows have no records: they are left out, counted and said, in
// a property of the archive too. Intervals that cross, attributes of instants and of
// locations have no place in it.
var OTF2 = &Format{
	Name:   "otf2",
	Title:  "Open Trace Format 2, a directory with an archive",
	Create: createOTF2,
}

const (
	otf2Name  = "traces"
	otf2Chunk = 1 << 20 // bytes of a chunk, of events and of definitions
)

type otf2 struct {
	*definitions
	pending pending
	spawned atomic.Uint64

	opening sync.Mutex // guards the fields below
	parts   map[trace.LocationID]*otf2Part
	markers []otf2Marker
}

// An otf2Part is the part of the trace that one location recorded.
type otf2Part struct {
	mu    sync.Mutex
	links []otf2End // not yet written
	path  string
	ends  int64 // links in the file

	// From completing the location:
	events uint64
	last   trace.Time
	texts  []string
}

// An otf2End is one end of a link.
type otf2End struct {
	time   trace.Time
	kind   uint32
	region trace.RegionID
	a, b   uint32 // rank of the partner and communicator, or nothing
	tag    int64
	size   int64
}

const (
	otf2Send = iota
	otf2Receive
	otf2Create
	otf2Begin
)

const otf2EndBytes = 40

type otf2Marker struct {
	at     trace.LocationID
	time   trace.Time
	region trace.RegionID
}

func createOTF2(path string) (File, error) {
	p, err := newPending(path, true)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(p.temporary, otf2Name), 0o777); err != nil {
		p.abort()
		return nil, err
	}
	return &otf2{
		definitions: newDefinitions("otf2", func(c string) string { return c }), pending: p,
		parts: map[trace.LocationID]*otf2Part{},
	}, nil
}

func (o *otf2) part(id trace.LocationID) *otf2Part {
	o.opening.Lock()
	defer o.opening.Unlock()
	p := o.parts[id]
	if p == nil {
		p = &otf2Part{path: filepath.Join(o.pending.temporary, fmt.Sprintf("%d", id))}
		o.parts[id] = p
	}
	return p
}

func (o *otf2) Link(l trace.Link) {
	from := otf2End{time: l.From.Time, region: l.From.Region, tag: l.Tag, size: l.Size}
	to := otf2End{time: l.To.Time, region: l.To.Region, tag: l.Tag, size: l.Size}
	switch {
	case l.Untimed:
		o.cannotHold("messages without times")
		return
	case l.Kind == trace.LinkMessage:
		from.kind, to.kind = otf2Send, otf2Receive
		from.a, to.a = uint32(l.To.Location), uint32(l.From.Location) // made ranks when all is defined
		from.b, to.b = uint32(l.Communicator), uint32(l.Communicator)
	case l.Kind == trace.LinkSpawn:
		from.kind, to.kind = otf2Create, otf2Begin
		from.tag = int64(o.spawned.Add(1))
		to.tag = from.tag
	default: // to call them messages or threads would be untrue
		o.Report(trace.MissingLinks, "links of kind "+l.Kind.String()+", for which an archive has no records", 1, "")
		return
	}
	o.fail(o.part(l.From.Location).link(from))
	o.fail(o.part(l.To.Location).link(to))
}

// link stores an end; some are in memory, most in a file next to the records.
func (p *otf2Part) link(e otf2End) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links = append(p.links, e)
	if len(p.links) < 128 {
		return nil
	}
	return p.spill()
}

func (p *otf2Part) spill() error {
	f, err := openFile(p.path + ".links")
	if err != nil {
		return err
	}
	b := make([]byte, 0, len(p.links)*otf2EndBytes)
	for _, e := range p.links {
		b = e.append(b)
	}
	p.ends += int64(len(p.links))
	p.links = p.links[:0]
	_, err = f.Write(b)
	return cmp.Or(err, f.Close())
}

func (e *otf2End) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(e.time))
	b = binary.LittleEndian.AppendUint32(b, e.kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.region))
	b = binary.LittleEndian.AppendUint32(b, e.a)
	b = binary.LittleEndian.AppendUint32(b, e.b)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.tag))
	return binary.LittleEndian.AppendUint64(b, uint64(e.size))
}

// allLinks returns the ends of a location in order of time.
func (p *otf2Part) allLinks() ([]otf2End, error) {
	list := p.links
	if p.ends > 0 {
		b, err := os.ReadFile(p.path + ".links")
		if err != nil {
			return nil, err
		}
		os.Remove(p.path + ".links")
		all := make([]otf2End, 0, int(p.ends)+len(list))
		for ; len(b) >= otf2EndBytes; b = b[otf2EndBytes:] {
			u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
			all = append(all,
				otf2End{trace.Time(u64(b)), u32(b[8:]), trace.RegionID(u32(b[12:])), u32(b[16:]), u32(b[20:]),
					int64(u64(b[24:])), int64(u64(b[32:]))})
		}
		list = append(all, list...)
	}
	slices.SortStableFunc(list, func(x, y otf2End) int {
		return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.kind, y.kind), cmp.Compare(x.a, y.a),
			cmp.Compare(x.tag, y.tag), cmp.Compare(x.size, y.size))
	})
	return list, nil
}

// Commit completes the archive: every location on its own, then the shared definitions.
func (o *otf2) Commit() error {
	err := o.failed()
	if err == nil {
		err = o.complete()
	}
	if err == nil {
		err = o.failed()
	}
	if err == nil {
		err = o.pending.commit()
	}
	if err != nil {
		o.Abort()
	}
	return err
}

func (o *otf2) complete() error {
	a := o.newArchive()
	g := errgroup.Group{}
	g.SetLimit(parallel.Workers())
	for i := range a.locations {
		g.Go(func() error { return a.writeEvents(i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, e := range o.Left() {
		o.Property(fmt.Sprintf("left out %d", i+1), fmt.Sprintf("%d %s", e.Count, e.What))
	}
	return cmp.Or(a.writeGlobal(), a.writeLocals(), a.writeMarkers(), a.writeAnchor())
}

func (o *otf2) Abort() { o.pending.abort() }
