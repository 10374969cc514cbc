package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var zgrdOptions = Options{Locations: zgrdRanks, Intervals: 6*4*zgrdRanks + 6*zgrdRanks/zgrdGroup, Seed: 1}

// zgrdDemo has the shape of Figure 8 of the paper on formula layouts: ZGrd, a part of
// the Global Cloud Resolving Model, on 10,240 cores. The sphere is ten panels of a
// geodesic grid, 32 x 32 ranks each; work follows the terrain, and one rank of 64
// writes for the others.
var zgrdDemo = &Demo{
	Name:    "zgrd",
	Title:   "ZGrd on 10,240 cores: work by terrain, writers apart, all against MPI_Allreduce",
	Options: zgrdOptions,
	Truth:   zgrdTruth(zgrdOptions),
	Write:   writeZGrd,
	truth:   zgrdTruth,
}

const (
	zgrdPanels = 10
	zgrdSide   = 32
	zgrdRanks  = zgrdPanels * zgrdSide * zgrdSide
	zgrdGroup  = 64        // ranks to a writer
	zgrdSolve  = 6_000_000 // ns of one step over the plainest sea
	zgrdWrite  = 4_000_000 // ns of writing for a group
)

func zgrdTruth(o Options) []string {
	shape := "10,240 ranks: ten panels of 32 x 32 on a sphere."
	if o.Balanced {
		return []string{shape, "Work is the same everywhere and no rank writes for others: one small cloud."}
	}
	return []string{
		shape,
		"A scatter plot of solve_vertical, MPI_Allreduce and MPI_Waitall has two clouds. In the larger one " +
			"MPI_Allreduce falls as solve_vertical rises, by a correlation below -0.8.",
		"The small cloud are the 160 writers, one rank of 64: they wait less in MPI_Allreduce than any other rank of " +
			"the same work.",
	}
}

func writeZGrd(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(zgrdOptions)
	if o.Locations != zgrdRanks {
		return fmt.Errorf("demo zgrd has %d processes; for other sizes ask for demo stencil", zgrdRanks)
	}
	placed := func(name string, line int) trace.RegionID {
		return w.Region(trace.Region{Name: name, Category: "user", File: "zgrd/model.f90", Line: line})
	}
	solve, file := placed("solve_vertical", 212), regionNamed(w, "MPI_File_write", "mpi")
	wait, reduce := regionNamed(w, "MPI_Waitall", "mpi"), regionNamed(w, "MPI_Allreduce", "mpi")
	diagnose := placed("diagnose", 340)
	top := trace.Topology{Name: "panels", Dims: []int{zgrdSide, zgrdSide, zgrdPanels},
		DimNames: []string{"i", "j", "panel"}, Periodic: []bool{false, false, false}}
	ids := make([]trace.LocationID, zgrdRanks)
	noise := make([]random, zgrdRanks)
	for rank := range ids {
		panel, i, j := zgrdPlace(rank)
		ids[rank] = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Name: fmt.Sprintf("rank %d", rank), Rank: rank, Order: int64(rank),
			Attributes: []trace.Attribute{{Key: "panel", Value: trace.Integer(int64(panel))},
				{Key: "writer", Value: trace.Integer(boolInt(rank%zgrdGroup == 0))}}})
		top.Coordinates = append(top.Coordinates, trace.Coordinate{Location: ids[rank], At: []int{i, j, panel}})
		noise[rank] = randomOf(o.Seed, uint64(rank))
	}
	w.Topology(top)
	b := newBulk(zgrdRanks)
	for range max(1, o.Intervals/int64(4*zgrdRanks)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for rank := range ids {
			b.work(rank, solve, noise[rank].around(zgrdSolve+zgrdTerrain(rank, o.Balanced), 25))
		}
		b.exchange(wait, 40_000, zgrdNeighbours)
		for rank := range ids {
			b.work(rank, diagnose, noise[rank].around(800_000, 200))
			if rank%zgrdGroup == 0 && !o.Balanced {
				b.work(rank, file, noise[rank].around(zgrdWrite, 80))
			}
		}
		b.reduce(reduce, 90_000)
	}
	return b.write(ctx, o, w, ids)
}

func zgrdPlace(rank int) (panel, i, j int) {
	return rank / zgrdSide / zgrdSide, rank % zgrdSide, rank / zgrdSide % zgrdSide
}

// zgrdTerrain returns the work added by land and mountains, up to 4 ms: a slope over each panel, and panels that
// differ.
func zgrdTerrain(rank int, balanced bool) trace.Time {
	if balanced {
		return 0
	}
	panel, i, j := zgrdPlace(rank)
	return trace.Time(wave(i+5*panel, 2*zgrdSide, 1_500)+wave(j+9*panel, 3*zgrdSide, 1_500)+
		wave(panel, zgrdPanels, 1_000)) * 1_000
}

// zgrdNeighbours are the four around a rank on its panel; edges of panels meet their
// neighbours in the ring of panels.
func zgrdNeighbours(rank int, visit func(int)) {
	panel, i, j := zgrdPlace(rank)
	for _, d := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		p, x, y := panel, i+d[0], j+d[1]
		if x < 0 || x >= zgrdSide {
			p, x = (p+zgrdPanels+d[0])%zgrdPanels, (x+zgrdSide)%zgrdSide
		}
		if y < 0 || y >= zgrdSide {
			p, y = (p+zgrdPanels+d[1])%zgrdPanels, (y+zgrdSide)%zgrdSide
		}
		visit((p*zgrdSide+y)*zgrdSide + x)
	}
}
