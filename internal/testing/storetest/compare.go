package storetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// diffOf compares two answers; empty and nil slices are the same.
func diffOf(want, got any) string {
	if reflect.DeepEqual(want, got) { // many times faster than a diff of nothing
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmp.AllowUnexported(interval{}, timeCell{}, linkRow{}, trace.Value{}))
}

// compareTables compares the tables that have no window with the reference.
func compareTables(t *testing.T, want *reader, got store.Reader) {
	t.Helper()
	if d := diffOf(want.tree, got.Locations()); d != "" {
		t.Errorf("Locations (-want +got):\n%s", d)
	}
	if d := diffOf(want.laneStart, got.Lanes()); d != "" {
		t.Errorf("Lanes (-want +got):\n%s", d)
	}
	a, b := want.info, *got.Info()
	for _, i := range []*store.Info{&a, &b} { // fields that differ between stores, and those that the dump compares
		i.Sources, i.Format, i.SizeBytes, i.Report = nil, "", 0, nil
	}
	if d := diffOf(a, b); d != "" {
		t.Errorf("Info (-want +got):\n%s", d)
	}
	if !t.Failed() {
		if d := tracetest.Diff(tracetest.Dump(want), tracetest.Dump(got)); d != "" {
			t.Errorf("dump (-want +got), %s", d)
		}
	}
}

// A comparison holds how ids of the store under test translate: stores may
// number regions, counters and the like in their own way.
type comparison struct {
	want *reader
	got  store.Reader
}

func newComparison(want *reader, got store.Reader) *comparison { return &comparison{want, got} }

// An interval is a row as all stores must return it.
type interval struct {
	at                         store.Row
	begin, duration, exclusive trace.Time
	region                     string
	parent                     int32
	depth                      uint16
	callers                    string
}

func intervalOf(r store.Reader, c *trace.Columns, i int) interval {
	return interval{store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}, c.Begin[i], c.Duration[i],
		c.Exclusive[i],
		r.Regions()[c.Region[i]].Name, c.Parent[i], c.Depth[i], callersIn(r, c, i)}
}

// callersIn names those around a row in other lanes.
func callersIn(r store.Reader, c *trace.Columns, i int) (out string) {
	if c.Callers == nil || c.Parent[i] >= 0 {
		return ""
	}
	for _, id := range c.Callers(nil, c.First+i) {
		out += r.Regions()[id].Name + "/"
	}
	return out
}

// rows compares the queries about single intervals, for some of them.
func (c *comparison) rows(t *testing.T, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 5))
	for id := range c.want.lanes {
		for l := range c.want.lanes[id] {
			rows := c.want.lanes[id][l].rows
			for n := range min(len(rows), 120) {
				i := n
				if len(rows) > 120 {
					i = rnd.IntN(len(rows))
				}
				c.row(t, store.Row{Location: trace.LocationID(id), Lane: l, Row: i})
				for _, at := range []trace.Time{rows[i].begin - 1, rows[i].begin, (rows[i].begin + rows[i].end) / 2,
					rows[i].end - 1, rows[i].end} {
					wantAt, wantOK, _ := c.want.At(trace.LocationID(id), l, at)
					gotAt, gotOK, err := c.got.At(trace.LocationID(id), l, at)
					if err != nil || wantOK != gotOK || wantOK && wantAt != gotAt {
						t.Fatalf("At(location %d, lane %d, %d) = %v, %v, %v; want %v, %v", id, l, at, gotAt, gotOK, err,
							wantAt, wantOK)
					}
				}
			}
			none := store.Row{Location: trace.LocationID(id), Lane: l, Row: len(rows)}
			if k, err := c.got.Interval(none); k != nil || err != nil {
				t.Fatalf("Interval after the last row of location %d, lane %d: want none", id, l)
			}
		}
		if _, ok, err := c.got.At(trace.LocationID(id), len(c.want.lanes[id]), 0); ok || err != nil {
			t.Fatalf("At in a lane that location %d does not have: want nothing", id)
		}
	}
}

func (c *comparison) row(t *testing.T, at store.Row) {
	t.Helper()
	a, _ := c.want.Interval(at)
	b, err := c.got.Interval(at)
	if err != nil || b == nil || b.Len() != 1 {
		t.Fatalf("Interval(%v): %v, %v; want one row", at, b, err)
	}
	if d := diffOf(intervalOf(c.want, a, 0), intervalOf(c.got, b, 0)); d != "" {
		t.Fatalf("Interval(%v) (-want +got):\n%s", at, d)
	}
	wantFacts, _ := c.want.IntervalAttributes(at)
	gotFacts, err := c.got.IntervalAttributes(at)
	if d := diffOf(sortedFacts(wantFacts), sortedFacts(gotFacts)); d != "" || err != nil {
		t.Fatalf("IntervalAttributes(%v) (-want +got): %v\n%s", at, err, d)
	}
	if d := diffOf(childrenOf(c.want, at), childrenOf(c.got, at)); d != "" {
		t.Fatalf("Children(%v) (-want +got):\n%s", at, d)
	}
}

func sortedFacts(list []trace.Attribute) []string {
	var out []string
	for _, a := range list {
		out = append(out, fmt.Sprint(a.Key, "=", a.Value, " ", a.Value.Kind))
	}
	slices.Sort(out)
	return out
}

func childrenOf(r store.Reader, at store.Row) []interval {
	var out []interval
	err := r.Children(context.Background(), at, func(c *trace.Columns) error {
		for i := range c.Begin {
			out = append(out, intervalOf(r, c, i))
		}
		return nil
	})
	if err != nil {
		out = append(out, interval{region: err.Error()})
	}
	return out
}

func (c *comparison) count(w store.Window) string {
	want, _ := c.want.Count(w)
	got, err := c.got.Count(w)
	if err != nil {
		return err.Error()
	}
	return diffOf(want, got)
}

// intervals compares the rows and the chains of open intervals.
func (c *comparison) intervals(w store.Window) string {
	wantRows, wantOpen, fault := collectIntervals(c.want, c.want, w)
	if fault != "" {
		return "the reference is wrong: " + fault
	}
	gotRows, gotOpen, fault := collectIntervals(c.got, c.want, w)
	if fault != "" {
		return fault
	}
	if d := diffOf(wantRows, gotRows); d != "" {
		return "rows (-want +got):\n" + d
	}
	if d := diffOf(wantOpen, gotOpen); d != "" {
		return "open at the begin of the window (-want +got):\n" + d
	}
	return ""
}

type laneID struct {
	location trace.LocationID
	lane     int
}

// collectIntervals gathers an answer by lane and checks its form: batches in
// order, and chains that hold all parents of their first row.
func collectIntervals(r store.Reader, truth *reader, w store.Window) (rows map[laneID][]interval, open map[laneID][]int,
	fault string) {
	rows, open = map[laneID][]interval{}, map[laneID][]int{}
	seen := map[laneID]bool{}
	var mu sync.Mutex
	err := r.Intervals(context.Background(), w, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		id := laneID{c.Location, c.Lane}
		all := truth.lanes[c.Location][c.Lane].rows
		if list := rows[id]; len(list) > 0 && list[len(list)-1].at.Row+1 != c.First {
			fault = fmt.Sprintf("lane %v: a batch begins at row %d, the one before ends at %d", id, c.First,
				list[len(list)-1].at.Row)
		}
		chain := map[int]bool{}
		for k, o := range c.Open {
			chain[o.Row] = true
			if k > 0 && c.Open[k-1].Row >= o.Row {
				fault = fmt.Sprintf("lane %v: open chain %v is not outermost first", id, c.Open)
			}
			if o.Row < 0 || o.Row >= len(all) ||
				o != (trace.OpenInterval{Row: o.Row, Begin: all[o.Row].begin, End: all[o.Row].end, Region: o.Region}) ||
				r.Regions()[o.Region].Name != truth.regions[all[o.Row].region].Name {
				fault = fmt.Sprintf("lane %v: open chain says %+v, which is no row", id, o)
				return nil
			}
			if !seen[id] && all[o.Row].begin < w.Begin && all[o.Row].end > w.Begin {
				open[id] = append(open[id], o.Row)
			}
		}
		if c.Len() > 0 {
			for p := all[c.First].parent; p >= 0; p = all[p].parent {
				if !chain[p] {
					fault = fmt.Sprintf("lane %v: the chain of the batch at row %d lacks row %d, which is around it",
						id, c.First, p)
				}
			}
		}
		seen[id] = true
		for i := range c.Begin {
			rows[id] = append(rows[id], intervalOf(r, c, i))
		}
		return nil
	})
	if err != nil {
		fault = err.Error()
	}
	return rows, open, fault
}

type timeCell struct {
	exclusive, inclusive trace.Time
	calls                int64
}

func (c *comparison) time(w store.Window) string {
	a, err := timeTable(c.want, w)
	if err != "" {
		return "the reference is wrong: " + err
	}
	b, err := timeTable(c.got, w)
	if err != "" {
		return err
	}
	return diffOf(a, b)
}

// timeTable is the answer as a map; cells of nothing but zeros do not count.
func timeTable(r store.Reader, w store.Window) (map[string]timeCell, string) {
	t, err := r.Time(context.Background(), w)
	if err != nil {
		return nil, err.Error()
	}
	out := map[string]timeCell{}
	if len(t.Offsets) != len(t.Locations)+1 || t.Offsets[len(t.Locations)] != len(t.Region) ||
		!slices.IsSorted(t.Locations) {
		return nil,
			fmt.Sprintf("%d locations, %d offsets, %d cells do not fit, or the locations are not in order",
				len(t.Locations), len(t.Offsets), len(t.Region))
	}
	for k, id := range t.Locations {
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			if i > t.Offsets[k] && t.Region[i] <= t.Region[i-1] {
				return nil, fmt.Sprintf("regions of location %d are not ascending", id)
			}
			if cell := (timeCell{t.Exclusive[i], t.Inclusive[i], t.Calls[i]}); cell != (timeCell{}) {
				out[fmt.Sprint(id, " ", r.Regions()[t.Region[i]].Name)] = cell
			}
		}
	}
	return out, ""
}

// named replaces region ids by names and drops zeros.
func named(r store.Reader, m map[trace.RegionID]int64) map[string]int64 {
	out := map[string]int64{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] != 0 {
			out[r.Regions()[k].Name] += m[k]
		}
	}
	return out
}
