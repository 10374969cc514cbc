package view

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Measure is one number per location, as --event0 and its like ask for it.
type Measure struct {
	Text   string // as asked
	Label  string // for people
	Unit   string // "ns", "bytes", "count" or ""
	Values []float64
	// Regions are those it is of; nil of none.
	Regions []trace.RegionID
}

// A measureKind is the part before the last colon of a measure's text.
type measureKind uint8

const (
	ofRegions measureKind = iota
	ofAtomic
	ofCounter
	ofMetadata
	ofRank
)

// A wantedMeasure is a text that was understood.
type wantedMeasure struct {
	kind    measureKind
	regions []bool
	metric  runfacts.MetricChoice
	id      trace.MetricID    // of atomic rows
	name    string            // of counters and metadata
	part    string            // count, min, max, mean, sum, last
	members []trace.CounterID // of a counter's name
}

// MeasureAll returns a value for each of ids (ascending) and each text:
//
//	REGION:METRIC     exclusive, inclusive, calls, or a metric of a profile, which may be
//	                  followed by :inclusive; the regions that match are added up
//	REGION            the same, exclusive
//	atomic:NAME:PART  count, min, max, mean or sum of a profile's atomic event
//	counter:NAME:PART min, max, mean or last of a counter's samples in the window
//	metadata:KEY      an attribute of the location, of the nearest above it, or of the run
//	rank              the rank
//
// Locations without a region have 0 of it; without an event, a sample, metadata or a
// rank the value is NaN. Metadata that no location has is an error. All regions of one metric are read in one pass.
func MeasureAll(ctx context.Context, q *Request, ids []trace.LocationID, texts []string) ([]Measure, error) {
	s := q.Store()
	out := make([]Measure, len(texts))
	wanted := make([]wantedMeasure, len(texts))
	for k, text := range texts {
		w, m, err := parseMeasure(s, text)
		if err != nil {
			return nil, err
		}
		m.Text, m.Values = text, make([]float64, len(ids))
		out[k], wanted[k] = m, w
	}
	rows := make([]int32, s.Locations().Len())
	for i := range rows {
		rows[i] = -1
	}
	for i, id := range ids {
		rows[id] = int32(i)
	}
	if err := measureRegions(ctx, q, rows, wanted, out); err != nil {
		return nil, err
	}
	for k, w := range wanted {
		var err error
		switch w.kind {
		case ofAtomic:
			err = measureAtomic(ctx, q, rows, w, out[k].Values)
		case ofCounter:
			err = measureCounter(ctx, q, ids, w, out[k].Values)
		case ofMetadata:
			err = measureMetadata(s, ids, w.name, out[k].Values)
		case ofRank:
			for i, id := range ids {
				if out[k].Values[i] = math.NaN(); s.Locations().Rank[id] != trace.NoRank {
					out[k].Values[i] = float64(s.Locations().Rank[id])
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

// parseMeasure understands one text.
func parseMeasure(s store.Reader, text string) (w wantedMeasure, m Measure, err error) {
	if text == "rank" {
		return wantedMeasure{kind: ofRank}, Measure{Label: "rank", Unit: "count"}, nil
	}
	if key, ok := strings.CutPrefix(text, "metadata:"); ok {
		return wantedMeasure{kind: ofMetadata, name: key}, Measure{Label: key}, nil
	}
	if name, ok := strings.CutPrefix(text, "counter:"); ok {
		return parseCounter(s, name)
	}
	if name, ok := strings.CutPrefix(text, "atomic:"); ok {
		return parseAtomic(s, name)
	}
	pattern, metric := splitMeasure(s, text)
	if w.metric, err = runfacts.ChooseMetric(s, metric); err != nil {
		return w, m, fmt.Errorf("%q: %s", text, strings.TrimPrefix(err.Error(), "--metric "))
	}
	if m.Regions, err = MatchRegions(s.Regions(), []string{pattern}); err != nil {
		return w, m, fmt.Errorf("%q: %s", text, strings.TrimPrefix(err.Error(), "--regions "))
	}
	w.regions = regionSet(s, m.Regions)
	m.Label, m.Unit = strings.TrimPrefix(pattern, "role:")+", "+w.metric.Name, w.metric.Unit
	return w, m, nil
}

var atomicParts = []string{"count", "min", "max", "mean", "sum"}

func cutLast(text string) (before, after string, ok bool) {
	cut := strings.LastIndexByte(text, ':')
	if cut <= 0 {
		return text, "", false
	}
	return text[:cut], text[cut+1:], true
}

// splitMeasure parts REGION:METRIC. Names of regions have colons of their own: the part
// after the last one is a metric only if it is known as such, or nothing else fits.
func splitMeasure(s store.Reader, text string) (pattern, metric string) {
	pattern, metric, ok := cutLast(text)
	if !ok || pattern == "re" || pattern == "role" || pattern == "category" {
		return text, "exclusive"
	}
	known := func(name string) bool {
		return slices.ContainsFunc(s.Metrics(), func(x trace.Metric) bool { return x.Name == name })
	}
	switch metric {
	case "exclusive", "inclusive":
		if before, name, ok := cutLast(pattern); ok && known(name) {
			return before, name + ":" + metric
		}
		return pattern, metric
	case "calls":
		return pattern, metric
	}
	if !known(metric) {
		if ids, err := MatchRegions(s.Regions(), []string{text}); err == nil && len(ids) > 0 {
			return text, "exclusive"
		}
	}
	return pattern, metric
}

func parseAtomic(s store.Reader, text string) (w wantedMeasure, m Measure, err error) {
	name, part, ok := cutLast(text)
	if !ok || !slices.Contains(atomicParts, part) {
		name, part = text, "mean"
	}
	known := map[string]bool{}
	for i, x := range s.Metrics() {
		if known[x.Name] = true; x.Name != name {
			continue
		}
		m = Measure{Label: part + " of " + name, Unit: x.Unit}
		if part == "count" {
			m.Unit = "count"
		}
		return wantedMeasure{kind: ofAtomic, id: trace.MetricID(i), part: part}, m, nil
	}
	return w, m, fmt.Errorf("%q: no such event%s", "atomic:"+text, listed(known))
}

func parseCounter(s store.Reader, text string) (w wantedMeasure, m Measure, err error) {
	name, part, ok := cutLast(text)
	if !ok || !slices.Contains([]string{"min", "max", "mean", "last"}, part) {
		name, part = text, "mean"
	}
	w = wantedMeasure{kind: ofCounter, name: name, part: part}
	m.Label = part + " of " + name
	known := map[string]bool{}
	for i, c := range s.Counters() {
		if known[c.Name] = true; c.Name == name {
			w.members = append(w.members, trace.CounterID(i))
			m.Unit = c.Unit
		}
	}
	if len(w.members) == 0 {
		return w, m, fmt.Errorf("%q: no such counter%s", "counter:"+text, listed(known))
	}
	return w, m, nil
}

func listed(names map[string]bool) string {
	if len(names) == 0 {
		return "; the source has none"
	}
	var all []string
	for n := range names {
		all = append(all, n)
	}
	sort.Strings(all)
	return "; there are " + strings.Join(all[:min(len(all), 20)], ", ")
}

func regionSet(s store.Reader, ids []trace.RegionID) []bool {
	set := make([]bool, len(s.Regions()))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// measureRegions reads each metric once for all measures that ask for it.
func measureRegions(ctx context.Context, q *Request, rows []int32, wanted []wantedMeasure, out []Measure) error {
	done := map[trace.MetricID]bool{}
	for _, first := range wanted {
		if first.kind != ofRegions || done[first.metric.ID] {
			continue
		}
		done[first.metric.ID] = true
		err := runfacts.Totals(ctx, q.Store(), q.Window(), first.metric.ID, func(list []runfacts.Total) {
			row := rows[list[0].Location]
			if row < 0 {
				return
			}
			for k := range wanted {
				if w := &wanted[k]; w.kind == ofRegions && w.metric.ID == first.metric.ID {
					out[k].Values[row] = w.of(list)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// of joins the regions of one location.
func (w *wantedMeasure) of(list []runfacts.Total) float64 {
	var j runfacts.Joined
	for _, t := range list {
		if w.regions[t.Region] {
			j.Add(w.metric.Join, w.metric.Of(t.Calls, t.Inclusive, t.Exclusive))
		}
	}
	return j.Value(w.metric.Join)
}

// measureAtomic joins the rows of an event over its call paths.
func measureAtomic(ctx context.Context, q *Request, rows []int32, w wantedMeasure, to []float64) error {
	count := make([]float64, len(to))
	for i := range to {
		to[i] = math.NaN()
	}
	err := q.Store().Atomics(ctx, q.Selection.Locations, func(list []trace.AtomicRow) error {
		for _, a := range list {
			i := int32(-1)
			if a.Metric == w.id {
				i = rows[a.Location]
			}
			if i < 0 {
				continue
			}
			first := math.IsNaN(to[i])
			switch {
			case w.part == "min" && (first || a.Min < to[i]):
				to[i] = a.Min
			case w.part == "max" && (first || a.Max > to[i]):
				to[i] = a.Max
			case w.part == "count":
				to[i] = count[i] + a.Count
			case w.part == "sum" || w.part == "mean":
				sum := a.Mean * a.Count
				if !first {
					sum += to[i]
				}
				to[i] = sum
			}
			count[i] += a.Count
		}
		return nil
	})
	if w.part == "mean" {
		for i := range to {
			to[i] /= count[i] // 0 of nothing is NaN
		}
	}
	return err
}

// measureCounter gives each location the samples of the counter that it, or the
// nearest location above it, has.
func measureCounter(ctx context.Context, q *Request, ids []trace.LocationID, w wantedMeasure, to []float64) error {
	s := q.Store()
	type sampled struct{ n, sum, lo, hi, last float64 }
	of := map[trace.CounterID]*sampled{}
	for _, c := range w.members {
		of[c] = &sampled{lo: math.Inf(1), hi: math.Inf(-1)}
	}
	err := s.Samples(ctx, w.members, q.Selection.Begin, q.Selection.End, func(c *store.SampleColumns) error {
		x := of[c.Counter]
		if x == nil {
			return nil
		}
		for _, v := range c.Value {
			x.n, x.sum, x.lo, x.hi, x.last = x.n+1, x.sum+v, min(x.lo, v), max(x.hi, v), v
		}
		return nil
	})
	if err != nil {
		return err
	}
	at := map[trace.LocationID]*sampled{}
	for _, c := range w.members {
		at[s.Counters()[c].Location] = of[c]
	}
	for i, id := range ids {
		to[i] = math.NaN()
		for up := id; up != trace.NoLocation; up = s.Locations().Parent[up] {
			x, ok := at[up]
			if !ok || x.n == 0 {
				continue
			}
			to[i] = map[string]float64{"mean": x.sum / x.n, "min": x.lo, "max": x.hi, "last": x.last}[w.part]
			break
		}
	}
	return nil
}

// measureMetadata takes the numbers of a key; NaN if a location has none.
func measureMetadata(s store.Reader, ids []trace.LocationID, key string, to []float64) error {
	m := Metadata(s, ids, key)
	if m.Numbers() == 0 {
		return fmt.Errorf("%q: %s", "metadata:"+key, m.Trouble(s, ids, key))
	}
	for i, known := range m.Known {
		if to[i] = m.Values[i]; !known {
			to[i] = math.NaN()
		}
	}
	return nil
}

// Format writes a value of the measure for people.
func (m *Measure) Format(v float64) string {
	if math.IsNaN(v) {
		return "none"
	}
	return runfacts.MetricChoice{Unit: m.Unit}.Format(v)
}

// ColumnUnit is the unit as columns of tables name it.
func (m *Measure) ColumnUnit() string {
	switch m.Unit {
	case "ns", "bytes", "count":
		return m.Unit
	}
	return ""
}
