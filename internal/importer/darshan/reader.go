package darshan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A module is one source of records, by its number in logs of version 3.41.
type module int

const (
	posix       module = 1
	mpiio       module = 2
	hdf5File    module = 3
	hdf5Dataset module = 4
	netcdfFile  module = 5
	netcdfVar   module = 6
	stdio       module = 9
	dxtPOSIX    module = 10
	dxtMPIIO    module = 11
	heatmap     module = 15

	mostModules = 64
	oldModules  = 16 // before 3.41
)

var moduleNames = [...]string{
	"null", "POSIX", "MPI-IO", "HDF5 files", "HDF5 datasets", "PnetCDF files", "PnetCDF variables", "BG/Q", "Lustre",
	"STDIO",
	"DXT POSIX", "DXT MPI-IO", "MDHIM", "AutoPerf XC", "AutoPerf MPI", "heat map", "DFS", "DAOS",
}

func (m module) String() string {
	if m >= 0 && int(m) < len(moduleNames) {
		return moduleNames[m]
	}
	return "module " + strconv.Itoa(int(m))
}

// A region is where packed bytes lie.
type region struct{ offset, length int64 }

// A header says where everything is.
type header struct {
	order    binary.ByteOrder
	version  int // 341 for 3.41
	packing  byte
	partial  uint64 // a bit for each module
	job      region
	names    region
	modules  [mostModules]region
	versions [mostModules]uint32
}

const (
	packedZlib  = 0
	packedBzip2 = 1
	packedNot   = 2
)

// A log is an open file.
type log struct {
	header
	file  io.ReaderAt
	size  int64
	label string
}

// openLog reads the header.
func openLog(file io.ReaderAt, size int64, label string) (*log, error) {
	l := &log{file: file, size: size, label: label}
	var buf [32 + 16*(mostModules+1) + 4*mostModules]byte
	n, err := file.ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	b := buf[:n]
	if l.order = orderOf(b); l.order == nil {
		return nil, importer.Malformed(label, "", "no Darshan log: the number after the version is not %d", magic)
	}
	text := strings.TrimRight(string(b[:8]), "\x00")
	major, minor, _ := strings.Cut(text, ".")
	first, err1 := strconv.Atoi(major)
	second, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil || first != 3 || second < 0 || second > 99 {
		return nil,
			&importer.Error{File: label, Cause: fmt.Sprintf("version %q of the log format is not known", text),
				Hint: "logs of version 3 are read; darshan-convert of Darshan 3 makes them from older ones",
				Kind: importer.ErrUnsupported}
	}
	l.version = 100*first + second
	count, at := oldModules, 24
	if l.version >= 341 {
		count, at = mostModules, 32
	}
	end := at + 16*(count+1) + 4*count
	if len(b) < end {
		return nil, importer.Malformed(label, fmt.Sprintf("byte %d", len(b)), "the log breaks off within its header")
	}
	l.packing = b[16]
	if l.version >= 341 {
		l.partial = l.order.Uint64(b[24:])
	} else {
		l.partial = uint64(l.order.Uint32(b[20:]))
	}
	l.names = l.region(b[at:])
	for i := range count {
		l.modules[i] = l.region(b[at+16*(i+1):])
		l.versions[i] = l.order.Uint32(b[at+16*(count+1)+4*i:])
	}
	if l.version < 320 {
		l.shift(hdf5Dataset)
	}
	if l.version < 341 {
		l.shift(netcdfVar)
	}
	l.job = region{int64(end), size - int64(end)}
	for _, r := range append([]region{l.names}, l.modules[:]...) {
		if r.length > 0 && r.offset >= l.job.offset {
			l.job.length = min(l.job.length, r.offset-l.job.offset)
		}
	}
	return l, nil
}

func (l *log) region(b []byte) region {
	return region{int64(l.order.Uint64(b)), int64(l.order.Uint64(b[8:]))}
}

// shift makes room for a module that later versions have.
func (h *header) shift(m module) {
	copy(h.modules[m+1:], h.modules[m:])
	copy(h.versions[m+1:], h.versions[m:])
	h.modules[m], h.versions[m] = region{}, 0
	low := h.partial & (1<<m - 1)
	h.partial = low | (h.partial&^(1<<m-1))<<1
}

// open unpacks a region. A region beyond the end of the file is an error when it is reached.
func (l *log) open(r region) *bufio.Reader {
	if r.offset < 0 || r.length <= 0 || r.offset >= l.size {
		return bufio.NewReader(failing{})
	}
	length, missing := r.length, false
	if length > l.size-r.offset {
		length, missing = l.size-r.offset, true
	}
	in := bufio.NewReaderSize(io.NewSectionReader(l.file, r.offset, length), 1<<16)
	var out io.Reader
	switch l.packing {
	case packedZlib:
		out = &streams{in: in}
	case packedBzip2:
		out = bzip2.NewReader(in) // goes on to the next stream by itself
	default:
		out = in
	}
	if missing {
		out = io.MultiReader(out, failing{})
	}
	return bufio.NewReaderSize(out, 1<<16)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// streams unpacks zlib streams that follow each other.
type streams struct {
	in  *bufio.Reader
	out io.ReadCloser
}

func (s *streams) Read(b []byte) (int, error) {
	for {
		if s.out == nil {
			out, err := zlib.NewReader(s.in)
			if err != nil {
				return 0, err
			}
			s.out = out
		}
		n, err := s.out.Read(b)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if _, err := s.in.Peek(1); err != nil {
			return 0, err
		}
		if err := s.out.(zlib.Resetter).Reset(s.in, nil); err != nil {
			return 0, err
		}
	}
}

// A job describes the run as a whole.
type job struct {
	start, end int64 // nanoseconds
	processes  int64
	uid, id    int64
	metadata   string
	exe        string
	mounts     []string
}

// mostJob bounds the job's record.
const mostJob = 1 << 16

func (l *log) readJob() (job, error) {
	b, err := io.ReadAll(io.LimitReader(l.open(l.job), mostJob))
	need := 40 + 1024
	if l.version >= 341 {
		need += 16
	}
	if len(b) < need {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return job{},
			importer.Malformed(l.label, fmt.Sprintf("byte %d", l.job.offset), "the job's record cannot be unpacked: %v",
				err)
	}
	at := func(i int) int64 { return int64(l.order.Uint64(b[8*i:])) }
	j := job{uid: at(0), start: at(1) * 1e9}
	if l.version >= 341 {
		j.start += at(2)
		j.end = at(3)*1e9 + at(4)
		j.processes, j.id = at(5), at(6)
	} else {
		j.end = (at(2) + 1) * 1e9 // whole seconds, both counted
		j.processes, j.id = at(3), at(4)
	}
	j.metadata = text(b[need-1024 : need])
	lines := strings.Split(text(b[need:]), "\n")
	j.exe, j.mounts = lines[0], lines[1:]
	return j, nil
}

// text is up to a zero byte.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// longestName bounds one name of a file.
const longestName = 1 << 16

// readNames reads the names of files by their numbers. On an error, it has read the names before it.
func (l *log) readNames(have func(id uint64, name string)) error {
	if l.names.length == 0 {
		return nil
	}
	in := l.open(l.names)
	var number [8]byte
	var name []byte
	for {
		if _, err := io.ReadFull(in, number[:]); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		id := l.order.Uint64(number[:])
		name = name[:0]
		if l.version == 300 { // with a length
			if _, err := io.ReadFull(in, number[:4]); err != nil {
				return io.ErrUnexpectedEOF
			}
			n := l.order.Uint32(number[:4])
			if n > longestName {
				return fmt.Errorf("a name has %d bytes", n)
			}
			name = append(name, make([]byte, n)...)
			if _, err := io.ReadFull(in, name); err != nil {
				return io.ErrUnexpectedEOF
			}
		} else {
			for {
				c, err := in.ReadByte()
				if err != nil {
					return io.ErrUnexpectedEOF
				}
				if c == 0 {
					break
				}
				if name = append(name, c); len(name) > longestName {
					return fmt.Errorf("a name has more than %d bytes", longestName)
				}
			}
		}
		have(id, text(name))
	}
}
