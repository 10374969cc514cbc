package vista

import (
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Converter turns records into a trace. Demos use it with records of their own.
type Converter struct {
	w       trace.Writer
	names   map[int64]string // of clauses
	regions map[int64]trace.RegionID
	pes     int
	pe      map[int64]*element
	count   int
	last    trace.Time
}

// An element is one PE that has records.
type element struct {
	location trace.LocationID
	stream   trace.Stream
	begins   []trace.Time // of its procedures, by index - 1
	open     trace.RegionID
}

// NewConverter makes one that writes to w.
func NewConverter(w trace.Writer) *Converter {
	return &Converter{w: w, regions: map[int64]trace.RegionID{}, pe: map[int64]*element{}}
}

// NameClauses gives clauses their texts.
func (c *Converter) NameClauses(names map[int64]string) { c.names = names }

// Begin takes the first record: the number of processing elements.
func (c *Converter) Begin(pes int) {
	c.pes = pes
	c.w.Property("PEmax", fmt.Sprint(pes))
}

const millisecond = 1_000_000

// Add takes one record. The error says, after "records that", what is wrong.
func (c *Converter) Add(r Record) error {
	if r.PE >= int64(c.pes) || r.PPE >= int64(c.pes) {
		return errors.New("name a processing element past PEmax")
	}
	if r.Time > 1<<43 {
		return errors.New("have a time of more than a century")
	}
	t := trace.Time(r.Time * millisecond)
	e := c.element(r.PE)
	if n := len(e.begins); r.Index != int64(n)+1 || n > 0 && t < e.begins[n-1] {
		return errors.New("are not the next of their processing element")
	}
	caller := c.pe[r.PPE]
	root := r.PIndex == 0
	switch {
	case root && c.count > 0:
		return errors.New("claim to be a second root")
	case !root && (caller == nil || r.PIndex > int64(len(caller.begins))):
		return errors.New("come before the one that called them")
	}
	region := c.region(r.Clause)
	if e.open != trace.NoRegion {
		e.stream.Leave(t, e.open)
	}
	e.stream.Enter(t, region)
	e.open = region
	e.begins = append(e.begins, t)
	c.last = max(c.last, t)
	c.count++
	if !root {
		c.w.Link(trace.Link{Kind: trace.LinkSpawn, Size: -1, Communicator: trace.NoCommunicator,
			From: trace.End{Location: caller.location, Time: caller.begins[r.PIndex-1], Region: trace.NoRegion},
			To:   trace.End{Location: e.location, Time: t, Region: trace.NoRegion}})
	}
	return nil
}

func (c *Converter) element(pe int64) *element {
	e := c.pe[pe]
	if e == nil {
		e = &element{open: trace.NoRegion}
		e.location = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: fmt.Sprintf("PE %d", pe), Rank: int(pe), Order: pe})
		e.stream = c.w.Stream(e.location, trace.StreamOptions{})
		c.pe[pe] = e
	}
	return e
}

func (c *Converter) region(clause int64) trace.RegionID {
	id, ok := c.regions[clause]
	if !ok {
		name := c.names[clause]
		if name == "" {
			name = fmt.Sprintf("clause %d", clause)
		}
		id = c.w.Region(trace.Region{Name: name, Category: "clause", Role: trace.RoleCompute, Line: int(min(clause, 1<<30))})
		c.regions[clause] = id
	}
	return id
}

// Close ends what is open at the last time of all.
func (c *Converter) Close() error {
	var failed error
	for _, e := range c.pe {
		if e.open != trace.NoRegion {
			e.stream.Leave(max(c.last, e.begins[len(e.begins)-1])+millisecond, e.open)
		}
		if err := e.stream.Close(); err != nil {
			failed = err
		}
	}
	if c.count > 0 {
		c.w.Report(trace.Guessed, "ends of procedures: each lasts until the next record on its processing element", int64(c.count), "")
	}
	return failed
}
