package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// sweep3dDemo has the shape of the first figures of the paper on formula layouts:
// Sweep3D on 16,384 cores of a machine with a 3D torus. A wave goes from a corner
// of the box to the opposite one, so a core that it reaches late has waited longer
// in MPI_Recv and waits less in MPI_Barrier at the end.
var sweep3dDemo = &Demo{
	Name:    "sweep3d",
	Title:   "Sweep3D on 16,384 cores of a torus, waiting at a barrier by place",
	Options: Options{Locations: sweepX * sweepY * sweepZ, Intervals: 3 * sweepX * sweepY * sweepZ},
	Truth: []string{
		"16,384 ranks with coordinates on a grid of 32 x 32 x 16.",
		"Time in MPI_Barrier falls steadily from the corner 0,0,0 to the opposite one; the last rank waits least.",
	},
	Write: sweep3d,
}

const (
	sweepX, sweepY, sweepZ = 32, 32, 16
	sweepStep              = 400_000    // ns that the wave takes from a core to the next
	sweepWork              = 30_000_000 // ns of computing, give or take a few per cent
)

func sweep3d(ctx context.Context, o Options, w trace.Writer) error {
	sweep := w.Region(trace.Region{Name: "sweep", Role: trace.RoleCompute})
	receive := w.Region(trace.Region{Name: "MPI_Recv", Category: "mpi", Role: trace.RoleCommunication})
	barrier := w.Region(trace.Region{Name: "MPI_Barrier", Category: "mpi", Role: trace.RoleCommunication})
	top := trace.Topology{Name: "torus", Dims: []int{sweepX, sweepY, sweepZ}, DimNames: []string{"x", "y", "z"},
		Periodic: []bool{true, true, true}}
	end := trace.Time(sweepStep*(sweepX+sweepY+sweepZ) + 2*sweepWork)
	rng := randomOf(max(o.Seed, 1), 0)
	for rank := range sweepX * sweepY * sweepZ {
		if rank%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		x, y, z := rank%sweepX, rank/sweepX%sweepY, rank/sweepX/sweepY
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Name: fmt.Sprintf("rank %d", rank), Rank: rank, Order: int64(rank)})
		top.Coordinates = append(top.Coordinates, trace.Coordinate{Location: id, At: []int{x, y, z}})
		s := w.Stream(id, trace.StreamOptions{})
		arrives := trace.Time(sweepStep * (x + y + z))
		done := arrives + sweepWork + trace.Time(rng.next()%(sweepWork/16))
		s.Interval(0, arrives, receive)
		s.Interval(arrives, done, sweep)
		s.Interval(done, end, barrier)
		if err := s.Close(); err != nil {
			return err
		}
	}
	w.Topology(top)
	return nil
}
