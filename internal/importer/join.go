package importer

import (
	"context"
	"fmt"
	"path"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Join makes one run of several that a user says belong together: the processes of one
// job, the units of one build. A format that reads many files as one run gets them all;
// else each is read by itself, below a location with the name of its file. Times are
// taken as they are, on one clock.
func Join(runs []Run) Run {
	if len(runs) == 1 {
		return runs[0]
	}
	out := Run{Format: runs[0].Format, Source: runs[0].Source, Options: runs[0].Options, Progress: runs[0].Progress}
	same := true
	for _, r := range runs {
		same = same && r.Format == out.Format
		out.Files = append(out.Files, r.Files...)
		out.Companions = append(out.Companions, r.Companions...)
	}
	out.Name = fmt.Sprintf("%s and %d more", runs[0].Name, len(runs)-1)
	if same && out.Format.Joins {
		return out
	}
	f := *out.Format
	f.Claim = nil
	if !same {
		f.Name, f.Title = "joined", "several formats"
	}
	f.Import = func(ctx context.Context, run Run, w trace.Writer) error { return importEach(ctx, runs, run, w) }
	out.Format = &f
	return out
}

// importEach reads runs one after the other, each below a location of its own.
func importEach(ctx context.Context, runs []Run, all Run, w trace.Writer) error {
	for _, r := range runs {
		r.Options, r.Progress = all.Options, all.Progress
		key := r.Files[0]
		at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: key, Name: path.Base(key), Rank: trace.NoRank})
		if err := r.Format.Import(ctx, r, &below{w, at}); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return fmt.Errorf("%s: %w", r.Label(key), err)
		}
	}
	w.Report(trace.Guessed, "runs joined as asked: their times are taken as if on one clock", int64(len(runs)), all.Label(all.Files[0]))
	return nil
}

// below is a writer whose top is a location of another.
type below struct {
	trace.Writer
	at trace.LocationID
}

func (b *below) Location(l trace.Location) trace.LocationID {
	if l.Parent == trace.NoLocation {
		l.Parent = b.at
	}
	return b.Writer.Location(l)
}

// Links implements trace.LinkTaker.
func (b *below) Links(list []trace.Link) { trace.AddLinks(b.Writer, list) }

// Rows implements trace.RowTaker.
func (b *below) Rows(r *trace.Rows) { trace.AddRows(b.Writer, r) }

// SortRegions implements trace.RegionSorter.
func (b *below) SortRegions() { trace.SortRegions(b.Writer) }
