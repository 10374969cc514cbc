package diagnose

// Waits of runs that are not followed one by one: phases, and pairs of messages and collectives in them.

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// mostScanned is the number of intervals that are read to find collectives; of longer runs
	// some windows of time are looked at.
	mostScanned = phase.MostScanned
	// sampled is how many intervals those windows hold together, in how many windows.
	sampled, windows = 1 << 20, 4
)

// gatherWaits cuts the run into phases and looks whether messages say that clocks disagree.
func (f *facts) gatherWaits(ctx context.Context) error {
	var err error
	if f.src, err = f.source(ctx); err != nil {
		return err
	}
	marker, parts, err := f.src.Marker(f.question.Phase, f.question.Match)
	if err != nil {
		return err
	}
	if marker == nil && f.skewed() && f.question.Phase == "auto" {
		parts = 1 // slices of time would compare different phases
	}
	var notes []string
	if f.phases, notes, err = f.src.Cut(marker, parts); err != nil {
		return err
	}
	f.notes = append(f.notes, notes...)
	if len(f.units) < 2 {
		return nil
	}
	if how := f.store.Info().Properties["clock alignment"]; how != "" {
		f.notes = append(f.notes, "clocks were fitted to each other: "+how)
	}
	f.choosePairs()
	for i := range f.pairWindows {
		if err := f.countMessages(ctx, &f.pairWindows[i]); err != nil {
			return err
		}
	}
	return nil
}

// count adds up the times of rows by phase, which takes a pass over the run.
func (f *facts) count() (err error) {
	if f.cells == nil {
		f.cells, err = f.src.Count(f.phases, nil)
	}
	return err
}

// skewed reports whether the reader of the source saw that clocks disagree.
func (f *facts) skewed() bool {
	return slices.ContainsFunc(f.store.Info().Report,
		func(e trace.ReportEntry) bool { return e.Kind == trace.Guessed && clocksDisagree(e.What) })
}

// A pairWindow is where collectives are looked for, and messages unless there are none or too many.
type pairWindow struct {
	store.Window
	messages bool
}

// choosePairs says where collectives and messages are looked for: in the whole selection, or in
// windows spread over it where it is too long to read.
func (f *facts) choosePairs() {
	f.pairWindows = []pairWindow{{Window: f.window}}
	if f.src.Intervals <= mostScanned {
		return
	}
	f.partial = true
	f.pairWindows = f.pairWindows[:0]
	length := max(trace.Time(float64(f.span)*sampled/float64(f.src.Intervals)/windows), 1)
	for i := range trace.Time(windows) {
		begin := f.window.Begin + (f.span-length)*i/(windows-1)
		f.sampled += float64(length) / float64(f.span)
		f.pairWindows = append(f.pairWindows,
			pairWindow{Window: store.Window{Begin: begin, End: begin + length, Locations: f.window.Locations}})
	}
	if f.alike.what == "GPUs" { // the others' waits are followed through the whole run
		f.notes = append(f.notes,
			fmt.Sprintf("causes of waiting were computed in %d windows of %s each, since the run has %s intervals",
				windows, words.FormatTime(length), words.FormatCount(float64(f.src.Intervals))))
	}
}

// pairs finds collectives and messages and the units that waited in them; nil if there are no two units. It is
// computed on demand: runs whose waits are traced one by one do not need it.
func (f *facts) pairs(ctx context.Context) (*waiting.Result, error) {
	if f.waits != nil {
		return f.waits, nil
	}
	var all *waiting.Result
	for i := range f.pairWindows {
		r, err := f.pairsIn(ctx, &f.pairWindows[i])
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = r
			continue
		}
		all.Meetings = append(all.Meetings, r.Meetings...)
		all.Late = append(all.Late, r.Late...)
		all.Broken += r.Broken
		all.All += r.All
	}
	f.waits = all
	return all, nil
}

func (f *facts) pairsIn(ctx context.Context, w *pairWindow) (*waiting.Result, error) {
	p := &waiting.Plan{Store: f.store, Window: w.Window, Unit: f.unitOf, Units: len(f.units), Messages: w.messages,
		Indexed: !f.partial && w.Begin == 0}
	return p.Analyse(ctx)
}

// countMessages looks for messages that arrive before they are sent.
func (f *facts) countMessages(ctx context.Context, w *pairWindow) error {
	n, err := f.store.LinkCount(w.Window)
	if err != nil {
		return err
	}
	if w.messages = n > 0 && n <= waiting.MostMessages; n > waiting.MostMessages && !f.partial {
		f.notes = append(f.notes,
			fmt.Sprintf("%s links are too many to look for late senders", words.FormatCount(float64(n))))
	}
	if !w.messages {
		return nil
	}
	return waiting.ReadMessages(ctx, f.store, w.Window, f.unitOf, func(m waiting.Message) {
		f.links++
		if d := m.Sent - m.Received; d > 0 {
			f.early++
			f.worst = max(f.worst, d)
		}
	})
}

// scale returns the factor from a sample to the whole run.
func (f *facts) scale() float64 {
	if f.partial && f.sampled > 0 {
		return 1 / f.sampled
	}
	return 1
}
