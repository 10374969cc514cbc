package memory

import (
	"context"
	"errors"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestCachedEntriesFitHalfTheBudgetAndTheOldestIsEvicted(t *testing.T) {
	b := New(200)
	var gone []string
	keep := func(name string, size int64, on ...*Held) *Held {
		return b.Hold(size, func() { gone = append(gone, name) }, on...)
	}
	first := keep("first", 40)
	keep("second", 40)
	first.Touch()
	keep("third", 40) // the second goes: the first was asked for since
	if !slices.Equal(gone, []string{"second"}) {
		t.Errorf("gone: %v", gone)
	}
	first.Grow(50) // the third goes
	if used, most := b.Kept(); used != 90 || most != 100 || !slices.Equal(gone, []string{"second", "third"}) {
		t.Errorf("%d of %d are kept, gone: %v", used, most, gone)
	}
	first.Release()
	first.Release()
	if used, _ := b.Kept(); used != 0 || len(gone) != 2 {
		t.Errorf("%d are kept after all is released; gone: %v", used, gone)
	}
}

func TestDependentEntriesAreEvictedTogether(t *testing.T) {
	b := New(200)
	var gone []string
	tree := b.Hold(50, func() { gone = append(gone, "tree") })
	picture := b.Hold(10, func() { gone = append(gone, "picture") }, tree)
	picture.Touch() // and with it the tree
	b.Hold(60, func() { gone = append(gone, "other") })
	slices.Sort(gone) // both are as old
	if !slices.Equal(gone, []string{"picture", "tree"}) {
		t.Errorf("gone: %v", gone)
	}
	if used, _ := b.Kept(); used != 60 {
		t.Errorf("%d bytes are kept, want 60", used)
	}
	late := b.Hold(10, func() { gone = append(gone, "late") }, tree) // the tree went while this was made
	if late.Grow(1); gone[len(gone)-1] != "late" {
		t.Errorf("what holds on to something that is not counted any more is kept")
	}
}

// measured gives a budget what a test says is in use.
func measured(b *Budget) (live *atomic.Int64) {
	live = &atomic.Int64{}
	b.measured = func() use { return use{live: live.Load(), mapped: live.Load()} }
	return live
}

func TestWorkBeyondTheMemoryBudgetStopsWithAReason(t *testing.T) {
	b := New(1 << 30)
	live := measured(b)
	old, done := b.Work(context.Background())
	defer done()
	young, end := b.Work(context.Background())
	defer end()
	kept := true
	b.Hold(100, func() { kept = false })
	live.Store(2 << 30)
	<-old.Done()
	var much *Exceeded
	if !errors.As(context.Cause(old), &much) || !strings.Contains(much.Error(), "1.0 GiB") || !strings.Contains(much.Error(), "--memory") || !much.Beside {
		t.Errorf("cause %v", context.Cause(old))
	}
	if kept {
		t.Error("work was stopped before what is kept was dropped")
	}
	live.Store(0)
	if began := beginsWithin(b, 3*between); began {
		t.Error("something began while what was stopped still holds its memory")
	}
	if young.Err() != nil {
		t.Error("a second one was stopped though the first was enough")
	}
	done()
	if !beginsWithin(b, time.Minute) {
		t.Error("nothing begins where there is room")
	}
}

// beginsWithin tries to begin something, and ends it.
func beginsWithin(b *Budget, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, end := b.Work(ctx)
	defer end()
	return ctx.Err() == nil
}

func TestWorkWaitsForOthersWithoutFreeMemory(t *testing.T) {
	b := New(1 << 30)
	live := measured(b)
	live.Store(500 << 20)
	_, first := b.Work(context.Background()) // whatever is in use: somebody must go on
	if beginsWithin(b, 3*between) {
		t.Error("a second began with 500 MiB of 1 GiB in use, of which 576 may be")
	}
	h := b.Hold(450<<20, func() {})
	if !beginsWithin(b, time.Minute) {
		t.Error("what is kept keeps others from working")
	}
	h.Release()
	live.Store(0)
	if _, err := b.Finish(context.Background(), 900<<20); err == nil {
		t.Error("a table that fits nowhere was begun")
	}
	first() // a large table begins when all else has ended
	table, err := b.Finish(context.Background(), 500<<20)
	if err != nil {
		t.Fatal(err)
	}
	if beginsWithin(b, 3*between) {
		t.Error("something began beside a table that takes the rest and cannot be stopped")
	}
	table()
	if !beginsWithin(b, time.Minute) {
		t.Error("nothing begins after the table")
	}
}

func TestWorkStoppedBesideOthersIsRetriedAlone(t *testing.T) {
	b := New(1 << 30)
	measured(b)
	_, other := b.Work(context.Background())
	alone := make(chan context.Context)
	release := make(chan struct{})
	go func() {
		ctx, done := b.WorkAlone(context.Background())
		alone <- ctx
		<-release
		done()
	}()
	select {
	case <-alone:
		t.Error("it is not alone")
	case <-time.After(3 * between):
	}
	if beginsWithin(b, 3*between) {
		t.Error("others begin while one waits to be alone: it would wait for ever")
	}
	other()
	ctx := <-alone
	if beginsWithin(b, 3*between) {
		t.Error("something began beside it")
	}
	inner, end := b.Work(ctx) // a part of it
	if inner.Err() != nil {
		t.Error("a part of it waits for the whole")
	}
	end()
	close(release)
	if !beginsWithin(b, time.Minute) {
		t.Error("nothing begins afterwards")
	}
}

func TestAControlGroupBoundsTheMachine(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"version 2, of a group above": {map[string]string{"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "1000\n", "/sys/fs/cgroup/a/b/memory.max": "max\n"}, 1000},
		"version 1":                   {map[string]string{"/proc/self/cgroup": "4:cpu:/x\n3:memory:/x\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "500\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 500},
		"version 1, none":             {map[string]string{"/proc/self/cgroup": "3:memory:/\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"no groups":                   {nil, 0},
	} {
		got := groupLimit(func(p string) ([]byte, error) {
			if text, ok := c.files[p]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if s := Share(); s < Least {
		t.Errorf("the share of this machine is %d", s)
	}
}

func TestSizesCountReferencedMemoryOnce(t *testing.T) {
	type node struct {
		next *node
		list []int64
		name string
	}
	ring := &node{list: make([]int64, 1000), name: strings.Repeat("x", 500)}
	ring.next = ring // a circle ends
	shared := &node{list: make([]int64, 1_000_000)}
	h := &Held{}
	many := make([]*node, 100_000)
	for i := range many {
		many[i] = &node{list: make([]int64, 10)}
	}
	for name, c := range map[string]struct {
		value any
		want  int64
	}{
		"a circle":            {ring, 8*1000 + 500 + 48},
		"a slice in any":      {[]any{make([]int64, 100)}, 800 + 16 + 24},
		"many, of which some": {many, 100_000 * (8 + 48 + 80)},
		"a map":               {map[int64]int64{1: 1, 2: 2}, 48},
		"counted elsewhere":   {&node{next: shared}, 48},
		"nothing":             {nil, 0},
	} {
		s := Sizer{Shared: map[uintptr]*Held{addressOf(shared): h}}
		if got := s.Of(c.value); got < c.want*9/10 || got > c.want*12/10+64 {
			t.Errorf("%s: %d bytes, want about %d", name, got, c.want)
		}
		if name == "counted elsewhere" && !slices.Equal(s.Found, []*Held{h}) {
			t.Errorf("%s: found %v", name, s.Found)
		}
	}
}

func addressOf(x any) uintptr { return reflect.ValueOf(x).Pointer() }

// Memory that is taken of the system, not of the runtime, counts like any other, and the runtime has so much less.
func TestMemoryOutsideTheGoRuntimeCounts(t *testing.T) {
	defer mostOutside.Store(mostOutside.Load())
	b := New(1 << 40)
	before := b.inUse()
	var columns Outside
	columns.Add(1 << 36)
	if after := b.inUse(); after.live-before.live < 1<<35 || after.mapped-before.mapped < 1<<35 {
		t.Errorf("in use: %+v, before %+v", after, before)
	}
	if TooMuchOutside(1<<37, 1) || !TooMuchOutside(1<<35, 1) {
		t.Error("64 GiB are more than 128, or not more than 32")
	}
	mostOutside.Store(1 << 35)
	if !TooMuchOutside(1<<37, 1) {
		t.Error("the budget leaves 32 GiB, and 64 are not too much")
	}
	columns.Add(-5)
	if columns.Clear(); columns.Load() != 0 || b.inUse().mapped-before.mapped > 1<<35 {
		t.Errorf("%d are held after all was given back", columns.Load())
	}
}

func TestRoomIsAskedForBeforeMuchIsMade(t *testing.T) {
	if err := Room(context.Background(), 1<<50); err != nil {
		t.Errorf("without a budget: %v", err)
	}
	b := New(1 << 30)
	live := measured(b)
	ctx, done := b.Work(context.Background())
	defer done()
	other, end := b.Work(context.Background())
	defer end()
	live.Store(300 << 20)
	var much *Exceeded
	if err := Room(ctx, 300<<20); !errors.As(err, &much) || !much.Beside {
		t.Errorf("600 MiB of 1 GiB, of which 576 may be: %v", err)
	}
	if err := Room(ctx, 200<<20); err != nil {
		t.Errorf("500 MiB of 1 GiB: %v", err)
	}
	if err := Room(other, 200<<20); !errors.As(err, &much) || !much.Beside {
		t.Errorf("the room that another has just asked for is given twice: %v", err)
	}
	live.Store(560 << 20)
	b.Hold(500<<20, func() { live.Add(-500 << 20) })
	if err := Room(ctx, 300<<20); err != nil {
		t.Errorf("what is kept does not make room: %v", err)
	}
	done()
	if err := Room(ctx, 1); err == nil {
		t.Error("work that has ended goes on")
	}
}

// percentNow is how much garbage the runtime lets lie about, in percent of what is live.
func percentNow() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

func TestTheCollectorIsRelaxedWhileLittleMemoryIsLive(t *testing.T) {
	t.Setenv("GOGC", "")
	defer mostOutside.Store(mostOutside.Load())
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	b := New(1 << 30)
	live := measured(b)
	b.Limit()
	if p := percentNow(); p != 100 {
		t.Errorf("%d %% with nothing at work", p)
	}
	for _, c := range []struct {
		live int64
		want int
	}{{0, 800}, {8 << 20, 400}, {16 << 20, 200}, {400 << 20, 100}, {4 << 20, 800}} {
		live.Store(c.live)
		b.keep()
		if p := percentNow(); p != c.want {
			t.Errorf("%d bytes are live: %d %%, want %d", c.live, p, c.want)
		}
	}
	_, done := b.Work(context.Background())
	done()
	for deadline := time.Now().Add(time.Minute); percentNow() != 100; time.Sleep(between) {
		if time.Now().After(deadline) {
			t.Fatalf("%d %% when work has ended", percentNow())
		}
	}
	small := New(64 << 20)
	measured(small)
	small.Limit()
	if small.keep(); percentNow() != 100 {
		t.Errorf("%d %% where the budget is small", percentNow())
	}
	t.Setenv("GOGC", "300")
	told := New(1 << 30)
	measured(told)
	told.Limit()
	if told.keep(); percentNow() != 100 {
		t.Errorf("%d %% where the user says what", percentNow())
	}
}
