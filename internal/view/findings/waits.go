package findings

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	marker, parts, err := f.marker(src)
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
func (f *facts) marker(src *phase.Source) (*phase.Marker, int, error) {
	how := f.request.Values.Text("phase")
	if n, ok := strings.CutPrefix(how, "slices"); ok {
		n = strings.TrimPrefix(n, ":")
		if n == "" {
			return nil, phase.DefaultSlices, nil
		}
		count, err := strconv.Atoi(n)
		if err != nil || count < 1 {
			return nil, 0, fmt.Errorf("--phase %q: want slices:N with a whole number", how)
		}
		return nil, count, nil
	}
	if how == "" || how == "auto" {
		return phase.Choose(src.Uses, f.regions, len(f.units), f.length), phase.DefaultSlices, nil
	}
	ids, err := view.MatchRegions(f.regions, []string{how})
	if err != nil {
		return nil, 0, fmt.Errorf("--phase: %w", err)
	}
	return &phase.Marker{Regions: ids, By: how}, 0, nil
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
		f.notes = append(f.notes, fmt.Sprintf("who waited for whom is found in %d windows of %s each, since the run has %s intervals", windows, view.FormatTime(length), view.FormatCount(float64(src.Intervals))))
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
	if p.Group, err = communicators(ctx, f.store, w); err != nil {
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
	slices.SortFunc(list, func(a, b waiting.Message) int {
		switch {
		case a.Sent != b.Sent:
			return int(min(max(a.Sent-b.Sent, -1), 1))
		case a.From != b.From:
			return int(a.From - b.From)
		}
		return int(a.To - b.To)
	})
	return list, err
}

// communicators gives the communicator of an interval where the source names it.
func communicators(ctx context.Context, r store.Reader, w store.Window) (func(trace.LocationID, int, int) int32, error) {
	a := slices.Index(r.Attributes(), "communicator")
	if a < 0 {
		return nil, nil
	}
	type lane struct {
		location trace.LocationID
		number   int
	}
	type column struct {
		row   []int32
		group []int32
	}
	var mu sync.Mutex
	lanes, numbers := map[lane]*column{}, map[string]int32{}
	err := r.AttributeColumn(ctx, w, trace.AttributeID(a), func(c *store.AttributeColumns) error {
		mu.Lock()
		defer mu.Unlock()
		k := lane{c.Location, c.Lane}
		col := lanes[k]
		if col == nil {
			col = &column{}
			lanes[k] = col
		}
		for i, row := range c.Row {
			name := c.Value[i].String()
			g, ok := numbers[name]
			if !ok {
				g = int32(len(numbers)) + 1
				numbers[name] = g
			}
			col.row, col.group = append(col.row, row), append(col.group, g)
		}
		return nil
	})
	names := slices.Sorted(maps.Keys(numbers)) // numbers must not hang on who came first
	place := make([]int32, len(numbers)+1)
	for i, n := range names {
		place[numbers[n]] = int32(i) + 1
	}
	return func(location trace.LocationID, number, row int) int32 {
		col := lanes[lane{location, number}]
		if col == nil {
			return 0
		}
		if i, ok := slices.BinarySearch(col.row, int32(row)); ok {
			return place[col.group[i]]
		}
		return 0
	}, err
}
