package otf2

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// linksOf lists the links of a store: from time and rank to time and rank.
func linksOf(t *testing.T, r store.Reader) (list []string) {
	t.Helper()
	err := r.Links(context.Background(), store.Window{Begin: 0, End: r.Info().End + 1}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			list = append(list, fmt.Sprintf("%v %d->%d %d", c.Kind[i], c.FromTime[i], c.ToTime[i], c.Size[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func TestMessagesDoNotOvertake(t *testing.T) {
	s := newSketch().base(2)
	// Two messages with one tag. The second receive completes first: what counts
	// is the order in which receives were posted.
	s.at(0, 0, evEnter, 0)
	s.at(0, 10, evMpiIsend, 1, 0, 5, 100, 1).at(0, 20, evMpiIsend, 1, 0, 5, 200, 2).at(0, 30, evMpiSend, 1, 0, 6, 300)
	s.at(0, 99, evLeave, 0)
	s.at(1, 0, evEnter, 1)
	s.at(1, 5, evMpiIrecvRequest, 71).at(1, 6, evMpiIrecvRequest, 72)
	s.at(1, 40, evMpiRecv, 0, 0, 6, 300)
	s.at(1, 50, evMpiIrecv, 0, 0, 5, 200, 72).at(1, 60, evMpiIrecv, 0, 0, 5, 100, 71)
	s.at(1, 99, evLeave, 1)
	want := []string{"message 10->60 100", "message 20->50 200", "message 30->40 300"}
	if got := linksOf(t, read(t, s.files())); !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
}

func TestPartnersAreRanksOfTheCommunicator(t *testing.T) {
	s := newSketch().base(4)
	s.define(defGroup, 2, 0, byte(4), 2, 3, 1, byte(groupCommGroup), byte(paradigmMPI), 0) // ranks 3 and 1
	s.define(defComm, 9, 0, 2, 0, 0)
	s.locals[3] = s.record(nil, localMappingTable, byte(mapComm), 1, byte(1), 77, 9) // 77 there is 9
	s.at(3, 10, evEnter, 0).at(3, 20, evMpiSend, 1, 77, 0, 64).at(3, 30, evLeave, 0)
	s.at(1, 10, evEnter, 1).at(1, 25, evMpiRecv, 0, 9, 0, 64).at(1, 30, evLeave, 1)
	r := read(t, s.files())
	if got, want := linksOf(t, r), []string{"message 10->15 64"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q; report %v", got, want, r.Info().Report)
	}
}

func TestMessagesWithoutAPartnerAreCounted(t *testing.T) {
	s := newSketch().base(2)
	s.at(0, 10, evMpiSend, 1, 0, 1, 8).at(0, 20, evMpiSend, 1, 0, 2, 8).at(0, 30, evMpiSend, 9, 0, 2, 8).at(0, 40, evMpiSend, 1, 50, 2, 8)
	s.at(1, 50, evMpiRecv, 0, 0, 1, 8).at(1, 60, evMpiRecv, 0, 0, 3, 8)
	r := read(t, s.files())
	got := importertest.Report(r.Info().Report)
	for what, n := range map[string]int64{
		"skipped messages that are sent and whose receive is not recorded":     1,
		"skipped messages that are received and whose send is not recorded":    1,
		"skipped records whose communicator, window or partner is not defined": 2,
	} {
		if got[what] != n {
			t.Errorf("%q is counted %d times, want %d", what, got[what], n)
		}
	}
	if n := r.Info().Links; n != 1 {
		t.Errorf("%d links, want 1", n)
	}
}

func TestMessagesAreNotGuessedWhereReceivesAreMissing(t *testing.T) {
	s := newSketch().base(2)
	s.at(0, 10, evMpiSend, 1, 0, 1, 8).at(0, 20, evMpiSend, 1, 0, 1, 9).at(0, 30, evMpiSend, 1, 0, 2, 8)
	s.at(1, 5, evMpiIrecvRequest, 1) // takes one of tag 1, which one is not recorded
	s.at(1, 50, evMpiRecv, 0, 0, 1, 9).at(1, 60, evMpiRecv, 0, 0, 2, 8)
	r := read(t, s.files())
	if got, want := linksOf(t, r), []string{"message 0->30 8"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	if got := importertest.Report(r.Info().Report); got["skipped sends and receives that cannot be paired, since receives of their process are missing"] != 3 {
		t.Errorf("report %v", got)
	}
}

// chatter is a run of many messages between processes whose clocks are apart.
func chatter(processes, rounds int, offset func(p int) uint64) *sketch {
	s := newSketch().base(processes)
	random := rand.New(rand.NewPCG(3, 4))
	now := make([]uint64, processes)
	for i := range now {
		now[i] = 1_000_000
	}
	for range rounds {
		from, to := random.IntN(processes), random.IntN(processes)
		if from == to {
			continue
		}
		now[from] += 1000 + uint64(random.IntN(5000))
		s.at(uint64(from), now[from]+offset(from), evMpiSend, to, 0, 0, 8)
		now[to] = max(now[to]+100, now[from]+2000+uint64(random.IntN(500)))
		s.at(uint64(to), now[to]+offset(to), evMpiRecv, from, 0, 0, 8)
	}
	return s
}

// A pair of spools that hold little must give what large ones give.
func TestMatchingOutsideMemoryGivesTheSame(t *testing.T) {
	files := chatter(7, 60_000, func(int) uint64 { return 0 }).files()
	large, small := importertest.NewCount(), importertest.NewCount()
	if err := runOf(t, files, importer.Options{}).Import(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	run := runOf(t, files, importer.Options{Memory: 1})
	if err := run.Import(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	if large.Links[trace.LinkMessage] < 50_000 || large.Links[trace.LinkMessage] != small.Links[trace.LinkMessage] || len(large.Reported) != len(small.Reported) {
		t.Errorf("%v links and %v outside memory", large.Links, small.Links)
	}
}
