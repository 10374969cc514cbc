// Package tracepoint reads the descriptions of Linux's trace points: which fields an event has and where they are in
// its record, names of functions, strings of trace_printk and names of tasks. trace.dat files hold it, and perf.data
// files of trace points.
package tracepoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/addresses"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
)

// Magic is how a trace.dat, and the part of a perf.data file about trace points, begins.
const Magic = "\x17\x08Dtracing"

// Formats are the descriptions of a kernel.
type Formats struct {
	Version string
	Order   binary.ByteOrder
	Long    int // bytes of the kernel's long
	Page    int // bytes of a page
	Data    int // where the events of a page begin
	Events  map[int]*Event
	Comms   map[int64]string // names of tasks
	symbols addresses.Map[string]
	printk  map[uint64]string
}

// An Event is a kind of record.
type Event struct {
	System, Name string
	ID           int
	fields       []field
}

type field struct {
	name         string
	offset, size int
	signed       bool
	text         bool // characters
	elsewhere    int8 // __data_loc 1, __rel_loc 2: its place and length are at the offset
	list         bool
	pointer      bool
}

// A Reader reads descriptions. Its Cursor is behind those that it read, and has the first failure.
type Reader struct {
	*Formats
	*wire.Cursor
}

// Begin reads the first bytes: version, byte order and sizes.
func Begin(in *wire.Cursor) *Reader {
	r := &Reader{&Formats{Events: map[int]*Event{}, Comms: map[int64]string{}, printk: map[uint64]string{}}, in}
	if string(r.Take(len(Magic))) != Magic {
		r.fail("does not begin as trace points do")
	}
	r.Version = r.CString(16)
	r.BigEndian = r.Byte() == 1
	r.Order = binary.LittleEndian
	if r.BigEndian {
		r.Order = binary.BigEndian
	}
	r.Long, r.Page = int(r.Byte()), int(r.Uint32())
	if r.Long != 4 && r.Long != 8 || r.Page < 256 || r.Page > 1<<24 {
		r.fail("has longs of %d bytes and pages of %d", r.Long, r.Page)
	}
	r.Data = 8 + r.Long
	return r
}

func (r *Reader) fail(format string, args ...any) { r.Fail(fmt.Errorf(format, args...)) }

// Of reads descriptions from a part.
func (r *Reader) Of(part []byte) *Reader {
	c := wire.Of(part)
	c.BigEndian = r.BigEndian
	return &Reader{r.Formats, c}
}

// All reads the parts one after the other, as version 6 and perf have them.
func (r *Reader) All() {
	r.Header()
	r.Own()
	r.Systems()
	r.Symbols()
	r.Printk()
	r.Tasks()
}

// largestPart bounds a part that is held in memory.
const largestPart = 256 << 20

// part reads a part of so many bytes.
func (r *Reader) part(size uint64) []byte {
	if size > largestPart {
		r.fail("has a part of %d bytes", size)
		return nil
	}
	return r.Take(int(size))
}

// small and large read a part whose size is written in 4 and in 8 bytes.
func (r *Reader) small() []byte { return r.part(uint64(r.Uint32())) }
func (r *Reader) large() []byte { return r.part(r.Uint64()) }

// Header reads how pages are laid out.
func (r *Reader) Header() {
	for _, want := range []string{"header_page", "header_event"} {
		if name := r.CString(16); name != want {
			r.fail("has %q where %q is due", name, want)
		}
		part := r.large()
		if want != "header_page" {
			continue
		}
		for _, f := range fields(part) {
			switch f.name {
			case "commit":
				r.Long = max(min(f.size, 8), 4)
			case "data":
				r.Data = f.offset
			}
		}
	}
	if r.Data < 8+r.Long || r.Data > r.Page {
		r.fail("has pages whose events begin at byte %d", r.Data)
	}
}

// mostKinds bounds numbers of systems and events.
const mostKinds = 1 << 20

// Own reads the formats of the tracer's own events.
func (r *Reader) Own() { r.formats("ftrace") }

func (r *Reader) formats(system string) {
	for range r.count("kinds of events") {
		if e := parse(system, r.large()); e != nil {
			r.Events[e.ID] = e
		}
		if r.Failed() {
			return
		}
	}
}

// count reads a number of things.
func (r *Reader) count(what string) uint32 {
	n := r.Uint32()
	if n > mostKinds {
		r.fail("has %d %s", n, what)
		return 0
	}
	return n
}

// Systems reads the formats of all others.
func (r *Reader) Systems() {
	for range r.count("systems") {
		if r.formats(r.CString(256)); r.Failed() {
			return
		}
	}
}

// Symbols reads names of functions, as in /proc/kallsyms.
func (r *Reader) Symbols() {
	type symbol struct {
		at   uint64
		name string
	}
	var list []symbol
	for line := range bytes.Lines(r.small()) {
		words := strings.Fields(string(line))
		if len(words) < 3 || strings.IndexAny(words[1], "tTwW") < 0 {
			continue
		}
		if at, err := strconv.ParseUint(words[0], 16, 64); err == nil && at > 0 {
			list = append(list, symbol{at, words[2]})
		}
	}
	slices.SortStableFunc(list, func(a, b symbol) int { return cmp.Compare(a.at, b.at) })
	for i, s := range list {
		length := uint64(0)
		if i+1 < len(list) {
			length = max(list[i+1].at-s.at, 1)
		}
		r.symbols.Put(s.at, length, s.name)
	}
}

// Printk reads the strings of trace_printk: `0xADDRESS : "text"`.
func (r *Reader) Printk() {
	for line := range bytes.Lines(r.small()) {
		at, text, ok := strings.Cut(strings.TrimSpace(string(line)), " : ")
		if number, err := strconv.ParseUint(at, 0, 64); ok && err == nil {
			if plain, err := strconv.Unquote(text); err == nil {
				text = plain
			}
			r.printk[number] = strings.TrimSpace(text)
		}
	}
}

// Tasks reads `pid name`, a line each.
func (r *Reader) Tasks() {
	for line := range bytes.Lines(r.large()) {
		pid, name, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if n, err := strconv.ParseInt(pid, 10, 64); ok && err == nil {
			r.Comms[n] = name
		}
	}
}

// Symbol is the function at an address; the address itself where it is not known.
func (f *Formats) Symbol(at uint64) string {
	if name, ok := f.symbols.Find(at); ok {
		return name
	}
	return fmt.Sprintf("%#x", at)
}

var (
	nameLine  = regexp.MustCompile(`(?m)^name: *(\S+)`)
	idLine    = regexp.MustCompile(`(?m)^ID: *(\d+)`)
	fieldLine = regexp.MustCompile(`(?m)^\s*field: *([^;]*?)(\w+)(\[[^;]*\])?; *\s*offset:(\d+);\s*size:(\d+);` +
		`(?:\s*signed:(\d);)?`)
)

// parse reads the file `format` of an event; nil if it is none.
func parse(system string, text []byte) *Event {
	name, id := nameLine.FindSubmatch(text), idLine.FindSubmatch(text)
	if name == nil || id == nil {
		return nil
	}
	e := &Event{System: system, Name: string(name[1]), fields: fields(text)}
	e.ID, _ = strconv.Atoi(string(id[1]))
	return e
}

func fields(text []byte) (list []field) {
	for _, m := range fieldLine.FindAllSubmatch(text, 128) {
		kind := string(m[1])
		f := field{name: string(m[2]), signed: string(m[6]) == "1", list: len(m[3]) > 0,
			text:    strings.Contains(kind, "char") && (len(m[3]) > 0 || strings.Contains(kind, "[")),
			pointer: strings.Contains(kind, "*")}
		switch {
		case strings.Contains(kind, "__data_loc"):
			f.elsewhere, f.list = 1, true
		case strings.Contains(kind, "__rel_loc"):
			f.elsewhere, f.list = 2, true
		}
		offset, err1 := strconv.Atoi(string(m[4]))
		size, err2 := strconv.Atoi(string(m[5]))
		if err1 == nil && err2 == nil && offset < 1<<20 && size < 1<<20 {
			f.offset, f.size = offset, size
			list = append(list, f)
		}
	}
	return list
}

// at returns the bytes of a field.
func (f *Formats) at(d *field, record []byte) []byte {
	if d.offset+d.size > len(record) {
		if d.offset > len(record) || !d.list || d.elsewhere > 0 {
			return nil
		}
		return record[d.offset:] // the last, of open length
	}
	b := record[d.offset : d.offset+d.size]
	if d.size == 0 {
		return record[d.offset:]
	}
	if d.elsewhere == 0 || len(b) < 4 {
		return b
	}
	place := f.Order.Uint32(b)
	from, length := int(place&0xffff), int(place>>16)
	if d.elsewhere == 2 {
		from += d.offset + d.size
	}
	if from+length > len(record) {
		return nil
	}
	return record[from : from+length]
}

// integer reads a number of 1, 2, 4 or 8 bytes.
func (f *Formats) integer(b []byte, signed bool) (int64, bool) {
	switch len(b) {
	case 1:
		if signed {
			return int64(int8(b[0])), true
		}
		return int64(b[0]), true
	case 2:
		if v := f.Order.Uint16(b); signed {
			return int64(int16(v)), true
		} else {
			return int64(v), true
		}
	case 4:
		if v := f.Order.Uint32(b); signed {
			return int64(int32(v)), true
		} else {
			return int64(v), true
		}
	case 8:
		return int64(f.Order.Uint64(b)), true
	}
	return 0, false
}

// Number is the value of an integer field.
func (f *Formats) Number(e *Event, name string, record []byte) (int64, bool) {
	for i := range e.fields {
		if d := &e.fields[i]; d.name == name && (!d.list || d.elsewhere > 0) {
			return f.integer(f.at(d, record), d.signed)
		}
	}
	return 0, false
}

// inInterrupt are the flags of a record that an interrupt, or work put off until after one, made while a task ran.
const inInterrupt = 0x08 | 0x10 | 0x40

// ByTask reports whether the task of a record made it, and no interrupt.
func (f *Formats) ByTask(e *Event, record []byte) bool {
	flags, ok := f.Number(e, "common_flags", record)
	return ok && flags&inInterrupt == 0
}

// Kind is the event of a record by its first field; nil if it is not described.
func (f *Formats) Kind(record []byte) *Event {
	if len(record) < 2 {
		return nil
	}
	return f.Events[int(f.Order.Uint16(record))]
}

// Text is the fields of a record, as name=value; of prints it is their text.
func (f *Formats) Text(e *Event, record []byte) []byte {
	var out []byte
	for i := range e.fields {
		d := &e.fields[i]
		if strings.HasPrefix(d.name, "common_") {
			continue
		}
		b := f.at(d, record)
		if e.System == "ftrace" {
			switch d.name {
			case "buf":
				if e.Name == "bprint" {
					return f.expand(string(out), b)
				}
				return ended(b)
			case "ip":
				continue
			case "fmt", "str":
				if at, ok := f.integer(b, false); ok && f.printk[uint64(at)] != "" {
					out = append(out, f.printk[uint64(at)]...)
					continue
				}
			}
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(append(out, d.name...), '=')
		v, whole := f.integer(b, d.signed)
		switch {
		case d.text:
			out = append(out, ended(b)...)
		case whole && !d.list && d.pointer:
			out = fmt.Appendf(out, "%#x", uint64(v))
		case whole && !d.list && !d.signed:
			out = strconv.AppendUint(out, uint64(v), 10)
		case whole && !d.list:
			out = strconv.AppendInt(out, v, 10)
		default:
			out = fmt.Appendf(out, "%x", b[:min(len(b), 32)])
		}
	}
	return out
}

var verb = regexp.MustCompile(`%[-+ #0]*(\*|\d+)?(?:\.(?:\*|\d+))?(hh|h|ll|l|z|t)?([diuxXopcs%])`)

// expand puts values, as the kernel packs them, into the text of trace_printk. Placeholders without a value stay as
// they are.
func (f *Formats) expand(format string, values []byte) []byte {
	rest := values
	next := func(size int) (int64, bool) {
		used := len(values) - len(rest)
		align := min(size, 4)
		if skip := (align - used%align) % align; skip+size <= len(rest) {
			v, _ := f.integer(rest[skip:skip+size], true)
			rest = rest[skip+size:]
			return v, true
		}
		return 0, false
	}
	return verb.ReplaceAllFunc([]byte(format), func(v []byte) []byte {
		m := verb.FindSubmatch(v)
		if m[3][0] == '%' {
			return []byte("%")
		}
		for range bytes.Count(v, []byte("*")) {
			next(4)
		}
		if m[3][0] == 's' {
			text, after, ok := bytes.Cut(rest, []byte{0})
			if ok {
				rest = after
			}
			return text
		}
		size := 4
		switch string(m[2]) {
		case "hh":
			size = 1
		case "h":
			size = 2
		case "ll":
			size = 8
		case "l", "z", "t":
			size = f.Long
		}
		if m[3][0] == 'p' {
			size = f.Long
		} else if m[3][0] == 'c' {
			size = 1
		}
		n, ok := next(size)
		if !ok {
			return v
		}
		unsigned := uint64(n)
		if size < 8 {
			unsigned &= 1<<(8*size) - 1
		}
		switch m[3][0] {
		case 'd', 'i':
			return strconv.AppendInt(nil, n, 10)
		case 'c':
			return []byte{byte(n)}
		case 'u':
			return strconv.AppendUint(nil, unsigned, 10)
		case 'o':
			return strconv.AppendUint(nil, unsigned, 8)
		case 'p':
			return fmt.Appendf(nil, "%#x", unsigned)
		}
		return strconv.AppendUint(nil, unsigned, 16)
	})
}

func ended(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte{0})
	return bytes.TrimRight(b, "\n")
}
