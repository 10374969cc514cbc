// Package tracepoint reads the descriptions of Linux's trace points: which fields an event has and where they are in
// its record, names of functions, strings of trace_printk and names of tasks. trace.dat files hold it, and perf.data
// files of trace points.
package tracepoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/addresses"
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

// A Reader reads descriptions from in.
type Reader struct {
	*Formats
	in io.Reader
}

// Begin reads the first bytes: version, byte order and sizes.
func Begin(in io.Reader) (*Reader, error) {
	r := &Reader{&Formats{Events: map[int]*Event{}, Comms: map[int64]string{}, printk: map[uint64]string{}}, in}
	head, err := r.bytes(uint64(len(Magic)))
	if err != nil || string(head) != Magic {
		return nil, errors.New("does not begin as trace points do")
	}
	if r.Version, err = r.text(16); err != nil {
		return nil, err
	}
	sizes, err := r.bytes(6)
	if err != nil {
		return nil, err
	}
	r.Order = binary.LittleEndian
	if sizes[0] == 1 {
		r.Order = binary.BigEndian
	}
	r.Long, r.Page = int(sizes[1]), int(r.Order.Uint32(sizes[2:]))
	if r.Long != 4 && r.Long != 8 || r.Page < 256 || r.Page > 1<<24 {
		return nil, fmt.Errorf("has longs of %d bytes and pages of %d", r.Long, r.Page)
	}
	r.Data = 8 + r.Long
	return r, nil
}

// From reads descriptions from elsewhere.
func (r *Reader) From(in io.Reader) *Reader { return &Reader{r.Formats, in} }

// All reads the parts one after the other, as version 6 and perf have them.
func (r *Reader) All() error {
	for _, part := range []func() error{r.Header, r.Own, r.Systems, r.Symbols, r.Printk} {
		if err := part(); err != nil {
			return err
		}
	}
	return r.Tasks()
}

// largestPart bounds a part that is held in memory.
const largestPart = 256 << 20

// bytes reads n of them.
func (r *Reader) bytes(n uint64) ([]byte, error) {
	if n > largestPart {
		return nil, fmt.Errorf("has a part of %d bytes", n)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r.in, int64(n)); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return b.Bytes(), nil
}

// text reads up to a zero.
func (r *Reader) text(most int) (string, error) {
	var out []byte
	for len(out) < most {
		b, err := r.bytes(1)
		if err != nil {
			return "", err
		}
		if b[0] == 0 {
			return string(out), nil
		}
		out = append(out, b[0])
	}
	return "", errors.New("has a name without an end")
}

// number reads an integer of 4 or 8 bytes.
func (r *Reader) number(size uint64) (uint64, error) {
	b, err := r.bytes(size)
	if err != nil {
		return 0, err
	}
	if size == 4 {
		return uint64(r.Order.Uint32(b)), nil
	}
	return r.Order.Uint64(b), nil
}

// sized reads a length of so many bytes, and the part of that length.
func (r *Reader) sized(length uint64) ([]byte, error) {
	n, err := r.number(length)
	if err != nil {
		return nil, err
	}
	return r.bytes(n)
}

// Header reads how pages are laid out.
func (r *Reader) Header() error {
	for _, want := range []string{"header_page", "header_event"} {
		name, err := r.text(16)
		if err != nil {
			return err
		}
		if name != want {
			return fmt.Errorf("has %q where %q is due", name, want)
		}
		part, err := r.sized(8)
		if err != nil {
			return err
		}
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
		return fmt.Errorf("has pages whose events begin at byte %d", r.Data)
	}
	return nil
}

// mostKinds bounds numbers of systems and events.
const mostKinds = 1 << 20

// Own reads the formats of the tracer's own events.
func (r *Reader) Own() error { return r.formats("ftrace") }

func (r *Reader) formats(system string) error {
	count, err := r.number(4)
	if err != nil {
		return err
	}
	if count > mostKinds {
		return fmt.Errorf("has %d kinds of events", count)
	}
	for range count {
		part, err := r.sized(8)
		if err != nil {
			return err
		}
		if e := parse(system, part); e != nil {
			r.Events[e.ID] = e
		}
	}
	return nil
}

// Systems reads the formats of all others.
func (r *Reader) Systems() error {
	count, err := r.number(4)
	if err != nil {
		return err
	}
	if count > mostKinds {
		return fmt.Errorf("has %d systems", count)
	}
	for range count {
		system, err := r.text(256)
		if err != nil {
			return err
		}
		if err := r.formats(system); err != nil {
			return err
		}
	}
	return nil
}

// Symbols reads names of functions, as in /proc/kallsyms.
func (r *Reader) Symbols() error {
	part, err := r.sized(4)
	if err != nil {
		return err
	}
	type symbol struct {
		at   uint64
		name string
	}
	var list []symbol
	for line := range bytes.Lines(part) {
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
	return nil
}

// Printk reads the strings of trace_printk: `0xADDRESS : "text"`.
func (r *Reader) Printk() error {
	part, err := r.sized(4)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(part) {
		at, text, ok := strings.Cut(strings.TrimSpace(string(line)), " : ")
		if number, err := strconv.ParseUint(at, 0, 64); ok && err == nil {
			if plain, err := strconv.Unquote(text); err == nil {
				text = plain
			}
			r.printk[number] = strings.TrimSpace(text)
		}
	}
	return nil
}

// Tasks reads `pid name`, a line each.
func (r *Reader) Tasks() error {
	part, err := r.sized(8)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(part) {
		pid, name, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if n, err := strconv.ParseInt(pid, 10, 64); ok && err == nil {
			r.Comms[n] = name
		}
	}
	return nil
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
