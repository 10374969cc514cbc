package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var s3dOptions = Options{Locations: s3dNodes * s3dCores, Intervals: 8 * 4 * s3dNodes * s3dCores, Seed: 1}

// s3dDemo has the shape of Figure 7 of the paper on formula layouts: S3D on 4,096 cores of a Blue Gene/P, four to a
// node and two to a chip, ranks counted through the nodes first. One core of each chip packs the ghost cells of
// both, so it arrives late at MPI_Allreduce while the other waits.
var s3dDemo = &Demo{
	Name:    "s3d",
	Title:   "S3D on 4,096 cores: the cores of each chip work in high and low pairs",
	Options: s3dOptions,
	Truth:   s3dTruth(s3dOptions),
	Write:   writeS3D,
	truth:   s3dTruth,
}

const (
	s3dX, s3dY, s3dZ = 8, 8, 16
	s3dNodes         = s3dX * s3dY * s3dZ
	s3dCores         = 4
	s3dCompute       = 8_000_000 // ns of one right-hand side where nothing burns
	s3dPack          = 5_000_000 // ns to pack the ghost cells of a chip
	s3dOwn           = 200_000   // ns to hand one's own to the core that packs
)

func s3dTruth(o Options) []string {
	shape := "4,096 ranks on 1,024 nodes of a torus of 8 x 8 x 16 with four cores each, as a fourth coordinate; rank " +
		"= node + 1,024 × core."
	if o.Balanced {
		return []string{shape, "All four cores of a node do the same work: no pairs."}
	}
	return []string{
		shape,
		"The cores of a node work in pairs: cores 0 and 2 spend more than three times as long in MPI_Allreduce as " +
			"cores 1 and 3, which pack the ghost cells of both.",
		"In layout 4P×16Block (Listing 1.2) these are four blocks: high, low, high, low.",
		"The flame lies in the middle of the box along z: rhsf takes longest there, and MPI_Allreduce is shortest.",
	}
}

func writeS3D(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(s3dOptions)
	if o.Locations != s3dNodes*s3dCores {
		return fmt.Errorf("demo s3d has %d processes; for other sizes ask for demo stencil", s3dNodes*s3dCores)
	}
	rhsf, pack := regionNamed(w, "rhsf", "user"), regionNamed(w, "pack_ghost_cells", "user")
	wait, reduce := regionNamed(w, "MPI_Wait", "mpi"), regionNamed(w, "MPI_Allreduce", "mpi")
	top := trace.Topology{Name: "torus", Dims: []int{s3dX, s3dY, s3dZ, s3dCores},
		DimNames: []string{"x", "y", "z", "core"}, Periodic: []bool{true, true, true, false}}
	ids := make([]trace.LocationID, s3dNodes*s3dCores)
	noise := make([]random, len(ids))
	for rank := range ids {
		node, core := rank%s3dNodes, rank/s3dNodes
		x, y, z := node%s3dX, node/s3dX%s3dY, node/s3dX/s3dY
		ids[rank] = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Name: fmt.Sprintf("rank %d", rank), Rank: rank, Order: int64(rank),
			Attributes: []trace.Attribute{{Key: "node", Value: trace.Integer(int64(node))},
				{Key: "chip", Value: trace.Integer(int64(core / 2))},
				{Key: "core", Value: trace.Integer(int64(core))}}})
		top.Coordinates = append(top.Coordinates, trace.Coordinate{Location: ids[rank], At: []int{x, y, z, core}})
		noise[rank] = randomOf(o.Seed, uint64(rank))
	}
	w.Topology(top)
	b := newBulk(len(ids))
	for range max(1, o.Intervals/int64(4*len(ids))) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for rank := range ids {
			z := rank % s3dNodes / s3dX / s3dY
			burning := trace.Time(wave(z, s3dZ, 2_000)) * 1_000 // up to 2 ms in the middle
			b.work(rank, rhsf, noise[rank].around(s3dCompute+burning, 20))
			packing := trace.Time(s3dOwn)
			if rank/s3dNodes%2 == 1 && !o.Balanced {
				packing = s3dPack
			}
			b.work(rank, pack, noise[rank].around(packing, 30))
		}
		b.exchange(wait, 30_000, s3dNeighbours)
		b.reduce(reduce, 60_000)
	}
	return b.write(ctx, o, w, ids)
}

// s3dNeighbours are the six around a node on the torus, of the same core.
func s3dNeighbours(rank int, visit func(int)) {
	core, node := rank/s3dNodes*s3dNodes, rank%s3dNodes
	at := [3]int{node % s3dX, node / s3dX % s3dY, node / s3dX / s3dY}
	size := [3]int{s3dX, s3dY, s3dZ}
	for axis := range at {
		for _, step := range []int{1, size[axis] - 1} {
			to := at
			to[axis] = (at[axis] + step) % size[axis]
			visit(core + to[0] + s3dX*(to[1]+s3dY*to[2]))
		}
	}
}
