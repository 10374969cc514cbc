package timeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// burstTrace has locations of several sorts: long calls, bursts of thousands of
// short ones in many regions, nesting, crossing (so several lanes), annotations
// and empty intervals.
func burstTrace(seed uint64, regions, length int, summaries ...trace.Summary) store.Reader {
	m := storetest.NewMemory(summaries...)
	writeBursts(m, seed, regions, length)
	return m.Reader()
}

func writeBursts(m trace.Writer, seed uint64, regions, length int) {
	rng := rand.New(rand.NewPCG(seed, 11))
	ids := make([]trace.RegionID, regions)
	for i := range ids {
		role := trace.Role(1 + rng.IntN(trace.RoleCount-1))
		ids[i] = m.Region(trace.Region{Name: fmt.Sprint("region ", i), Role: role})
	}
	machine := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: "node", Rank: trace.NoRank})
	for p := range 5 {
		id := m.Location(trace.Location{Parent: machine, Kind: trace.KindProcess, Name: fmt.Sprint("P", p), Rank: p})
		s := m.Stream(id, trace.StreamOptions{Unordered: true})
		for at := rng.IntN(50); at < length; {
			b, d := at, 1+rng.IntN(length/20)
			switch {
			case rng.IntN(3) == 0: // a long call with children
				s.Interval(trace.Time(b), trace.Time(b+d), ids[rng.IntN(min(regions, 8))])
				for x := b; x < b+d-20; x += 1 + rng.IntN(d) {
					s.Interval(trace.Time(x), trace.Time(x+rng.IntN(20)), ids[rng.IntN(regions)])
				}
			default: // a burst
				for x := b; x < b+d; x += rng.IntN(12) + rng.IntN(2)*rng.IntN(60) {
					s.Interval(trace.Time(x), trace.Time(x+rng.IntN(9)), ids[rng.IntN(regions)])
					if p >= 3 && rng.IntN(10) == 0 { // crossing: another lane
						s.Interval(trace.Time(x+1), trace.Time(x+rng.IntN(150)), ids[rng.IntN(regions)])
					}
				}
			}
			at = b + d + rng.IntN(length/50)
		}
		s.Close()
	}
}

// A painting says of each nanosecond which row of a lane is innermost.
type painting struct {
	row    []int32 // -1: nothing
	region []trace.RegionID
	role   []trace.Role
	begins []begun
}

// paint paints every lane of a reader by the simplest means.
func paint(t testing.TB, r store.Reader) map[trace.LocationID][]*painting {
	t.Helper()
	out := map[trace.LocationID][]*painting{}
	lanes := r.Lanes()
	end := int(r.Info().End)
	for id := range r.Locations().Len() {
		for range lanes[id+1] - lanes[id] {
			p := &painting{row: make([]int32, end), region: make([]trace.RegionID, end), role: make([]trace.Role, end)}
			for i := range p.row {
				p.row[i], p.region[i] = -1, trace.NoRegion
			}
			out[trace.LocationID(id)] = append(out[trace.LocationID(id)], p)
		}
	}
	var mu sync.Mutex
	err := r.Intervals(context.Background(), store.Window{Begin: 0, End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		p := out[c.Location][c.Lane]
		for i := range c.Begin {
			p.begins = append(p.begins, begun{c.Begin[i], c.Duration[i], c.Region[i], c.First + i, c.Lane})
			role := r.Regions()[c.Region[i]].Role
			for x := c.Begin[i]; x < c.End(i); x++ {
				p.row[x], p.region[x] = int32(c.First+i), c.Region[i]
				if role != trace.RoleAnnotation || p.role[x] == trace.RoleNone {
					p.role[x] = role
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// instantOf is what a strip shows at a nanosecond: the lane that wins among
// those that are in a kept region.
func instantOf(lanes []*painting, only int, keep []bool, x int) (lane int, ok bool) {
	lane = -1
	for l, p := range lanes {
		if only >= 0 && l != only || p.row[x] < 0 || keep != nil && !keep[p.region[x]] {
			continue
		}
		if lane < 0 || p.role[x] != lanes[lane].role[x] && store.RoleOfInstant(lanes[lane].role[x], p.role[x]) == p.role[x] {
			lane = l
		}
	}
	return lane, lane >= 0
}

// direct computes a bin from nothing but the painting.
type direct struct {
	time              map[trace.RegionID]trace.Time
	role              [trace.RoleCount]trace.Time
	open              trace.Time
	rows              int
	longest, shortest begun
	last              trace.RegionID
}

func directBin(lanes []*painting, only int, keep []bool, begin, end trace.Time) *direct {
	d := &direct{time: map[trace.RegionID]trace.Time{}, last: trace.NoRegion}
	lastAt := begin
	for x := begin; x < end; x++ {
		if l, ok := instantOf(lanes, only, keep, int(x)); ok {
			d.time[lanes[l].region[x]]++
			d.role[lanes[l].role[x]]++
			d.open++
			d.last, lastAt = lanes[l].region[x], x+1
		}
	}
	var rows []begun
	for l, p := range lanes {
		if only < 0 || l == only {
			rows = append(rows, p.begins...)
		}
	}
	slices.SortStableFunc(rows, func(a, b begun) int { return int(a.begin - b.begin) })
	for _, b := range rows {
		if b.begin < begin || b.begin >= end || keep != nil && !keep[b.region] {
			continue
		}
		d.rows++
		if b.duration == 0 {
			if b.begin >= lastAt {
				d.last = b.region
			}
			continue
		}
		if d.longest.duration == 0 || b.duration > d.longest.duration || b.duration == d.longest.duration && b.region < d.longest.region {
			d.longest = b
		}
		if d.shortest.duration == 0 || b.duration < d.shortest.duration || b.duration == d.shortest.duration && b.region < d.shortest.region {
			d.shortest = b
		}
	}
	return d
}

// winner names who must win.
func (d *direct) winner(r *rule) (trace.RegionID, trace.Role) {
	switch {
	case d.open == 0 || r.show == last:
		return d.last, 0
	case r.show == longest && d.longest.duration > 0:
		return d.longest.region, 0
	case r.show == shortest && d.shortest.duration > 0:
		return d.shortest.region, 0
	case r.key == byRole:
		best := trace.Role(1)
		for role := range d.role {
			if role > 0 && d.role[role] > d.role[best] {
				best = trace.Role(role)
			}
		}
		return trace.NoRegion, best
	case r.key == byBusy:
		busy, idle := trace.Time(0), trace.Time(0)
		for role, t := range d.role {
			if trace.Role(role).Busy() {
				busy += t
			} else {
				idle += t
			}
		}
		if idle > busy {
			return trace.NoRegion, trace.RoleIdle
		}
		return trace.NoRegion, trace.RoleCompute
	}
	best := trace.NoRegion
	for region, t := range d.time {
		if best == trace.NoRegion || t > d.time[best] || t == d.time[best] && region < best {
			best = region
		}
	}
	return best, 0
}

// checkStrip holds every span of a strip against the painting: pieces tile what
// they say, aggregates name the winner, and nothing is missing.
func checkStrip(t *testing.T, r *result, lanes []*painting, s *strip) {
	t.Helper()
	covered := make([]bool, r.grid.end)
	for i := range s.spans {
		x := &s.spans[i]
		if x.pending {
			t.Fatalf("span %+v has no winner", x)
		}
		if x.aggregate() {
			checkAggregate(t, r, lanes, s, x)
		}
		for at := x.begin; at < x.end; at++ {
			if covered[at] {
				t.Fatalf("two spans at %d", at)
			}
			covered[at] = true
			if x.aggregate() {
				continue
			}
			l, ok := instantOf(lanes, s.lane, r.rule.keep, int(at))
			if !ok || int(x.lane) != l || lanes[l].row[at] != x.row || lanes[l].region[at] != x.region || lanes[l].role[at] != x.role {
				t.Fatalf("span %+v, but at %d lane %d is innermost (%v)", x, at, l, ok)
			}
		}
	}
	for at := r.grid.begin; at < r.grid.end; at++ {
		if _, open := instantOf(lanes, s.lane, r.rule.keep, int(at)); open && !covered[at] {
			t.Fatalf("something is open at %d, but no span is there", at)
		}
	}
}

func checkAggregate(t *testing.T, r *result, lanes []*painting, s *strip, x *span) {
	t.Helper()
	d := directBin(lanes, s.lane, r.rule.keep, x.begin, x.end)
	region, role := d.winner(&r.rule)
	if x.open != d.open || int(x.count) != max(1, d.rows) && !(x.loose && int(x.count) > d.rows) {
		t.Fatalf("bin [%d, %d): open %d, count %d, want %d, %d", x.begin, x.end, x.open, x.count, d.open, d.rows)
	}
	if region != trace.NoRegion && x.region != region {
		t.Fatalf("bin [%d, %d): region %d wins, want %d of %v", x.begin, x.end, x.region, region, d.time)
	}
	if region != trace.NoRegion {
		return
	}
	if r.rule.key == byBusy && x.role.Busy() != role.Busy() || r.rule.key == byRole && x.role != role {
		t.Fatalf("bin [%d, %d): role %v wins, want %v", x.begin, x.end, x.role, role)
	}
}

func computeFor(t testing.TB, r store.Reader, spec view.Spec, options map[string][]string, size scene.Size) *result {
	t.Helper()
	return computeBy(t, standard, r, spec, options, size)
}

func computeBy(t testing.TB, how reading, r store.Reader, spec view.Spec, options map[string][]string, size scene.Size) *result {
	t.Helper()
	sel, err := spec.Resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	values, err := view.NewValues(View, options)
	if err != nil {
		t.Fatal(err)
	}
	out, err := how.compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Selection: sel, Values: values, Size: size})
	if err != nil {
		t.Fatal(err)
	}
	return out.(*result)
}

func TestEveryCellEqualsADirectComputation(t *testing.T) {
	for _, regions := range []int{5000, 6} {
		t.Run(fmt.Sprint(regions, " regions"), func(t *testing.T) { everyCell(t, regions) })
	}
}

func everyCell(t *testing.T, regions int) {
	const length = 30000
	withDigests := burstTrace(1, regions, length, all.Summaries...)
	without := burstTrace(1, regions, length)
	onDisk := viewtest.Local(t, func(w trace.Writer) { writeBursts(w, 1, regions, length) })
	painted := paint(t, withDigests)
	some := []string{"re:region [0-9]*[137]$", "region 1", "region 2"}
	sizes := map[string]scene.Size{"narrow": {Width: 110, Height: 200}, "low": {Width: 300, Height: 90}, "high": {Width: 700, Height: 900}}
	for _, c := range []struct {
		name    string
		options map[string][]string
		spec    view.Spec
		reader  store.Reader
	}{
		{"dominant", nil, view.Spec{}, withDigests},
		{"dominant, no digests kept", nil, view.Spec{}, without},
		{"dominant, on disk", nil, view.Spec{}, onDisk},
		{"dominant among some regions, on disk", nil, view.Spec{Regions: some}, onDisk},
		{"longest, on disk", map[string][]string{"show": {"max"}}, view.Spec{From: "3000"}, onDisk},
		{"dominant in a window", nil, view.Spec{From: "7777", To: "23456"}, withDigests},
		{"dominant among some regions", nil, view.Spec{Regions: some}, withDigests},
		{"dominant role", map[string][]string{"colour": {"role"}}, view.Spec{}, withDigests},
		{"busy or not", map[string][]string{"colour": {"busy"}}, view.Spec{From: "100"}, withDigests},
		{"busy or not among some regions", map[string][]string{"colour": {"busy"}}, view.Spec{Regions: some}, withDigests},
		{"longest among some regions", map[string][]string{"show": {"max"}}, view.Spec{Regions: some}, withDigests},
		{"shortest", map[string][]string{"show": {"min"}}, view.Spec{}, withDigests},
		{"last", map[string][]string{"show": {"last"}}, view.Spec{}, withDigests},
		{"last among some regions", map[string][]string{"show": {"last"}}, view.Spec{Regions: some}, withDigests},
		{"a few nanoseconds", nil, view.Spec{From: "12000", To: "12040"}, withDigests},
	} {
		for name, size := range sizes {
			for _, how := range []reading{{0, fewLinks}, {1 << 20, fewLinks}} { // digests, rows
				t.Run(fmt.Sprint(c.name, ", ", name, ", ", how.rowsPerBin), func(t *testing.T) {
					checkResult(t, computeBy(t, how, c.reader, c.spec, c.options, size), painted)
				})
			}
		}
	}
}

func checkResult(t *testing.T, r *result, painted map[trace.LocationID][]*painting) {
	t.Helper()
	for _, l := range r.leaves {
		if l == nil {
			continue
		}
		if len(l.list) == 0 {
			t.Errorf("location %d has no strips", l.location)
		}
		for i := range l.list {
			checkStrip(t, r, painted[l.location], &l.list[i])
		}
	}
}

// The digests must decide most bins where few regions compete; otherwise the
// test above says nothing about them.
func TestDigestsDecideMostBins(t *testing.T) {
	r := burstTrace(2, 4, 40000, all.Summaries...)
	slow := storetest.Slow(r, 0)
	res := computeBy(t, reading{0, fewLinks}, slow, view.Spec{}, map[string][]string{"links": {"none"}}, scene.Size{Width: 300, Height: 900})
	aggregates := 0
	for _, l := range res.leaves {
		if l != nil {
			for _, s := range l.list {
				for i := range s.spans {
					if s.spans[i].aggregate() {
						aggregates++
					}
				}
			}
		}
	}
	if aggregates < 100 {
		t.Errorf("%d aggregates", aggregates)
	}
	if slow.Calls() > 4 {
		t.Errorf("%d queries: %s", slow.Calls(), slow)
	}
}
