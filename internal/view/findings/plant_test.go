package findings_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const ms = trace.Time(1_000_000)

// A field grows runs with planted faults: ranks on nodes compute, exchange halos and meet in
// a reduction, with 0.2 % of noise unless said. Everything a fault costs is known, because
// the field adds up itself how long ranks wait for one another.
type field struct {
	ranks, nodes, iterations int
	halo, meet               bool
	noise                    float64
	latency                  trace.Time
	seed                     uint64
	// Work lists what a rank does in an iteration, besides what faults add.
	work []task
	// Change is how a fault changes work: the factor of a task, or 0 for no change.
	change []func(rnd *rand.Rand, rank, iteration int, t *task) float64
	// Extra work of a rank before it communicates; before all else where first is set.
	extra []func(rank, iteration int) []task
	first func(rank int) []task
	sub   int  // members of a reduction, 0 for all
	ssend bool // pairs of ranks send synchronously in place of halos
	place func(rank int) int

	at     []trace.Time
	events [][]event
	links  [][4]int64 // from, sent, to, received
	waited trace.Time
}

type task struct {
	region string
	length trace.Time
}

type event struct {
	region     string
	begin, end trace.Time
}

func grow() *field {
	return &field{ranks: 16, nodes: 4, iterations: 40, meet: true, noise: 0.002, latency: 30_000, seed: 1, work: []task{{"compute", 10 * ms}}}
}

func (f *field) do(rank int, region string, length trace.Time) {
	if length <= 0 {
		return
	}
	f.events[rank] = append(f.events[rank], event{region, f.at[rank], f.at[rank] + length})
	f.at[rank] += length
}

// wait is a call that lasts until a moment, and a while longer.
func (f *field) wait(rank int, region string, until, more trace.Time) {
	f.waited += max(until-f.at[rank], 0)
	f.do(rank, region, max(until-f.at[rank], 0)+more)
}

// ripen simulates the run and gives what was waited.
func (f *field) ripen() trace.Time {
	rnd := rand.New(rand.NewPCG(f.seed, 17))
	f.at, f.events, f.links, f.waited = make([]trace.Time, f.ranks), make([][]event, f.ranks), nil, 0
	for r := range f.ranks {
		if f.first != nil {
			for _, t := range f.first(r) {
				f.do(r, t.region, t.length)
			}
			f.meets(r, f.ranks, "MPI_Barrier")
		}
	}
	for i := range f.iterations {
		begins := slices.Clone(f.at)
		for r := range f.ranks {
			for _, t := range f.work {
				x := 1 + f.noise*rnd.NormFloat64()
				for _, c := range f.change {
					if y := c(rnd, r, i, &t); y > 0 {
						x *= y
					}
				}
				f.do(r, t.region, trace.Time(float64(t.length)*max(x, 0.1)))
			}
			for _, e := range f.extra {
				for _, t := range e(r, i) {
					f.do(r, t.region, t.length)
				}
			}
		}
		if f.halo {
			f.exchange()
		}
		if f.ssend {
			f.pairs()
		}
		if f.meet {
			for r := range f.ranks {
				f.meets(r, max(f.sub, 0), "MPI_Allreduce")
			}
		}
		for r := range f.ranks {
			f.events[r] = append(f.events[r], event{"iteration", begins[r], f.at[r]})
		}
	}
	last := slices.Max(f.at)
	for _, t := range f.at {
		f.waited += last - t
	}
	return f.waited
}

// meets lets the last of a group call for all of it.
func (f *field) meets(rank, size int, region string) {
	if size == 0 {
		size = f.ranks
	}
	if rank%size != size-1 {
		return
	}
	group := f.at[rank-size+1 : rank+1]
	last := slices.Max(group)
	for i := range group {
		f.wait(rank-size+1+i, region, last, f.latency)
	}
}

// exchange: each rank sends to both neighbours and waits for theirs.
func (f *field) exchange() {
	sent := make([][2]trace.Time, f.ranks)
	for r := range f.ranks {
		f.do(r, "MPI_Irecv", 1000)
		sent[r][0] = f.at[r]
		f.do(r, "MPI_Isend", 2000)
		sent[r][1] = f.at[r]
		f.do(r, "MPI_Isend", 2000)
	}
	for r := range f.ranks {
		left, right := (r+f.ranks-1)%f.ranks, (r+1)%f.ranks
		a, b := sent[left][1], sent[right][0]
		f.wait(r, "MPI_Waitall", max(a, b), 5000)
		f.links = append(f.links, [4]int64{int64(left), int64(a), int64(r), int64(f.at[r])}, [4]int64{int64(right), int64(b), int64(r), int64(f.at[r])})
	}
}

// pairs: even ranks send synchronously to odd ones.
func (f *field) pairs() {
	for r := 0; r+1 < f.ranks; r += 2 {
		sent := f.at[r]
		ready := max(f.at[r], f.at[r+1])
		f.wait(r, "MPI_Ssend", f.at[r+1], 4000)
		f.wait(r+1, "MPI_Recv", sent, 0)
		f.do(r+1, "MPI_Recv", ready+4000-f.at[r+1])
		if n := len(f.events[r+1]); n > 1 && f.events[r+1][n-2].region == "MPI_Recv" && f.events[r+1][n-2].end == f.events[r+1][n-1].begin {
			f.events[r+1][n-2].end = f.events[r+1][n-1].end // one call
			f.events[r+1] = f.events[r+1][:n-1]
		}
		f.links = append(f.links, [4]int64{int64(r), int64(sent), int64(r + 1), int64(f.at[r+1])})
	}
}

// harvest writes the run as a trace.
func (f *field) harvest(w trace.Writer) {
	regions := map[string]trace.RegionID{}
	id := func(name string) trace.RegionID {
		r, ok := regions[name]
		if !ok {
			role := trace.RoleByName
			if !strings.HasPrefix(name, "MPI_") && !strings.Contains(name, "write") && !strings.Contains(name, "read_") {
				role = trace.RoleCompute
			} else if !strings.HasPrefix(name, "MPI_") {
				role = trace.RoleIO
			}
			r = w.Region(trace.Region{Name: name, Role: role})
			regions[name] = r
		}
		return r
	}
	ids := make([]trace.LocationID, f.ranks)
	for r := range f.ranks {
		node := r * f.nodes / f.ranks
		if f.place != nil {
			node = f.place(r)
		}
		m := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: fmt.Sprintf("node%02d", node), Rank: trace.NoRank})
		ids[r] = w.Location(trace.Location{Parent: m, Kind: trace.KindProcess, Name: fmt.Sprintf("rank %d", r), Rank: r})
		s := w.Stream(ids[r], trace.StreamOptions{Unordered: true})
		for _, e := range f.events[r] {
			s.Interval(e.begin, e.end, id(e.region))
		}
		_ = s.Close()
	}
	for _, l := range f.links {
		w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: ids[l[0]], Time: trace.Time(l[1])}, To: trace.End{Location: ids[l[2]], Time: trace.Time(l[3])}, Size: 1000})
	}
}

func (f *field) store(t *testing.T) store.Reader {
	t.Helper()
	f.ripen()
	return viewtest.Local(t, f.harvest)
}

// cost is what faults make ranks wait, beyond what the same run without them waits.
func (f *field) cost() trace.Time {
	with := f.ripen()
	healthy := *f
	healthy.change, healthy.extra, healthy.first = nil, nil, nil
	if f.first != nil {
		healthy.first = func(int) []task { return f.first(0) }
	}
	return with - healthy.ripen()
}
