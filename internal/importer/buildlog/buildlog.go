// Package buildlog reads logs of builds: .ninja_log, and the JSON lines of BuildKit (docker buildx build
// --progress=rawjson).
//
// The formats: Ninja writes begin and end in milliseconds, the time of the file, the output and a hash of the command, by
// tabs; older builds stay in the file, so that the last line of an output counts, and lines with the same hash and times
// are one command. BuildKit writes objects with vertexes, each again and again as it is known better: a digest, a name,
// the digests of its inputs, begin and end.
//
//	command, vertex   interval; its row is the first that is free, so rows are what ran at once
//	input             flow link to the vertex that needs it
//
// Left out and counted: logs and progress of BuildKit; vertexes that were never begun.
package buildlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of both.
var Format = &importer.Format{Name: "buildlog", Title: "build logs (.ninja_log, BuildKit's rawjson)", Text: true,
	Claim: importer.EachFile(isNinja, isBuildKit), Import: importer.OneFile(read)}

func isNinja(head []byte) bool { return bytes.HasPrefix(head, []byte("# ninja log v")) }

func isBuildKit(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.HasPrefix(line, []byte(`{"vertexes":[{"digest":`))
}

// A step is a command or vertex.
type step struct {
	name, category string
	begin, end     trace.Time
	open           bool // without an end
	cached, failed bool
	inputs         []string
	key            string
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	l := &log{w: w, label: label, steps: map[string]*step{}}
	take := l.ninja
	if isBuildKit(run.Source.Head(run.Files[0])) {
		take = l.buildKit
	}
	if err := importer.Lines(ctx, in, label, w, take); err != nil {
		return err
	}
	if len(l.order) == 0 {
		return importer.Malformed(label, "", "holds no steps of a build")
	}
	return l.write(path.Base(run.Name))
}

// A log gathers steps by what they make.
type log struct {
	w     trace.Writer
	label string
	steps map[string]*step
	order []*step
}

func (l *log) skip(n int, what string) {
	l.w.Report(trace.Skipped, what, 1, fmt.Sprintf("%s: line %d", l.label, n))
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
		l.w.Report(trace.Redundant, "lines of older builds: the last of an output counts", 1,
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
		l.w.Report(trace.Redundant, "lines of output and progress: times of steps are whole without them", int64(lost),
			fmt.Sprintf("%s: line %d", l.label, n))
	}
}

// write puts each step on the first row that is free.
func (l *log) write(name string) error {
	build := l.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: name,
		Rank: trace.NoRank})
	cached, failed := l.w.Attribute("cached"), l.w.Attribute("failed")
	slices.SortStableFunc(l.order, func(a, b *step) int { return int(min(max(a.begin-b.begin, -1), 1)) })
	rows := importer.NewRows(l.w)
	var free []trace.Time // when rows are free
	at := map[string]trace.End{}
	last := ""
	for _, s := range l.order {
		switch {
		case s.begin < 0:
			l.w.Report(trace.Skipped, "steps that were never begun", 1, l.label)
			continue
		case s.key == last: // another output of the same command
			continue
		}
		last = s.key
		i := 0
		for i < len(free) && free[i] > s.begin {
			i++
		}
		if i == len(free) {
			free = append(free, 0)
		}
		free[i] = max(s.end, s.begin)
		if s.open {
			free[i] = 1 << 62
		}
		n := strconv.Itoa(i + 1)
		row := rows.Open(trace.Location{Parent: build, Kind: trace.KindThread, Key: n, Name: "job " + n,
			Rank: trace.NoRank, Order: int64(i)}, trace.StreamOptions{Unordered: true})
		region := l.w.Region(trace.Region{Name: s.name, Category: s.category, Role: trace.RoleCompute})
		if s.open {
			row.Stream.Enter(s.begin, region)
		} else {
			row.Stream.Interval(s.begin, s.end, region)
		}
		if s.cached {
			row.Stream.Attribute(cached, trace.Text("yes"))
		}
		if s.failed {
			row.Stream.Attribute(failed, trace.Text("yes"))
		}
		for _, from := range s.inputs {
			if end, ok := at[from]; ok {
				l.w.Link(trace.Link{Kind: trace.LinkFlow, From: end, Size: -1, Communicator: trace.NoCommunicator,
					To: trace.End{Location: row.At, Time: s.begin, Region: region}})
			}
		}
		at[s.key] = trace.End{Location: row.At, Time: s.begin, Region: region}
	}
	return rows.Close()
}
