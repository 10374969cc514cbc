package dumpi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/message"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	trace.SortRegions(w)
	c := &converter{run: run, w: w, cpuTime: w.Attribute("CPU time")}
	var files []string
	for _, file := range run.Files {
		if head := run.Source.Head(file); isMeta(head) && !isTrace(head) {
			c.meta(head)
		} else {
			files = append(files, file)
		}
	}
	ranks, err := c.numbers(files)
	if err != nil {
		return err
	}
	list := make([]*process, len(files))
	err = parallel.Tasks(ctx, len(files), func(ctx context.Context, i int) (err error) {
		list[i], err = c.process(ctx, files[i], ranks[i])
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		p.report()
	}
	c.topology(list)
	c.link(list)
	if c.processes > len(files) {
		w.Report(trace.MissingLocations,
			"ranks whose file is missing", int64(c.processes-len(files)), run.Label(files[0]))
	}
	return ctx.Err()
}

// A converter turns files into a trace. Messages are joined when all are read.
type converter struct {
	run       importer.Run
	w         trace.Writer
	cpuTime   trace.AttributeID
	processes int // that the .meta file promises
}

// meta reads lines of key=value.
func (c *converter) meta(head []byte) {
	for lines := bufio.NewScanner(bytes.NewReader(head)); lines.Scan(); {
		key, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if !ok || value == "" {
			continue
		}
		switch key {
		case "numprocs":
			n, _ := strconv.ParseUint(value, 10, 24)
			c.processes = int(n)
		case "startime": // spelled so
			if n, err := strconv.ParseInt(value, 10, 40); err == nil {
				c.w.Property("start", time.Unix(n, 0).UTC().Format(time.RFC3339))
			}
		case "hostname":
			c.w.Property(key, value)
		}
	}
}

// numbers returns the rank of each file: by its name, else by its place.
func (c *converter) numbers(files []string) (ranks []int32, err error) {
	taken := map[int32]string{}
	for i, file := range files {
		_, n := rankOf(file)
		if n < 0 {
			n = i
		}
		if other, ok := taken[int32(n)]; ok {
			return nil, importer.Malformed(c.run.Label(file), "", "rank %d is also in %s", n, c.run.Label(other))
		}
		taken[int32(n)] = file
		ranks = append(ranks, int32(n))
	}
	if len(files) == 0 {
		return nil,
			&importer.Error{File: c.run.Source.Name, Cause: "there is no .bin file next to the .meta file",
				Hint: "give the directory that holds them", Kind: importer.ErrNotFound}
	}
	return ranks, nil
}

// A process is one rank while its file is read.
type process struct {
	*converter
	*log
	rank     int32
	at       trace.LocationID
	threads  map[uint16]*thread
	regions  [functionExit + 1]trace.RegionID
	named    map[uint64]trace.RegionID
	counted  [allCalls + 1]uint32
	comms    communicators
	pending  map[int32]transfer // receives by request
	prepared map[int32]transfer // persistent requests
	sent     []transfer
	received []transfer

	broken                       int64
	untimed, byCPU, unsure, lost int64
}

type thread struct {
	at       trace.LocationID
	stream   trace.Stream
	counters []trace.CounterID
	// From the first call to the end of the last, and whether functions of the program cover the time between.
	calls      int
	begin, end trace.Time
	functions  bool
}

// A transfer is one end of a message, in the words of its rank.
type transfer struct {
	comm     int32 // an instance
	peer     int32 // rank in the communicator
	tag      int32
	size     int64
	at       trace.LocationID
	time     trace.Time
	region   trace.RegionID
	receives bool
}

func (c *converter) process(ctx context.Context, file string, rank int32) (*process, error) {
	in, size, done, err := importer.RandomAccess(c.run, file)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := openLog(in, size, c.run.Label(file))
	if err != nil {
		return nil, err
	}
	number := strconv.Itoa(int(rank))
	p := &process{converter: c, log: l, rank: rank, threads: map[uint16]*thread{}, named: map[uint64]trace.RegionID{},
		comms: newCommunicators(), pending: map[int32]transfer{}, prepared: map[int32]transfer{}}
	for i := range p.regions {
		p.regions[i] = trace.NoRegion
	}
	p.at = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: number,
		Name: "rank " + number, Rank: int(rank),
		Attributes: []trace.Attribute{{Key: "host", Value: trace.Text(strings.ToValidUTF8(l.host, "\ufffd"))}}})
	if p.broken, err = l.body(ctx, p.record); err != nil {
		return nil, err
	}
	for _, t := range p.threads {
		// Every MPI call is recorded, so the time between them is the program's own work.
		if t.calls > 1 && !t.functions {
			t.stream.Interval(t.begin, t.end,
				c.w.Region(trace.Region{Name: "program", Category: "outside MPI", Role: trace.RoleCompute}))
		}
		if err := t.stream.Close(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// thread finds the row of a thread; the first is the process itself.
func (p *process) thread(number uint16) *thread {
	t, ok := p.threads[number]
	if !ok {
		t = &thread{at: p.at}
		if number > 0 {
			n := strconv.Itoa(int(number))
			t.at = p.w.Location(trace.Location{Parent: p.at, Kind: trace.KindThread, Key: n, Name: "thread " + n,
				Rank: trace.NoRank, Order: int64(number)})
		}
		for _, name := range p.log.counters {
			t.counters = append(t.counters,
				p.w.Counter(trace.Counter{Location: t.at, Name: strings.ToValidUTF8(name, "\ufffd")}))
		}
		t.stream = p.w.Stream(t.at, trace.StreamOptions{Unordered: true})
		p.threads[number] = t
	}
	return t
}

// record takes one call.
func (p *process) record(r *record) {
	begin, end := r.wall[0], r.wall[1]
	switch {
	case r.hasWall:
	case r.hasCPU:
		begin, end = r.cpu[0], r.cpu[1]
		p.byCPU++
	default:
		p.untimed++
		return
	}
	t := p.thread(r.thread)
	switch r.call {
	case functionEnter:
		t.functions = true
		t.stream.Enter(begin, p.function(r.function))
		return
	case functionExit:
		t.stream.Leave(end, p.function(r.function))
		return
	}
	p.counted[r.call]++
	if t.calls == 0 {
		t.begin, t.end = begin, end
	}
	t.calls++
	t.begin, t.end = min(t.begin, begin), max(t.end, end)
	region := p.region(r.call)
	t.stream.Interval(begin, end, region)
	if r.hasWall && r.hasCPU {
		t.stream.Attribute(p.cpuTime, trace.Integer(int64(r.cpu[1]-r.cpu[0])))
	}
	for i := range min(len(r.before), len(t.counters)) {
		t.stream.Sample(t.counters[i], begin, float64(r.before[i]))
		t.stream.Sample(t.counters[i], end, float64(r.after[i]))
	}
	p.messages(r, transfer{at: t.at, time: begin, region: region}, max(begin, end-1))
}

func (p *process) region(call int) trace.RegionID {
	if p.regions[call] == trace.NoRegion {
		p.regions[call] = p.w.Region(trace.Region{Name: calls[call].name, Category: "MPI"})
	}
	return p.regions[call]
}

func (p *process) function(address uint64) trace.RegionID {
	return importer.Once(p.named, address, func() trace.RegionID {
		name := p.log.functions[address]
		if name == "" {
			name = fmt.Sprintf("function at %#x", address)
		}
		return p.w.Region(trace.Region{Name: strings.ToValidUTF8(name, "\ufffd"), Category: "function"})
	})
}

// sizeOf is the size of a number of elements; -1 of types that the program made.
func (p *process) sizeOf(count, kind int32) int64 {
	if count < 0 || kind < 0 || int(kind) >= len(p.log.sizes) || p.log.sizes[kind] < 0 {
		return -1
	}
	return int64(count) * int64(p.log.sizes[kind])
}

// report counts records that were left out.
func (p *process) report() {
	w := p.w
	if p.broken > 0 {
		w.Report(trace.MissingRest, "traces that break off within the calls", 1,
			fmt.Sprintf("%s: byte %d", p.label, p.broken))
	}
	missing, ignored := int64(0), int64(0)
	for i, n := range p.called {
		if i < allCalls && n > p.counted[i] {
			missing += int64(n - p.counted[i])
		}
		if i < allCalls {
			ignored += int64(p.ignored[i])
		}
	}
	for _, n := range []struct {
		kind  trace.ReportKind
		what  string
		count int64
	}{
		{trace.MissingIntervals, "calls that the footer counts and the trace does not hold", max(missing-ignored, 0)},
		{trace.MissingIntervals, "calls that DUMPI was told not to record", ignored},
		{trace.MissingIntervals, "calls without a time", p.untimed},
		{trace.Guessed, "calls without a time of the wall's clock, placed by the CPU's", p.byCPU},
		{trace.MissingLinks, "receives whose source the trace does not tell", p.unsure},
		{trace.MissingLinks, "messages in communicators whose members the trace does not tell", p.lost},
	} {
		importer.Tell(w, n.kind, n.what, n.count, p.label)
	}
}

// topology places ranks in the mesh of the machine, where all headers agree on it.
func (c *converter) topology(list []*process) {
	t := trace.Topology{Name: "mesh"}
	for _, p := range list {
		if len(p.mesh) == 0 || len(p.place) != len(p.mesh) || t.Dims != nil && !slices.Equal(t.Dims, p.mesh) {
			return
		}
		for i, n := range p.mesh {
			if n < 1 || p.place[i] < 0 || p.place[i] >= n {
				return
			}
		}
		t.Dims = p.mesh
		t.Coordinates = append(t.Coordinates, trace.Coordinate{Location: p.at, At: p.place})
	}
	for i := range t.Dims {
		name := "dim " + strconv.Itoa(i)
		if len(t.Dims) <= 3 {
			name = "xyz"[i : i+1]
		}
		t.DimNames = append(t.DimNames, name)
	}
	t.Periodic = make([]bool, len(t.Dims))
	c.w.Topology(t)
}

// link joins messages.
func (c *converter) link(list []*process) {
	lists := map[int32][]instance{}
	ranks := int32(min(c.processes, 1<<20))
	for _, p := range list {
		lists[p.rank] = p.comms.list
		ranks = max(ranks, p.rank+1)
	}
	of, all := groups(lists, ranks)
	var sent, received []message.End
	lost := int64(0)
	for _, p := range list {
		for i, transfers := range [][]transfer{p.sent, p.received} {
			for _, x := range transfers {
				end := message.End{Tag: int64(x.tag), Location: x.at, Time: x.time, Region: x.region, Size: x.size}
				peer, g := p.rank, int32(-2)
				if x.comm != instanceSelf {
					g = of[p.rank][x.comm]
					if g < 0 || int(x.peer) >= len(all[g].members) {
						lost++
						continue
					}
					peer = all[g].members[x.peer]
				}
				end.Communicator = g
				if i == 0 {
					end.From, end.To = p.rank, peer
					sent = append(sent, end)
				} else {
					end.From, end.To = peer, p.rank
					received = append(received, end)
				}
			}
		}
	}
	label := c.run.Label(c.run.Files[0])
	importer.Tell(c.w, trace.MissingLinks, "messages in communicators whose members the trace does not tell", lost,
		label)
	unreceived, unsent := message.Join(c.w, sent, received)
	message.Report(c.w, unreceived, unsent, label)
}
