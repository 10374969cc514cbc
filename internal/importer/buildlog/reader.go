package buildlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A step is a command or vertex.
type step struct {
	name, category string
	begin, end     trace.Time
	open           bool // without an end
	cached, failed bool
	inputs         []string
	key            string
}

// A log gathers steps by their output.
type log struct {
	w     trace.Writer
	label string
	steps map[string]*step
	order []*step
}

func (l *log) skip(n int, what string) {
	l.w.Report(trace.MissingIntervals, what, 1, fmt.Sprintf("%s: line %d", l.label, n))
}

// ninja takes a line of Ninja's.
func (l *log) ninja(n int, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
		return
	}
	f := bytes.Split(line, []byte("\t"))
	if len(f) < 5 {
		l.skip(n, "lines that are no command")
		return
	}
	begin, err1 := strconv.ParseInt(string(f[0]), 10, 32)
	end, err2 := strconv.ParseInt(string(f[1]), 10, 32)
	if err1 != nil || err2 != nil {
		l.skip(n, "lines that are no command")
		return
	}
	output := string(f[3])
	s := l.steps[output]
	if s == nil {
		s = &step{}
		l.steps[output] = s
		l.order = append(l.order, s)
	} else {
		l.w.Report(trace.Redundant, "lines of older builds (the last of an output counts)", 1,
			fmt.Sprintf("%s: line %d", l.label, n))
	}
	*s = step{name: output, category: path.Ext(output), begin: trace.Time(begin) * 1e6, end: trace.Time(end) * 1e6,
		key: fmt.Sprintf("%s %d %d", f[4], begin, end)}
}

// buildKit takes an object of BuildKit's.
func (l *log) buildKit(n int, line []byte) {
	var object struct {
		Vertexes []struct {
			Digest, Name       string
			Inputs             []string
			Started, Completed *time.Time
			Cached             bool
			Error              string
		}
		Logs, Statuses []json.RawMessage
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if err := json.Unmarshal(line, &object); err != nil {
		l.skip(n, "lines that are no JSON")
		return
	}
	for _, v := range object.Vertexes {
		s := l.steps[v.Digest]
		if s == nil {
			s = &step{key: v.Digest, open: true, begin: -1}
			l.steps[v.Digest] = s
			l.order = append(l.order, s)
		}
		s.name, s.inputs, s.cached, s.failed = v.Name, v.Inputs, v.Cached, v.Error != ""
		if v.Started != nil {
			s.begin = trace.Time(v.Started.UnixNano())
		}
		if v.Completed != nil {
			s.end, s.open = trace.Time(v.Completed.UnixNano()), false
		}
	}
	if lost := len(object.Logs) + len(object.Statuses); lost > 0 {
		l.w.Report(trace.Redundant, "lines of output and progress (times of steps are whole without them)", int64(lost),
			fmt.Sprintf("%s: line %d", l.label, n))
	}
}
