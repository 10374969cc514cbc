package otf2

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

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
		for _, channels := range []int{1, 20, match.MostChannels} {
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
	for _, channels := range []int{0, match.MostChannels} {
		if got, report := imported(t, s.files(), channels, 0); !slices.Equal(got, want) {
			t.Errorf("queues for %d channels: links %q, want %q; report %v", channels, got, want, report)
		}
	}
}
