package demo

import (
	"context"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var stencilOptions = Options{Locations: 64, Intervals: 43_000, Seed: 1}

var stencilDemo = &Demo{
	Name:    "stencil",
	Title:   "Halo exchange on a grid of MPI ranks, with a slow node and a late sender",
	Options: stencilOptions,
	Truth:   stencilTruth(stencilOptions),
	Write:   writeStencil,
	truth:   stencilTruth,
}

// The program's constants. A rank owns tileX × tileY cells of five fields and
// exchanges one line of cells with each neighbour in every iteration.
const (
	tileX, tileY    = 1536, 2048
	bytesPerCell    = 5 * 8
	reduceEvery     = 5  // iterations from one MPI_Allreduce to the next
	checkpointEvery = 10 // iterations from one checkpoint to the next
	slowPerMille    = 1600
	noisePerMille   = 30
	speedPerMille   = 10        // how far ranks differ for good, as chips do
	disturbedTile   = 400       // one tile in so many is disturbed by the system,
	disturbance     = 2_000_000 // for up to so long, ns

	tableCost      = 24_000_000 // the delay of the late sender, ns
	tileCost       = 5_000_000  // one tile of one phase, ns
	packCost       = 90_000
	unpackCost     = 70_000
	irecvCost      = 900
	isendGap       = 2_400 // from one MPI_Isend to the next
	isendCost      = 1_800
	waitCost       = 1_500 // MPI_Waitall if everything has arrived
	hopCost        = 2_500 // one stage of a collective
	latencyNear    = 900   // within a node
	latencyFar     = 2_600
	bytesPerUsNear = 20_000
	bytesPerUsFar  = 10_000
)

// stencilPhases are the parts of one compute step: each is so many tiles long.
var stencilPhases = []struct {
	name, tile string
	tiles      int
}{{"advect", "flux_tile", 4}, {"diffuse", "laplace_tile", 3}, {"project", "relax_tile", 5}}

// A stencil is the simulated run.
type stencil struct {
	w          trace.Writer
	seed       uint64
	ranks      int
	width      int // ranks in a row of the grid
	perNode    int
	iterations int
	slowNode   int // -1: none
	lateRank   int // -1: none
	regions    stencilRegions
	processes  []trace.LocationID
	threads    []trace.LocationID
	rates      []trace.CounterID
	world      trace.CommunicatorID

	// sent[i*ranks+r] is when rank r begins its first MPI_Isend of iteration i:
	// eight bytes for each thirty intervals, all that the replay needs of others.
	sent []trace.Time
	// ends are the times at which the collectives complete, in order.
	ends []trace.Time
}

// stencilShape chooses the size of the run and the places of its faults.
func stencilShape(o Options) *stencil {
	s := &stencil{seed: o.Seed, ranks: max(1, o.Locations), slowNode: -1, lateRank: -1}
	s.perNode = min(8, max(1, s.ranks/4))
	s.width = s.ranks / gridHeight(s.ranks)
	s.iterations = int(max(1, math.Round((float64(o.Intervals)/float64(s.ranks)-7)/s.intervalsPerIteration())))
	nodes := (s.ranks + s.perNode - 1) / s.perNode
	if !o.Balanced && nodes > 1 {
		s.slowNode = nodes * 5 / 8
		lateNode := (s.slowNode + nodes/2) % nodes
		s.lateRank = min(s.ranks-1, lateNode*s.perNode+s.perNode*3/8)
	}
	return s
}

// gridHeight is the largest divisor that is not above the square root, as
// MPI_Dims_create would choose.
func gridHeight(n int) int {
	h := int(math.Sqrt(float64(n)))
	for n%h != 0 {
		h--
	}
	return h
}

// intervalsPerIteration is the mean over ranks and iterations.
func (s *stencil) intervalsPerIteration() float64 {
	h := s.ranks / s.width
	edges := 2 * ((s.width-1)*h + s.width*(h-1)) // directed: messages an iteration
	perMessage := 4.0                            // MPI_Irecv, pack, MPI_Isend, unpack
	n := 1 + 1 + 2.0 + perMessage*float64(edges)/float64(s.ranks)
	for _, p := range stencilPhases {
		n += 1 + float64(p.tiles)
	}
	return n + 2.0/reduceEvery + 2.0/checkpointEvery
}

func (s *stencil) node(rank int) int { return rank / s.perNode }

// A side is one neighbour of a rank: its direction, and how much goes there.
type side struct {
	rank int
	tag  int // 0 west, 1 east, 2 south, 3 north; the partner's is tag^1
	size int64
}

// sides appends the neighbours of a rank in the order in which it sends.
func (s *stencil) sides(to []side, rank int) []side {
	x, h := rank%s.width, s.ranks/s.width
	y := rank / s.width
	if x > 0 {
		to = append(to, side{rank - 1, 0, tileY * bytesPerCell})
	}
	if x < s.width-1 {
		to = append(to, side{rank + 1, 1, tileY * bytesPerCell})
	}
	if y > 0 {
		to = append(to, side{rank - s.width, 2, tileX * bytesPerCell})
	}
	if y < h-1 {
		to = append(to, side{rank + s.width, 3, tileX * bytesPerCell})
	}
	return to
}

// transfer is the time a message is under way.
func (s *stencil) transfer(from, to int, size int64) trace.Time {
	if s.node(from) == s.node(to) {
		return latencyNear + trace.Time(size*1000/bytesPerUsNear)
	}
	return latencyFar + trace.Time(size*1000/bytesPerUsFar)
}

// collective is the time from the last arrival to the end of a collective.
func (s *stencil) collective() trace.Time {
	stages := trace.Time(1)
	for n := 1; n < s.ranks; n *= 2 {
		stages++
	}
	return stages * hopCost
}

func writeStencil(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(stencilOptions)
	if err := o.checkSimulated(); err != nil {
		return err
	}
	s := stencilShape(o)
	s.w = w
	s.define()
	if err := s.simulate(ctx); err != nil {
		return err
	}
	return o.each(ctx, s.ranks, s.replay)
}

func (s *stencil) isLate(rank, iteration int) bool {
	return rank == s.lateRank && iteration%reduceEvery == 0
}

// stencilTruth words the faults for the size asked for.
func stencilTruth(o Options) []string {
	s := stencilShape(o)
	if s.slowNode < 0 {
		return []string{
			"All ranks compute equally long; what differs is noise of a few per cent.",
			"No rank waits for one rank in particular: MPI takes a small share of the time, and the same on all ranks.",
		}
	}
	first := s.slowNode * s.perNode
	truth := []string{
		fmt.Sprintf("Ranks %d to %d, all those of %s, compute 1.6 times as long as the others in every iteration.",
			first, min(s.ranks, first+s.perNode)-1, nodeName(s.slowNode)),
		fmt.Sprintf("All others wait for them: in MPI_Waitall, one row of the grid further away with each iteration, "+
			"and in MPI_Allreduce, every %d iterations.", reduceEvery),
		fmt.Sprintf("Rank %d on %s is a late sender: in every iteration that follows an MPI_Allreduce (and in the "+
			"first) it runs rebuild_table before its MPI_Isend calls, and its neighbours%s wait for it in MPI_Waitall.",
			s.lateRank, nodeName(s.node(s.lateRank)), s.neighbourList(s.lateRank)),
		"The run would not end sooner without the late sender: the slow node hides it.",
		"Exclusive of waiting, the ranks of a node are alike, apart from noise of a few per cent.",
	}
	return truth
}

func (s *stencil) neighbourList(rank int) string {
	list := ""
	for _, n := range s.sides(nil, rank) {
		if list != "" {
			list += ","
		}
		list += fmt.Sprintf(" %d", n.rank)
	}
	return list
}

func nodeName(node int) string { return fmt.Sprintf("node%02d", node) }
