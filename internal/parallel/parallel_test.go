package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEveryNumberIsCalledOnceOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(cores)
		for _, n := range []int{0, 1, 2, 7, 1000} {
			single, ranges, each := make([]int32, n), make([]int32, n), make([]int32, n)
			add := func(to []int32, i int) { atomic.AddInt32(&to[i], 1) }
			if err := For(t.Context(), n, func(i int) { add(single, i) }); err != nil {
				t.Fatal(err)
			}
			if err := Ranges(t.Context(), n, 3, func(from, to int) {
				for i := from; i < to; i++ {
					add(ranges, i)
				}
			}); err != nil {
				t.Fatal(err)
			}
			var workers atomic.Int32
			if err := Each(t.Context(), n, func() int32 { return workers.Add(1) }, func(_ context.Context, _ int32, i int) error {
				add(each, i)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			want := slices.Repeat([]int32{1}, n)
			if !slices.Equal(single, want) || !slices.Equal(ranges, want) || !slices.Equal(each, want) {
				t.Errorf("%d cores, %d numbers: called %v, %v, %v times", cores, n, single, ranges, each)
			}
			if int(workers.Load()) > min(cores, n) {
				t.Errorf("%d workers for %d cores and %d numbers", workers.Load(), cores, n)
			}
		}
	}
}

func TestWorkEndsWithItsContextAndItsFirstError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	called := 0
	if err := For(ctx, 100, func(int) { called++ }); !errors.Is(err, context.Canceled) || called != 0 {
		t.Errorf("a context that has ended gives %v after %d calls", err, called)
	}
	broken := errors.New("broken")
	err := Each(t.Context(), 1000, func() struct{} { return struct{}{} }, func(_ context.Context, _ struct{}, i int) error {
		if i == 3 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("an error of one call gives %v", err)
	}
}

// A panic of a worker comes out where the work was asked for, so that whoever asked can catch it.
// Which error is reported does not depend on which task was faster; those with lower numbers go on to their end.
func TestTheErrorOfTheLowestTaskIsReported(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	later := make(chan struct{})
	err := Tasks(context.Background(), 8, func(ctx context.Context, i int) error {
		switch i {
		case 1:
			<-later // 2 has failed by then
			if ctx.Err() != nil {
				t.Error("a task was ended by one with a higher number")
			}
			return errors.New("error of 1")
		case 2:
			close(later)
			return errors.New("error of 2")
		case 3:
			<-ctx.Done() // ended by 1 or 2
			return ctx.Err()
		}
		return nil
	})
	if err == nil || err.Error() != "error of 1" {
		t.Errorf("error is %v, want that of 1", err)
	}
}

func TestAPanicOfAWorkerIsOneOfItsCaller(t *testing.T) {
	boom := func(i int) {
		if i == 40 {
			panic("boom")
		}
	}
	for name, ask := range map[string]func(){
		"For": func() { _ = For(context.Background(), 100, boom) },
		"Each": func() {
			_ = Each(context.Background(), 100, func() int { return 0 }, func(_ context.Context, _ int, i int) error { boom(i); return nil })
		},
		"Ordered": func() {
			_ = Ordered(context.Background(), 100, 4, func() int { return 0 }, func(_ context.Context, _ int, i int) (int, error) { boom(i); return i, nil }, func(int) error { return nil })
		},
	} {
		func() {
			defer func() {
				if p := recover(); !strings.Contains(fmt.Sprint(p), "boom") {
					t.Errorf("%s: caught %v", name, p)
				}
			}()
			ask()
			t.Errorf("%s: no panic", name)
		}()
	}
}
