package ctf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
)

const (
	metadataMagic = 0x75d11d57
	packetMagic   = 0xc1fc1fc1
	// mostMetadata bounds the bytes read from a metadata file.
	mostMetadata = 256 << 20
	// metadataHeader is how many bytes come before the text in a packet of metadata.
	metadataHeader = 37
)

// orderOf returns in which byte order a number is written, native for none.
func orderOf(b []byte, n uint32) byteOrder {
	switch {
	case len(b) < 4:
	case binary.LittleEndian.Uint32(b) == n:
		return little
	case binary.BigEndian.Uint32(b) == n:
		return big
	}
	return native
}

// readMetadata reads and resolves the metadata of a trace.
func readMetadata(run importer.Run, file string) (*traceClass, error) {
	in, err := run.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, mostMetadata))
	if err != nil {
		return nil, err
	}
	return parseMetadata(b, run.Label(file))
}

func parseMetadata(b []byte, label string) (*traceClass, error) {
	text, order, err := unpackMetadata(b)
	if err != nil {
		return nil, importer.Malformed(label, "", "%v", err)
	}
	t := &traceClass{order: order, env: map[string]string{}, clocks: map[string]*clock{},
		streams: map[uint64]*streamClass{}, leaves: map[string]*leaf{}}
	place := ""
	if isJSON(text) {
		place, err = t.parseJSON(text)
	} else {
		place, err = t.parseTSDL(text)
	}
	if err == nil {
		if t.order == native {
			t.order = little
		}
		err = t.link()
		place = ""
	}
	if err != nil {
		return nil, importer.Malformed(label, place, "the metadata cannot be understood: %v", err)
	}
	return t, nil
}

// unpackMetadata takes the text out of packets, where there are any.
func unpackMetadata(b []byte) ([]byte, byteOrder, error) {
	mark := orderOf(b, metadataMagic)
	if mark == native {
		return b, native, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if mark == big {
		order = binary.BigEndian
	}
	var text []byte
	for at := 0; at < len(b); {
		p := b[at:]
		if len(p) < metadataHeader || orderOf(p, metadataMagic) != mark {
			return nil, mark, fmt.Errorf("at byte %d no packet of metadata begins", at)
		}
		content, size := int64(order.Uint32(p[24:]))/8, int64(order.Uint32(p[28:]))/8
		if p[32] != 0 || p[33] != 0 || p[34] != 0 {
			return nil, mark, fmt.Errorf("metadata that is compressed, encrypted or summed is not read")
		}
		if content < metadataHeader || size < content || size > int64(len(p)) {
			return nil, mark,
				fmt.Errorf("at byte %d a packet of metadata says that it has %d bytes, %d of them content; %d are left",
					at, size, content, len(p))
		}
		text = append(text, p[metadataHeader:content]...)
		at += int(size)
	}
	return bytes.TrimRight(text, "\x00"), mark, nil
}

// rolesByName are the roles of TSDL's fields by name, by part.
var rolesByName = map[string]map[string]role{
	"packet.header": {"magic": roleMagic, "stream_id": roleStream, "stream_instance_id": roleInstance},
	"packet.context": {"packet_size": rolePacketSize, "content_size": roleContentSize, "timestamp_begin": roleBegin,
		"timestamp_end": roleEnd, "events_discarded": roleDiscarded, "packet_seq_num": roleSequence, "cpu_id": roleCPU},
	"event.header": {"id": roleEvent, "timestamp": roleTime},
}

// setRoles copies a type with the roles that its fields have by their names.
func setRoles(c *class, in map[string]role, depth int) *class {
	if c == nil || depth > deepest {
		return c
	}
	out := *c
	if len(c.fields) > 0 {
		out.fields = make([]field, len(c.fields))
	}
	for i, f := range c.fields {
		k := setRoles(f.class, in, depth+1)
		if r, ok := in[f.name]; ok && k.kind == kindInteger {
			again := *k
			again.role = r
			if r == roleBegin || r == roleEnd {
				again.mapped = false // the packet sets the clock itself
			}
			k = &again
		}
		out.fields[i] = field{f.name, k}
	}
	return &out
}
