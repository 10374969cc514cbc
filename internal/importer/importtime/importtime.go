// Package importtime reads the output of `python -X importtime`: how long each import took.
//
// The format: lines `import time: self [us] | cumulative | imported package`; two blanks of indentation are one level,
// and a module comes behind those that it imports.
//
// Terms: a module is a region, an import a call path with its own time. Other lines of standard error are counted.
package importtime

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of -X importtime.
var Format = &importer.Format{Name: "importtime", Title: "import times of Python (-X importtime)", Text: true,
	Claim: importer.EachFile(isTimes), Import: importer.OneFile(read)}

func isTimes(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.HasPrefix(line, []byte("import time: self [us] |")) || row.Match(line)
}

var row = regexp.MustCompile(`^import time: +(\d+) \| +(\d+) \| ( *)(\S+)\s*$`)

// A module is an import with those that it made.
type module struct {
	name  string
	depth int
	own   float64 // ns
	below []*module
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	var open []*module // whose importer is not met so far
	err := importer.Lines(ctx, in, label, w, func(n int, line []byte) {
		m := row.FindSubmatch(line)
		if m == nil {
			if n > 1 || !bytes.HasPrefix(line, []byte("import time: ")) {
				w.Report(trace.MissingValues, "lines that are no import", 1, fmt.Sprintf("%s: line %d", label, n))
			}
			return
		}
		us, _ := strconv.ParseFloat(string(m[1]), 64)
		x := &module{name: string(m[4]), depth: len(m[3]) / 2, own: us * 1000}
		first := len(open)
		for first > 0 && open[first-1].depth > x.depth {
			first--
		}
		x.below = slices.Clone(open[first:])
		open = append(open[:first], x)
	})
	if err != nil {
		return err
	}
	if len(open) == 0 {
		return importer.Malformed(label, "", "no line is an import with its time")
	}
	at := w.Location(importer.Process(path.Base(run.Name)))
	out := stack.New(w, trace.Metric{Name: "time", Unit: "ns", Default: true})
	var write func(m *module, above []trace.RegionID)
	write = func(m *module, above []trace.RegionID) {
		above = append(above, w.Region(trace.Region{Name: m.name, Category: "import"}))
		out.Add(at, above, []float64{m.own})
		for _, x := range m.below {
			write(x, above)
		}
	}
	for _, m := range open {
		write(m, nil)
	}
	out.Finish()
	return nil
}
