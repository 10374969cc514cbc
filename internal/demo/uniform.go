package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var uniformOptions = Options{Locations: 1_000, Intervals: 1_000_000, Seed: 1}

var uniformDemo = &Demo{
	Name:    "uniform",
	Title:   "Random nesting, the same on all processes: a load of any size",
	Options: uniformOptions,
	Truth:   uniformTruth(uniformOptions),
	Write:   writeUniform,
	truth:   uniformTruth,
}

const (
	uniformRegions = 64
	uniformDepth   = 6
	uniformPerNode = 64
	// A call at the top takes 64 to 128 µs; each level leaves a child at least a
	// quarter of its parent, so the innermost still last 60 ns.
	uniformCall = 64_000
)

func uniformTruth(o Options) []string {
	return []string{
		fmt.Sprintf("%d intervals on %d processes, spread evenly, nested 1 to %d deep, in %d regions.", o.Intervals,
			o.Locations, uniformDepth, uniformRegions),
		"No process, region or time differs from the others by more than chance.",
	}
}

func writeUniform(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(uniformOptions)
	regions := make([]trace.RegionID, uniformRegions)
	for i := range regions {
		name := fmt.Sprintf("function_%02d", i)
		regions[i] = w.Region(trace.Region{Name: name, Category: "user", Role: trace.RoleCompute})
	}
	locations := make([]trace.LocationID, o.Locations)
	machine := trace.NoLocation
	for i := range locations {
		if i%uniformPerNode == 0 {
			machine = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine,
				Name: fmt.Sprintf("node%05d", i/uniformPerNode), Rank: trace.NoRank, Order: int64(i / uniformPerNode)})
		}
		locations[i] = w.Location(trace.Location{Parent: machine, Kind: trace.KindProcess,
			Name: fmt.Sprintf("rank %d", i), Rank: i, Order: int64(i)})
	}
	return o.each(ctx, o.Locations, func(ctx context.Context, i int) error {
		// Location i gets its share of the total exactly: the shares add up.
		n := int64(o.Locations)
		share := o.Intervals/n + boolInt(int64(i) < o.Intervals%n)
		u := &uniform{noise: randomOf(o.Seed, uint64(i)), regions: regions, left: share,
			out: w.Stream(locations[i], trace.StreamOptions{})}
		err := u.run(ctx)
		if closed := u.out.Close(); err == nil {
			err = closed
		}
		return err
	})
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A uniform writes the calls of one location, parents first.
type uniform struct {
	noise   random
	regions []trace.RegionID
	left    int64
	out     trace.Stream
}

func (u *uniform) run(ctx context.Context) error {
	now := trace.Time(0)
	for calls := 0; u.left > 0; calls++ {
		if calls%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		x := u.noise.next()
		length := trace.Time(uniformCall + x%uniformCall)
		u.call(now, length, 1+int(x>>32)%uniformDepth)
		now += length + trace.Time(x>>48)%2_000
	}
	return nil
}

// call writes one call with depth levels in all, one to three calls below it.
func (u *uniform) call(begin, length trace.Time, depth int) {
	x := u.noise.next()
	u.out.Interval(begin, begin+length, u.regions[x%uniformRegions])
	u.left--
	if depth == 1 {
		return
	}
	children := 1 + trace.Time(x>>32)%3
	slot := length / children
	for k := range children {
		if u.left == 0 {
			return
		}
		u.call(begin+k*slot+slot/8, slot*3/4, depth-1)
	}
}
