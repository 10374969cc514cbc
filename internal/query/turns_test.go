package query

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneHolderHasHalfOfThePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, ctx := newTurns(4), context.Background()
		for range 2 {
			if _, err := x.enter(ctx, "guest"); err != nil {
				t.Fatal(err)
			}
		}
		short, done := context.WithTimeout(ctx, time.Minute)
		defer done()
		if _, err := x.enter(short, "guest"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third query of one holder: %v", err)
		}
		if _, err := x.enter(ctx, "alice"); err != nil {
			t.Errorf("another holder does not begin at once: %v", err)
		}
	})
}

// A holder whose queries failed waits behind one who used less time.
func TestTheHolderWithLessUsedTimeRunsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, ctx := newTurns(1), context.Background()
		leave, _ := x.enter(ctx, "guest")
		order := make(chan string, 2)
		for _, name := range []string{"guest", "alice"} {
			go func() {
				leave, _ := x.enter(ctx, name)
				order <- name
				leave()
			}()
			synctest.Wait()
		}
		time.Sleep(2 * time.Minute)
		leave()
		if first := <-order; first != "alice" {
			t.Errorf("%s went first", first)
		}
		<-order
		if time.Sleep(10 * time.Minute); x.holders["guest"].lately(time.Now()) > time.Second {
			t.Error("used time is remembered for ever")
		}
	})
}

func TestAHolderHasFewQueriesWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurns(2)
		ctx, cancel := context.WithCancel(context.Background())
		leave, _ := x.enter(ctx, "guest")
		for range mostWaiting {
			go x.enter(ctx, "guest")
		}
		synctest.Wait()
		if _, err := x.enter(ctx, "guest"); !errors.Is(err, ErrBusy) {
			t.Errorf("%v", err)
		}
		cancel()
		synctest.Wait()
		leave()
		if x.running != 0 || len(x.waiting) != 0 {
			t.Errorf("%d run, %d wait", x.running, len(x.waiting))
		}
	})
}
