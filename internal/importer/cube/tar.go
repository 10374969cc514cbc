package cube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const tarBlock = 512

// A header is one member of a tar.
type header struct {
	name  string
	size  int64
	plain bool
	sound bool // the checksum is right
}

// parseHeader reads a header block whatever its checksum: Cube 4.8 wrote wrong
// ones. It says false where the block cannot be a header.
func parseHeader(b []byte) (h header, ok bool) {
	h.name = strings.TrimPrefix(cString(b[:100]), "./")
	if prefix := cString(b[345:500]); prefix != "" && string(b[257:263]) == "ustar\x00" {
		h.name = prefix + "/" + h.name
	}
	if h.size, ok = tarNumber(b[124:136]); !ok || h.name == "" || string(b[257:262]) != "ustar" {
		return h, false
	}
	h.plain = b[156] == '0' || b[156] == 0 || b[156] == '7'
	var unsigned, signed int64
	for i, x := range b[:tarBlock] {
		if i >= 148 && i < 156 {
			x = ' '
		}
		unsigned += int64(x)
		signed += int64(int8(x))
	}
	sum, ok := tarNumber(b[148:156])
	h.sound = ok && (sum == unsigned || sum == signed)
	return h, true
}

func cString(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(s)
}

// tarNumber reads octal digits, or big-endian bytes after a set top bit.
func tarNumber(b []byte) (int64, bool) {
	if b[0]&0x80 != 0 {
		n := int64(b[0] & 0x7f)
		for _, x := range b[1:] {
			if n > 1<<54 {
				return 0, false
			}
			n = n<<8 | int64(x)
		}
		return n, true
	}
	text := strings.Trim(string(b), " \x00")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(text, 8, 62)
	return int64(n), err == nil
}

// A part is one member of a profile.
type part struct {
	r    io.ReaderAt
	size int64
}

// A box holds the parts of a profile by name, from a tar or from a directory.
type box struct {
	label  string
	w      trace.Writer
	run    importer.Run
	parts  map[string]part
	lazy   map[string]string // of a directory: files to be read when asked for
	closer io.Closer
}

func (b *box) close() {
	if b.closer != nil {
		b.closer.Close()
	}
}

// mostUnpacked bounds a profile that must be unpacked into memory.
const mostUnpacked = 1 << 30

func openBox(run importer.Run, w trace.Writer) (*box, error) {
	b := &box{label: run.Label(run.Files[0]), w: w, run: run, parts: map[string]part{}, lazy: map[string]string{}}
	if len(run.Files) > 1 || path.Base(run.Files[0]) == anchorName {
		for _, f := range run.Files {
			b.lazy[path.Base(f)] = f
		}
		return b, nil
	}
	r, size, err := b.open(run.Files[0])
	if err != nil {
		return nil, err
	}
	return b, b.index(r, size)
}

// open returns random access to the tar; a packed one is unpacked into memory.
func (b *box) open(file string) (io.ReaderAt, int64, error) {
	f, err := b.run.OpenRaw(file)
	if err != nil {
		return nil, 0, err
	}
	begin := make([]byte, 262)
	if at, ok := f.(io.ReaderAt); ok {
		n, _ := at.ReadAt(begin, 0)
		if info, err := f.Stat(); err == nil && n == len(begin) && string(begin[257:]) == "ustar" {
			b.closer = f
			b.run.Progress.Add(info.Size())
			return at, info.Size(), nil
		}
	}
	f.Close()
	data, err := b.readAll(file)
	return bytes.NewReader(data), int64(len(data)), err
}

func (b *box) readAll(file string) ([]byte, error) {
	r, err := b.run.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, mostUnpacked+1))
	var known *importer.Error
	switch {
	case errors.As(err, &known):
		return nil, known
	case err != nil:
		return nil, importer.Malformed(b.run.Label(file), "", "%v", err)
	case len(data) > mostUnpacked:
		return nil,
			&importer.Error{File: b.run.Label(file), Cause: "unpacked it takes more than 1 GiB",
				Hint: "unpack it first", Kind: importer.ErrUnsupported}
	}
	return data, nil
}

// index walks the headers of the tar.
func (b *box) index(r io.ReaderAt, size int64) error {
	wrong, block := int64(0), make([]byte, tarBlock)
	end := func(what string, at int64) {
		b.w.Report(trace.MissingFiles, what, 1, fmt.Sprintf("%s: byte %d", b.label, at))
	}
	zeros := 0
	for at := int64(0); at < size; {
		n, err := r.ReadAt(block, at)
		if n < tarBlock {
			if err != nil && err != io.EOF {
				return importer.Malformed(b.label, fmt.Sprintf("byte %d", at), "%v", err)
			}
			break // a repository may have added bytes
		}
		at += tarBlock
		if len(bytes.Trim(block, "\x00")) == 0 {
			if zeros++; zeros == 2 {
				break
			}
			continue
		}
		h, ok := parseHeader(block)
		if !ok || h.size < 0 || h.size > size {
			end("the rest of an archive with a damaged header", at-tarBlock)
			break
		}
		if !h.sound {
			wrong++
		}
		if h.plain && isMember(h.name) {
			have := min(h.size, size-at)
			if have < h.size {
				end("the rest of an archive that is cut off", at)
			}
			b.parts[h.name] = part{io.NewSectionReader(r, at, have), have}
		}
		at += (h.size + tarBlock - 1) / tarBlock * tarBlock
	}
	importer.Tell(b.w, trace.Repaired, "tar headers with a wrong checksum, as Cube 4.8 writes them", wrong, b.label)
	return nil
}

// part finds a member. A missing member has no values.
func (b *box) part(name string) (part, bool, error) {
	if p, ok := b.parts[name]; ok {
		return p, true, nil
	}
	file, ok := b.lazy[name]
	if !ok {
		return part{}, false, nil
	}
	data, err := b.readAll(file)
	return part{bytes.NewReader(data), int64(len(data))}, true, err
}

// place names a member for messages.
func (b *box) place(name string) string { return b.label + ": " + name }
