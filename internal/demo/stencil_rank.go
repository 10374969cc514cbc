package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type stencilRegions struct {
	main, iteration, exchange, compute               trace.RegionID
	phase, tile                                      []trace.RegionID
	table, pack, unpack                              trace.RegionID
	input, setup, residual, checkpoint, output       trace.RegionID
	init, irecv, isend, waitall, allreduce, finalize trace.RegionID
	written                                          trace.RegionID
}

// define writes everything but the records.
func (s *stencil) define() {
	r := &s.regions
	code := func(name, category string) trace.RegionID {
		return s.w.Region(trace.Region{Name: name, Category: category, Role: trace.RoleOf(name, category)})
	}
	r.main, r.iteration = code("main", "user"), code("iteration", "user")
	r.exchange, r.compute = code("exchange_halo", "user"), code("compute", "user")
	for _, p := range stencilPhases {
		r.phase = append(r.phase, code(p.name, "user"))
		r.tile = append(r.tile, code(p.tile, "user"))
	}
	r.table, r.residual = code("rebuild_table", "user"), code("residual", "user")
	r.pack, r.unpack = code("pack_halo", "user"), code("unpack_halo", "user")
	r.input, r.setup = code("read_input", "io"), code("setup_grid", "user")
	r.checkpoint, r.output = code("checkpoint", "user"), code("fwrite", "io")
	r.init, r.finalize = code("MPI_Init", "mpi"), code("MPI_Finalize", "mpi")
	r.irecv, r.isend = code("MPI_Irecv", "mpi"), code("MPI_Isend", "mpi")
	r.waitall, r.allreduce = code("MPI_Waitall", "mpi"), code("MPI_Allreduce", "mpi")
	r.written = s.w.Region(trace.Region{Name: "checkpoint written", Category: "marker", Role: trace.RoleAnnotation})

	grid := trace.Topology{Name: "process grid", Dims: []int{s.width, s.ranks / s.width}, DimNames: []string{"x", "y"},
		Periodic: []bool{false, false}}
	machine := trace.NoLocation
	for rank := range s.ranks {
		if rank%s.perNode == 0 {
			node := s.node(rank)
			machine = s.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine,
				Name: nodeName(node), Rank: trace.NoRank, Order: int64(node)})
		}
		process := s.w.Location(trace.Location{Parent: machine, Kind: trace.KindProcess,
			Name: fmt.Sprintf("rank %d", rank), Rank: rank, Order: int64(rank)})
		thread := s.w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: "main thread",
			Rank: trace.NoRank})
		s.processes, s.threads = append(s.processes, process), append(s.threads, thread)
		s.rates = append(s.rates, s.w.Counter(trace.Counter{Location: thread, Name: "cells per second", Unit: "1/s"}))
		grid.Coordinates = append(grid.Coordinates,
			trace.Coordinate{Location: process, At: []int{rank % s.width, rank / s.width}})
	}
	s.w.Topology(grid)
	s.world = s.w.Communicator(trace.Communicator{Name: "MPI_COMM_WORLD", Parent: trace.NoCommunicator,
		Members: s.processes})
	s.w.Property("program", "stencil")
}

// A stencilRank walks through the program of one rank. The same walk serves both
// passes: without a stream it only keeps the time.
type stencilRank struct {
	*stencil
	rank    int
	now     trace.Time
	noise   random
	speed   trace.Time // cost of this rank's work in 1/1000 of the usual
	around  []side
	out     trace.Stream
	busy    trace.Time // compute time of the iteration
	arrived int        // collectives met so far
}

func (s *stencil) start(rank int) *stencilRank {
	p := &stencilRank{stencil: s, rank: rank, noise: randomOf(s.seed, uint64(rank)), around: s.sides(nil, rank)}
	p.now = trace.Time(p.noise.below(150_000)) // processes do not start at once
	p.speed = p.noise.around(1000, speedPerMille)
	if s.node(rank) == s.slowNode {
		p.speed = p.speed * slowPerMille / 1000
	}
	return p
}

// simulate learns when messages are sent and when collectives end.
func (s *stencil) simulate(ctx context.Context) error {
	s.sent = make([]trace.Time, s.ranks*s.iterations)
	ranks := make([]*stencilRank, s.ranks)
	last := trace.Time(0)
	meet := func() { s.ends, last = append(s.ends, last+s.collective()), 0 }
	for r := range ranks {
		ranks[r] = s.start(r)
		last = max(last, ranks[r].begin())
	}
	meet()
	for _, p := range ranks {
		p.prepare()
	}
	for i := range s.iterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		for r, p := range ranks {
			s.sent[i*s.ranks+r] = p.untilSend(i)
		}
		for _, p := range ranks {
			p.receive(i)
		}
		if (i+1)%reduceEvery == 0 {
			for _, p := range ranks {
				last = max(last, p.untilReduce())
			}
			meet()
		}
		for _, p := range ranks {
			p.finish(i)
		}
	}
	for _, p := range ranks {
		last = max(last, p.untilEnd())
	}
	meet()
	return nil
}

// replay writes one rank.
func (s *stencil) replay(ctx context.Context, rank int) error {
	p := s.start(rank)
	p.out = s.w.Stream(s.threads[rank], trace.StreamOptions{})
	p.begin()
	p.prepare()
	for i := range s.iterations {
		if err := ctx.Err(); err != nil {
			p.out.Close()
			return err
		}
		p.untilSend(i)
		p.receive(i)
		if (i+1)%reduceEvery == 0 {
			p.untilReduce()
		}
		p.finish(i)
	}
	p.untilEnd()
	p.finalize()
	return p.out.Close()
}

func (p *stencilRank) enter(r trace.RegionID) {
	if p.out != nil {
		p.out.Enter(p.now, r)
	}
}

func (p *stencilRank) leave(r trace.RegionID) {
	if p.out != nil {
		p.out.Leave(p.now, r)
	}
}

// call spends time in a region without children.
func (p *stencilRank) call(r trace.RegionID, cost trace.Time) {
	p.enter(r)
	p.now += cost
	p.leave(r)
}

// noisy returns the duration of work of that cost, with the rank's speed and noise.
func (p *stencilRank) noisy(cost trace.Time) trace.Time {
	return p.noise.around(cost, noisePerMille) * p.speed / 1000
}

// tileTime returns the duration of one tile, with a disturbance now and then.
func (p *stencilRank) tileTime() trace.Time {
	t := p.noisy(tileCost)
	if p.noise.below(disturbedTile) == 0 {
		t += trace.Time(p.noise.below(disturbance))
	}
	return t
}

// meet waits for the next collective to end; each rank notices a little later.
func (p *stencilRank) meet(r trace.RegionID) {
	p.enter(r)
	p.now = p.ends[p.arrived] + trace.Time(p.noise.below(2_000))
	p.arrived++
	p.leave(r)
}

// begin returns the arrival at MPI_Init's inner collective.
func (p *stencilRank) begin() trace.Time {
	p.enter(p.regions.main)
	p.now += 40_000
	return p.now + p.noise.around(4_000_000, 100)
}

func (p *stencilRank) prepare() {
	p.meet(p.regions.init)
	p.call(p.regions.input, p.noise.around(3_000_000, 150))
	p.call(p.regions.setup, p.noisy(6_000_000))
}

// untilSend computes and packs; it returns the time of the first MPI_Isend.
func (p *stencilRank) untilSend(i int) trace.Time {
	r := &p.regions
	p.enter(r.iteration)
	for range p.around {
		p.call(r.irecv, irecvCost)
	}
	began := p.now
	p.enter(r.compute)
	for k, phase := range stencilPhases {
		p.enter(r.phase[k])
		for range phase.tiles {
			p.call(r.tile[k], p.tileTime())
		}
		p.leave(r.phase[k])
	}
	p.leave(r.compute)
	p.busy = p.now - began
	if p.isLate(p.rank, i) {
		p.call(r.table, p.noise.around(tableCost, noisePerMille))
	}
	p.enter(r.exchange)
	for range p.around {
		p.call(r.pack, p.noisy(packCost))
	}
	return p.now
}

// receive sends, waits for all neighbours and unpacks.
func (p *stencilRank) receive(i int) {
	r := &p.regions
	first := p.now
	for k := range p.around {
		p.now = first + trace.Time(k)*isendGap
		p.call(r.isend, isendCost)
	}
	p.now = first + trace.Time(len(p.around))*isendGap
	p.enter(r.waitall)
	begin := p.now
	for _, n := range p.around {
		sent, came := p.message(n, i)
		came = max(came, begin)
		p.now = max(p.now, came)
		if p.out != nil {
			p.w.Link(trace.Link{
				Kind:         trace.LinkMessage,
				From:         trace.End{Location: p.threads[n.rank], Time: sent, Region: r.isend},
				To:           trace.End{Location: p.threads[p.rank], Time: came, Region: r.waitall},
				Size:         n.size,
				Tag:          int64(n.tag ^ 1),
				Communicator: p.world,
			})
		}
	}
	p.now += waitCost
	p.leave(r.waitall)
	for range p.around {
		p.call(r.unpack, p.noisy(unpackCost))
	}
	p.leave(r.exchange)
}

// message returns when neighbour n sent its message to this rank, and when it came.
func (p *stencilRank) message(n side, i int) (sent, came trace.Time) {
	sent = p.sent[i*p.ranks+n.rank]
	// The neighbour sends in the order of its own sides: count those before us.
	x, y, h := n.rank%p.width, n.rank/p.width, p.ranks/p.width
	exists := [4]bool{x > 0, x < p.width-1, y > 0, y < h-1}
	for tag := range n.tag ^ 1 {
		if exists[tag] {
			sent += isendGap
		}
	}
	return sent, sent + p.transfer(n.rank, p.rank, n.size)
}

// untilReduce returns the arrival at MPI_Allreduce.
func (p *stencilRank) untilReduce() trace.Time {
	p.call(p.regions.residual, p.noisy(400_000))
	return p.now
}

// finish ends an iteration.
func (p *stencilRank) finish(i int) {
	r := &p.regions
	if (i+1)%reduceEvery == 0 {
		p.meet(r.allreduce)
	}
	if (i+1)%checkpointEvery == 0 {
		p.enter(r.checkpoint)
		p.call(r.output, p.noise.around(5_000_000, 100))
		p.leave(r.checkpoint)
		if p.rank == 0 && p.out != nil {
			p.out.Instant(p.now, r.written)
		}
	}
	if p.out != nil {
		p.out.Sample(p.rates[p.rank], p.now, float64(tileX*tileY*1_000_000/int64(p.busy))*1000)
	}
	p.leave(r.iteration)
}

// untilEnd returns the arrival at MPI_Finalize.
func (p *stencilRank) untilEnd() trace.Time {
	p.now += p.noise.around(20_000, 200)
	return p.now
}

func (p *stencilRank) finalize() {
	p.meet(p.regions.finalize)
	p.now += 10_000
	p.leave(p.regions.main)
}
