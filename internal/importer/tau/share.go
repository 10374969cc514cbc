package tau

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Text profiles of several threads can be read in parts. What a name stands for depends on the names before it, so a
// part parses its files, and all are converted when the parts are joined, in the order of the threads.

// An outcome is what one part of a run has parsed.
type outcome struct {
	Run     string
	First   string // label of the first file
	Threads []threadTold
	Files   []fileTold // of the part
}

// A threadTold is a thread; all parts tell all of them.
type threadTold struct {
	Node, Context, Thread int
	Named                 bool
	Label                 string   // of the first file
	Files                 []string // their paths and labels
	Labels                []string
}

// A fileTold is a parsed text profile. Names are written once.
type fileTold struct {
	Metric, Metadata string
	Names            []string
	Entries          []entryTold
	Events           []eventTold
	Problems         []problemTold
}

type entryTold struct {
	Name, Group                           int
	Calls, Subcalls, Exclusive, Inclusive float64
}

type eventTold struct {
	Name                          int
	Count, Max, Min, Mean, Square float64
}

type problemTold struct {
	Kind  trace.ReportKind
	What  string
	Count int64
	Line  int
}

// shares tells whether parts of a run can be read by themselves.
func shares(run importer.Run) (why string, ok bool) {
	for _, file := range run.Files {
		if formOf(run.Source.Head(file)) != text {
			return fmt.Sprintf("%s has all threads in one file", run.Label(file)), false
		}
	}
	if len(threadsOf(run.Files)) < 2 {
		return run.Source.Name + " is the profile of one thread", false
	}
	return "", true
}

// readPart parses the files of a part.
func readPart(ctx context.Context, run importer.Run, share match.Sharer) error {
	threads := threadsOf(run.Files)
	o := outcome{Run: run.Name, First: run.Label(run.Files[0])}
	size := map[string]int64{}
	for _, f := range run.Source.Files {
		size[f.Path] = f.Size
	}
	sizes := make([]int64, len(threads))
	for i, t := range threads {
		told := threadTold{t.at.node, t.at.context, t.at.thread, t.named, run.Label(t.files[0]), t.files, nil}
		for _, file := range t.files {
			told.Labels = append(told.Labels, run.Label(file))
			sizes[i] += size[file]
		}
		o.Threads = append(o.Threads, told)
	}
	part, of := share.Share()
	first, end := match.Own(sizes, part, of)
	err := parseAll(ctx, run, threads[first:end], func(_ *threadFiles, _ int, f *textFile) {
		o.Files = append(o.Files, f.told())
	})
	if err != nil {
		return err
	}
	b, err := match.Fields(&o)
	if err == nil {
		share.Tell(match.Facts{Told: b})
	}
	return err
}

// told returns a copy of what was parsed.
func (f *textFile) told() (out fileTold) {
	out.Metric, out.Metadata = string(f.metric), string(f.metadata)
	numbers := map[string]int{}
	number := func(name []byte) int {
		n, ok := numbers[string(name)]
		if !ok {
			n = len(out.Names)
			out.Names = append(out.Names, string(name))
			numbers[out.Names[n]] = n
		}
		return n
	}
	for i := range f.entries {
		e := &f.entries[i]
		out.Entries = append(out.Entries, entryTold{number(e.name), number(e.group), e.calls, e.subcalls, e.exclusive,
			e.inclusive})
	}
	for i := range f.events {
		e := &f.events[i]
		out.Events = append(out.Events, eventTold{number(e.name), e.count, e.max, e.min, e.mean, e.square})
	}
	for _, p := range f.problems {
		out.Problems = append(out.Problems, problemTold{p.kind, p.what, p.count, p.line})
	}
	return out
}

// set is the reverse of told.
func (f *textFile) set(x *fileTold) {
	*f = textFile{metric: []byte(x.Metric), metadata: []byte(x.Metadata), entries: f.entries[:0], events: f.events[:0]}
	names := make([][]byte, len(x.Names))
	for i, name := range x.Names {
		names[i] = []byte(name)
	}
	for _, e := range x.Entries {
		f.entries = append(f.entries,
			entry{names[e.Name], names[e.Group], e.Calls, e.Subcalls, e.Exclusive, e.Inclusive})
	}
	for _, e := range x.Events {
		f.events = append(f.events, event{names[e.Name], e.Count, e.Max, e.Min, e.Mean, e.Square})
	}
	for _, p := range x.Problems {
		f.problems = append(f.problems, problem{p.Kind, p.What, p.Count, p.Line})
	}
}

// concludeParts converts what all parts have parsed.
func concludeParts(w trace.Writer, told []match.Told) error {
	var c *converter
	var f textFile
	var threads []threadTold
	at, file := 0, 0 // the thread and its file that come next
	for _, t := range told {
		var o outcome
		if err := match.SetFields(&o, t.Data); err != nil {
			return err
		}
		if c == nil {
			threads = o.Threads
			c = newConverter(o.Run, o.First, w)
			for _, t := range threads {
				c.expect(node{t.Node, t.Context, t.Thread})
				if !t.Named {
					c.guessedNode(t.Label)
				}
			}
		}
		for i := range o.Files {
			if at == len(threads) {
				return fmt.Errorf("%d threads, and profiles of more", len(threads))
			}
			t := &threads[at]
			f.set(&o.Files[i])
			c.textFile(&threadFiles{node{t.Node, t.Context, t.Thread}, t.Named, t.Files}, file, &f, t.Labels[file])
			if file++; file == len(t.Files) {
				at, file = at+1, 0
			}
		}
	}
	return c.finish()
}
