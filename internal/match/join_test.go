package match

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Many locations send at the same times; some receives are missing, some are too many, some channels are mixed.
func TestGroupsOfSendersGiveThePairsOfOne(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, memory := range []int64{1 << 20, 1 << 26} {
		c := newChannels(memory, MostChannels)
		const senders, targets = 150, 4
		for at := range senders {
			var sent Queue
			now := trace.Time(0)
			for n := range random.IntN(1000) {
				now += trace.Time(random.IntN(3))
				to := random.IntN(targets)
				k := Key{Kind: Message, B: uint32(at), C: uint32(at*targets + to)}
				x := c.Find(&k, k.Mixed(), 0, int32(at))
				sent.Send(c.Slots, now, Call{1, uint32(n)}, x.Id, int64(n))
				if r := c.Find(&k, k.Mixed(), 1, int32(senders+to)); r != nil {
					for range []int{1, 1, 1, 1, 1, 0, 2}[random.IntN(7)] {
						r.Received.Receive(c.Slots, now+5, now+4, Call{2, uint32(n)})
					}
				}
				if to == 0 && at%50 == 0 {
					x.Mixed.Store(true)
				}
			}
			c.Sent(int32(at), &sent)
		}
		for _, x := range c.list {
			x.Received.seal(c.Slots)
		}
		incomplete := make([]bool, senders*targets)
		for i := range incomplete {
			incomplete[i] = i%7 == 0
		}
		type pair struct {
			key           Key
			size          int64
			cause, effect End
		}
		type result struct {
			pairs []pair
			stats Matched
		}
		joined := func(workers int) (r result) {
			var err error
			r.stats, err = join(context.Background(), c, workers, incomplete, Output[pair]{
				Fill: func(to *pair, p *Pair) { *to = pair{*p.Key, p.Size, p.Cause, p.Effect} },
				Take: func(list []pair) { r.pairs = append(r.pairs, list...) },
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want := joined(1)
		if len(want.pairs) < 20_000 || want.stats.Causes == 0 || want.stats.Effects == 0 || want.stats.Unsure == 0 {
			t.Fatalf("%d pairs, %+v", len(want.pairs), want.stats)
		}
		for _, workers := range []int{2, 3, 8, 100} {
			if got := joined(workers); got.stats != want.stats || !slices.Equal(got.pairs, want.pairs) {
				t.Errorf("%d workers: %d pairs, %+v; one alone %d, %+v", workers, len(got.pairs), got.stats, len(want.pairs), want.stats)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		if _, err := join(ctx, c, 8, incomplete, Output[pair]{Fill: func(*pair, *Pair) {}, Take: func(list []pair) {
			if n += len(list); n >= 5_000 {
				cancel()
			}
		}}); err == nil {
			t.Error("a join that was cancelled ends without an error")
		}
		cancel()
		c.close()
	}
}
