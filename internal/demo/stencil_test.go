package demo

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var stencilSizes = []string{"stencil", "stencil?locations=16&intervals=20000", "stencil?locations=256&intervals=90000&seed=9", "stencil?locations=30&intervals=30000"}

func TestStencilSlowNodeComputesLonger(t *testing.T) {
	for _, name := range stencilSizes {
		d, _ := Find(name)
		s := stencilShape(d.Options)
		compute := collect(t, name, Options{}).total("compute")
		usual := meanOf(compute, func(rank int) bool { return s.node(rank) != s.slowNode })
		for rank, time := range compute {
			want := 1.0
			if s.node(rank) == s.slowNode {
				want = 1.6
			}
			if got := float64(time) / usual; math.Abs(got/want-1) > 0.03 {
				t.Errorf("%s: rank %d computes %.3f times as long as usual, want %.1f", name, rank, got, want)
			}
		}
	}
}

// waited is the time of a rank in MPI_Waitall and MPI_Allreduce.
func waited(c *collected) map[int]trace.Time {
	sums := c.total("MPI_Waitall")
	for rank, t := range c.total("MPI_Allreduce") {
		sums[rank] += t
	}
	return sums
}

func TestStencilOthersWaitForTheSlowNode(t *testing.T) {
	for _, name := range stencilSizes {
		d, _ := Find(name)
		s := stencilShape(d.Options)
		c := collect(t, name, Options{})
		wait := waited(c)
		slow := meanOf(wait, func(rank int) bool { return s.node(rank) == s.slowNode })
		excess := 0.6 * 60e6 * float64(s.iterations) // what the slow node computes more
		for rank, time := range wait {
			if s.node(rank) == s.slowNode || rank == s.lateRank {
				continue
			}
			// Iterations after the last MPI_Allreduce need not have reached everybody.
			if float64(time) < 0.6*excess || float64(time) < 5*slow {
				t.Errorf("%s: rank %d waits %.1f ms, the slow node %.1f", name, rank, float64(time)/1e6, slow/1e6)
			}
		}
		balanced := waited(collect(t, name+joint(name)+"balanced", Options{}))
		for rank, time := range balanced {
			if float64(time) > 0.15*excess {
				t.Errorf("%s: balanced, rank %d still waits %.1f ms", name, rank, float64(time)/1e6)
			}
		}
	}
}

func joint(name string) string {
	if name == "stencil" {
		return "?"
	}
	return "&"
}

// lateness gives the longest wait in an MPI_Waitall that each sender caused by its
// message being the last to come, in iterations that follow a collective: later
// ones also see the waiting of others pass through.
func lateness(c *collected) map[int]trace.Time {
	type call struct {
		begin, end trace.Time
		sender     int
		came       trace.Time
	}
	calls := map[trace.LocationID][]*call{}
	for at, r := range c.rows {
		n := 0
		for _, i := range r.intervals {
			if c.regions[i.region].Name == "MPI_Waitall" {
				if n%reduceEvery == 0 {
					calls[at] = append(calls[at], &call{begin: i.begin, end: i.end})
				}
				n++
			}
		}
	}
	for _, l := range c.links {
		for _, w := range calls[l.To.Location] {
			if w.begin <= l.To.Time && l.To.Time < w.end && l.To.Time >= w.came {
				w.came, w.sender = l.To.Time, c.rank(l.From.Location)
			}
		}
	}
	longest := map[int]trace.Time{}
	for _, list := range calls {
		for _, w := range list {
			longest[w.sender] = max(longest[w.sender], w.end-w.begin)
		}
	}
	return longest
}

func TestStencilLateSenderIsTheOnlyOneBesideTheSlowNode(t *testing.T) {
	for _, name := range []string{"stencil", "stencil?locations=256&intervals=90000&seed=9"} {
		d, _ := Find(name)
		s := stencilShape(d.Options)
		c := collect(t, name, Options{})
		for rank, time := range lateness(c) {
			late := rank == s.lateRank || s.node(rank) == s.slowNode
			if late != (time > 12_000_000) {
				t.Errorf("%s: rank %d made another wait %.1f ms", name, rank, float64(time)/1e6)
			}
		}
		if table := c.total("rebuild_table"); len(table) != 1 || table[s.lateRank] == 0 {
			t.Errorf("%s: rebuild_table ran on %v", name, table)
		}
		for rank, time := range lateness(collect(t, name+joint(name)+"balanced", Options{})) {
			if time > 12_000_000 {
				t.Errorf("%s: balanced, rank %d made another wait %.1f ms", name, rank, float64(time)/1e6)
			}
		}
	}
}

func TestStencilSlowNodeHidesTheLateSender(t *testing.T) {
	end := func(late bool) trace.Time {
		s := stencilShape(stencilOptions)
		if !late {
			s.lateRank = -1
		}
		s.w = newCollected()
		s.define()
		if err := s.simulate(context.Background()); err != nil {
			t.Fatal(err)
		}
		return s.ends[len(s.ends)-1]
	}
	with, without := end(true), end(false)
	if with-without > with/500 {
		t.Errorf("the run ends at %d with the late sender, at %d without", with, without)
	}
}

func TestStencilCollectivesEndTogether(t *testing.T) {
	for _, name := range stencilSizes {
		c := collect(t, name, Options{})
		for _, region := range []string{"MPI_Init", "MPI_Allreduce", "MPI_Finalize"} {
			checkCollectives(t, c, region, 2_000)
		}
	}
}

// checkCollectives holds the k-th call of a region on every row against each
// other: all end within slack of each other, and after the last begin.
func checkCollectives(t *testing.T, c *collected, region string, slack trace.Time) {
	t.Helper()
	var ends [][2]trace.Time // first and last end of the k-th call
	var lastBegin []trace.Time
	for _, r := range c.rows {
		k := 0
		for _, i := range r.intervals {
			if c.regions[i.region].Name != region || c.regions[i.region].Category == "gpu_user_annotation" {
				continue
			}
			if k == len(ends) {
				ends, lastBegin = append(ends, [2]trace.Time{i.end, i.end}), append(lastBegin, i.begin)
			}
			ends[k] = [2]trace.Time{min(ends[k][0], i.end), max(ends[k][1], i.end)}
			lastBegin[k] = max(lastBegin[k], i.begin)
			k++
		}
	}
	if len(ends) == 0 {
		t.Errorf("no call of %s", region)
	}
	for k, e := range ends {
		if e[1]-e[0] > slack || e[0] < lastBegin[k] {
			t.Errorf("%s number %d: ends between %d and %d, last begin %d", region, k, e[0], e[1], lastBegin[k])
		}
	}
}

func TestStencilDescribesItsGrid(t *testing.T) {
	c := collect(t, "stencil", Options{})
	if len(c.topologies) != 1 || len(c.topologies[0].Coordinates) != 64 || c.topologies[0].Dims[0] != 8 || c.topologies[0].Dims[1] != 8 {
		t.Errorf("topology is %+v", c.topologies)
	}
	machines := 0
	for _, l := range c.locations {
		if l.Kind == trace.KindMachine {
			machines++
		}
	}
	if machines != 8 || len(c.rows) != 64 || len(c.counters) != 64 || len(c.communicators) != 1 {
		t.Errorf("%d machines, %d rows, %d counters, %d communicators", machines, len(c.rows), len(c.counters), len(c.communicators))
	}
	for _, l := range c.links {
		if l.Size <= 0 || l.Communicator != 0 || l.Kind != trace.LinkMessage {
			t.Fatalf("message without its facts: %+v", l)
		}
	}
}

func meanOf(values map[int]trace.Time, which func(int) bool) float64 {
	sum, n := trace.Time(0), 0
	for rank, v := range values {
		if which(rank) {
			sum += v
			n++
		}
	}
	return float64(sum) / float64(max(1, n))
}
