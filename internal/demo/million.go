package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// millionOptions: the seed is 0, no noise. With any other each process gets noise of
// up to 3 ms, one draw each in order.
var millionOptions = Options{Locations: millionProcesses, Intervals: 2 * millionProcesses}

var millionDemo = &Demo{
	Name:    "million",
	Title:   "One million processes in two states, with four places that differ",
	Options: millionOptions,
	Truth:   millionTruth(millionOptions),
	Write:   writeMillion,
	truth:   millionTruth,
}

const (
	millionProcesses = 1_000_000
	millionSecond    = 1000 // ms that every process lasts
	millisecond      = 1_000_000
)

func millionTruth(o Options) []string {
	if o.Balanced {
		return []string{"One million processes that are all alike: one part at any p above 0."}
	}
	return []string{
		"One million processes on 10,000 machines, in 1,000 clusters, 100 super-clusters and 10 sites; each is in " +
			"VS0 and then in VS1, for one second in all.",
		"All processes are alike (VS0 takes 300 ms) except in four places: the super-clusters of site s2 differ, the " +
			"clusters of s4/c5, the machines of s6/c3/k7, and the processes of machine s8/c1/k2/m9.",
		"The best aggregation at p = 0.1 has exactly 190 parts: 6 sites as one, 10 super-clusters in s2, 9 " +
			"super-clusters and 10 clusters in s4, 9 super-clusters, 9 clusters and 10 machines in s6, and 9 " +
			"super-clusters, 9 clusters, 9 machines and 100 processes in s8.",
		"At p = 0 there are 1,000,000 parts, at p = 1 there is one.",
	}
}

// millionValue is the time in VS0 of process x of machine m of cluster k of
// super-cluster c of site s, in ms. Balanced, nothing differs.
func millionValue(s, c, k, m, x int, balanced bool) int {
	switch {
	case balanced:
	case s == 2:
		return 50 + 100*c
	case s == 4 && c == 5:
		return 50 + 100*k
	case s == 6 && c == 3 && k == 7:
		return 50 + 100*m
	case s == 8 && c == 1 && k == 2 && m == 9:
		return 5 + 10*(37*x%100)
	}
	return 300
}

// millionValues are those of all processes in order.
func millionValues(o Options) []uint16 {
	values := make([]uint16, millionProcesses)
	noise := random{o.Seed}
	for i := range values {
		v := millionValue(i/100_000, i/10_000%10, i/1_000%10, i/100%10, i%100, o.Balanced)
		if o.Seed != 0 {
			v += int(noise.below(7)) - 3
		}
		values[i] = uint16(min(millionSecond, max(0, v)))
	}
	return values
}

func writeMillion(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(millionOptions)
	if o.Locations != millionProcesses || o.Intervals != 2*millionProcesses {
		return fmt.Errorf("demo million has %d processes and twice as many intervals; for other sizes ask for demo "+
			"uniform", millionProcesses)
	}
	vs0 := w.Region(trace.Region{Name: "VS0", Category: "state", Role: trace.RoleCompute})
	vs1 := w.Region(trace.Region{Name: "VS1", Category: "state", Role: trace.RoleIdle})
	first := make([]trace.LocationID, 0, millionProcesses/100)
	defineMillion(w, func(id trace.LocationID) { first = append(first, id) })
	values := millionValues(o)
	return o.each(ctx, len(first), func(ctx context.Context, machine int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for x := range 100 {
			// Ids come in order of definition, so those of a machine are consecutive.
			out := w.Stream(first[machine]+trace.LocationID(x), trace.StreamOptions{})
			v := trace.Time(values[machine*100+x]) * millisecond
			out.Interval(0, v, vs0)
			out.Interval(v, millionSecond*millisecond, vs1)
			if err := out.Close(); err != nil {
				return err
			}
		}
		return nil
	})
}

// defineMillion defines the tree and returns the first process of each machine.
func defineMillion(w trace.Writer, first func(trace.LocationID)) {
	levels := []struct {
		kind   trace.Kind
		letter string
		size   int
	}{{trace.KindSite, "s", 10}, {"super-cluster", "c", 10}, {trace.KindCluster, "k", 10}, {trace.KindMachine, "m", 10},
		{trace.KindProcess, "p", 100}}
	names := make([][]string, len(levels))
	for i, l := range levels {
		for x := range l.size {
			names[i] = append(names[i], fmt.Sprint(l.letter, x))
		}
	}
	rank := 0
	var grow func(level int, parent trace.LocationID)
	grow = func(level int, parent trace.LocationID) {
		for x, name := range names[level] {
			l := trace.Location{Parent: parent, Kind: levels[level].kind, Name: name, Rank: trace.NoRank,
				Order: int64(x)}
			if level < len(levels)-1 {
				grow(level+1, w.Location(l))
				continue
			}
			l.Rank = rank
			rank++
			if id := w.Location(l); x == 0 {
				first(id)
			}
		}
	}
	grow(0, trace.NoLocation)
}
