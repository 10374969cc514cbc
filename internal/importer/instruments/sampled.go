package instruments

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var (
	analysis = regexp.MustCompile(
		`^Analysis of sampling (.*) \(pid (\d+)\) every (\d+) (millisecond|microsecond|second)s?`,
	)
	callLine = regexp.MustCompile(`^[ +!:|]*?(\d+) (.+)$`)
	inside   = regexp.MustCompile(`^(.*?)  \(in ([^)]*)\)(.*)$`)
	source   = regexp.MustCompile(`\s(\S+\.\w+):(\d+)$`)
)

// intervals are the words for how often samples are taken, in ns.
var intervals = map[string]float64{"microsecond": 1e3, "millisecond": 1e6, "second": 1e9}

// sampled is a report of sample(1) while it is read.
type sampled struct {
	*tree
	process string
	owner   trace.LocationID
	at      trace.LocationID
	known   bool // the process is
	period  float64
	inGraph bool
	ended   bool
	indent  int
	begun   bool
}

func (s *sampled) line(n int, line string) {
	if m := analysis.FindStringSubmatch(line); m != nil {
		s.process = m[1] + " " + m[2]
		every, _ := strconv.ParseFloat(m[3], 64)
		s.period = every * intervals[m[4]]
		return
	}
	if strings.TrimSpace(line) == "Call graph:" {
		s.inGraph = true
		s.begin()
		return
	}
	if !s.inGraph || s.ended {
		return
	}
	if strings.TrimSpace(line) == "" {
		s.ended = s.begun
		return
	}
	m := callLine.FindStringSubmatchIndex(line)
	if m == nil {
		s.wrong(n)
		return
	}
	column, rest := m[2], line[m[4]:m[5]]
	if !s.begun {
		s.begun, s.indent = true, column
	}
	depth := max(column-s.indent, 0) / 2
	count, _ := strconv.ParseFloat(line[m[2]:m[3]], 64)
	if depth == 0 { // a thread
		s.open = s.open[:0]
		name, _, _ := strings.Cut(rest, "  ")
		s.at = s.w.Location(trace.Location{Parent: s.owner, Kind: trace.KindThread, Key: rest,
			Name: strings.TrimSpace(name), Rank: trace.NoRank, Order: int64(n)})
		return
	}
	values := []float64{count}
	if s.period > 0 {
		values = []float64{count * s.period, count}
	}
	s.add(s.at, depth-1, s.w.Region(function(rest)), values, nil)
}

// begin makes the process, and the metrics.
func (s *sampled) begin() {
	if s.known {
		return
	}
	s.known = true
	s.owner = s.w.Location(importer.Process(s.process))
	s.at = s.owner
	s.metrics = []trace.Metric{{Name: "samples", Integer: true, Default: s.period == 0}}
	if s.period > 0 {
		s.metrics = append([]trace.Metric{{Name: "time", Unit: "ns", Default: true}}, s.metrics...)
	}
}

// function reads "read  (in libsystem_kernel.dylib) + 10  [0x7fff685648a6]  read.c:12".
func function(text string) trace.Region {
	m := inside.FindStringSubmatch(text)
	if m == nil {
		name, _, _ := strings.Cut(text, "  [0x")
		return trace.Region{Name: strings.TrimSpace(name)}
	}
	r := trace.Region{Name: m[1], Category: m[2]}
	if place := source.FindStringSubmatch(m[3]); place != nil {
		r.File = place[1] // the line is that of the call, which one function has many of
	}
	return r
}
