package callgrind

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/callgraph"
)

// longestLine bounds a line; names in C++ are long.
const longestLine = 1 << 20

// A head is the header of a file.
type head struct {
	creator, command, process, thread string
	events                            []string
	described                         map[string]string
	positions                         int
	lineAt                            int // the position that is a line, -1 for none
	derived                           int64
}

// A file is the content read from one file.
type file struct {
	head
	label string
	graph *callgraph.Graph

	texts   [3]map[string]string // by number: files, functions, objects
	file    string               // of the line at hand: fl, fi, fe
	fn      *callgraph.Function
	home    string // file of fn
	object  string
	callee  callee
	at      []int64 // positions of the line before
	expects int     // 1: the next line is the cost of calls

	line       int64
	bad, long  int64
	firstBad   string
	jumps      int64
	scratch    []float64
	totals     []float64
	sum        []float64
	ended      bool // a line of totals came last
	costs      int64
	unnumbered int64
}

// A callee is the function named by the lines before calls=.
type callee struct {
	name, file, object string
	count              float64
}

const (
	ofFile = iota
	ofFunction
	ofObject
)

func newFile(label string, g *callgraph.Graph) *file {
	f := &file{label: label, graph: g}
	f.positions = 1
	for i := range f.texts {
		f.texts[i] = map[string]string{}
	}
	return f
}

// read takes all lines.
func (f *file) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 256<<10)
	var long []byte
	for {
		if f.line%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long) <= longestLine {
				long = append(long, part...)
			}
			continue
		}
		if len(long) > 0 {
			part = append(long, part...)
			long = long[:0]
		}
		if len(part) > 0 {
			f.line++
			if len(part) > longestLine {
				f.long++
			} else if !f.take(bytes.TrimSpace(part)) {
				f.wrong()
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			var known *importer.Error
			if errors.As(err, &known) && f.costs == 0 {
				return known
			}
			f.ended = false
			return nil
		}
	}
}

func (f *file) wrong() {
	if f.bad++; f.bad == 1 {
		f.firstBad = fmt.Sprintf("%s: line %d", f.label, f.line)
	}
}

// take reads one line; false: it makes no sense.
func (f *file) take(line []byte) bool {
	if len(line) == 0 || line[0] == '#' {
		return true
	}
	if c := line[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || c == '*' {
		return f.cost(line)
	}
	if equals := bytes.IndexByte(line, '='); equals > 0 && equals <= 5 {
		if known, ok := f.specify(string(line[:equals]), bytes.TrimSpace(line[equals+1:])); known {
			return ok
		}
	}
	key, value, found := strings.Cut(string(line), ":")
	return found && f.describe(key, strings.TrimSpace(value))
}

// specify takes a line KEY=VALUE.
func (f *file) specify(key string, value []byte) (known, ok bool) {
	ok = true
	switch key {
	case "ob":
		f.object = f.name(ofObject, value)
	case "fl":
		f.file = f.name(ofFile, value)
		f.fn = nil
	case "fi", "fe":
		f.file = f.name(ofFile, value)
	case "fn":
		f.home = f.file
		f.fn = f.graph.Function(f.name(ofFunction, value), f.file, f.object)
		f.callee = callee{}
	case "cob":
		f.callee.object = f.name(ofObject, value)
	case "cfi", "cfl":
		f.callee.file = f.name(ofFile, value)
	case "cfn":
		f.callee.name = f.name(ofFunction, value)
	case "calls":
		count, _, _ := bytes.Cut(value, []byte(" "))
		n, err := strconv.ParseFloat(string(count), 64)
		f.callee.count, f.expects = max(n, 0), 1
		ok = err == nil && n >= 0 && f.callee.name != ""
	case "jump", "jcnd":
		f.jumps++
	case "jfi":
		f.name(ofFile, value)
	case "jfn":
		f.name(ofFunction, value)
	case "frfn", "rcalls": // callers that --separate-callers names
	default:
		return false, false
	}
	return true, ok
}

// name resolves "(3) main", "(3)" and "main".
func (f *file) name(list int, value []byte) string {
	if len(value) == 0 || value[0] != '(' {
		return string(value)
	}
	end := bytes.IndexByte(value, ')')
	if end < 0 || bytes.IndexFunc(value[1:end], func(r rune) bool { return r < '0' || r > '9' }) >= 0 || end == 1 {
		return string(value) // a name like "(below main)"
	}
	id := string(value[1:end])
	if rest := bytes.TrimSpace(value[end+1:]); len(rest) > 0 {
		f.texts[list][id] = string(rest)
		return string(rest)
	}
	text, ok := f.texts[list][id]
	if !ok {
		f.unnumbered++
		text = "(" + id + ")"
	}
	return text
}

// describe takes a line KEY: VALUE.
func (f *file) describe(key, value string) bool {
	switch key {
	case "creator":
		f.creator = value
	case "cmd":
		f.command = value
	case "pid":
		f.process = value
	case "thread":
		f.thread = value
	case "events":
		f.events = strings.Fields(value)
		if len(f.events) > mostEvents {
			f.events = f.events[:mostEvents]
		}
	case "event":
		name, text, _ := strings.Cut(value, ":")
		if short, _, formula := strings.Cut(name, "="); formula {
			f.derived++
			name = short
		}
		if f.described == nil {
			f.described = map[string]string{}
		}
		f.described[strings.TrimSpace(name)] = strings.TrimSpace(text)
	case "positions":
		fields := strings.Fields(value)
		f.positions, f.lineAt = max(len(fields), 1), slices.Index(fields, "line")
	case "totals", "summary":
		var list []float64
		for _, word := range strings.Fields(value) {
			n, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return false
			}
			list = append(list, n)
		}
		if f.costs > 0 {
			f.totals = add(f.totals, list) // of each part
			f.ended = true
		}
	case "version", "part", "desc":
	default:
		return false
	}
	return true
}

// mostEvents bounds the events of a head.
const mostEvents = 256

func add(to, list []float64) []float64 {
	for len(to) < len(list) {
		to = append(to, 0)
	}
	for i, v := range list {
		to[i] += v
	}
	return to
}

// cost takes a line of positions and numbers.
func (f *file) cost(line []byte) bool {
	f.ended = false
	for len(f.at) < f.positions {
		f.at = append(f.at, 0)
	}
	word := func() (w []byte) {
		w, line, _ = bytes.Cut(line, []byte(" "))
		for len(w) == 0 && len(line) > 0 {
			w, line, _ = bytes.Cut(line, []byte(" "))
		}
		return w
	}
	for i := range f.positions {
		w := word()
		if len(w) == 0 {
			break // positions at the end may be left out
		}
		p, ok := position(w, f.at[i])
		if !ok {
			return false
		}
		f.at[i] = p
	}
	if f.fn == nil {
		if f.fn = f.graph.Function("(unknown)", f.file, f.object); f.home == "" {
			f.home = f.file
		}
	}
	values := f.scratch[:0]
	for w := word(); len(w) > 0 && len(values) < len(f.events); w = word() {
		n, err := strconv.ParseInt(string(w), 10, 64)
		if err != nil {
			return false
		}
		values = append(values, float64(n))
	}
	f.scratch = values
	if len(values) == 0 {
		return true // where a jump is
	}
	f.costs++
	if f.expects == 1 {
		f.expects = 0
		f.call(values)
		return true
	}
	f.fn.AddAt(f.place(), values)
	f.sum = add(f.sum, values)
	if f.file == f.home && f.fn.Line == 0 {
		f.fn.Line = f.place().Line
	}
	return true
}

// place is that of the cost at hand.
func (f *file) place() callgraph.Place {
	if f.lineAt < 0 {
		return callgraph.Place{File: f.file}
	}
	return callgraph.Place{File: f.file, Line: int(min(max(f.at[f.lineAt], 0), 1<<30))}
}

// call takes the cost of calls, which the lines before it describe. File and object are those at hand where not said.
func (f *file) call(values []float64) {
	c := f.callee
	c.file = cmp.Or(c.file, f.file)
	c.object = cmp.Or(c.object, f.object)
	f.graph.CallAt(f.fn, f.graph.Function(c.name, c.file, c.object), f.place(), c.count, values)
	f.callee = callee{}
}

// position reads 12, 0x1f, +3, -2 or *.
func position(w []byte, before int64) (int64, bool) {
	sign := int64(0)
	switch w[0] {
	case '*':
		return before, len(w) == 1
	case '+':
		sign, w = 1, w[1:]
	case '-':
		sign, w = -1, w[1:]
	}
	n, err := strconv.ParseUint(string(w), 0, 63)
	if err != nil {
		if n, err = strconv.ParseUint(string(w), 10, 63); err != nil {
			return 0, false
		}
	}
	if sign != 0 {
		return before + sign*int64(n), true
	}
	return int64(n), true
}
