package importer

import (
	"context"
	"fmt"
	"path"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Join makes one run of several that a user says belong together: the processes of one
// job, the units of one build. A format that reads many files as one run gets them all;
// else each is read by itself, below a location with the name of its file, see fitClocks.
func Join(runs []Run) Run {
	if len(runs) == 1 {
		return runs[0]
	}
	out := Run{Format: runs[0].Format, Source: runs[0].Source, Options: runs[0].Options, Progress: runs[0].Progress}
	same, shifted := true, false
	for _, r := range runs {
		same = same && r.Format == out.Format
		shifted = shifted || r.Offset.Given
		out.Files = append(out.Files, r.Files...)
		out.Companions = append(out.Companions, r.Companions...)
	}
	out.Name = fmt.Sprintf("%s and %d more", runs[0].Name, len(runs)-1)
	if same && out.Format.Joins && !shifted {
		return out
	}
	f := *out.Format
	f.Claim = nil
	if !same {
		f.Name, f.Title = "joined", "several formats"
	}
	f.Import = func(ctx context.Context, run Run, w trace.Writer) error { return importEach(ctx, runs, run, w) }
	out.Format = &f
	out.Clocks = "fitted"
	for _, r := range runs {
		if r.Offset.Given {
			out.Clocks += " " + r.Files[0] + "@" + written(r.Offset.By)
		}
	}
	return out
}

// importEach reads runs one after the other, each below a location of its own.
func importEach(ctx context.Context, runs []Run, all Run, w trace.Writer) error {
	for i := range runs {
		runs[i].Options, runs[i].Progress = all.Options, all.Progress
	}
	offsets, err := fitClocks(ctx, runs, w)
	if err != nil {
		return err
	}
	for i, r := range runs {
		key := r.Files[0]
		at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: key, Name: path.Base(key),
			Rank: trace.NoRank})
		if err := r.Format.Import(ctx, r, &below{w, at, offsets[i]}); err != nil {
			return labelled(ctx, r, err)
		}
	}
	w.Report(trace.Guessed, "runs joined as asked: their times are taken as if on one clock", int64(len(runs)),
		all.Label(all.Files[0]))
	return nil
}

// labelled names the run of an error, unless the work was called off.
func labelled(ctx context.Context, r Run, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: %w", r.Label(r.Files[0]), err)
}

// below is a writer whose top is a location of another, and whose times are moved.
type below struct {
	trace.Writer
	at trace.LocationID
	by trace.Time
}

func (b *below) Location(l trace.Location) trace.LocationID {
	if l.Parent == trace.NoLocation {
		l.Parent = b.at
	}
	return b.Writer.Location(l)
}

func (b *below) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	s := b.Writer.Stream(id, o)
	if b.by == 0 {
		return s
	}
	return &shiftedStream{s, b.by}
}

func (b *below) Link(l trace.Link) {
	b.shift(&l)
	b.Writer.Link(l)
}

// Links implements trace.LinkTaker.
func (b *below) Links(list []trace.Link) {
	for i := range list {
		b.shift(&list[i])
	}
	trace.AddLinks(b.Writer, list)
}

func (b *below) shift(l *trace.Link) {
	if !l.Untimed {
		l.From.Time += b.by
		l.To.Time += b.by
	}
}

func (b *below) Moments(m trace.MomentRow) {
	m.Begin, m.End = m.Begin+b.by, m.End+b.by
	b.Writer.Moments(m)
}

// Rows implements trace.RowTaker.
func (b *below) Rows(r *trace.Rows) {
	for i := range r.Moments {
		r.Moments[i].Begin += b.by
		r.Moments[i].End += b.by
	}
	trace.AddRows(b.Writer, r)
}

// Cover implements trace.Coverer.
func (b *below) Cover(begin, end trace.Time) { trace.Cover(b.Writer, begin+b.by, end+b.by) }

// Meet implements trace.MeetingTaker.
func (b *below) Meet(m *trace.Meeting) {
	for i := range m.Members {
		m.Members[i].Begin += b.by
		m.Members[i].End += b.by
	}
	trace.Meet(b.Writer, m)
}

// SortRegions implements trace.RegionSorter.
func (b *below) SortRegions() { trace.SortRegions(b.Writer) }
