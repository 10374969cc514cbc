package local

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A bit that turns anywhere in a store is an error of the query that meets it, or costs nothing: no answer is another one in
// silence. Lanes are looked at as a whole, and, where they are long, row by row.
func TestNoFlipChangesAnAnswerInSilence(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 3, 1500) })
	sound := reopen(t, path, benchSummary{})
	want, err := answers(sound)
	if err != nil {
		t.Fatal(err)
	}
	sound.Close()
	defer func(n int64) { rows.MostHeld = n }(rows.MostHeld)
	rnd := rand.New(rand.NewPCG(7, 7))
	files := filesOf(t, path)
	noticed := 0
	for _, held := range []int64{1 << 40, 0} {
		rows.MostHeld = held
		for _, name := range slices.Sorted(maps.Keys(files)) {
			file, good := filepath.Join(path, name), files[name]
			if name == disk.ManifestName || len(good) == 0 {
				continue
			}
			bad := slices.Clone(good)
			at := rnd.IntN(len(bad))
			bad[at] ^= 1 << rnd.IntN(8)
			if err := os.WriteFile(file, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			d, err := Open(path, []trace.Summary{benchSummary{}})
			if err == nil {
				var got uint64
				if got, err = answers(d); err == nil && got != want {
					t.Errorf("%s, byte %d, %d bytes held: other answers, and no error", name, at, held)
				}
				d.Close()
			}
			if err != nil {
				noticed++
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("%s: %v is not ErrDamaged", name, err)
				}
			}
			if err := os.WriteFile(file, good, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if noticed < len(files) {
		t.Errorf("only %d of %d flips were noticed", noticed, 2*len(files))
	}
}

// answers condenses what a reader says to all kinds of questions, in any order of its callbacks.
func answers(r *Reader) (uint64, error) {
	ctx := context.Background()
	var mu sync.Mutex
	var sum uint64
	say := func(x ...any) error {
		h := fnv.New64a()
		fmt.Fprintln(h, x...)
		mu.Lock()
		sum += h.Sum64()
		mu.Unlock()
		return nil
	}
	end := r.Info().End
	var all []trace.LocationID
	for id := range r.Locations().Len() {
		all = append(all, trace.LocationID(id))
	}
	var errs []error
	for _, w := range []store.Window{{Begin: end / 5, End: end - end/5}, {Begin: 0, End: end}} {
		times, err := r.Time(ctx, w)
		totals, err2 := r.TotalTime(ctx, w)
		groups, err3 := r.Groups(ctx, all, w.Begin, w.End, max(8, bits.Len64(uint64(end))-4))
		roles, err4 := r.RoleTime(ctx, nil, []trace.Time{w.Begin, (w.Begin + w.End) / 2, w.End})
		if err := errors.Join(err, err2, err3, err4); err != nil {
			return 0, err
		}
		errs = append(errs, say(*times, *totals, *groups, roles),
			r.Intervals(ctx, w, func(c *trace.Columns) error {
				return say(c.Location, c.Lane, c.First, c.Begin, c.Duration, c.Exclusive, c.Region, c.Parent, c.Depth, c.Open)
			}),
			r.Links(ctx, w, func(l *store.LinkColumns) error { return say(*l) }),
			sums(ctx, r, w, say),
			r.Instants(ctx, w, func(c *store.InstantColumns) error { return say(*c) }),
			r.Samples(ctx, nil, w.Begin, w.End, func(c *store.SampleColumns) error { return say(*c) }),
			r.AttributeColumn(ctx, w, 0, func(c *store.AttributeColumns) error { return say(*c) }),
			r.Profile(ctx, nil, func(rows []trace.ProfileRow) error { return say(rows) }))
		for _, level := range []int{store.Coarsest, 6, 10} {
			errs = append(errs, r.Summaries(ctx, "bench", w, level, store.Visitor{
				Block: func(id trace.LocationID, lane int, a, b trace.Time, block trace.Block) error {
					return say(id, lane, a, b, []byte(block))
				},
				Rows: func(s *trace.Stretch) error { return say(s.Begin, s.End, s.Segments) },
			}))
		}
	}
	return sum, errors.Join(errs...)
}

func sums(ctx context.Context, r *Reader, w store.Window, say func(...any) error) error {
	list, err := r.LinkSums(ctx, w)
	return errors.Join(err, say(list))
}

// A file that is cut under its map is a fault of the machine when it is touched: one query fails, and says which file.
func TestAFileThatIsCutUnderTheReaderCostsOneQuery(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeBench(w, 4, 20_000) })
	r := reopen(t, path, benchSummary{})
	if err := os.Truncate(filepath.Join(path, "interval.begin.i64"), 4096); err != nil {
		t.Fatal(err)
	}
	err := r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(*trace.Columns) error { return nil })
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("%v is not ErrDamaged", err)
	}
	if _, err := r.ProfileTotals(context.Background()); err != nil {
		t.Errorf("a question to other files: %v", err)
	}
}

// A panic in what a query calls, on a core of the store's own, comes out in the goroutine that asked: a server catches it there,
// and its other runs go on.
func TestAPanicInACallbackOnAnotherCoreIsOneOfTheCaller(t *testing.T) {
	r := randomStore(t, 1, 400)
	defer func() {
		if p := recover(); !strings.Contains(fmt.Sprint(p), "mine") {
			t.Errorf("caught %v", p)
		}
	}()
	_ = r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(*trace.Columns) error { panic("mine") })
	t.Error("no panic")
}

// Every call that reads rows returns the error of the damage it meets, and a reader of other bytes meets none.
func TestEveryCallThatReadsRowsReturnsItsDamage(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) { writeRandom(w, 3, 300) })
	files := filesOf(t, path)
	for name, c := range map[string]struct {
		file string
		ask  func(r *Reader, at store.Row) error
	}{
		"Count": {"interval.begin.i64", func(r *Reader, _ store.Row) error {
			_, err := r.Count(store.Window{Begin: 1, End: r.Info().End / 2})
			return err
		}},
		"Interval": {"interval.duration.i64", func(r *Reader, at store.Row) error {
			_, err := r.Interval(at)
			return err
		}},
		"At": {"interval.begin.i64", func(r *Reader, at store.Row) error {
			_, _, err := r.At(at.Location, at.Lane, r.Info().End/2)
			return err
		}},
		"IntervalAttributes": {"interval_fact.row.u64", func(r *Reader, at store.Row) error {
			_, err := r.IntervalAttributes(at)
			return err
		}},
		"LinkCount": {"link_block.begin.i64", func(r *Reader, _ store.Row) error {
			_, err := r.LinkCount(store.Window{End: r.Info().End})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(path, c.file)
			defer os.WriteFile(file, files[c.file], 0o644)
			for _, sound := range []bool{true, false} {
				if !sound {
					bad := slices.Clone(files[c.file])
					for i := range bad {
						bad[i] ^= 0x40
					}
					if err := os.WriteFile(file, bad, 0o644); err != nil || len(bad) == 0 {
						t.Fatal(err, len(bad))
					}
				}
				r := reopen(t, path)
				err := c.ask(r, firstRow(r))
				if sound && err != nil || !sound && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), strings.Split(c.file, ".")[0])) {
					t.Errorf("sound %v: got %v", sound, err)
				}
				r.Close()
			}
		})
	}
}

// firstRow is that of the first location with intervals.
func firstRow(r *Reader) store.Row {
	lanes := r.Lanes()
	for id := range len(lanes) - 1 {
		if lanes[id] < lanes[id+1] {
			return store.Row{Location: trace.LocationID(id)}
		}
	}
	return store.Row{Location: trace.NoLocation}
}
