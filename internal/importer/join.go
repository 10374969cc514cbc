package importer

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Join makes one run of several that a user says belong together: the processes of one
// job, the units of one build. A format that reads many files as one run gets them all;
// else each is read by itself, below a location with the name of its file, see fitClocks and joint.
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
	f.Claim, f.Shares = nil, nil
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

// importEach reads runs one after the other, each below a location of its own but for rows that an earlier one has.
func importEach(ctx context.Context, runs []Run, all Run, w trace.Writer) error {
	for i := range runs {
		runs[i].Options, runs[i].Progress = all.Options, all.Progress
	}
	surveys, offsets, err := fitClocks(ctx, runs, w)
	if err != nil {
		return err
	}
	rows := newJoint(w)
	for i, r := range runs {
		if err := r.Format.Import(ctx, r, rows.part(r, surveys[i].identities(), offsets[i])); err != nil {
			return labelled(ctx, r, err)
		}
	}
	Tell(w, trace.Guessed,
		"threads of joined sources put below the thread with the same process and thread id in an earlier one, aside",
		rows.matched, all.Label(all.Files[0]))
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
