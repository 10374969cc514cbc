package xplane

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// read imports the files of a run, several at once.
func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	trace.SortRegions(w)
	return parallel.Tasks(ctx, len(run.Files), func(ctx context.Context, i int) error {
		name := run.Files[i]
		c := &converter{run: run, name: name, label: run.Label(name), w: w, rank: trace.NoRank,
			correlation: w.Attribute("correlation"), attributes: importer.NewAttributes(w)}
		if len(run.Files) > 1 {
			c.rank = i
		}
		return c.convert(ctx)
	})
}

// A converter turns one file into a trace.
type converter struct {
	run         importer.Run
	name, label string
	w           trace.Writer
	rank        int
	space       *space
	origin      trace.Time
	process     trace.LocationID
	correlation trace.AttributeID
	attributes  importer.Attributes
	links       links
}

func (c *converter) convert(ctx context.Context) error {
	first, err := c.run.Open(c.name)
	if err != nil {
		return err
	}
	space, cut, err := readSpace(newDecoder(first))
	first.Close()
	if err != nil {
		return err
	}
	if len(space.planes) == 0 {
		return importer.Malformed(c.label, "byte 0", "the file holds no plane")
	}
	if cut {
		c.w.Report(trace.MissingRest, "files that end within a record, or are damaged there", 1, c.label)
	}
	c.space = space
	c.define()
	c.run.Progress = nil // the second reading is of the same bytes
	second, err := c.run.Open(c.name)
	if err != nil {
		return err
	}
	defer second.Close()
	if err := c.lines(ctx, newDecoder(second)); err != nil {
		return err
	}
	c.links.join(c.w, c.label)
	return nil
}

// define makes the host and the process, and finds when the profile began.
func (c *converter) define() {
	host, pid := "", ""
	if len(c.space.hosts) > 0 {
		host = c.space.hosts[0]
	}
	for _, p := range c.space.planes {
		if s, ok := p.fact("profile_start_time"); ok {
			n, _ := s.integer()
			c.origin = trace.Time(n)
		}
		if s, ok := p.fact("process_id"); ok {
			n, _ := s.integer()
			pid = strconv.FormatInt(n, 10)
		}
		if p.name == "/host:metadata" {
			for _, s := range p.facts {
				if v, ok := p.value(&s); ok && strings.HasSuffix(p.stats[s.name], "version") {
					c.w.Property(p.stats[s.name], v.String())
				}
			}
		}
		if p.lines == 0 && len(p.events) > 0 {
			c.w.Report(trace.MissingDetails,
				"entries of planes without time (compiled modules, tables)", int64(len(p.events)),
				c.label+": "+p.name)
		}
	}
	if host == "" {
		host = strings.TrimSuffix(path.Base(c.name), ".xplane.pb")
	}
	machine := c.w.Location(importer.Below(trace.NoLocation, trace.KindMachine, host))
	name := "process"
	if pid != "" {
		name += " " + pid
	}
	c.process = c.w.Location(trace.Location{Parent: machine, Kind: trace.KindProcess, Key: c.name, Name: name,
		Rank: c.rank})
}

// lines is the second pass: the lines of all planes.
func (c *converter) lines(ctx context.Context, d decoder) error {
	for _, p := range c.space.planes {
		nextPlane(d)
		for end := d.message(1 << 62); d.more(end); {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			field, kind := d.tag()
			if field != planeLines || kind != protowire.BytesType {
				d.skip(kind, end)
			} else if err := c.line(ctx, d, p, end); err != nil {
				return err
			}
		}
		if d.ended() { // counted in the first pass, or as a damaged line
			return nil
		}
	}
	return d.Err()
}

// nextPlane passes over the fields between planes.
func nextPlane(d decoder) {
	for !d.Failed() {
		field, kind := d.tag()
		if field == spacePlanes && kind == protowire.BytesType {
			return
		}
		d.skip(kind, 1<<62)
	}
}

// line reads one line. Its name and start come before its events, as protobuf writes fields in
// order; a line whose events come first would be shown under its number from time 0, and is refused.
func (c *converter) line(ctx context.Context, d decoder, p *plane, outer int64) error {
	l := &line{converter: c, plane: p}
	for end := d.message(outer); d.more(end); {
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), l.close())
		}
		field, kind := d.tag()
		var n uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			n = d.Uvarint()
		case protowire.BytesType:
			b = d.bytes(end)
		default:
			d.skip(kind, end)
		}
		if !d.Failed() {
			l.setField(field, n, b)
		}
	}
	if d.damaged() {
		c.w.Report(trace.MissingRest, "lines that are damaged, from there on", 1,
			fmt.Sprintf("%s: byte %d", c.label, d.Offset()))
	}
	return l.close()
}
