package otlp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/sealed"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A framingKind is how messages are in a file.
type framingKind uint8

const (
	noFraming   framingKind = iota
	oneMessage              // its fields, one after the other
	fourBytes               // messages after their length, most significant byte first
	varintBytes             // messages after their length as a varint
)

// framingOf reports by the beginning of a file whether it holds messages with spans.
func framingOf(head []byte) framingKind {
	if isTraces(head) {
		return oneMessage
	}
	if len(head) > 8 {
		if n := binary.BigEndian.Uint32(head); n > 8 && n < largestMessage &&
			isTraces(head[4:min(uint64(len(head)), uint64(n)+4)]) {
			return fourBytes
		}
		if n, k := protowire.ConsumeVarint(head); k > 0 && n > 8 && n < largestMessage &&
			isTraces(head[k:min(uint64(len(head)), n+uint64(k))]) {
			return varintBytes
		}
	}
	return noFraming
}

// isTraces reports whether bytes, which may be cut, begin with a message that holds
// a span: one with ids of 16 and 8 bytes, where the protocol has them.
func isTraces(b []byte) bool {
	const resources, scopes, libraries, spans, traceID, spanID = 1, 2, 1000, 2, 1, 2
	resource, ok := inner(b, resources, 3)
	if !ok {
		return false
	}
	for _, number := range []protowire.Number{scopes, libraries} {
		if scope, ok := inner(resource, number, libraries); ok {
			if s, ok := inner(scope, spans, 3); ok {
				trace, _ := inner(s, traceID, 16)
				id, _ := inner(s, spanID, 16)
				return len(trace) == 16 && len(id) == 8
			}
		}
	}
	return false
}

// inner is the first field of a number, cut where the bytes are, if no field has a
// number above most.
func inner(b []byte, number, most protowire.Number) ([]byte, bool) {
	for len(b) > 0 {
		n, kind, k := protowire.ConsumeTag(b)
		if k < 0 || n > most {
			return nil, false
		}
		b = b[k:]
		if n == number {
			size, k := protowire.ConsumeVarint(b)
			if kind != protowire.BytesType || k < 0 {
				return nil, false
			}
			b = b[k:]
			return b[:min(uint64(len(b)), size)], true
		}
		if k = protowire.ConsumeFieldValue(n, kind, b); k < 0 {
			return nil, false
		}
		b = b[k:]
	}
	return nil, false
}

// largestMessage bounds the bytes held at once.
const largestMessage = 1 << 30

var errLarge = errors.New("holds a message of more than 1 GiB")

// messages reads a file of messages.
type messages struct {
	*span.Source
	c       *converter
	framing framingKind
	sealed  bool      // its messages have checksums
	rest    io.Reader // the bytes read ahead and the source behind them; nil: the source
	offset  int64
	body    bytes.Buffer
	texts   jsonstream.Texts
	hex     []byte
	span    spanMessage
}

func newMessages(f *span.Source, c *converter, how framingKind) *messages {
	return &messages{Source: f, c: c, framing: how}
}

func (m *messages) place() string { return fmt.Sprintf("%s: byte %d", m.Label, m.offset) }

func (m *messages) leave(consequence trace.ReportKind, what string) {
	m.c.out.Report(consequence, what, m.place())
}

// all reads to the end. Messages before a break are kept and the break is reported.
func (m *messages) all() error {
	err := m.each()
	var packed *importer.Error
	switch n := m.c.out.Count(); {
	case m.Ctx.Err() != nil:
		return m.Ctx.Err()
	case err == io.EOF && n > 0:
		return nil
	case err == io.EOF:
		return importer.Malformed(m.Label, "", "holds no spans")
	case n > 0:
		m.leave(trace.MissingRest, "the rest of a file that breaks off or is no message")
		return nil
	case errors.As(err, &packed):
		return packed
	}
	return importer.Malformed(m.Label, fmt.Sprintf("byte %d", m.offset), "%v", err)
}

// each yields the resources of all messages.
func (m *messages) each() error {
	for {
		if err := m.Ctx.Err(); err != nil {
			return err
		}
		size, err := m.size()
		if err != nil {
			return err
		}
		if err := m.take(size); err != nil {
			if m.framing == fourBytes && m.Ctx.Err() == nil && m.resume(size) {
				continue
			}
			return err
		}
		if m.framing == oneMessage {
			m.readResource(m.body.Bytes())
			continue
		}
		if has, sound := sealed.Check(m.body.Bytes()); has {
			m.sealed = true
			if !sound && m.resume(size) {
				continue
			}
		} else if m.sealed && m.resume(size) {
			continue
		}
		traces, sound := tracesTable.Of(m.body.Bytes())
		for _, r := range traces.resources {
			m.readResource(r)
		}
		if !sound {
			m.leave(trace.MissingIntervals, "messages that cannot be decoded")
		}
	}
}

// mostResumed bounds how much of a file is held to go on behind damage; files of `parallax receive` are smaller.
const mostResumed = 160 << 20

// resume goes on behind a message that is damaged, or whose length is, where the messages of the file are sealed: it
// reads the rest of the file. It is false if nothing is sealed; bytes read ahead are read again then.
func (m *messages) resume(size uint64) bool {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(size)), m.body.Bytes()...)
	ahead, err := io.ReadAll(io.LimitReader(m.in(), mostResumed))
	b = append(b, ahead...)
	if _, ok := sealed.Next(b); !ok || err != nil {
		m.rest = io.MultiReader(bytes.NewReader(ahead), m.in())
		return false
	}
	m.offset -= int64(m.body.Len()) + 4
	for {
		r, ok := sealed.Next(b)
		if !ok {
			break
		}
		b = b[r.Size:]
		if r.Message == nil {
			m.leave(trace.MissingIntervals, "messages that are damaged (their checksums are wrong)")
		} else {
			traces, _ := tracesTable.Of(r.Message)
			for _, x := range traces.resources {
				m.readResource(x)
			}
		}
		m.offset += int64(r.Size)
	}
	m.rest = io.MultiReader(bytes.NewReader(b), m.in())
	return true
}

func (m *messages) in() io.Reader {
	if m.rest != nil {
		return m.rest
	}
	return m.Source
}

// size returns the size of the next message, or of the next resource of the only message.
func (m *messages) size() (uint64, error) {
	if m.framing == fourBytes {
		var b [4]byte
		n, err := io.ReadFull(m.in(), b[:])
		m.offset += int64(n)
		return uint64(binary.BigEndian.Uint32(b[:])), err
	}
	for {
		size, err := m.varint()
		if err != nil || m.framing == varintBytes {
			return size, err
		}
		tag := size
		switch protowire.Type(tag & 7) {
		case protowire.BytesType:
			if size, err = m.varint(); err != nil {
				return 0, early(err)
			}
			if tag>>3 == 1 {
				return size, nil
			}
		case protowire.VarintType:
			if _, err = m.varint(); err != nil {
				return 0, early(err)
			}
			size = 0
		default:
			return 0, errors.New("is no message of spans")
		}
		m.leave(trace.MissingDetails, "fields that are no spans")
		if err := m.take(size); err != nil {
			return 0, err
		}
	}
}

func (m *messages) varint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		var b [1]byte
		if _, err := io.ReadFull(m.in(), b[:]); err != nil {
			if shift > 0 {
				err = early(err)
			}
			return 0, err
		}
		m.offset++
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("holds a number that does not end")
}

// take reads so many bytes into the body, whose memory grows as they arrive.
func (m *messages) take(size uint64) error {
	if size > largestMessage {
		return errLarge
	}
	m.body.Reset()
	n, err := io.CopyN(&m.body, m.in(), int64(size))
	m.offset += n
	return early(err)
}

func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
