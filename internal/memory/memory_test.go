package memory

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestWhatIsKeptFitsInHalfOfTheBudgetAndTheOldestGoes(t *testing.T) {
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

func TestWhatHoldsOnToAnotherGoesWithIt(t *testing.T) {
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

func TestWorkBeyondTheBudgetIsStoppedInWords(t *testing.T) {
	b := New(1 << 30)
	kept := true
	b.Hold(100, func() { kept = false })
	var size atomic.Int64
	size.Store(2 << 30)
	b.live = size.Load
	old, done := b.Work(context.Background())
	defer done()
	young, end := b.Work(context.Background())
	defer end()
	<-old.Done()
	var much *Exceeded
	if !errors.As(context.Cause(old), &much) || !strings.Contains(much.Error(), "1.0 GiB") || !strings.Contains(much.Error(), "--memory") {
		t.Errorf("cause %v", context.Cause(old))
	}
	if kept {
		t.Error("work was stopped before what is kept was dropped")
	}
	began := make(chan struct{})
	go func() {
		_, end := b.Work(context.Background())
		close(began)
		end()
	}()
	select {
	case <-began:
		t.Error("something began while what was stopped still holds its memory")
	case <-time.After(3 * between):
	}
	if young.Err() != nil {
		t.Error("a second one was stopped before the first was gone")
	}
	size.Store(0)
	done()
	<-began
	size.Store(0)
	end()
	if errors.As(context.Cause(young), &much) {
		t.Error("all work was stopped at once")
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

func TestSizesAreWhatValuesHoldOnTo(t *testing.T) {
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
