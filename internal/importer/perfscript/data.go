package perfscript

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/addresses"
	"github.com/parallax-hpc/parallax/internal/importer/tracepoint"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A perf.data file is a head of 104 bytes (16 where it was written into a pipe), descriptions of events, records, and
// features behind them. See tools/perf/Documentation/perf.data-file-format.txt of Linux.
const (
	fileHead = 104
	pipeHead = 16
)

func isData(head []byte) bool { return dataOrder(head) != nil }

// dataOrder is the byte order of a file; nil: it is none.
func dataOrder(head []byte) binary.ByteOrder {
	switch {
	case len(head) < pipeHead:
	case string(head[:8]) == "PERFILE2":
		return binary.LittleEndian
	case string(head[:8]) == "2ELIFREP":
		return binary.BigEndian
	}
	return nil
}

// Types of records.
const (
	recordMmap        = 1
	recordLost        = 2
	recordComm        = 3
	recordFork        = 7
	recordSample      = 9
	recordMmap2       = 10
	recordLostSamples = 13
	recordAttr        = 64
	recordTracingData = 66
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83
)

// Bits for the fields of a sample.
const (
	hasIP         = 1 << 0
	hasTID        = 1 << 1
	hasTime       = 1 << 2
	hasAddress    = 1 << 3
	hasRead       = 1 << 4
	hasChain      = 1 << 5
	hasID         = 1 << 6
	hasCPU        = 1 << 7
	hasPeriod     = 1 << 8
	hasStream     = 1 << 9
	hasRaw        = 1 << 10
	hasIdentifier = 1 << 16
)

// Features that are read.
const (
	featureTracing = 1
	featureHost    = 3
	featureRelease = 4
	featureVersion = 5
	featureArch    = 6
	featureCPU     = 8
	featureEvents  = 12
	featureClock   = 29
)

var featureNames = map[int]string{featureHost: "hostname", featureRelease: "os release", featureVersion: "perf version",
	featureArch: "arch", featureCPU: "cpudesc"}

// An attr is an event that was recorded.
type attr struct {
	kind           uint32
	config         uint64
	period         uint64 // 0: by frequency
	sample, format uint64
	name           string
}

// A data is a file while it is read.
type data struct {
	*converter
	order    binary.ByteOrder
	attrs    []*attr
	byID     map[uint64]*attr
	comms    map[uint32]string                 // by thread
	maps     map[uint32]*addresses.Map[string] // objects of a process
	packed   bytes.Buffer                      // of records that are compressed: one stream
	second   bool                              // time through the records
	broken   int64
	unknown  int64
	lost     int64
	unnamed  int64
	position int64
	points   *tracepoint.Formats // nil: none are described
}

// everywhere is the process of the kernel's objects.
const everywhere = ^uint32(0)

func readData(ctx context.Context, run importer.Run, w trace.Writer) error {
	in, size, done, err := importer.RandomAccess(run, run.Files[0])
	if err != nil {
		return err
	}
	defer done()
	label := run.Label(run.Files[0])
	head := make([]byte, fileHead)
	n, _ := in.ReadAt(head, 0)
	d := &data{converter: newConverter(w), order: dataOrder(head[:n]), byID: map[uint64]*attr{},
		comms: map[uint32]string{0: "swapper"}, maps: map[uint32]*addresses.Map[string]{}}
	if d.order == nil || n < pipeHead {
		return importer.Malformed(label, "byte 0", "is no perf.data file")
	}
	begin, end := int64(pipeHead), size
	if d.order.Uint64(head[8:]) >= fileHead {
		if n < fileHead {
			return importer.Malformed(label, fmt.Sprintf("byte %d", n), "ends within its head")
		}
		begin, end = d.sections(in, head, size)
	}
	// Records of processors are not in order of time: names and objects come first, then the samples.
	for _, d.second = range []bool{false, true} {
		if err == nil {
			err = d.records(ctx, io.NewSectionReader(in, begin, end-begin), begin, run.Progress)
		}
		if err == nil {
			err = d.unpack(ctx)
		}
	}
	if err == nil && d.samples == 0 {
		err = importer.Malformed(label, fmt.Sprintf("byte %d", d.position), "holds no samples that can be read")
	}
	d.report(label)
	if failed := d.close(); err == nil {
		err = failed
	}
	return err
}

// sections reads the descriptions of the events, and returns the place of the records.
func (d *data) sections(in io.ReaderAt, head []byte, size int64) (begin, end int64) {
	u := func(at int) int64 { return int64(d.order.Uint64(head[at:])) }
	entry := u(16)
	attrs := part(in, u(24), u(32), size)
	for entry >= 64 && int64(len(attrs)) >= entry {
		a := d.attr(attrs[:entry-16])
		ids := part(in, int64(d.order.Uint64(attrs[entry-16:])), int64(d.order.Uint64(attrs[entry-8:])), size)
		for ; len(ids) >= 8; ids = ids[8:] {
			d.byID[d.order.Uint64(ids)] = a
		}
		attrs = attrs[entry:]
	}
	begin = u(40)
	end = begin + u(48)
	if begin < fileHead || begin > size {
		begin = min(fileHead, size)
	}
	whole := end >= begin && end <= size && u(48) > 0
	if !whole {
		d.broken++
		end = size
	}
	for i, at := 0, end; whole && i < 256; i++ {
		if d.order.Uint64(head[72+i/64*8:])&(1<<(i%64)) == 0 {
			continue
		}
		section := part(in, at, 16, size)
		at += 16
		if len(section) < 16 {
			d.broken++
			break
		}
		length := int64(d.order.Uint64(section[8:]))
		feature := part(in, int64(d.order.Uint64(section)), length, size)
		if int64(len(feature)) < length {
			d.broken++
		}
		d.feature(i, feature)
	}
	return begin, end
}

// part reads some bytes of the file; nothing where it has not so many.
func part(in io.ReaderAt, at, length, size int64) []byte {
	if at < 0 || length <= 0 || length > 64<<20 || at > size-length {
		return nil
	}
	b := make([]byte, length)
	if _, err := in.ReadAt(b, at); err != nil {
		return nil
	}
	return b
}

// attr adds a description of an event.
func (d *data) attr(b []byte) *attr {
	a := &attr{}
	if len(b) >= 48 {
		a.kind, a.config, a.period = d.order.Uint32(b), d.order.Uint64(b[8:]), d.order.Uint64(b[16:])
		a.sample, a.format = d.order.Uint64(b[24:]), d.order.Uint64(b[32:])
		if d.order.Uint64(b[40:])&(1<<10) != 0 { // by frequency
			a.period = 0
		}
		a.name = eventOf(a.kind, a.config)
	}
	d.attrs = append(d.attrs, a)
	return a
}

// eventOf names events that are not described further.
func eventOf(kind uint32, config uint64) string {
	names := [][]string{
		{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles"},
		{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
			"major-faults"},
	}
	if int(kind) < len(names) && config < uint64(len(names[kind])) {
		return names[kind][config]
	}
	return fmt.Sprintf("event %d:%#x", kind, config)
}

// feature reads a section behind the records.
func (d *data) feature(number int, b []byte) {
	if name, ok := featureNames[number]; ok {
		if text := d.text(&b); text != "" {
			d.w.Property(name, text)
		}
	}
	if number == featureTracing {
		d.describe(b)
	}
	if number == featureClock && len(b) >= 24 { // perf record -k CLOCK: a time of day, and the clock at that time
		importer.TimeOfDay(d.w, trace.Time(d.order.Uint64(b[16:])), trace.Time(d.order.Uint64(b[8:])))
	}
	if number != featureEvents || len(b) < 8 {
		return
	}
	count, size := d.order.Uint32(b), int(d.order.Uint32(b[4:]))
	for b = b[8:]; count > 0 && size >= 48 && len(b) >= size+4; count-- {
		described := d.attr(b[:size])
		d.attrs = d.attrs[:len(d.attrs)-1]
		ids := int(d.order.Uint32(b[size:]))
		b = b[size+4:]
		if name := d.text(&b); name != "" {
			described.name = name
		}
		for ; ids > 0 && len(b) >= 8; ids-- {
			id := d.order.Uint64(b)
			if a := d.byID[id]; a != nil {
				a.name = described.name
			} else {
				d.byID[id] = described
			}
			b = b[8:]
		}
		for _, a := range d.attrs {
			if a.kind == described.kind && a.config == described.config {
				a.name = described.name
			}
		}
	}
}

// describe reads the descriptions of trace points.
func (d *data) describe(b []byte) {
	r := tracepoint.Begin(wire.Of(b))
	r.All()
	if len(r.Events) > 0 { // without names of tasks, they are described too
		d.points = r.Formats
	}
}

// text reads a length and a text that ends with zeros.
func (d *data) text(b *[]byte) string {
	if len(*b) < 4 {
		return ""
	}
	n := int(d.order.Uint32(*b))
	if n < 0 || n > len(*b)-4 {
		return ""
	}
	s := (*b)[4 : 4+n]
	*b = (*b)[4+n:]
	s, _, _ = bytes.Cut(s, []byte{0})
	return string(s)
}

// mostDescribed bounds descriptions of trace points in a pipe.
const mostDescribed = 256 << 20

// records reads one after the other; at is where they begin in the file.
func (d *data) records(ctx context.Context, in io.Reader, at int64, progress *importer.Progress) error {
	r := bufio.NewReaderSize(in, 256<<10)
	buffer := make([]byte, 1<<16)
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d.position = at
		if _, err := io.ReadFull(r, buffer[:8]); err != nil {
			if !errors.Is(err, io.EOF) {
				d.broken++
			}
			return nil
		}
		size := int(d.order.Uint16(buffer[6:]))
		if size < 8 {
			d.broken++
			return nil
		}
		if _, err := io.ReadFull(r, buffer[8:size]); err != nil {
			d.broken++
			return nil
		}
		more := d.record(d.order.Uint32(buffer), d.order.Uint16(buffer[4:]), buffer[8:size])
		if more > 0 && more <= mostDescribed && !d.second {
			var part bytes.Buffer
			n, _ := io.CopyN(&part, r, int64(more))
			d.describe(part.Bytes())
			at, more = at+n, more-int(n)
		}
		if skipped, err := r.Discard(more); err != nil {
			more = skipped
			d.broken++
		}
		at += int64(size + more)
		if d.second {
			progress.Add(int64(size + more))
		}
	}
}

// record takes one; more is how many bytes follow it that its size does not count.
func (d *data) record(kind uint32, misc uint16, b []byte) (more int) {
	u32 := func(at int) uint32 { return d.order.Uint32(b[at:]) }
	u64 := func(at int) uint64 { return d.order.Uint64(b[at:]) }
	switch {
	case kind == recordTracingData && len(b) >= 4:
		return int(min(u32(0), 1<<30))
	case d.second != (kind == recordSample):
	case kind == recordSample:
		if !d.sample(misc, b) {
			d.unknown++
		}
	case kind == recordComm && len(b) >= 9:
		d.comms[u32(4)] = ended(b[8:])
	case kind == recordFork && len(b) >= 16:
		if comm, ok := d.comms[u32(12)]; ok && d.comms[u32(8)] == "" {
			d.comms[u32(8)] = comm
		}
		if u32(0) != u32(4) && d.maps[u32(0)] == nil {
			copied := d.objects(u32(4)).Clone()
			d.maps[u32(0)] = &copied
		}
	case kind == recordMmap && len(b) >= 33:
		d.objects(u32(0)).Put(u64(8), u64(16), ended(b[32:]))
	case kind == recordMmap2 && len(b) >= 65:
		d.objects(u32(0)).Put(u64(8), u64(16), ended(b[64:]))
	case kind == recordLost && len(b) >= 16:
		d.lost += int64(min(u64(8), 1<<40))
	case kind == recordLostSamples && len(b) >= 8:
		d.lost += int64(min(u64(0), 1<<40))
	case kind == recordAttr && len(b) >= 48:
		size := min(max(int(u32(4)), 48), len(b))
		a := d.attr(b[:size])
		for ids := b[size:]; len(ids) >= 8; ids = ids[8:] {
			d.byID[d.order.Uint64(ids)] = a
		}
	case kind == recordFeature && len(b) >= 8:
		d.feature(int(min(u64(0), 255)), b[8:])
	case kind == recordCompressed:
		d.packed.Write(b)
	case kind == recordCompressed2 && len(b) >= 8:
		d.packed.Write(b[8:min(uint64(len(b)), 8+u64(0))])
	}
	return 0
}

// unpack reads the records that are compressed: one stream over all of them, which has no end.
func (d *data) unpack(ctx context.Context) error {
	if d.packed.Len() == 0 {
		return nil
	}
	z,
		err := zstd.NewReader(bytes.NewReader(d.packed.Bytes()), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(256<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	broken := d.broken
	if err := d.records(ctx, z, 0, nil); err != nil {
		return err
	}
	d.broken = broken
	return nil
}

func ended(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// sample reads one into the converter's.
func (d *data) sample(misc uint16, b []byte) bool {
	if len(d.attrs) == 0 {
		return false
	}
	a := d.attrs[0] // all have the same fields before the id
	failed := false
	next := func(has uint64) (v uint64) {
		if a.sample&has == 0 {
			return 0
		}
		if len(b) < 8 {
			failed = true
			return 0
		}
		v, b = d.order.Uint64(b), b[8:]
		return v
	}
	half := func(v uint64, second bool) uint32 {
		if second != (d.order == binary.BigEndian) {
			return uint32(v >> 32)
		}
		return uint32(v)
	}
	id := next(hasIdentifier)
	if known := d.byID[id]; a.sample&hasIdentifier != 0 && known != nil {
		a = known
	}
	s := sample{pid: -1, tid: -1, cpu: -1}
	ip := next(hasIP)
	pid := everywhere
	if v := next(hasTID); a.sample&hasTID != 0 {
		pid = half(v, false)
		s.pid, s.tid = int64(int32(pid)), int64(int32(half(v, true)))
	}
	if v := next(hasTime); a.sample&hasTime != 0 {
		s.time, s.timed = trace.Time(v), v < 1<<62
	}
	next(hasAddress)
	if v := next(hasID); a.sample&hasID != 0 && d.byID[v] != nil {
		a = d.byID[v]
	}
	next(hasStream)
	if v := next(hasCPU); a.sample&hasCPU != 0 {
		s.cpu = int64(half(v, false))
	}
	period := next(hasPeriod)
	if a.sample&hasPeriod == 0 {
		period = a.period
	}
	s.period, s.weighed = float64(period), period > 0
	if a.sample&hasRead != 0 && !d.skipRead(a, &b) || failed {
		return false
	}
	s.event, s.comm = a.name, d.comms[uint32(s.tid)]
	s.comm = cmp.Or(s.comm, "?")
	d.begin(s)
	kernel := misc&7 == 1
	if n := next(hasChain); a.sample&hasChain != 0 && n > 0 {
		for ; n > 0 && len(b) >= 8; n-- {
			v := d.order.Uint64(b)
			b = b[8:]
			switch {
			case v >= ^uint64(4094): // the next frames are of the kernel, or of the user
				kernel = v == ^uint64(127)
			default:
				d.object(pid, v, kernel)
			}
		}
	} else if a.sample&hasIP != 0 {
		d.object(pid, ip, kernel)
	}
	d.now.rest, d.now.byTask = d.fieldsOf(a, b)
	if d.now.rest != "" && a.sample&hasChain == 0 { // a trace point is where it is by itself
		d.frames = d.frames[:0]
	}
	d.end()
	return true
}

// traceEvent is the kind of events that are trace points.
const traceEvent = 2

// fieldsOf are those of a trace point, which follow a sample, and whether its task made it.
func (d *data) fieldsOf(a *attr, b []byte) (text string, byTask bool) {
	if a.sample&hasRaw == 0 || a.kind != traceEvent || d.points == nil || len(b) < 4 {
		return "", false
	}
	length := d.order.Uint32(b)
	if b = b[4:]; uint64(length) > uint64(len(b)) {
		return "", false
	}
	e := d.points.Kind(b[:length])
	if e == nil {
		return "", false
	}
	return string(d.points.Text(e, b[:length])), d.points.ByTask(e, b[:length])
}

// skipRead passes over values of counters.
func (d *data) skipRead(a *attr, b *[]byte) bool {
	words := 0
	for bit := range 2 { // times enabled and running
		if a.format&(1<<bit) != 0 {
			words++
		}
	}
	each := 1
	for _, bit := range []uint64{1 << 2, 1 << 4} { // id, lost
		if a.format&bit != 0 {
			each++
		}
	}
	if a.format&(1<<3) != 0 { // a group: how many
		if len(*b) < 8 {
			return false
		}
		n := d.order.Uint64(*b)
		if n > 1<<12 {
			return false
		}
		words += 1 + int(n)*each
	} else {
		words += each
	}
	if len(*b) < 8*words {
		return false
	}
	*b = (*b)[8*words:]
	return true
}

// object adds the object of an address as a frame; several of one object in a row are one.
func (d *data) object(pid uint32, address uint64, kernel bool) {
	name, _ := d.objects(pid).Find(address)
	if kernel || name == "" {
		if name, _ = d.objects(everywhere).Find(address); name == "" && kernel {
			name = "[kernel.kallsyms]"
		}
	}
	if i := strings.Index(name, "]_"); i > 0 { // "[kernel.kallsyms]_text"
		name = name[:i+1]
	}
	name = cmp.Or(name, "[unknown]")
	d.unnamed++
	label := "[" + strings.Trim(path.Base(name), "[]") + "]"
	if region := d.region(regionKey{symbol: label, object: name}); len(d.frames) == 0 ||
		d.frames[len(d.frames)-1] != region {
		d.frames = append(d.frames, region)
	}
}

func (d *data) objects(pid uint32) *addresses.Map[string] {
	return importer.Once(d.maps, pid, func() *addresses.Map[string] { return &addresses.Map[string]{} })
}

// report reports errors of the file.
func (d *data) report(label string) {
	for _, x := range []struct {
		kind  trace.ReportKind
		what  string
		count int64
	}{
		{trace.Guessed,
			"frames by the object that they are in: perf.data holds no names of functions; `perf script -F +pid " +
				"> run.txt` on the machine where it was recorded prints them", d.unnamed},
		{trace.MissingSamples, "samples that perf lost while it recorded", d.lost},
		{trace.MissingSamples, "samples whose fields do not fit their description", d.unknown},
		{trace.MissingRest, "files that break off, read up to there", min(d.broken, 1)},
	} {
		importer.Tell(d.w, x.kind, x.what, x.count, label)
	}
}
