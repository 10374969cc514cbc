package xplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
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
	space, cut, err := readSpace(&decoder{r: newBuffer(first)})
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
	if err := c.lines(ctx, &decoder{r: newBuffer(second)}); err != nil {
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
func (c *converter) lines(ctx context.Context, d *decoder) error {
	for _, p := range c.space.planes {
		err := c.nextPlane(d)
		var end int64
		if err == nil {
			end, err = d.message(1 << 62)
		}
		for err == nil && d.at < end {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var field, wire int
			if field, wire, err = d.tag(); err != nil {
				break
			}
			if field == planeLines && wire == wireBytes {
				err = c.line(ctx, d, p, end)
			} else {
				err = d.skip(wire, end)
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errMalformed) {
			return nil // counted in the first pass, or as a damaged line
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextPlane passes over the fields between planes.
func (c *converter) nextPlane(d *decoder) error {
	for {
		field, wire, err := d.tag()
		if err != nil {
			return err
		}
		if field == spacePlanes && wire == wireBytes {
			return nil
		}
		if err := d.skip(wire, 1<<62); err != nil {
			return err
		}
	}
}

// line reads one line. Its name and start come before its events, as protobuf writes fields in
// order; a line whose events come first would be shown under its number from time 0, and is refused.
func (c *converter) line(ctx context.Context, d *decoder, p *plane, outer int64) error {
	end, err := d.message(outer)
	if err != nil {
		return err
	}
	l := &line{converter: c, plane: p}
	for err == nil && d.at < end {
		if ctx.Err() != nil {
			err = ctx.Err()
			break
		}
		var field, wire int
		if field, wire, err = d.tag(); err != nil {
			break
		}
		var n uint64
		var b []byte
		switch wire {
		case wireVarint:
			n, err = d.varint()
		case wireBytes:
			b, err = d.bytes(end)
		default:
			err = d.skip(wire, end)
		}
		if err == nil {
			err = l.setField(field, n, b)
		}
	}
	if errors.Is(err, errMalformed) {
		c.w.Report(trace.MissingRest, "lines that are damaged, from there on", 1,
			fmt.Sprintf("%s: byte %d", c.label, d.at))
	}
	return errors.Join(err, l.close())
}
