package gprof

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A report is the text while it is read.
type report struct {
	g       *callgraph.Graph
	section section
	flat    map[string]*callgraph.Function // of the flat table
	entry   *callgraph.Function
	skip    bool // the entry is a circle as a whole, whose members have their own
	bad     int64
	first   string
	rows    int
	edges   int
	index   bool
}

type section uint8

const (
	outside section = iota
	inFlat
	inGraph
	inIndex
)

var (
	primary = regexp.MustCompile(`^\[(\d+)\] +([\d.]+) +([\d.]+) +([\d.]+)(?: +(\d+)(?:\+(\d+))?)? +(.+?) \[\d+\]$`)
	callee  = regexp.MustCompile(`^ +([\d.]+) +([\d.]+) +(\d+)(?:/(\d+))? +(.+?) \[\d+\]$`)
	within  = regexp.MustCompile(`^ +(\d+) +(.+?) \[\d+\]$`)
	circle  = regexp.MustCompile(` <cycle \d+>$`)
	flatRow = regexp.MustCompile(`^ *([\d.]+) +([\d.]+) +([\d.]+)(?: +(\d+) +([\d.]+) +([\d.]+))? +(\S.*)$`)
)

// readReport reads the tables. Functions and their own time come from the flat one where it is there.
func readReport(ctx context.Context, in io.Reader, label string, w trace.Writer) (*callgraph.Graph, error) {
	r := &report{g: callgraph.New(), flat: map[string]*callgraph.Function{}}
	scan := bufio.NewScanner(in)
	scan.Buffer(make([]byte, 64<<10), 1<<20)
	n := 0
	for ; scan.Scan(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if line := strings.TrimRight(scan.Text(), " \t\r\f"); !r.line(line) {
			if r.bad++; r.bad == 1 {
				r.first = fmt.Sprintf("%s: line %d", label, n+1)
			}
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.rows == 0 {
		return nil, importer.Malformed(label, "", "holds no functions")
	}
	importer.Tell(w, trace.MissingValues, "lines that are no rows of a table", r.bad, r.first)
	if err := scan.Err(); err != nil {
		w.Report(trace.MissingRest, "files that break off, or hold a line of more than a megabyte, read up to there", 1,
			fmt.Sprintf("%s: line %d", label, n+1))
	} else if r.edges > 0 && !r.index {
		w.Report(trace.MissingRest, "reports that end before their index of functions: cut off", 1, label)
	}
	return r.g, nil
}

// line takes a line; false: it makes no sense where it stands.
func (r *report) line(line string) bool {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "":
		if r.section == inFlat && r.rows > 0 {
			r.section = outside
		}
		return true
	case flatHead.MatchString(line + " "):
		r.section = inFlat
		return true
	case graphHead.MatchString(line):
		r.section = inGraph
		for _, f := range r.flat {
			f.Called = 0 // edges tell the calls, with those of a function by itself
		}
		return true
	case strings.HasPrefix(trimmed, "called/total "): // the head of BSD has three lines
		return true
	case strings.HasPrefix(trimmed, "Index by function name"):
		r.section, r.index = inIndex, true
		return true
	}
	switch r.section {
	case inFlat:
		return r.flatLine(line, trimmed)
	case inGraph:
		return r.graphLine(line, trimmed)
	}
	return true
}

func (r *report) flatLine(line, trimmed string) bool {
	if strings.HasPrefix(trimmed, "time ") && strings.HasSuffix(trimmed, "name") {
		return true // the second line of the head
	}
	m := flatRow.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	f := r.g.Function(m[7], "", "")
	self, _ := strconv.ParseFloat(m[3], 64)
	f.Add([]float64{self})
	f.Called, _ = strconv.ParseFloat(m[4], 64)
	r.flat[m[7]] = f
	r.rows++
	return true
}

func (r *report) graphLine(line, trimmed string) bool {
	if strings.HasPrefix(trimmed, "---") {
		r.entry, r.skip = nil, false
		return true
	}
	if m := primary.FindStringSubmatch(line); m != nil {
		name := circle.ReplaceAllString(m[7], "")
		if r.skip = strings.HasSuffix(name, " as a whole>"); r.skip {
			return true
		}
		r.entry = r.g.Function(name, "", "")
		r.rows++
		if r.flat[name] == nil {
			self, _ := strconv.ParseFloat(m[3], 64)
			r.entry.Add([]float64{self})
		}
		return true
	}
	if r.skip || r.entry == nil || strings.HasSuffix(trimmed, "<spontaneous>") {
		return true // callers: their entries say the same
	}
	if m := callee.FindStringSubmatch(line); m != nil {
		self, _ := strconv.ParseFloat(m[1], 64)
		children, _ := strconv.ParseFloat(m[2], 64)
		count, _ := strconv.ParseFloat(m[3], 64)
		r.call(m[5], count, self+children)
		return true
	}
	if m := within.FindStringSubmatch(line); m != nil { // by itself, or within a circle: the time is told elsewhere
		count, _ := strconv.ParseFloat(m[1], 64)
		r.call(m[2], count, 0)
		return true
	}
	return false
}

func (r *report) call(name string, count, cost float64) {
	r.edges++
	r.g.Call(r.entry, r.g.Function(circle.ReplaceAllString(name, ""), "", ""), count, []float64{cost})
}
