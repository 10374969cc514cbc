package perfetto

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns the packets of one file into a trace. It holds open
// intervals, the state of sequences, and the points of flows; O(1) for each
// packet but for the flows, which are sorted at the end.
//
// It is built of layers, each of which knows only those below it: a dictionary, the
// tree of rows, pairs of begins and ends, links, and the meaning of events and
// GPUs.
type converter struct {
	gpuConverter

	speaks bool // for all files: it sets the properties of the trace

	sequences map[uint32]*sequence
	lastSeq   *sequence
	printers  map[processKey]int64 // processes of threads that print
	asyncs    map[asyncKey]*async

	bundle bundle
	inner  *packets // of a bundle

	packets int64
}

func newConverter(w trace.Writer) *converter {
	c := &converter{sequences: map[uint32]*sequence{}, printers: map[processKey]int64{}, asyncs: map[asyncKey]*async{}}
	c.dictionary = dictionary{
		w: w, regions: map[naming]trace.RegionID{}, names: map[trace.RegionID]naming{},
		attributes: importer.NewAttributes(w),
		texts:      map[string]string{}, key: make([]byte, 0, 64),
	}
	c.root, c.rank = trace.NoLocation, trace.NoLocation
	c.tracks, c.processes = map[uint64]*track{}, map[processKey]*process{}
	c.rows, c.cpus = importer.NewRows(w), map[cpuKey]*cpu{}
	c.clocks = newClocks()
	c.gpuNames, c.gpuSeries = map[gpuKey]gpuSpec{}, map[gpuKey]*gpuSeries{}
	return c
}

// read takes all packets of a file. Packets before a break are kept.
func (c *converter) read(ctx context.Context, r io.Reader, label string) error {
	in := newPackets(ctx, r)
	err := c.each(in, false)
	c.bundle.close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.packets == 0 {
		var packed *importer.Error
		if errors.As(err, &packed) {
			return packed
		}
		return importer.Malformed(label, byteAt(in.offset()), "holds no packets of Perfetto")
	}
	c.tally.AddN(lostStretches, in.lost, in.lostAt)
	c.tally.AddN(padding, in.zeros, in.offset())
	c.tally.AddN(foreignFields, in.foreign, nowhere)
	c.tally.AddN(largePackets, in.tooLarge, nowhere)
	switch {
	case err == errCut:
		c.tally.Add(cutFile, in.offset())
	case err != io.EOF:
		c.tally.Add(damagedFile, in.offset())
	}
	return nil
}

// each yields packets until the input ends.
func (c *converter) each(in *packets, inner bool) error {
	for {
		body, at, err := in.next()
		if err != nil {
			return err
		}
		p := &c.packet
		if !inner {
			p.at = at
		}
		if !p.decode(body) {
			c.tally.Add(brokenPackets, p.at)
			continue
		}
		if p.kind == packetCompressed || p.kind == packetZstdCompressed {
			if err := c.unpack(in.ctx, p, inner); err != nil {
				return err
			}
			continue
		}
		c.packets++
		if !c.take(p) {
			c.tally.Add(brokenPackets, p.at)
		}
	}
}

// unpack reads the packets of a compressed bundle.
func (c *converter) unpack(ctx context.Context, p *packet, inner bool) error {
	if inner {
		c.tally.Add(nestedBundles, p.at)
		return nil
	}
	place := p.at
	r, err := c.bundle.open(p)
	if err != nil {
		c.tally.Add(brokenBundles, place)
		return nil
	}
	if c.inner == nil {
		c.inner = newPackets(ctx, r)
	}
	in := c.inner
	in.reset(ctx, r)
	err = c.each(in, true)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != io.EOF || in.lost > 0 || in.tooLarge > 0 {
		c.tally.Add(brokenBundles, place)
	}
	return nil
}

// take converts one packet. It is false where a part of it cannot be decoded.
func (c *converter) take(p *packet) bool {
	s := c.sequence(p.sequence)
	sound := true
	if p.cleared {
		s.forget()
	} else if p.dropped && s.begun {
		c.tally.Add(droppedPackets, p.at)
		s.valid = false
	}
	s.begun = true
	if p.defaults != nil {
		sound = s.setDefaults(p.defaults)
	}
	if p.interned != nil {
		sound = s.internValues(p.interned) && sound
	}
	if p.snapshots != nil {
		sound = c.clocks.snapshot(p.sequence, p.snapshots) && sound
	}
	var at trace.Time
	if p.hasTime && (p.snapshots == nil || p.kind != 0) {
		at = c.time(s, p, c.clockOf(s, p), p.time)
	}
	if p.needs && !s.valid && p.kind != 0 {
		c.tally.Add(staleState, p.at)
		return sound
	}
	return c.payload(s, p, at) && sound
}

func (c *converter) payload(s *sequence, p *packet, at trace.Time) bool {
	switch p.kind {
	case 0:
		return true
	case packetEvent:
		return c.trackEvent(s, p, at, p.hasTime)
	case packetTrack:
		return c.describeTrack(p)
	case packetFtrace:
		return c.ftrace(s, p)
	case packetProcessTree:
		return c.processTree(p)
	case packetThread:
		return c.describeOldThread(s, p)
	case packetProcess:
		c.describeProcess(&track{machine: p.machine}, p.payload)
	case packetGPUStage:
		return c.renderStage(s, p, at)
	case packetSample:
		return c.perfSample(s, p, at)
	case packetGPUCounter:
		return c.gpuCounters(p, at)
	case packetSystem:
		if c.speaks {
			c.setSystemProperties(p.payload)
		}
	default:
		c.tally.unread(p.kind)
	}
	return true
}

func (c *converter) sequence(id uint32) *sequence {
	if s := c.lastSeq; s != nil && s.id == id {
		return s
	}
	s := c.sequences[id]
	if s == nil {
		s = newSequence(id)
		c.sequences[id] = s
	}
	c.lastSeq = s
	return s
}

// clockOf is the clock of a packet's time.
func (c *eventConverter) clockOf(s *sequence, p *packet) uint32 {
	switch {
	case p.hasClock:
		return p.clock
	case s.clock != 0:
		return s.clock
	}
	return c.clocks.own
}

// time converts a time of a clock to the trace's own.
func (c *eventConverter) time(s *sequence, p *packet, clock uint32, ticks uint64) trace.Time {
	t, sure := c.clocks.time(s, clock, ticks)
	if !sure {
		c.tally.Add(unknownClock, p.at)
	}
	return t
}

// systemInfo describes the recorder and the machine.
type systemInfo struct {
	uname struct {
		system  string `pb:"1"`
		release string `pb:"3"`
		machine string `pb:"4"`
	} `pb:"1"`
	recorder string `pb:"4"`
}

var systemInfos = protobuf.TableOf[systemInfo]()

func (c *converter) setSystemProperties(b []byte) {
	s, _ := systemInfos.Of(b)
	for _, p := range [][2]string{{"system", s.uname.system}, {"kernel", s.uname.release},
		{"machine", s.uname.machine}, {"recorder", s.recorder}} {
		if p[1] != "" {
			c.w.Property(p[0], p[1])
		}
	}
}

// finish joins records that waited for the end of the file and closes all streams.
func (c *converter) finish() error {
	for _, t := range c.order {
		if o := t.current; o != nil {
			c.interval(t, o.begin, max(c.last, o.begin), o.region, o.facts)
		}
		c.pairLeftovers(t)
	}
	c.settle()
	c.finishAsync()
	c.finishCounters()
	for _, u := range c.cpuOrder {
		if u.running {
			c.stay(u, max(c.last, u.since))
		}
	}
	c.linkFlows()
	c.describeRows()
	if c.speaks && c.clocks.start != 0 {
		importer.TimeOfDay(c.w, trace.Time(c.clocks.startAt+c.clocks.shift), trace.Time(c.clocks.start))
		c.w.Property("start", time.Unix(0, c.clocks.start).UTC().Format("2006-01-02T15:04:05.999999999Z"))
	}
	return c.rows.Close()
}
