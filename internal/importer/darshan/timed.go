package darshan

import (
	"io"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// since turns seconds since the start of the job into a time.
func since(seconds float64) (trace.Time, bool) {
	if !(seconds >= 0 && seconds < mostSeconds) {
		return 0, false
	}
	return trace.Time(math.Round(seconds * 1e9)), true
}

const hostBytes = 64

// segments reads records of DXT: a file on a rank, then its writes, then its reads.
func (c *converter) segments(m module, version uint32) func(io.Reader) error {
	size := 32
	if m == dxtPOSIX && version >= 2 || m == dxtMPIIO && version >= 3 {
		size += 8 // the thread
	}
	offsets := m == dxtPOSIX || version >= 2
	of := strings.TrimPrefix(m.String(), "DXT ")
	var regions [operations]trace.RegionID
	for _, op := range []int{opRead, opWrite} {
		regions[op] = c.w.Region(trace.Region{Name: of + " " + operationNames[op], Category: of, Role: trace.RoleIO})
	}
	k := &c.attribute
	if !k.known {
		k.known = true
		k.file, k.offset, k.length, k.thread = c.w.Attribute("file"), c.w.Attribute("offset"), c.w.Attribute("length"),
			c.w.Attribute("thread")
	}
	order := c.log.order
	head, b := make([]byte, 16+8+hostBytes+16), make([]byte, size)
	return func(in io.Reader) error {
		if _, err := io.ReadFull(in, head); err != nil {
			return err
		}
		id, n := order.Uint64(head), int64(order.Uint64(head[8:]))
		writes, reads := int64(order.Uint64(head[24+hostBytes:])), int64(order.Uint64(head[32+hostBytes:]))
		if writes < 0 || reads < 0 || writes > math.MaxInt64-reads {
			return io.ErrUnexpectedEOF
		}
		known := c.knows(m, n)
		var stream trace.Stream
		if known {
			c.timed = true
			r := c.rank(n)
			if r.stream == nil {
				if name := text(head[24 : 24+hostBytes]); name != "" {
					c.w.Describe(r.at,
						trace.Location{Rank: trace.NoRank,
							Attributes: []trace.Attribute{{Key: "host", Value: trace.Text(name)}}})
				}
			}
			stream = r.open(c.w)
		}
		file := trace.Text(c.name(id))
		for i := range writes + reads {
			if i%4096 == 0 {
				if err := c.ctx.Err(); err != nil {
					return err
				}
			}
			if _, err := io.ReadFull(in, b); err != nil {
				return io.ErrUnexpectedEOF
			}
			if !known {
				continue
			}
			begin, ok1 := since(math.Float64frombits(order.Uint64(b[16:])))
			end, ok2 := since(math.Float64frombits(order.Uint64(b[24:])))
			if !ok1 || !ok2 {
				c.skip(trace.MissingIntervals, "segments whose times cannot be", 1, c.log.modules[m].offset)
				continue
			}
			op := opWrite
			if i >= writes {
				op = opRead
			}
			stream.Interval(begin, end, regions[op])
			stream.Attribute(k.file, file)
			if offsets {
				stream.Attribute(k.offset, trace.Integer(int64(order.Uint64(b))))
			}
			stream.Attribute(k.length, trace.Integer(int64(order.Uint64(b[8:]))))
			if size > 32 {
				stream.Attribute(k.thread, trace.Integer(int64(order.Uint64(b[32:]))))
			}
		}
		return nil
	}
}

// bins reads a record of a heat map: bytes written, then bytes read, by bins of time.
func (c *converter) bins(in io.Reader) error {
	var head [48]byte // two addresses at the end mean nothing
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	order := c.log.order
	id, n := order.Uint64(head[:]), int64(order.Uint64(head[8:]))
	width, count := math.Float64frombits(order.Uint64(head[16:])), int64(order.Uint64(head[24:]))
	if count < 0 || count > math.MaxInt32 {
		return io.ErrUnexpectedEOF
	}
	step, ok := since(width)
	known := c.knows(heatmap, n)
	if known && (!ok || step <= 0 || step > trace.Time(mostSeconds*1e9)/trace.Time(count+1)) {
		known = false
		c.skip(trace.MissingValues,
			"heat maps whose bins have a width that cannot be", 1, c.log.modules[heatmap].offset)
	}
	of := strings.TrimPrefix(c.name(id), "heatmap:")
	for _, what := range []string{"bytes written", "bytes read"} {
		var counter trace.CounterID
		var stream trace.Stream
		if known {
			c.timed = true
			r := c.rank(n)
			stream = r.open(c.w)
			counter = c.w.Counter(trace.Counter{Location: r.at, Name: of + " " + what, Unit: "bytes"})
		}
		last := int64(-1)
		for i := range count {
			var b [8]byte
			if _, err := io.ReadFull(in, b[:]); err != nil {
				return io.ErrUnexpectedEOF
			}
			// A level holds until the next sample, so equal bins need none.
			if v := int64(order.Uint64(b[:])); known && v != last {
				stream.Sample(counter, trace.Time(i)*step, float64(v))
				last = v
			}
		}
		if known && count > 0 && last != 0 {
			stream.Sample(counter, trace.Time(count)*step, 0)
		}
	}
	return nil
}
