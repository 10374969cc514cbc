package span

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Source is the file of a run while it is read.
type Source struct {
	io.Reader
	Ctx   context.Context
	Run   importer.Run
	Path  string
	Label string
}

// Import reads the files of a run: read passes its spans to a Writer, and judges how
// the file ended. If a user asks for it, clocks are measured in a first reading.
func Import(ctx context.Context, run importer.Run, w trace.Writer, read func(*Source, *Writer) error) error {
	out := newWriter(w, run.Label(run.Files[0]))
	if align := run.Options.Align; align == "messages" || align == "collectives" {
		if err := out.measure(ctx, run, read); err != nil {
			return err
		}
	}
	defer out.queue.end() // where reading panics
	err := readFiles(ctx, run, out, read)
	out.drain()
	if failed := out.finish(); err == nil {
		err = failed
	}
	return err
}

// readFiles reads the files of a run, one after the other. Once there are spans, a further file
// that cannot be read is counted.
func readFiles(ctx context.Context, run importer.Run, out *Writer, read func(*Source, *Writer) error) error {
	for i, path := range run.Files {
		before := out.Count()
		err := readFile(ctx, run, path, out, read)
		switch {
		case err == nil:
		case ctx.Err() != nil || i == len(run.Files)-1 && out.Count() == 0:
			return err
		case len(run.Files) > 1 && out.Count() == before:
			out.Report(trace.MissingFiles, "files without spans that can be read", run.Label(path))
		default:
			return err
		}
	}
	return nil
}

func readFile(ctx context.Context, run importer.Run, path string, out *Writer,
	read func(*Source, *Writer) error) error {
	f, err := run.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(&Source{f, ctx, run, path, run.Label(path)}, out)
}

// measure fits the clocks of instances to each other: a call is not taken before it
// is made, and where a caller waits for its callee, not answered before it ends.
func (w *Writer) measure(ctx context.Context, run importer.Run, read func(*Source, *Writer) error) error {
	m := newWriter(w.w, w.label)
	m.measuring = true
	progress := run.Progress
	run.Progress = nil // this reading is not the import
	defer m.queue.end()
	err := readFiles(ctx, run, m, read)
	m.drain()
	if run.Progress = progress; err != nil {
		return err
	}
	fit := clock.New(len(m.order))
	for i := range int32(m.nodes.count) {
		n := m.nodes.at(i)
		up, ok := m.parentOf(i)
		if !ok {
			continue
		}
		p := m.nodes.at(up)
		if p.row == n.row || !p.is(isTimed) || !n.is(isTimed) {
			continue
		}
		fit.Before(int(p.row), int(n.row), p.begin, n.begin)
		if p.is(isClient) && n.is(isServer) && n.end > n.begin && p.end > p.begin {
			fit.Before(int(n.row), int(p.row), n.end, p.end)
		}
	}
	if fit.Pairs() == 0 {
		w.w.Report(trace.MissingAlignment,
			"alignment by messages (no call goes from one instance to another)", 1, w.label)
		return nil
	}
	r := fit.Solve()
	w.lines = map[rowKey]clock.Line{}
	for i, row := range m.order {
		if l := r.Lines[i]; l.Offset != 0 || l.Drift != 0 {
			w.lines[row.rowKey] = l
		}
	}
	what := fmt.Sprintf("largest offset %v, residual %v", time.Duration(r.Largest), time.Duration(r.Residual))
	if r.Worst > 0 {
		what += fmt.Sprintf(", some calls still off by %v", time.Duration(r.Worst))
	}
	w.w.Report(trace.Repaired, "instances whose clocks were moved, as asked by --align", int64(r.Moved), what)
	if r.Groups > 1 {
		w.w.Report(trace.Guessed,
			"groups of instances without calls between them: their clocks are not aligned with each other",
			int64(r.Groups), w.label)
	}
	pairs := fmt.Sprintf("%d pairs", fit.Pairs())
	if fit.Pairs() == 1 {
		pairs = "one pair"
	}
	w.w.Property("clock alignment", fmt.Sprintf("by calls, from %s of instances: %s", pairs, what))
	return nil
}
