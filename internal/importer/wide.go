package importer

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Shells of Windows write the output of a program as UTF-16. Every format that is text gets it as UTF-8.

// wideBegin is how many bytes isWide wants to see.
const wideBegin = 64

// isWide recognises text in UTF-16 by its byte order mark, and by most of its characters being
// Latin: two bytes alone may begin anything.
func isWide(begin []byte) bool {
	order := wideOrder(begin)
	if order == nil || len(begin) < 4 {
		return false
	}
	latin, all := 0, 0
	for i := 2; i+1 < len(begin); i += 2 {
		u := order.Uint16(begin[i:])
		if u == 0 {
			return false
		}
		all++
		if u < 0x250 {
			latin++
		}
	}
	return 4*latin >= 3*all
}

func wideOrder(begin []byte) binary.ByteOrder {
	switch {
	case len(begin) < 2:
	case begin[0] == 0xff && begin[1] == 0xfe:
		return binary.LittleEndian
	case begin[0] == 0xfe && begin[1] == 0xff:
		return binary.BigEndian
	}
	return nil
}

// A wide reads UTF-16 as UTF-8. Halves of pairs that stand alone become the replacement
// character, as does an odd byte at the end.
type wide struct {
	r     *bufio.Reader
	order binary.ByteOrder
	out   []byte // decoded and not read so far
	room  []byte
	err   error
}

func newWide(r io.Reader) *wide {
	b := bufio.NewReaderSize(r, 64<<10)
	w := &wide{r: b}
	begin, _ := b.Peek(2)
	w.order = wideOrder(begin)
	_, _ = b.Discard(2)
	return w
}

func (w *wide) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		w.fill()
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// fill decodes the next bytes.
func (w *wide) fill() {
	w.room = w.room[:0]
	for len(w.room) < 32<<10 {
		u, ok := w.unit()
		if !ok {
			break
		}
		r := rune(u)
		if utf16.IsSurrogate(r) {
			r = utf8.RuneError
			if next, err := w.r.Peek(2); err == nil {
				if r = utf16.DecodeRune(rune(u), rune(w.order.Uint16(next))); r != utf8.RuneError {
					_, _ = w.r.Discard(2)
				}
			}
		}
		w.room = utf8.AppendRune(w.room, r)
	}
	w.out = w.room
}

// unit reads two bytes.
func (w *wide) unit() (uint16, bool) {
	b, err := w.r.Peek(2)
	if len(b) == 2 {
		u := w.order.Uint16(b)
		_, _ = w.r.Discard(2)
		return u, true
	}
	w.err = err
	if len(b) == 1 {
		_, _ = w.r.Discard(1)
		w.room = utf8.AppendRune(w.room, utf8.RuneError)
	}
	return 0, false
}
