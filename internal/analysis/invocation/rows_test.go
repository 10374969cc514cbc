package invocation_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// randomRanks writes a random tree of calls for each rank, the same for a seed. Ranks come in another order than
// locations where they are turned round.
func randomRanks(w trace.Writer, seed uint64, turned bool) {
	random := rand.New(rand.NewPCG(seed, 1))
	var regions []trace.RegionID
	for _, name := range []string{"main", "solve", "sweep", "exchange", "norm"} {
		regions = append(regions, w.Region(trace.Region{Name: name, Role: trace.RoleCompute}))
	}
	ranks := 2 + random.IntN(12)
	for k := range ranks {
		rank := k
		if turned {
			rank = ranks - 1 - k
		}
		s := w.Stream(w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Name: string(rune('a' + k)), Order: int64(k), Rank: rank}), trace.StreamOptions{})
		now, open := trace.Time(random.IntN(40)), []trace.RegionID{}
		for range 1 + random.IntN(1500) {
			for len(open) > 0 && random.IntN(5) < 2 {
				s.Leave(now, open[len(open)-1])
				open = open[:len(open)-1]
			}
			id := regions[random.IntN(len(regions))]
			s.Enter(now, id)
			open = append(open, id)
			now += trace.Time(random.IntN(3))
		}
		for k := len(open) - 1; k >= 0; k-- {
			now++
			s.Leave(now, open[k])
		}
		if err := s.Close(); err != nil {
			panic(err)
		}
	}
}

// A tree whose calls stay in the store is the one that is read: the same calls with the same numbers, and in every
// sight the same sectors; with sums made just now, with those kept next to the store, and of a run imported in parts.
func TestATreeInTheStoreIsTheOneThatIsRead(t *testing.T) {
	defer func(keeps func(store.Reader) bool) { invocation.LevelsOfRun.Keeps = keeps }(invocation.LevelsOfRun.Keeps)
	invocation.LevelsOfRun.Keeps = nil
	for seed := range uint64(6) {
		fill := func(w trace.Writer) { randomRanks(w, seed, seed%2 == 1) }
		path := viewtest.WriteLocal(t, fill)
		if seed == 5 {
			path = inParts(t, fill)
		}
		r := viewtest.OpenLocal(t, path)
		w := store.Window{End: r.Info().End}
		read, err := invocation.Read(t.Context(), r, w, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, kept := range []bool{false, true} {
			if _, err := os.Stat(filepath.Join(path, "kept.levels")); (err == nil) != kept {
				t.Fatalf("seed %d: sums are next to the store: %v, want %v", seed, err, kept)
			}
			run := &derived.Run{Store: r, Cache: derived.NewCache(memory.New(1 << 30))}
			rows, err := invocation.OfRows(t.Context(), run, w)
			if err != nil || rows == nil {
				t.Fatalf("seed %d: %v, %v", seed, rows, err)
			}
			sameTree(t, seed, read, rows)
		}
	}
}

// A part of the locations makes a tree of its own.
func TestATreeOfSomeLocationsStaysInTheStoreToo(t *testing.T) {
	r := viewtest.OpenLocal(t, viewtest.WriteLocal(t, func(w trace.Writer) { randomRanks(w, 9, false) }))
	w := store.Window{End: r.Info().End, Locations: []trace.LocationID{0, 2, 3}}
	read, err := invocation.Read(t.Context(), r, w, true)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := invocation.OfRows(t.Context(), &derived.Run{Store: r}, w)
	if err != nil || rows == nil {
		t.Fatal(rows, err)
	}
	sameTree(t, 9, read, rows)
	w.Begin = r.Info().End / 3 // callers may be outside
	if rows, err := invocation.OfRows(t.Context(), &derived.Run{Store: r}, w); rows != nil || err != nil {
		t.Errorf("of a part of the time: %v, %v", rows, err)
	}
}

// Damage is an error of who reads, not an answer.
func TestATreeInADamagedStoreIsAnError(t *testing.T) {
	path := viewtest.WriteLocal(t, func(w trace.Writer) { randomRanks(w, 3, false) })
	for _, name := range []string{"interval.depth.u16", "interval.begin.i64"} {
		file := filepath.Join(path, name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		good := slices.Clone(b)
		b[len(b)/3] ^= 0xff
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		r := viewtest.OpenLocal(t, path)
		_, err = invocation.OfRows(t.Context(), &derived.Run{Store: r}, store.Window{End: r.Info().End})
		if !errors.Is(err, local.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := viewtest.OpenLocal(t, path)
	rows, err := invocation.OfRows(t.Context(), &derived.Run{Store: r}, store.Window{End: r.Info().End})
	if err != nil || rows == nil {
		t.Fatal(rows, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if rows.At(1); rows.Err() == nil {
		t.Error("a call of a closed store was read")
	}
}

// inParts imports a trace in two parts, each of some locations, and joins them.
func inParts(t *testing.T, fill func(trace.Writer)) string {
	dir, o := filepath.Join(t.TempDir(), "run.plx"), local.Options{}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for part := 1; part <= 2; part++ {
		o := o
		o.Part, o.Parts = part, 2
		w, err := local.Create(filepath.Join(dir, local.PartName(part)), o)
		if err != nil {
			t.Fatal(err)
		}
		fill(w)
		if err := w.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := local.Join(context.Background(), dir, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sameTree(t *testing.T, seed uint64, read, rows *invocation.Calls) {
	t.Helper()
	n, levels := int32(read.Len()), inMemory(read)
	first, last := read.Span()
	if a, b := rows.Span(); int32(rows.Len()) != n || a != first || b != last {
		t.Fatalf("seed %d: %d nodes that begin from %d to %d; want %d, %d, %d", seed, rows.Len(), a, b, n, first, last)
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	nodes := rows.Pick(all, invocation.OfRegion|invocation.OfTime|invocation.OfLevel, nil)
	made := read.Tree.Children()
	for i := range n {
		if i > 0 && nodes[i].Call != read.At(i) || nodes[i].Level != levels[i] || rows.Parent(i) != read.Parent(i) ||
			i%37 == 0 && (rows.Number(i) != read.Number(i) || rows.Made(i) != made[i]) {
			t.Fatalf("seed %d: node %d is %+v, number %d; want %+v, level %d, number %d", seed, i, nodes[i],
				rows.Number(i), read.At(i), levels[i], read.Number(i))
		}
	}
	sameSurvey(t, read, rows, made)
	random := rand.New(rand.NewPCG(seed, 2))
	for range 60 {
		zoom := math.Pow(10, 5*random.Float64())
		x, y := 400-zoom*300*(2*random.Float64()-1), 300-zoom*300*(2*random.Float64()-1)
		s := invocation.NewSight(800, 600, zoom*300/float64(read.Outline().Height), x, y)
		want, skipped, _ := read.Outline().Look(context.Background(), s, 1, math.MaxInt)
		got, left, _ := rows.Outline().Look(context.Background(), s, 1, math.MaxInt)
		if !slices.Equal(got, want) || !slices.Equal(left, skipped) {
			t.Fatalf("seed %d, sight %+v: %d items, want %d", seed, s, len(got), len(want))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// sameSurvey compares numbers, calls made and regions with those of the tree that was read.
func sameSurvey(t *testing.T, read, rows *invocation.Calls, made []int32) {
	t.Helper()
	first, last := read.Span()
	until := first + (last-first)/3
	var nodes []int32
	for i := int32(0); int(i) < read.Len(); i += 1 + i%5 {
		nodes = append(nodes, i)
	}
	s, err := rows.Survey(t.Context(), nodes, until, 5)
	if err != nil {
		t.Fatal(err)
	}
	late, regions := make([]int32, read.Len()), make([]invocation.Makes, 5)
	for i := 1; i < read.Len(); i++ {
		if read.Begin[i] > until {
			late[read.Tree.Parent[i]]++
		}
		m := &regions[read.Region[i]]
		if m.Calls++; m.Calls == 1 {
			m.Least = made[i]
		}
		m.Least, m.Most, m.Total = min(m.Least, made[i]), max(m.Most, made[i]), m.Total+int64(made[i])
	}
	if !slices.Equal(s.Regions, regions) {
		t.Errorf("calls made by region %+v, want %+v", s.Regions, regions)
	}
	cuts, err := rows.Begun(t.Context(), until)
	if err != nil {
		t.Fatal(err)
	}
	at, lane := int32(1), 0
	rows.EachLane(1, int32(read.Len()), func(_ trace.LocationID, calls int32) {
		for i := at; i < at+calls; i++ {
			if (read.Begin[i] <= until) != (i < cuts[lane]) {
				t.Errorf("lane %d: node %d begins at %d; it has begun at %d: %v", lane, i, read.Begin[i], until,
					i < cuts[lane])
			}
		}
		at, lane = at+calls, lane+1
	})
	for k, i := range nodes {
		if s.Number[k] != read.Number(i) || s.Made[k] != made[i] || s.Late[k] != late[i] {
			t.Fatalf("node %d: number %d, made %d, %d late; want %d, %d, %d", i, s.Number[k], s.Made[k], s.Late[k],
				read.Number(i), made[i], late[i])
		}
		if k%29 == 0 {
			if found, err := rows.FindNumbered(s.Number[k]); err != nil || found != i {
				t.Fatalf("number %d is node %d, %v; want %d", s.Number[k], found, err, i)
			}
		}
	}
	counted, part := rows.NewTally(5), read.NewTally(5)
	for _, tally := range []*invocation.Tally{counted, part} {
		tally.Blocks, tally.Outer = invocation.All, 2
	}
	n := int32(read.Len())
	rows.Tally(n/5, n-n/7, invocation.OfRegion, counted)
	read.Tally(n/5, n-n/7, invocation.OfRegion, part)
	if counted.Calls != part.Calls || counted.Time != part.Time || !slices.Equal(counted.Regions, part.Regions) ||
		!slices.Equal(counted.Levels, part.Levels) {
		t.Errorf("counted %+v, want %+v", counted, part)
	}
}

// inMemory are the levels of a tree that was read.
func inMemory(c *invocation.Calls) []int32 {
	levels, _ := c.Levels()
	return levels
}
