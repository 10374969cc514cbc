// Package pyinstrument reads the JSON of pyinstrument (`pyinstrument -r json`), a sampling profiler for Python.
//
// The format: an object with the time of the begin, the length and the number of samples, and a tree of frames under
// root_frame, each with function, file, line and the seconds that it took with all below.
//
// Terms: a frame is a call path; its time without its children is its own. Frames that pyinstrument put together
// are one path. There are no threads and no times of samples.
package pyinstrument

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is pyinstrument's.
var Format = &importer.Format{Name: "pyinstrument", Title: "pyinstrument profiles (JSON)", Text: true,
	Claim: importer.EachFile(isProfile), Import: importer.OneFile(read)}

func isProfile(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head[:min(len(head), 4<<10)]), []byte("{")) &&
		bytes.Contains(head, []byte(`"root_frame"`)) && bytes.Contains(head, []byte(`"sample_count"`)) &&
		bytes.Contains(head, []byte(`"function"`))
}

type frame struct {
	Function string   `json:"function"`
	File     string   `json:"file_path"`
	Short    string   `json:"file_path_short"`
	Line     int      `json:"line_no"`
	Time     float64  `json:"time"`
	Children []*frame `json:"children"`
}

// largest bounds a file, which is held in memory.
const largest = 1 << 30

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	var file struct {
		Program string      `json:"program"`
		Samples json.Number `json:"sample_count"`
		Root    *frame      `json:"root_frame"`
	}
	if err := json.NewDecoder(io.LimitReader(in, largest)).Decode(&file); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return importer.Malformed(label, "", "its JSON cannot be read: %v", err)
	}
	if file.Root == nil {
		return importer.Malformed(label, "", "holds no frames")
	}
	name := file.Program
	if name == "" {
		name = path.Base(run.Name)
	}
	p := &profile{w: w, at: w.Location(importer.Process(name)),
		out: stack.New(w, trace.Metric{Name: "time", Unit: "ns", Default: true})}
	w.Property("samples", file.Samples.String())
	p.frame(file.Root)
	p.out.Finish()
	return ctx.Err()
}

type profile struct {
	w    trace.Writer
	at   trace.LocationID
	out  *stack.Profile
	open []trace.RegionID
}

// frame writes a frame and those below it.
func (p *profile) frame(f *frame) {
	r := trace.Region{Name: f.Function, File: f.File, Line: max(f.Line, 0)}
	if r.Name == "" {
		r.Name = "(line " + strconv.Itoa(f.Line) + ")"
	}
	r.File = cmp.Or(r.File, f.Short)
	p.open = append(p.open, p.w.Region(r))
	own := f.Time
	for _, child := range f.Children {
		if child != nil {
			own -= child.Time
			p.frame(child)
		}
	}
	p.out.Add(p.at, p.open, []float64{max(own, 0) * 1e9})
	p.open = p.open[:len(p.open)-1]
}
