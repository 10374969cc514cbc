package load

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// The disk space asked for before an import is never less than the import takes, so far as was measured. It is not
// much more if the files allow an estimate.

// files returns the files that an import reads, the largest first.
func (f Found) files() []importer.File {
	wanted := make(map[string]bool, len(f.run.Files))
	for _, p := range f.run.Files {
		wanted[p] = true
	}
	var out []importer.File
	for _, x := range f.run.Source.Files {
		if wanted[x.Path] {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b importer.File) int { return cmp.Compare(b.Size, a.Size) })
	return out
}

// Packed returns the number of bytes its files have, as they are on disk.
func (f Found) Packed() (n int64) {
	for _, x := range f.files() {
		n += x.Size
	}
	return n
}

// mostTried is how many files of a kind are looked at to see how well they are packed; the others, which are smaller,
// are taken to be like them.
const mostTried = 16

// unpacked estimates the bytes of its files when they are unpacked.
func (f Found) unpacked() (n int64) {
	type kind struct {
		tried            int
		packed, unpacked int64
	}
	kinds := map[bool]*kind{false: {}, true: {}} // by whether the name says that it is packed
	for _, x := range f.files() {
		k, size := kinds[packedName(x.Path)], x.Size
		if k.tried < mostTried {
			size = f.run.Source.Unpacked(x)
			k.tried, k.packed, k.unpacked = k.tried+1, k.packed+x.Size, k.unpacked+size
		} else if k.packed > 0 {
			size = int64(float64(size) * float64(k.unpacked) / float64(k.packed))
		}
		n += size
	}
	return n
}

func packedName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".gz", ".zst", ".bz2":
		return true
	}
	return false
}

// Room returns how much an import may have on the disk at once, as its format says: rows are packed as they are made.
func (f Found) Room() int64 {
	if f.demo != nil {
		return demoRoom * max(f.options.Intervals, 0)
	}
	times := otherRoom
	if f.run.Format.Room != nil {
		times = f.run.Format.Room(f.run, f.files())
	} else if f.run.Format.Text {
		times = textRoom
	}
	return int64(times * float64(f.unpacked()))
}

// demoRoom is the bytes per interval of a demo, with its messages. The others are for formats without an estimate, as
// multiples of the source's bytes.
const (
	demoRoom  = 60
	textRoom  = 1.0
	otherRoom = 3.5
)

// PartRoom estimates one of several parts, whose rows stay uncompressed until the end, next to the data they are made
// from. For a binary source that is 3.3 times its bytes, for a text 0.2 to 0.95 times.
func (f Found) PartRoom() int64 {
	if f.demo != nil {
		return f.Room()
	}
	times := otherRoom
	if f.run.Format.Text {
		times = 1
	}
	return max(f.Room(), int64(times*float64(f.unpacked())))
}
