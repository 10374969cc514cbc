package ftrace

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sched"
	"github.com/parallax-hpc/parallax/internal/importer/tracepoint"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A trace.dat file is described in trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5): descriptions of events and names, then
// pages of the kernel's ring buffer for each processor. In version 7 all parts are sections, which may be packed.

func isData(head []byte) bool { return bytes.HasPrefix(head, []byte(tracepoint.Magic)) }

// Reasons of the import report.
type reason uint8

const (
	unknownEvent reason = iota
	brokenPage
	lostEvents
	lostSomewhere
	brokenFile
	functionEntry
	rawClock
	unreadPart
)

var reasons = []importer.Reason{
	unknownEvent: importer.Skipped(trace.MissingEvents, "events whose kind the file does not describe"),
	brokenPage:   importer.Skipped(trace.MissingEvents, "pages of the ring buffer that are broken"),
	lostEvents: importer.Skipped(trace.MissingEvents,
		"events that the kernel lost while it recorded (states around them may be wrong)"),
	lostSomewhere: importer.Skipped(trace.MissingEvents,
		"places where the kernel lost events, it does not say how many "+
			"(states around them may be wrong)"),
	brokenFile:    importer.Skipped(trace.MissingRest, "files that break off, read up to there"),
	functionEntry: importer.Redundant("entries of functions (their returns say when they began)"),
	rawClock: importer.Guessed("times of a clock that counts no nanoseconds, taken as such: " +
		"lengths are in its ticks"),
	unreadPart: importer.Skipped(trace.MissingNames, "parts of the file that cannot be read"),
}

// A dat is a trace.dat file while it is read.
type dat struct {
	*converter
	*tracepoint.Formats
	in      io.ReaderAt
	size    int64
	left    int64 // of the file, for pages
	buffer  []byte
	tally   importer.Tally[reason]
	packing string // of version 7
	offset  trace.Time
	mult    uint64 // of ticks to ns; 0: they are
	shift   uint32
	clock   string
}

// A buffer is the pages of a processor.
type buffer struct {
	cpu        int64
	at, length int64
	packed     bool
}

func readData(ctx context.Context, run importer.Run, w trace.Writer) error {
	in, size, done, err := importer.RandomAccess(run, run.Files[0])
	if err != nil {
		return err
	}
	defer done()
	label := run.Label(run.Files[0])
	d := &dat{converter: newConverter(w, label, false), in: in, size: size, left: size}
	buffers, err := d.descriptions()
	if err != nil {
		return importer.Malformed(label, "", "its descriptions of events cannot be read: it %v", err)
	}
	if !inNanoseconds(d.clock) && d.mult == 0 {
		d.tally.Add(rawClock, importer.Nowhere)
	}
	for _, b := range buffers {
		if err == nil {
			err = d.pages(ctx, b, run.Progress)
		}
	}
	if failed := d.close(); err == nil {
		err = failed
	}
	d.tally.Report(w, label, "byte", reasons)
	if err == nil && d.events == 0 {
		return importer.Malformed(label, "", "holds no events that can be read")
	}
	return err
}

func inNanoseconds(clock string) bool {
	switch clock {
	case "", "local", "global", "uptime", "perf", "tai", "boot", "tsc2nsec":
		return true
	}
	return strings.HasPrefix(clock, "mono")
}

// descriptions reads all but the events.
func (d *dat) descriptions() ([]buffer, error) {
	r := tracepoint.Begin(wire.From(io.NewSectionReader(d.in, 0, d.size), 64<<10))
	d.Formats = r.Formats
	if r.Failed() {
		return nil, r.Err()
	}
	if version, _ := strconv.Atoi(r.Version); version >= 7 {
		return d.sections(r, r.Offset())
	}
	if r.All(); r.Failed() {
		return nil, r.Err()
	}
	return d.tail(r.Cursor)
}

// tail reads the data after the descriptions in version 6: processors, options, and where their pages are.
func (d *dat) tail(in *wire.Cursor) (list []buffer, err error) {
	cpus := in.Uint32()
	kind := in.Text(10)
	for strings.HasPrefix(kind, "options") {
		id := in.Uint16()
		if id == 0 {
			kind = in.Text(10)
			break
		}
		length := in.Uint32()
		if length > 1<<24 {
			return nil, fmt.Errorf("has an option of %d bytes", length)
		}
		d.option(int(id), in.Take(int(length)))
	}
	if in.Failed() {
		return nil, in.Err()
	}
	if !strings.HasPrefix(kind, "flyrecord") {
		return nil, fmt.Errorf("holds a report of latencies (%q): its text is to be had by trace-cmd report", kind)
	}
	if cpus > 1<<16 {
		return nil, fmt.Errorf("has %d processors", cpus)
	}
	for cpu := range cpus {
		b := buffer{cpu: int64(cpu), at: in.Int64(), length: in.Int64()}
		if in.Failed() {
			d.tally.Add(brokenFile, importer.Nowhere)
			break
		}
		list = append(list, b)
	}
	return list, nil
}

// Options that are read.
const (
	optionDone     = 0
	optionDate     = 1
	optionBuffer   = 3
	optionClock    = 4
	optionUname    = 5
	optionOffset   = 7
	optionVersion  = 9
	optionTSC      = 14
	optionHeader   = 16
	optionOwn      = 17
	optionSystems  = 18
	optionSymbols  = 19
	optionPrintk   = 20
	optionCommands = 21
)

func (d *dat) option(id int, b []byte) {
	text, _, _ := strings.Cut(string(b), "\x00")
	switch id {
	case optionDate, optionOffset:
		unit := int64(1)
		if id == optionDate {
			unit = 1000
		}
		if v, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64); err == nil && v < 1<<62/unit {
			d.offset += trace.Time(v * unit)
		}
	case optionClock: // all that there are, the one that was used in brackets
		if _, rest, ok := strings.Cut(text, "["); ok {
			d.clock, _, _ = strings.Cut(rest, "]")
		}
	case optionUname:
		d.w.Property("system", text)
	case optionVersion:
		d.w.Property("trace-cmd version", text)
	case optionTSC:
		if len(b) >= 8 {
			d.mult, d.shift = uint64(d.Order.Uint32(b)), d.Order.Uint32(b[4:])
		}
	}
}

// sections follows the options of version 7.
func (d *dat) sections(r *tracepoint.Reader, at int64) (list []buffer, err error) {
	head := make([]byte, 256)
	n, _ := d.in.ReadAt(head, at)
	names := bytes.SplitN(head[:n], []byte{0}, 3) // packing, its version
	if len(names) < 3 || len(names[2]) < 8 {
		return nil, io.ErrUnexpectedEOF
	}
	d.packing = string(names[0])
	parts := map[int]func(*tracepoint.Reader){
		optionHeader: (*tracepoint.Reader).Header, optionOwn: (*tracepoint.Reader).Own,
		optionSystems: (*tracepoint.Reader).Systems, optionSymbols: (*tracepoint.Reader).Symbols,
		optionPrintk: (*tracepoint.Reader).Printk, optionCommands: (*tracepoint.Reader).Tasks}
	seen := map[int64]bool{}
	for at := int64(d.Order.Uint64(names[2])); at != 0 && !seen[at]; {
		seen[at] = true
		b, _, err := d.section(at)
		if err != nil {
			return nil, err
		}
		at = 0
		for len(b) >= 6 {
			id, length := int(d.Order.Uint16(b)), int64(d.Order.Uint32(b[2:]))
			if b = b[6:]; length > int64(len(b)) {
				d.tally.Add(unreadPart, importer.Nowhere)
				break
			}
			value := b[:length]
			b = b[length:]
			switch read := parts[id]; {
			case id == optionDone && len(value) >= 8:
				at, b = int64(d.Order.Uint64(value)), nil
			case id == optionBuffer:
				list = append(list, d.buffers(value)...)
			case read != nil && len(value) >= 8:
				part, _, err := d.section(int64(d.Order.Uint64(value)))
				if err == nil {
					part := r.Of(part)
					read(part)
					err = part.Err()
				}
				if err != nil && id == optionHeader {
					return nil, err
				}
				if err != nil {
					d.tally.Add(unreadPart, importer.Nowhere)
				}
			default:
				d.option(id, value)
			}
		}
	}
	return list, nil
}

// section reads one, unpacked.
func (d *dat) section(at int64) (b []byte, packed bool, err error) {
	head := make([]byte, 16)
	if _, err := d.in.ReadAt(head, at); err != nil {
		return nil, false, io.ErrUnexpectedEOF
	}
	packed = d.Order.Uint16(head[2:])&1 != 0
	length := int64(d.Order.Uint32(head[8:]))
	if length > d.size-at-12 {
		return nil, packed, io.ErrUnexpectedEOF
	}
	b = make([]byte, length)
	if _, err := d.in.ReadAt(b, at+12); err != nil {
		return nil, packed, err
	}
	if !packed {
		return b, packed, nil
	}
	if len(b) < 8 {
		return nil, packed, io.ErrUnexpectedEOF
	}
	b, err = d.unpack(b[8:min(int64(len(b)), 8+int64(d.Order.Uint32(b)))], int64(d.Order.Uint32(b[4:])))
	return b, packed, err
}

// largestChunk bounds the bytes that are unpacked at once.
const largestChunk = 256 << 20

func (d *dat) unpack(b []byte, length int64) ([]byte, error) {
	if length > largestChunk {
		return nil, fmt.Errorf("has a packed part of %d bytes", length)
	}
	var in io.Reader
	switch d.packing {
	case "zlib":
		z, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		in = z
	default:
		return nil, fmt.Errorf("is packed by %q, which is not known", d.packing)
	}
	var out bytes.Buffer
	_, err := io.Copy(&out, io.LimitReader(in, length))
	return out.Bytes(), err
}

// buffers reads an option: the section, names of instance and clock, a size of pages in newer files, and for each
// processor its number, place and length.
func (d *dat) buffers(b []byte) (list []buffer) {
	if len(b) < 8 {
		return nil
	}
	_, packed, err := d.sectionHead(int64(d.Order.Uint64(b)))
	names := bytes.SplitN(b[8:], []byte{0}, 3)
	if err != nil || len(names) < 3 || len(names[2]) < 4 {
		d.tally.Add(unreadPart, importer.Nowhere)
		return nil
	}
	if len(names[0]) == 0 {
		d.clock = string(names[1])
	}
	b = names[2]
	if (len(b)-8)%20 == 0 {
		if page := d.Order.Uint32(b); page >= 256 && page <= 1<<24 {
			d.Page = int(page)
		}
		b = b[4:]
	}
	for b = b[4:]; len(b) >= 20; b = b[20:] {
		list = append(list, buffer{int64(d.Order.Uint32(b)), int64(d.Order.Uint64(b[4:])),
			int64(d.Order.Uint64(b[12:])), packed})
	}
	return list
}

// sectionHead says the length of a section, and whether it is packed.
func (d *dat) sectionHead(at int64) (length int64, packed bool, err error) {
	head := make([]byte, 12)
	if _, err := d.in.ReadAt(head, at); err != nil {
		return 0, false, io.ErrUnexpectedEOF
	}
	return int64(d.Order.Uint32(head[8:])), d.Order.Uint16(head[2:])&1 != 0, nil
}

// pages reads those of a processor.
func (d *dat) pages(ctx context.Context, b buffer, progress *importer.Progress) error {
	if b.length == 0 {
		return nil
	}
	if d.left -= b.length; d.left < 0 { // parts of a file do not overlap
		d.tally.Add(unreadPart, b.at)
		return nil
	}
	if b.at < 0 || b.length < 0 || b.at > d.size || b.length > d.size-b.at {
		d.tally.Add(brokenFile, importer.Nowhere)
		b.length = max(d.size-b.at, 0)
		if b.at < 0 || b.length <= 0 {
			return nil
		}
	}
	in := io.NewSectionReader(d.in, b.at, b.length)
	if b.packed {
		return d.chunks(ctx, b, in, progress)
	}
	return d.eachPage(ctx, b.cpu, in, b.at, progress)
}

// chunks are the packed pages of a processor: their number, then of each the lengths packed and unpacked.
func (d *dat) chunks(ctx context.Context, b buffer, in io.Reader, progress *importer.Progress) error {
	head := make([]byte, 8)
	if _, err := io.ReadFull(in, head[:4]); err != nil {
		d.tally.Add(brokenFile, b.at)
		return nil
	}
	for count := d.Order.Uint32(head); count > 0; count-- {
		if _, err := io.ReadFull(in, head); err != nil {
			d.tally.Add(brokenFile, b.at)
			return nil
		}
		var packed bytes.Buffer
		if _, err := io.CopyN(&packed, in, int64(d.Order.Uint32(head))); err != nil {
			d.tally.Add(brokenFile, b.at)
			return nil
		}
		plain, err := d.unpack(packed.Bytes(), int64(d.Order.Uint32(head[4:])))
		if err != nil {
			d.tally.Add(unreadPart, b.at)
			continue
		}
		progress.Add(int64(packed.Len()))
		if err := d.eachPage(ctx, b.cpu, bytes.NewReader(plain), b.at, nil); err != nil {
			return err
		}
	}
	return nil
}

func (d *dat) eachPage(ctx context.Context, cpu int64, in io.Reader, at int64, progress *importer.Progress) error {
	if len(d.buffer) != d.Page {
		d.buffer = make([]byte, d.Page)
	}
	page := d.buffer
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := io.ReadFull(in, page)
		if n > d.Data {
			d.page(cpu, page[:n], at)
		}
		at += int64(n)
		progress.Add(int64(n))
		if err != nil {
			if err == io.ErrUnexpectedEOF {
				d.tally.Add(brokenFile, at)
			}
			return nil
		}
	}
}

// Kinds of entries of a page; less are lengths of data in words, 0 has its length behind.
const (
	entryPadding = 29
	entryExtend  = 30
	entryStamp   = 31
)

// Bits of a page's length.
const (
	lengthBits   = 1<<27 - 1
	someLost     = 1 << 31
	numberStored = 1 << 30
)

// page reads the events of one: the time of the first, how much of the page is used, and entries that each have a
// time since the one before.
func (d *dat) page(cpu int64, page []byte, at int64) {
	now := d.Order.Uint64(page)
	flags := uint64(d.Order.Uint32(page[8:]))
	if d.Long == 8 {
		flags = d.Order.Uint64(page[8:])
	}
	used := d.Data + int(flags&lengthBits)
	if used > len(page) {
		d.tally.Add(brokenPage, at)
		used = len(page)
	}
	d.missed(page, flags, used, at)
	b := page[d.Data:used]
	for len(b) >= 4 {
		head := d.Order.Uint32(b)
		kind, delta := head&31, uint64(head>>5)
		if d.Order == binary.BigEndian {
			kind, delta = head>>27, uint64(head&(1<<27-1))
		}
		b = b[4:]
		if kind == entryPadding && delta == 0 { // the rest is empty
			return
		}
		length, skip := 4*int(kind), 0
		if kind == 0 || kind >= entryPadding {
			if len(b) < 4 {
				d.tally.Add(brokenPage, at)
				return
			}
			word := d.Order.Uint32(b)
			switch kind {
			case 0:
				length, skip = int(min(max(word, 4), 1<<27)-4+3)&^3, 4
			case entryPadding:
				length = int(min(word, 1<<27))
			case entryExtend:
				delta, length = delta+uint64(word)<<27, 4
			case entryStamp:
				now, delta, length = now&^(1<<59-1)|(delta+uint64(word)<<27), 0, 4
			}
		}
		now += delta
		if skip+length > len(b) {
			d.tally.Add(brokenPage, at)
			return
		}
		if kind < entryPadding {
			d.record(cpu, now, b[skip:skip+length], at)
		}
		b = b[skip+length:]
	}
}

// missed counts events that the kernel lost before a page; their number may be behind its entries.
func (d *dat) missed(page []byte, flags uint64, used int, at int64) {
	switch {
	case flags&someLost == 0:
	case flags&numberStored != 0 && used+d.Long <= len(page):
		n := uint64(d.Order.Uint32(page[used:]))
		if d.Long == 8 {
			n = d.Order.Uint64(page[used:])
		}
		d.tally.AddN(lostEvents, int64(min(n, 1<<40)), at)
	default:
		d.tally.Add(lostSomewhere, at)
	}
}

// time is that of a number of ticks.
func (d *dat) time(ticks uint64) trace.Time {
	if d.mult != 0 && d.shift < 64 {
		high, low := bits.Mul64(ticks, d.mult)
		ticks = high<<(64-d.shift) | low>>d.shift
	}
	return trace.Time(ticks&(1<<62-1)) + d.offset
}

// record takes an event.
func (d *dat) record(cpu int64, ticks uint64, b []byte, at int64) {
	e := d.Kind(b)
	if e == nil {
		d.tally.Add(unknownEvent, at)
		return
	}
	pid, _ := d.Number(e, "common_pid", b)
	task := sched.Task{ID: max(pid, 0), Name: d.comm(pid)}
	if e.System == "ftrace" {
		switch e.Name {
		case "funcgraph_exit":
			d.returned(e, task, b)
			return
		case "funcgraph_entry":
			d.events++
			d.tally.Add(functionEntry, at)
			return
		}
	}
	r := record{task: task, tgid: -1, cpu: cpu, time: d.time(ticks), event: e.Name, fields: d.Text(e, b),
		byTask: d.ByTask(e, b)}
	if ip, ok := d.Number(e, "ip", b); ok && e.System == "ftrace" && e.Name == "function" {
		r.event = d.Symbol(uint64(ip))
		caller, _ := d.Number(e, "parent_ip", b)
		r.fields = []byte("caller=" + d.Symbol(uint64(caller)))
	}
	if strings.HasSuffix(e.Name, "print") || e.Name == "bputs" {
		r.event = "print"
	}
	d.take(r)
}

func (d *dat) comm(pid int64) string {
	if pid == 0 {
		return "<idle>"
	}
	if name, ok := d.Comms[pid]; ok {
		return name
	}
	return "<...>"
}

// returned is the return from a function, which says when it was called.
func (d *dat) returned(e *tracepoint.Event, task sched.Task, b []byte) {
	d.events++
	at, ok1 := d.Number(e, "func", b)
	begin, ok2 := d.Number(e, "calltime", b)
	end, ok3 := d.Number(e, "rettime", b)
	if ok1 && ok2 && ok3 {
		d.function(task, d.Symbol(uint64(at)), d.time(uint64(begin)), d.time(uint64(end)))
	}
}
