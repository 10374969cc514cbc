package findings

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// mostScanned is how many intervals are read to find collectives; of longer runs
	// some windows of time are looked at.
	mostScanned = phase.MostScanned
	// sampled is how many intervals those windows hold together, in how many windows.
	sampled, windows = 1 << 20, 4
	// mostLinks is how many messages are looked at.
	mostLinks = 4 << 20
)

// gatherWaits cuts the run into phases and finds who waited for whom.
func (f *facts) gatherWaits(ctx context.Context) error {
	src := f.source(ctx)
	marker, parts, err := f.marker(ctx, src)
	if err != nil {
		return err
	}
	if marker == nil && f.skewed() && f.request.Values.Text("phase") == "auto" {
		parts = 1 // slices of time would compare what did not happen together
	}
	var notes []string
	if f.phases, notes, err = src.Cut(marker, parts); err != nil {
		return err
	}
	f.notes = append(f.notes, notes...)
	if f.cells, err = src.Count(f.phases, nil); err != nil {
		return err
	}
	if len(f.units) < 2 {
		return nil
	}
	return f.gatherPairs(ctx, src)
}

// skewed reports whether the reader of the source saw that clocks disagree.
func (f *facts) skewed() bool {
	return slices.ContainsFunc(f.store.Info().Report, func(e trace.ReportEntry) bool { return e.Kind == trace.Guessed && isClock(e.What) })
}

// marker reads --phase: auto, slices:N, or a pattern of regions.
func (f *facts) marker(ctx context.Context, src *phase.Source) (*phase.Marker, int, error) {
	text := f.request.Values.Text("phase")
	how, err := phase.ParseHow(text)
	if err != nil || how.Slices > 0 {
		return nil, how.Slices, err
	}
	if how.Auto && view.Spans(f.store) {
		called, err := view.LinkTargets(ctx, f.store, f.window, trace.LinkSpawn)
		if err != nil || called != nil {
			return phase.Roots(called), 0, err
		}
	}
	if how.Auto {
		return phase.Choose(src.Uses, f.regions, len(f.units), f.length), phase.DefaultSlices, nil
	}
	ids, err := view.MatchRegions(f.regions, []string{text})
	if err != nil {
		return nil, 0, fmt.Errorf("--phase: %w", err)
	}
	return &phase.Marker{Regions: ids, By: text}, 0, nil
}

// gatherPairs finds collectives and messages: of the whole selection, or of
// windows spread over it where it is too long to read.
func (f *facts) gatherPairs(ctx context.Context, src *phase.Source) error {
	list := []store.Window{f.window}
	if src.Intervals > mostScanned {
		f.partial = true
		list = list[:0]
		length := max(trace.Time(float64(f.length)*sampled/float64(src.Intervals)/windows), 1)
		for i := range trace.Time(windows) {
			begin := f.window.Begin + (f.length-length)*i/(windows-1)
			f.sampled += float64(length) / float64(f.length)
			list = append(list, store.Window{Begin: begin, End: begin + length, Locations: f.window.Locations})
		}
		if f.alike.what == "GPUs" { // the others' waits are followed through the whole run
			f.notes = append(f.notes, fmt.Sprintf("who waited for whom is found in %d windows of %s each, since the run has %s intervals", windows, view.FormatTime(length), view.FormatCount(float64(src.Intervals))))
		}
	}
	for i, w := range list {
		r, err := f.pairs(ctx, w)
		if err != nil {
			return err
		}
		if i == 0 {
			f.waits = r
			continue
		}
		f.waits.Meetings = append(f.waits.Meetings, r.Meetings...)
		f.waits.Late = append(f.waits.Late, r.Late...)
		f.waits.Broken += r.Broken
		f.waits.All += r.All
	}
	return nil
}

func (f *facts) pairs(ctx context.Context, w store.Window) (*waiting.Result, error) {
	p := &waiting.Plan{Regions: f.regions, Unit: f.unitOf, Units: len(f.units), Indexed: !f.partial && w.Begin == 0}
	p.Scan = func(add func(*trace.Columns) error) error { return f.store.Intervals(ctx, w, add) }
	var err error
	if p.Messages, err = f.messages(ctx, w); err != nil {
		return nil, err
	}
	if p.Group, err = view.Communicators(ctx, f.store, w); err != nil {
		return nil, err
	}
	return p.Analyse()
}

// messages reads the messages between units.
func (f *facts) messages(ctx context.Context, w store.Window) ([]waiting.Message, error) {
	n := f.store.LinkCount(w)
	if n == 0 {
		return nil, nil
	}
	if n > mostLinks {
		if !f.partial {
			f.notes = append(f.notes, fmt.Sprintf("%s links are too many to look for late senders", view.FormatCount(float64(n))))
		}
		return nil, nil
	}
	var mu sync.Mutex
	var list []waiting.Message
	err := f.store.Links(ctx, w, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, k := range l.Kind {
			from, to := f.unitOf[l.FromLocation[i]], f.unitOf[l.ToLocation[i]]
			if k != trace.LinkMessage || l.Untimed[i] || from < 0 || to < 0 {
				continue
			}
			f.links++
			if d := l.FromTime[i] - l.ToTime[i]; d > 0 {
				f.early++
				f.worst = max(f.worst, d)
			}
			list = append(list, waiting.Message{From: from, To: to, Sent: l.FromTime[i], Received: l.ToTime[i]})
		}
		return nil
	})
	slices.SortFunc(list, waiting.BySending)
	return list, err
}

// scale takes what was found in a sample for the whole run.
func (f *facts) scale() float64 {
	if f.partial && f.sampled > 0 {
		return 1 / f.sampled
	}
	return 1
}
