package otf2

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Many queues are filled in turns, with what fits a word and what does not.
func TestQueuesGiveBackWhatTheyTook(t *testing.T) {
	type record struct {
		time, posted trace.Time
		call         call
		channel      uint16
		size         int64
	}
	for _, memory := range []int64{0, 1 << 17, 1 << 24} { // nothing, some and all in memory
		t.Run(fmt.Sprint(memory, " bytes"), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 8))
			s := newSlots(memory)
			defer s.close()
			const queues = 40
			var sent, received [queues]queue
			var want [queues][]record
			var inOrder [queues]bool
			now := trace.Time(-5000)
			for range 30_000 {
				i := random.IntN(queues) * random.IntN(queues) / queues // some hold little
				now += trace.Time(random.IntN(1 << random.IntN(30)))
				r := record{time: now, posted: now, call: call{trace.RegionID(1 + random.IntN(20)/19), 7}, channel: uint16(random.Uint32()), size: int64(random.IntN(1 << 20))}
				if n := len(want[i]); n > 0 {
					r.call.number = want[i][n-1].call.number + uint32(random.IntN(9))
				}
				switch random.IntN(200) {
				case 0:
					r.time = trace.Time(random.Uint64N(2*farthest)) - farthest
				case 1:
					r.call = call{trace.NoRegion, random.Uint32()}
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
				if got := sent[i].send(s, r.time, r.call, r.channel, r.size); got != inOrder[i] {
					t.Fatalf("send %d of queue %d: in order %v, want %v", len(want[i]), i, got, inOrder[i])
				}
				received[i].receive(s, r.time, r.posted, r.call)
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

// imported gives the links and the report of an import with queues for at most so many
// channels.
func imported(t *testing.T, files fstest.MapFS, channels int, memory int64) (links []string, report []trace.ReportEntry) {
	t.Helper()
	m := storetest.NewMemory()
	a := &archive{run: runOf(t, files, importer.Options{Memory: memory}), w: m, mostChannels: channels}
	if err := a.read(context.Background()); err != nil {
		t.Fatal(err)
	}
	return linksOf(t, m.Reader()), m.Reader().Info().Report
}

// babble is chatter with all that makes matching hard: threads of one process, tags,
// communicators, receives that complete in another order than they were posted, that
// never complete, that are not recorded, and clocks that run backwards.
func babble(random *rand.Rand, processes, rounds int) *sketch {
	s := newSketch().base(processes)
	for p := range processes { // a second thread each
		s.define(defLocation, processes+p, s.text("second"), byte(locationThread), 1, p)
	}
	s.define(defComm, 1, s.text("again"), 1, nil, 0)
	s.define(defComm, 2, s.text("and again"), 1, nil, 0)
	now := make([]uint64, 2*processes)
	requests := 0
	thread := func(p int) uint64 {
		if random.IntN(100) == 0 {
			p += processes
		}
		now[p] += 10 + uint64(random.IntN(50))
		if random.IntN(2000) == 0 && now[p] > 1000 {
			now[p] -= 500
		}
		return uint64(p)
	}
	for range rounds {
		from, to, comm, tag := random.IntN(processes), random.IntN(processes), random.IntN(3), random.IntN(3)
		const burst = 3
		for range burst {
			at := thread(from)
			s.at(at, now[at], evMpiSend, to, comm, tag, random.IntN(1000))
		}
		at := thread(to)
		first := requests
		for range burst {
			requests++
			s.at(at, now[at], evMpiIrecvRequest, requests)
		}
		order := []int{1, 2, 3}
		if random.IntN(50) == 0 {
			random.Shuffle(burst, func(i, k int) { order[i], order[k] = order[k], order[i] })
		}
		for _, i := range order {
			now[at] += uint64(random.IntN(5))
			switch random.IntN(4000) {
			case 0: // it never completes
			case 1:
				s.at(at, now[at], evMpiRequestCancelled, first+i)
			case 2:
				s.at(at, now[at], evMpiIrecv, from, comm, tag, 8, 0) // whose request is not known
			default:
				s.at(at, now[at], evMpiIrecv, from, comm, tag, 8, first+i)
			}
		}
	}
	return s
}

// Whether messages wait in queues or go through spools, in memory or not, they find
// the same partners.
func TestQueuesAndSpoolsMatchTheSame(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		files := babble(random, 3+int(seed)*5, 6000).files()
		links, report := imported(t, files, 0, 0)
		if len(links) == 0 {
			t.Fatal("no links")
		}
		for _, channels := range []int{1, 20, mostChannels} {
			for _, memory := range []int64{0, 1} {
				gotLinks, gotReport := imported(t, files, channels, memory)
				if !slices.Equal(gotLinks, links) {
					t.Errorf("seed %d, queues for %d channels, memory %d: %d links, want %d; or others", seed, channels, memory, len(gotLinks), len(links))
				}
				if !reflect.DeepEqual(gotReport, report) {
					t.Errorf("seed %d, queues for %d channels, memory %d: report %v, want %v", seed, channels, memory, gotReport, report)
				}
			}
		}
	}
}

// The k-th send on a channel belongs to the k-th receive, also where channels of
// several communicators are in use at once.
func TestCommunicatorsAreKeptApart(t *testing.T) {
	s := newSketch().base(4)
	for c := 1; c < 4; c++ {
		s.define(defComm, c, s.text("again"), 1, nil, 0)
	}
	var want []string
	for i := range 10 { // rank c sends on communicator c; the last of four is received first
		for c := range uint64(4) {
			sent := uint64(100*i) + 10*c
			s.at(c, sent, evMpiSend, 0, int(c), 9, i+1)
			want = append(want, fmt.Sprintf("message %d->%d %d", sent, 100*i+90-10*int(c), i+1))
		}
		for c := 3; c >= 0; c-- {
			s.at(0, uint64(100*i+90-10*c), evMpiRecv, c, c, 9, i+1)
		}
	}
	slices.Sort(want)
	for _, channels := range []int{0, mostChannels} {
		if got, report := imported(t, s.files(), channels, 0); !slices.Equal(got, want) {
			t.Errorf("queues for %d channels: links %q, want %q; report %v", channels, got, want, report)
		}
	}
}
