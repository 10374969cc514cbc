package otf2

import (
	"fmt"
	"io"
)

// anchorMagic follows the two bytes of the header.
const anchorMagic = "OTF2\x00"

// The substrates of an archive's files, and their compression.
const (
	substratePosix  = 1
	substrateSion   = 2
	substrateNone   = 3
	compressionNone = 1
	compressionZlib = 2
)

// An anchor is the file that one opens: it says how the others are to be read.
type anchor struct {
	version     [3]uint8
	substrate   uint8
	compression uint8
	locations   uint64
	definitions uint64
	machine     string
	creator     string
	description string
	properties  [][2]string
	snapshots   uint32
	cut         bool // it ends early: later fields are empty
}

// isAnchor reports whether a file that begins like this is an anchor.
func isAnchor(head []byte) bool {
	return len(head) >= 2+len(anchorMagic) && head[0] == chunkHeader &&
		(head[1] == littleEndian || head[1] == bigEndian) &&
		string(head[2:2+len(anchorMagic)]) == anchorMagic
}

// mostAnchor bounds an anchor: real ones have some hundred bytes.
const mostAnchor = 1 << 20

func readAnchor(r io.Reader) (anchor, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostAnchor))
	if err != nil && len(data) == 0 {
		return anchor{}, err
	}
	return parseAnchor(data)
}

// parseAnchor takes an anchor apart. One that ends early is used as far as it
// goes, as long as it says how the other files are kept.
func parseAnchor(data []byte) (anchor, error) {
	if !isAnchor(data) {
		return anchor{}, fmt.Errorf("does not begin like the anchor of an archive")
	}
	f := fields{b: data[2+len(anchorMagic):], big: data[1] == bigEndian}
	var a anchor
	format := f.uint8()
	f.uint8() // of the trace
	for i := range a.version {
		a.version[i] = f.uint8()
	}
	f.full(16) // how long chunks are
	a.substrate, a.compression = f.uint8(), f.uint8()
	if f.bad {
		return a, fmt.Errorf("ends after %d bytes, before the type of the archive", len(data))
	}
	a.locations, a.definitions = f.full(8), f.full(8)
	a.machine, a.creator, a.description = f.text(), f.text(), f.text()
	if format > 1 {
		a.readProperties(&f)
		f.full(8) // a number that distinguishes archives
	}
	if format > 2 {
		a.snapshots = uint32(f.full(4))
		f.full(4) // thumbnails
	}
	a.cut = f.bad
	return a, nil
}

func (a *anchor) readProperties(f *fields) {
	for range f.count(f.full(4), 2) {
		p := [2]string{f.text(), f.text()}
		if f.bad {
			return
		}
		a.properties = append(a.properties, p)
	}
}
