package match

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Many queues are filled in turns, with what fits a word and what does not.
func TestQueuesGiveBackWhatTheyTook(t *testing.T) {
	type record struct {
		time, posted trace.Time
		call         Call
		channel      uint16
		size         int64
	}
	for _, memory := range []int64{0, 1 << 17, 1 << 24} { // nothing, some and all in memory
		t.Run(fmt.Sprint(memory, " bytes"), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 8))
			s := newSlots(memory)
			defer s.close()
			const queues = 40
			var sent, received [queues]Queue
			var want [queues][]record
			var inOrder [queues]bool
			now := trace.Time(-5000)
			for range 30_000 {
				i := random.IntN(queues) * random.IntN(queues) / queues // some hold little
				now += trace.Time(random.IntN(1 << random.IntN(30)))
				r := record{time: now, posted: now, call: Call{trace.RegionID(1 + random.IntN(20)/19), 7}, channel: uint16(random.Uint32()), size: int64(random.IntN(1 << 20))}
				if n := len(want[i]); n > 0 {
					r.call.Number = want[i][n-1].call.Number + uint32(random.IntN(9))
				}
				switch random.IntN(200) {
				case 0:
					r.time = trace.Time(random.Uint64N(1<<62)) - 1<<61
				case 1:
					r.call = Call{trace.NoRegion, random.Uint32()}
				case 2:
					r.size = -1
				case 3:
					r.size = math.MaxInt64
				}
				if random.IntN(3) == 0 {
					r.posted -= trace.Time(random.IntN(1000))
				}
				last := trace.Time(math.MinInt64)
				for _, x := range want[i] {
					last = max(last, x.time)
				}
				inOrder[i] = r.time >= last
				if got := sent[i].Send(s, r.time, r.call, r.channel, r.size); got != inOrder[i] {
					t.Fatalf("send %d of queue %d: in order %v, want %v", len(want[i]), i, got, inOrder[i])
				}
				received[i].Receive(s, r.time, r.posted, r.call)
				want[i] = append(want[i], r)
			}
			for i := range want {
				sent[i].seal(s)
				received[i].seal(s)
			}
			for i, list := range want {
				out, in := sent[i].read(s), received[i].read(s)
				for n, r := range list {
					if !out.nextSend() || !in.nextReceive() {
						t.Fatalf("queue %d ends after %d of %d records", i, n, len(list))
					}
					if got := (record{out.time, in.posted, out.call, out.channel, out.size}); got != r || in.time != r.time || in.call != r.call {
						t.Fatalf("record %d of queue %d is %+v, received at %v in %v, want %+v", n, i, got, in.time, in.call, r)
					}
				}
				if out.nextSend() || in.nextReceive() || out.nextSend() {
					t.Errorf("queue %d goes on after %d records", i, len(list))
				}
			}
			if err := s.failed(); err != nil {
				t.Error(err)
			}
		})
	}
}
