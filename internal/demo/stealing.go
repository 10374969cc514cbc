package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Two runs of a work-stealing program on a grid, after scenarios 1 and 2 of
// Lamarche-Perrin, Schnorr, Vincent, Demazeau: "Evaluating Trace Aggregation
// Through Entropy Measures". Their traces are not public. These have the same
// hierarchy, and times such that the same aggregations are best at the values of
// p that the paper names, with times in seconds and one bit a value.

var g5k188Options = Options{Locations: 188, Intervals: 9_024, Seed: 1}

var g5k188Demo = &Demo{
	Name:    "g5k188",
	Title:   "Work stealing on 5 sites of a grid, one of them behind a slow network",
	Options: g5k188Options,
	Truth:   g5k188Truth(g5k188Options),
	truth:   g5k188Truth,
	Write: func(ctx context.Context, o Options, w trace.Writer) error {
		return writeStealing(ctx, o.or(g5k188Options), w, g5k188Options, g5k188Plan)
	},
}

var g5k433Options = Options{Locations: 433, Intervals: 20_784, Seed: 1}

var g5k433Demo = &Demo{
	Name:    "g5k433",
	Title:   "Work stealing on 50 machines, some with a process unlike its neighbours",
	Options: g5k433Options,
	Truth:   g5k433Truth(g5k433Options),
	truth:   g5k433Truth,
	Write: func(ctx context.Context, o Options, w trace.Writer) error {
		return writeStealing(ctx, o.or(g5k433Options), w, g5k433Options, g5k433Plan)
	},
}

func g5k188Truth(o Options) []string {
	if o.Balanced {
		return []string{"188 processes that are all alike: one part at p = 10 %."}
	}
	return []string{
		"188 processes in 9 clusters on 5 sites, in RUN or STEAL. Eleven of the 34 processes of site4 steal 2.3 " +
			"times as long as all others.",
		"At p = 10 % site0 to site3 are one part each, and site4 is shown process by process.",
		"At p = 40 % every site is one part: sites still differ. At p = 53.6 % everything is one.",
		"The mean of a site alone misleads: it says that all processes of site4 steal more, which only some do. (p " +
			"is in plain units: time in seconds, gain in values.)",
	}
}

func g5k433Truth(o Options) []string {
	if o.Balanced {
		return []string{"The processes of each machine are alike, and machines differ: at p = 10 % every machine is " +
			"one part."}
	}
	return []string{
		"433 processes on 50 machines in 3 clusters, in RUN or STEAL. Six machines have one process that steals far " +
			"longer than its neighbours, and cluster1/machine8 has two.",
		"At p = 10 % the 43 machines whose processes are alike are one part each, and the seven others are shown " +
			"process by process.",
		"At p = 30 % every machine is one part except cluster1/machine8. (p is in plain units: time in seconds, gain " +
			"in values.)",
	}
}

const second = 1_000_000_000

// A stealer is one process of the plan: its location, and how long it steals.
type stealer struct {
	parent trace.LocationID
	steals trace.Time
}

// A stealingPlan defines the hierarchy and returns how long each process steals; every process lasts length.
type stealingPlan func(o Options, w trace.Writer) (length trace.Time, processes []stealer)

// g5k188Plan: four sites of two clusters alike, and one of a single cluster.
func g5k188Plan(o Options, w trace.Writer) (trace.Time, []stealer) {
	const length, usual, far = 60 * second, 2_700_000_000, 6_300_000_000
	sizes := [][]int{{20, 24}, {16, 22}, {24, 14}, {18, 16}, {34}}
	noise := randomOf(o.Seed, 0)
	var list []stealer
	cluster := 0
	for s, clusters := range sizes {
		site := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindSite,
			Name: fmt.Sprintf("site%d", s), Rank: trace.NoRank, Order: int64(s)})
		for _, n := range clusters {
			id := w.Location(trace.Location{Parent: site, Kind: trace.KindCluster,
				Name: fmt.Sprintf("cluster%d", cluster), Rank: trace.NoRank, Order: int64(cluster)})
			cluster++
			off := trace.Time(0)
			for x := range n {
				// Noise comes in pairs that cancel: whether sites differ must not
				// hang on the seed.
				if off = -off; x%2 == 0 {
					off = noise.around(usual, 60) - usual
				}
				steals := usual + off
				if s == 4 && x%3 == 1 && !o.Balanced {
					steals = far + off
				}
				list = append(list, stealer{id, steals})
			}
		}
	}
	return length, list
}

// g5k433Plan: machines differ from each other, their processes do not, but for
// the odd ones.
func g5k433Plan(o Options, w trace.Writer) (trace.Time, []stealer) {
	const length, usual = 60 * second, 2_400_000_000
	odd := map[[2]int]int{{0, 3}: 1, {0, 14}: 1, {1, 2}: 1, {1, 8}: 2, {1, 15}: 1, {2, 5}: 1, {2, 11}: 1}
	noise := randomOf(o.Seed, 0)
	var list []stealer
	machines := 0
	for c, n := range []int{20, 18, 12} {
		cluster := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindCluster,
			Name: fmt.Sprintf("cluster%d", c), Rank: trace.NoRank, Order: int64(c)})
		for m := range n {
			machine := w.Location(trace.Location{Parent: cluster, Kind: trace.KindMachine,
				Name: fmt.Sprintf("machine%d", m), Rank: trace.NoRank, Order: int64(m)})
			size := 8
			if machines < 433-50*8 {
				size = 9
			}
			machines++
			// Machines take turns at being 40 % below and above the usual.
			mean := noise.around(usual*trace.Time(600+800*(m%2))/1000, 100)
			for x := range size {
				steals := noise.around(mean, 30)
				if x < odd[[2]int{c, m}] && !o.Balanced {
					steals += 2 * usual
				}
				list = append(list, stealer{machine, steals})
			}
		}
	}
	return length, list
}

func writeStealing(ctx context.Context, o Options, w trace.Writer, size Options, plan stealingPlan) error {
	if o.Locations != size.Locations {
		return fmt.Errorf("this demo has %d processes; for other sizes ask for demo uniform", size.Locations)
	}
	run := w.Region(trace.Region{Name: "RUN", Category: "state", Role: trace.RoleOf("RUN", "state")})
	steal := w.Region(trace.Region{Name: "STEAL", Category: "state", Role: trace.RoleOf("STEAL", "state")})
	length, processes := plan(o, w)
	ids := make([]trace.LocationID, len(processes))
	for i, p := range processes {
		ids[i] = w.Location(trace.Location{Parent: p.parent, Kind: trace.KindProcess, Name: fmt.Sprintf("p%d", i),
			Rank: i, Order: int64(i)})
	}
	turns := max(1, int(o.Intervals)/(2*len(processes)))
	return o.each(ctx, len(processes), func(ctx context.Context, i int) error {
		noise := randomOf(o.Seed, 1+uint64(i))
		out := w.Stream(ids[i], trace.StreamOptions{})
		busy, idle := portions(&noise, length-processes[i].steals, turns), portions(&noise, processes[i].steals, turns)
		now := trace.Time(0)
		for k := range turns {
			if k%1024 == 0 && ctx.Err() != nil {
				out.Close()
				return ctx.Err()
			}
			asked := now
			now += idle[k]
			out.Interval(asked, now, steal)
			victim := (i + 1 + int(noise.below(uint64(len(ids)-1)))) % len(ids)
			w.Link(trace.Link{
				Kind: trace.LinkSteal,
				From: trace.End{Location: ids[victim], Time: asked + (now-asked)/2, Region: trace.NoRegion},
				To:   trace.End{Location: ids[i], Time: now, Region: run},
				Size: -1, Communicator: trace.NoCommunicator,
			})
			out.Interval(now, now+busy[k], run)
			now += busy[k]
		}
		return out.Close()
	})
}

// portions cuts a total into n parts of different size that add up to it exactly.
func portions(noise *random, total trace.Time, n int) []trace.Time {
	weights := make([]trace.Time, n)
	sum := trace.Time(0)
	for i := range weights {
		weights[i] = 1000 + trace.Time(noise.below(3000))
		sum += weights[i]
	}
	left := total
	for i := range weights {
		part := total / sum * weights[i]
		if i == n-1 {
			part = left
		}
		weights[i] = part
		left -= part
	}
	return weights
}
