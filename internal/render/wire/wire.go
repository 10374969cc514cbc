// Package wire writes a scene as the bytes the page reads: numbers as typed
// arrays that the browser views in place, everything else as one JSON header.
//
//	u32 n            length of the header, little endian
//	n bytes          JSON header; a column is {"type", "offset", "length"}
//	0–7 bytes        zeros, up to a multiple of 8
//	columns          little endian, each padded to a multiple of 8 bytes
//
// Offsets count bytes from the end of the padding after the header, lengths count
// elements. Types are "f64", "f32", "u32", "u16", "u8", and "text": u32 indices into the
// header's list of strings, in which each string stands once. A column that a mark
// does not have is left out. Columns of a space also have a "key", made of their
// content: a page that says it has one is sent {"offset": -1} in its place, so that
// places in space travel once whatever else changes. The decoder is web/src/api/wire.ts.
package wire

import (
	"encoding/json"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Version is the version of the layout; a decoder refuses others.
const Version = 1

// ContentType is the media type of an encoded scene.
const ContentType = "application/vnd.parallax.scene"

// Extra is the part of an answer next to the scene.
type Extra struct {
	// Empty says that there is nothing to show; the scene then has no layers.
	Empty *Empty
	// Coarse says that the scene was drawn from fewer pixels than asked for.
	Coarse bool
	// Have are the keys of columns that the page has kept from scenes before.
	Have []string
	// Facts holds the facts of items that the page shows, as JSON by their number; it requests the others.
	Facts json.RawMessage
	// Briefs holds the facts of items that are very many.
	Briefs []Briefs
}

// Empty describes an empty state.
type Empty struct {
	What string `json:"what"`
	Hint string `json:"hint"`
}

// Encode writes a scene. It takes one pass over the columns; the result is
// allocated once, at its final size.
func Encode(s *scene.Scene, x Extra) ([]byte, error) {
	e := encoder{strings: map[string]uint32{}, have: map[string]bool{}, first: map[scene.Mark]int{}}
	s.EachItemRange(func(m scene.Mark, n int) { e.first[m] = n })
	for _, key := range x.Have {
		e.have[key] = true
	}
	h, err := e.header(s, x)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode scene: %w", err)
	}
	out := make([]byte, 0, align(4+len(head))+e.size)
	out = appendU32(out, uint32(len(head)))
	out = append(out, head...)
	out = pad(out)
	for _, c := range e.columns {
		out = pad(c(out))
	}
	return out, nil
}

// An encoder collects the columns in the order in which the header names them.
type encoder struct {
	columns []func([]byte) []byte
	size    int // bytes of all columns so far, padded
	strings map[string]uint32
	list    []string
	have    map[string]bool
	first   map[scene.Mark]int // numbers of the items of images and spaces
}

// firstItem returns the number of the first of a mark's own items; nil if it has none.
func (e *encoder) firstItem(m scene.Mark) *int {
	if n, ok := e.first[m]; ok {
		return &n
	}
	return nil
}

// column places one column and gives its description.
func (e *encoder) column(kind string, length, width int, write func([]byte) []byte) *column {
	c := &column{Type: kind, Offset: e.size, Length: length}
	e.columns = append(e.columns, write)
	e.size += align(length * width)
	return c
}

// text places a column of indices into the list of strings. Texts travel as they are drawn, so that the page shows the
// same as the other renderers.
func (e *encoder) text(texts []string) *column {
	ids := make([]uint32, len(texts))
	for i, t := range texts {
		id, ok := e.strings[t]
		if !ok {
			id = uint32(len(e.list))
			e.strings[t] = id
			e.list = append(e.list, scene.Visible(t))
		}
		ids[i] = id
	}
	c := e.u32(ids)
	c.Type = "text"
	return c
}

func align(n int) int { return (n + 7) &^ 7 }

func pad(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}
