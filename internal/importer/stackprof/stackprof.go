// Package stackprof reads dumps of stackprof, Ruby's sampling profiler: as it writes them (Ruby's Marshal), and as
// JSON.
//
// The format is that of the gem's own results (github.com/tmm1/stackprof, README "Advanced usage"): a hash with the
// mode, the interval, and frames by number, each with its name, file, line, samples of its own and in all; with `raw:
// true` also all stacks, one after the other as length, frames from the outermost, count, and the microseconds between
// samples.
//
// Terms: stacks are call paths by samples and by their measure (time of wall or cpu, objects), and a row aside
// over time. A dump without `raw` has sums of functions only, which are flat rows.
package stackprof

import (
	"bytes"
	"context"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is stackprof's.
var Format = &importer.Format{Name: "stackprof", Title: "stackprof dumps (Ruby)",
	Claim: importer.EachFile(isDump, isJSON), Import: importer.OneFile(read)}

// isDump: a hash of Ruby that begins as the gem writes it.
func isDump(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x04\x08{")) && bytes.Contains(head[:min(len(head), 256)], []byte("mode")) &&
		bytes.Contains(head[:min(len(head), 256)], []byte("interval"))
}

func isJSON(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return false
	}
	for _, word := range []string{`"mode"`, `"interval"`, `"gc_samples"`, `"frames"`} {
		if !bytes.Contains(head, []byte(word)) {
			return false
		}
	}
	return true
}

// A frame is a function.
type frame struct {
	name, file  string
	line        int64
	total, self float64
}

// A profile is the content of a dump.
type profile struct {
	mode        string
	interval    float64
	missed      float64 // samples that were not taken
	frames      map[int64]*frame
	order       []int64
	raw, deltas []int64
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	p := &profile{frames: map[int64]*frame{}}
	read := p.readJSON
	if isDump(run.Source.Head(run.Files[0])) {
		read = p.readDump
	}
	if err := read(ctx, in, label, w); err != nil {
		return err
	}
	if len(p.frames) == 0 {
		return importer.Malformed(label, "", "holds no frames")
	}
	process := w.Location(importer.Process(path.Base(run.Name)))
	return p.write(ctx, w, process, label)
}
