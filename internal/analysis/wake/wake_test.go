package wake_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/wake"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// What actors do.
const (
	run int32 = iota
	lock
	network
	receive
)

func walk(l *wake.Log, actor int32, from, to trace.Time) string {
	var out []string
	l.Walk(actor, from, to, func(p *wake.Piece) {
		out = append(out, fmt.Sprintf("%d:%d-%d %d place %d how %d hops %d", p.Actor, p.Begin, p.End, p.What, p.Place, p.How, p.Hops))
	})
	return strings.Join(out, "\n")
}

// Worked out by hand: 0 makes 1 and 2. Each takes a lock in turn, and 3 receives what 2 sends.
//
//	0: run 0-10, makes 1 at 2 and 2 at 4
//	1: run 2-30, has the lock from 5 on, gives it back at 25 in place 7
//	2: run 4-8, waits for the lock 8-25, run 25-40, sends at 38 in place 9
//	3: receives 0-38
func TestTheWakeUpChainPassesThroughWaitingActors(t *testing.T) {
	l := wake.New(4)
	l.Add(0, 0, 10, run, wake.Works)
	l.Add(1, 2, 30, run, wake.Works)
	l.Add(2, 25, 40, run, wake.Works) // in any order
	l.Add(2, 4, 8, run, wake.Works)
	l.Add(2, 8, 25, lock, wake.Waits)
	l.Add(3, 0, 38, receive, wake.Waits)
	l.Wake(1, 2, 0, 5)
	l.Wake(2, 4, 0, 6)
	l.Wake(2, 25, 1, 7)
	l.Wake(3, 38, 2, 9)
	l.Sort()
	for _, c := range []struct {
		actor    int32
		from, to trace.Time
		want     string
	}{
		{3, 0, 38, "2:25-38 0 place 9 how 3 hops 1\n1:2-25 0 place 7 how 1 hops 2\n0:0-2 0 place 5 how -1 hops 3"},
		{3, 20, 38, "2:25-38 0 place 9 how 3 hops 1\n1:20-25 0 place 7 how 1 hops 2"},
		{2, 8, 25, "1:8-25 0 place 7 how 1 hops 1"},
		{2, 3, 8, "2:4-8 0 place -1 how -1 hops 0\n0:3-4 0 place 6 how -1 hops 1"},
		{0, 5, 15, "0:10-15 -1 place -1 how -1 hops 0\n0:5-10 0 place -1 how -1 hops 0"},
	} {
		if got := walk(l, c.actor, c.from, c.to); got != c.want {
			t.Errorf("from %d of %d back to %d:\n%s\nwant\n%s", c.to, c.actor, c.from, got, c.want)
		}
	}
	if p := l.Place(2, 25); p != 7 {
		t.Errorf("2 is woken at place %d", p)
	}
}

// Who waits for what no actor does is itself the cause.
func TestAWaitThatNoActorEndsIsItsOwnCause(t *testing.T) {
	l := wake.New(2)
	l.Add(0, 0, 50, network, wake.Waits)
	l.Add(0, 50, 60, run, wake.Works)
	l.Add(1, 10, 60, lock, wake.Waits)
	l.Wake(1, 60, 0, 3)
	l.Sort()
	if got, want := walk(l, 1, 10, 60), "0:50-60 0 place 3 how 1 hops 1\n0:10-50 2 place 3 how 1 hops 1"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// 0 waits for 1, which had nothing to do before 30: what 0 waited before then it waited for 1 to begin, and before that it ran.
func TestIdleActorsAreNoCauseBeforeTheirWork(t *testing.T) {
	l := wake.New(3)
	l.Add(0, 0, 20, run, wake.Works)
	l.Add(0, 20, 50, receive, wake.Waits)
	l.Add(1, 0, 30, network, wake.Rests)
	l.Add(1, 30, 50, run, wake.Works)
	l.Add(2, 0, 50, lock, wake.Waits)
	l.Wake(0, 50, 1, 4)
	l.Sort()
	if got, want := walk(l, 0, 10, 50), "1:30-50 0 place 4 how 3 hops 1\n1:20-30 2 place 4 how 3 hops 1\n0:10-20 0 place -1 how -1 hops 0"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Records may contradict each other. The way back ends all the same, and always covers all of the time.
func TestTheWakeUpChainCoversAllTimeOnce(t *testing.T) {
	circle := wake.New(2)
	for a := range int32(2) {
		circle.Add(a, 0, 10, lock, wake.Waits)
		circle.Wake(a, 10, 1-a, 0)
	}
	circle.Sort()
	if got := walk(circle, 0, 0, 10); !strings.Contains(got, ":0-10 -1 ") {
		t.Errorf("a circle: %s", got)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		const actors, end = 6, 1000
		l := wake.New(actors)
		for a := range int32(actors) {
			cuts := []trace.Time{trace.Time(rnd.IntN(100)), end}
			for range rnd.IntN(20) {
				cuts = append(cuts, trace.Time(rnd.IntN(end)))
			}
			slices.Sort(cuts)
			for i := 1; i < len(cuts); i++ {
				if rnd.IntN(10) > 0 {
					l.Add(a, cuts[i-1], cuts[i], rnd.Int32N(4), wake.Mode(rnd.IntN(3)))
				}
				if rnd.IntN(4) > 0 {
					l.Wake(a, cuts[i], rnd.Int32N(actors), rnd.Int32N(9))
				}
			}
		}
		l.Sort()
		from, to := trace.Time(rnd.IntN(500)), trace.Time(500+rnd.IntN(500))
		at := to
		n := l.Walk(rnd.Int32N(actors), from, to, func(p *wake.Piece) {
			if p.End != at || p.Begin >= p.End || p.Begin < from {
				t.Fatalf("a piece from %d to %d after one that begins at %d", p.Begin, p.End, at)
			}
			at = p.Begin
		})
		if at != from || n == 0 {
			t.Fatalf("%d pieces reach back to %d, not to %d", n, at, from)
		}
	}
}
