package ctf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A stream is one file of packets, read packet by packet. The event that it is at is in it.
type stream struct {
	run     importer.Run
	file    string
	label   string
	trace   *traceClass
	tally   *tally
	number  int // among the files of the run
	in      io.ReadCloser
	buf     *bufio.Reader
	packet  []byte
	offset  int64 // of the packet in the file
	length  int64 // of the packet, bytes
	class   *streamClass
	cpu     int64 // -1: unknown
	on      *cpu  // the row of that CPU, once there is one
	id      int64 // of the stream; -1: unknown
	d       decoder
	event   *eventClass
	time    trace.Time
	packets int64
}

// tally counts losses and errors of a run.
type tally struct {
	w       trace.Writer
	streams map[streamKey]*counts
}

// A streamKey distinguishes streams whose packets may be in several files.
type streamKey struct {
	trace    *traceClass
	class    uint64
	instance int64
	file     string // where no instance is told
}

type counts struct {
	discarded, sequence       uint64
	hasDiscarded, hasSequence bool
}

const (
	firstBytes = 16 << 10 // read to find the length of a packet
	mostPacket = 1 << 30
)

func (s *stream) report(what string, n int64) {
	s.tally.w.Report(trace.MissingEvents, what, n, fmt.Sprintf("%s: byte %d", s.label, s.offset))
}

func (s *stream) open() error {
	in, err := s.run.Open(s.file)
	if err != nil {
		return err
	}
	s.in, s.buf = in, bufio.NewReaderSize(in, firstBytes)
	s.offset, s.length, s.packets = 0, 0, 0
	s.d = decoder{slots: make([]int64, s.trace.slots)}
	return nil
}

func (s *stream) close() {
	if s.in != nil {
		s.in.Close()
	}
	s.in, s.buf, s.packet = nil, nil, nil
}

// next moves to the next event; io.EOF at the end.
func (s *stream) next(ctx context.Context) error {
	d := &s.d
	for {
		if d.pos >= d.end {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.nextPacket(); err != nil {
				return err
			}
			continue
		}
		before := d.pos
		d.start()
		d.has[roleEvent], d.role[roleEvent] = false, 0
		d.field(s.class.header)
		if d.bad {
			s.broken("packets that break off within an event")
			continue
		}
		e := s.class.event(d.role[roleEvent])
		if e == nil && !d.has[roleEvent] && len(s.class.events) == 1 {
			for _, only := range s.class.events {
				e = only
			}
		}
		if e == nil {
			s.broken("packets with an event that the metadata does not describe: left from there on")
			continue
		}
		d.field(s.class.common)
		d.field(e.context)
		d.contexts = len(d.values)
		d.field(e.payload)
		if d.bad {
			s.broken("packets that break off within an event")
			continue
		}
		if d.pos == before {
			s.broken("packets whose events have no size")
			continue
		}
		s.event, s.time = e, s.class.clock.time(d.clock)
		return nil
	}
}

// broken leaves the rest of a packet.
func (s *stream) broken(what string) {
	s.report(what, 1)
	s.d.pos, s.d.bad = s.d.end, false
	s.d.nest = 0
}

// nextPacket reads a packet and its header and context.
func (s *stream) nextPacket() error {
	s.offset += s.length
	head, err := s.buf.Peek(firstBytes)
	if len(head) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			s.report("stream files that cannot be unpacked to their end", 1)
		}
		return io.EOF
	}
	d := &s.d
	if !s.describe(head) {
		s.report("stream files that break off, or whose next packet cannot be understood", 1)
		return io.EOF
	}
	size, content, told := int64(0), int64(0), d.has[rolePacketSize]
	if told {
		size = int64(d.role[rolePacketSize])
		content = size
	}
	if d.has[roleContentSize] {
		if content = int64(d.role[roleContentSize]); !told {
			size, told = (content+7)&^7, true
		}
	}
	at := d.pos
	if told && (size <= 0 || size%8 != 0 || content < at || content > size || size/8 > mostPacket) {
		s.report("packets whose size cannot be: the rest of the file is left", 1)
		return io.EOF
	}
	if told {
		if s.length = size / 8; int64(cap(s.packet)) < s.length {
			s.packet = make([]byte, 0, min(s.length, 1<<20)) // more as it comes
		}
		s.packet, err = readUpTo(s.buf, s.packet[:0], s.length)
		if int64(len(s.packet)) < s.length {
			s.report("packets that break off before their end", 1)
			if content = min(content, 8*int64(len(s.packet))); content < at {
				return io.EOF
			}
		}
	} else { // one packet is the file
		s.packet, err = readUpTo(s.buf, s.packet[:0], mostPacket)
		if s.length = int64(len(s.packet)); s.length == mostPacket {
			s.report("stream files of one packet that is too long: only their beginning is read", 1)
		}
		content = 8 * s.length
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.report("stream files that cannot be unpacked to their end", 1)
	}
	d.b, d.pos, d.end = s.packet, at, content
	if d.has[roleBegin] {
		d.clock = d.role[roleBegin]
	}
	s.cpu, s.id, s.on = -1, -1, nil
	if d.has[roleCPU] && d.role[roleCPU] < 1<<20 {
		s.cpu = int64(d.role[roleCPU])
	}
	if d.has[roleInstance] || s.trace.env["tracer_name"] == "otf2" && d.has[roleStream] {
		s.id = int64(d.role[roleInstance])
	}
	s.packets++
	s.lost()
	return nil
}

// readUpTo reads n bytes, growing as they come.
func readUpTo(in io.Reader, b []byte, n int64) ([]byte, error) {
	for int64(len(b)) < n {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		k, err := in.Read(b[len(b):min(int64(cap(b)), n)])
		b = b[:len(b)+k]
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// describe reads header and context of a packet.
func (s *stream) describe(head []byte) bool {
	d := &s.d
	d.b, d.pos, d.end, d.bad, d.nest = head, 0, 8*int64(len(head)), false, 0
	d.has = [roles]bool{}
	d.start()
	d.field(s.trace.header)
	if d.bad || d.has[roleMagic] && d.role[roleMagic] != packetMagic {
		return false
	}
	id := uint64(0)
	if d.has[roleStream] {
		id = d.role[roleStream]
	}
	if s.class = s.trace.streams[id]; s.class == nil && len(s.trace.streams) == 1 && !d.has[roleStream] {
		for _, only := range s.trace.streams {
			s.class = only
		}
	}
	if s.class == nil {
		return false
	}
	d.field(s.class.context)
	return !d.bad
}

// lost counts events and packets that the recorder says it lost.
func (s *stream) lost() {
	d := &s.d
	key := streamKey{trace: s.trace, class: s.class.id, instance: -1}
	if d.has[roleInstance] {
		key.instance = int64(d.role[roleInstance])
	} else {
		key.file = s.file
	}
	c := s.tally.streams[key]
	if c == nil {
		c = &counts{}
		s.tally.streams[key] = c
	}
	if d.has[roleDiscarded] {
		if n := d.role[roleDiscarded]; n > c.discarded && (c.hasDiscarded || s.packets == 1) {
			s.report("events that the recorder says it lost", int64(min(n-c.discarded, 1<<62)))
		}
		c.discarded, c.hasDiscarded = d.role[roleDiscarded], true
	}
	if d.has[roleSequence] {
		if n := d.role[roleSequence]; c.hasSequence && n > c.sequence+1 {
			s.report("packets that are missing by their numbers", int64(min(n-c.sequence-1, 1<<62)))
		}
		c.sequence, c.hasSequence = d.role[roleSequence], true
	}
}

// first finds when the file begins, by its head: files are merged by time, and only those whose time
// has come are open.
func (s *stream) first() trace.Time {
	head := s.run.Source.Head(s.file)
	s.d = decoder{slots: make([]int64, s.trace.slots)}
	if len(head) == 0 || !s.describe(head) || !s.d.has[roleBegin] {
		return -1 << 62
	}
	return s.class.clock.time(s.d.role[roleBegin])
}

// merge calls for every event of all streams, in order of time: O(events · log streams).
func merge(ctx context.Context, streams []*stream, each func(*stream) error) error {
	h := heap(make([]*stream, 0, len(streams)))
	for _, s := range streams {
		s.time = s.first()
		h.push(s)
	}
	defer func() {
		for _, s := range streams {
			s.close()
		}
	}()
	for n := 0; len(h) > 0; n++ {
		if n%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s := h[0]
		if s.in == nil {
			if err := s.open(); err != nil {
				return err
			}
		} else if err := each(s); err != nil {
			return err
		}
		switch err := s.next(ctx); {
		case err == io.EOF:
			s.close()
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		case err != nil:
			return err
		}
		h.down()
	}
	return nil
}

// A heap has the stream with the earliest event first.
type heap []*stream

func (h heap) less(i, j int) bool {
	return h[i].time < h[j].time || h[i].time == h[j].time && h[i].number < h[j].number
}

func (h *heap) push(s *stream) {
	*h = append(*h, s)
	for i := len(*h) - 1; i > 0 && h.less(i, (i-1)/2); i = (i - 1) / 2 {
		(*h)[i], (*h)[(i-1)/2] = (*h)[(i-1)/2], (*h)[i]
	}
}

func (h heap) down() {
	for i := 0; ; {
		k := 2*i + 1
		if k >= len(h) {
			return
		}
		if k+1 < len(h) && h.less(k+1, k) {
			k++
		}
		if !h.less(k, i) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}
