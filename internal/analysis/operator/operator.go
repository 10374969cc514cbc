// Package operator adds up the time of a framework's operators on the host and on GPUs, by name and shapes,
// and their arithmetic and memory traffic.
//
//	operator.go   input, results, and the pass over the host
//	work.go       device time of the work that operators launch
//	shape.go      shapes and types as profilers write them
//	flop.go       arithmetic and bytes by operator and shapes
//	peak.go       peak performance of devices
//
// Device time belongs to an operator where the call that launched the work is inside it, however deep. Rows are read
// once; O(n · depth) time, memory for the work of GPUs and for each distinct name with shapes.
package operator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// TablesOfRun are the tables of a whole run.
var TablesOfRun = derived.Derived[*Tables]{
	Name: "operators", Version: 2, Keeps: runfacts.IsLargeJob, Restore: (*Tables).restore,
	Make: func(ctx context.Context, run *derived.Run) (*Tables, error) {
		r := run.Store
		return Read(runfacts.FindDevices(r.Locations(), nil).In(ctx, r, store.Window{End: r.Info().End}))
	},
}

// A By is the key of a row.
type By int

// Rows are operators with their shapes, operators, modules, or kernels and copies on GPUs.
const (
	ByShapes By = iota
	ByName
	ByModule
	ByKernel
	Bys = int(ByKernel) + 1
)

// A Row is operators that are taken together.
type Row struct {
	Name, Shapes, Types string
	Region              trace.RegionID // of the first
	Calls               int64
	// Host and Device are with all inside, recursion once; the others without other operators inside.
	Host, HostSelf     trace.Time
	Device, DeviceSelf trace.Time
	// Flop and Bytes are those of one call; negative if unknown.
	Flop, Bytes float64
	Kernels     []Kernel // of DeviceSelf, most time first
	Comm        Comm
}

// Rate is arithmetic per second of device time, negative where it is unknown.
func (r *Row) Rate() float64 { return r.per(r.Flop) }

// Bandwidth is bytes per second of device time, negative where it is unknown.
func (r *Row) Bandwidth() float64 { return r.per(r.Bytes) }

func (r *Row) per(x float64) float64 {
	if x < 0 || r.Device <= 0 {
		return -1
	}
	return x * float64(r.Calls) / float64(r.Device) * 1e9
}

// Intensity is arithmetic per byte, negative where it is unknown.
func (r *Row) Intensity() float64 {
	if r.Flop < 0 || r.Bytes <= 0 {
		return -1
	}
	return r.Flop / r.Bytes
}

// A Kernel is the work that an operator launches, by name.
type Kernel struct {
	Region trace.RegionID
	Calls  int64
	Time   trace.Time
}

// A Comm is a collective, as its operator describes it.
type Comm struct {
	Name  string // "": none
	Bytes int64  // of a message
	Size  int64  // of the group
}

// Bus is how much more than the message crosses the wires of each member, by NCCL's convention.
func (c *Comm) Bus() float64 {
	n := float64(max(c.Size, 1))
	switch c.Name {
	case "allreduce", "all_reduce", "allreduce_coalesced":
		return 2 * (n - 1) / n
	case "allgather", "_allgather_base", "all_gather", "allgather_into_tensor_coalesced", "reduce_scatter",
		"_reduce_scatter_base", "reduce_scatter_tensor_coalesced", "all_to_all", "all_to_allv":
		return (n - 1) / n
	}
	return 1
}

// Tables are a run by each of By.
type Tables [Bys]*Table

// SizeBytes estimates the memory of tables.
func (t *Tables) SizeBytes() (n int64) {
	for _, x := range t {
		for i := range x.Rows {
			n += 300 + int64(len(x.Rows[i].Shapes)+len(x.Rows[i].Types)+24*len(x.Rows[i].Kernels))
		}
	}
	return n
}

// Rows counts those of all tables.
func (t *Tables) Rows() (n int) {
	for _, x := range t {
		n += len(x.Rows)
	}
	return n
}

// errOtherRun is the error of tables that name rows or regions unknown to their run.
var errOtherRun = errors.New("the tables of operators are not those of this run")

// restore checks tables that were kept against their run.
func (t *Tables) restore(r store.Reader) error {
	regions := len(r.Regions())
	for _, x := range t {
		if x == nil {
			return errOtherRun
		}
		for i := range x.Rows {
			r := &x.Rows[i]
			if int(r.Region) >= regions ||
				slices.ContainsFunc(r.Kernels, func(k Kernel) bool { return int(k.Region) >= regions }) {
				return errOtherRun
			}
		}
	}
	return nil
}

// A Table is a run by operators.
type Table struct {
	Rows []Row // most device time first
	// Unattributed is work of GPUs that no operator in the file launched.
	Unattributed     trace.Time
	UnattributedWork int64
	// Shaped: the file states shapes.
	Shaped bool
}

type group struct {
	Row
	kernels map[trace.RegionID]*Kernel
}

type reader struct {
	*runfacts.GPUPart
	host     *runfacts.GPUPart // its rows without GPUs
	modular  bool              // rows are modules
	operator []bool            // by region
	module   []string
	works    map[uint32]*works
	launches [][]launch            // by the lane of the call, in the order of its rows
	text     [3]map[uint32]*column // dims, types, concrete inputs, by lane
	comm     [5]map[uint32]*column
	mu       sync.Mutex
	lanes    map[uint32]*lane
}

// A lane holds the sums of one lane of the host, before lanes are joined.
type lane struct {
	id     uint32
	groups map[string]*group
	known  map[said]*group // the same, by the content of rows
	recent map[trace.RegionID][]saying
	text   [3]*column // of the lane
	comm   [5]*column
	open   []opened
	next   int // launch
	at     [8]int
	time   trace.Time
	works  int64
}

// said holds the attributes of a row of an operator that is no collective.
type said struct {
	region trace.RegionID
	texts  [3]trace.Value
}

// A saying is a recent set of attributes with its group.
type saying struct {
	said
	group *group
}

// mostRecent is how many of these are looked through before they are looked up. Texts of a store are at one place each,
// so equal ones are seen to be so without being read.
const mostRecent = 8

type opened struct {
	end    trace.Time
	group  *group // nil: no operator
	outer  bool   // the group is open further out
	module string
}

// Read makes the tables. The rows of the host are read once, and once more where modules are among them.
func Read(s *runfacts.GPUPart) (*Tables, error) {
	r := &reader{GPUPart: s, host: s.Of(false), operator: make([]bool, len(s.Regions)),
		module: make([]string, len(s.Regions))}
	modules := false
	for i := range s.Regions {
		g := &s.Regions[i]
		switch strings.ToLower(g.Category) {
		case "cpu_op", "operator":
			r.operator[i] = g.Role != trace.RoleAnnotation
		case "python_function":
			if m, ok := strings.CutPrefix(g.Name, "nn.Module: "); ok {
				r.module[i] = m
				modules = true
			}
		}
	}
	if err := r.readWork(); err != nil {
		return nil, err
	}
	for i, name := range []string{"Input Dims", "Input type", "Concrete Inputs"} {
		var err error
		if r.text[i], err = r.column(name); err != nil {
			return nil, err
		}
	}
	if len(r.text[0]) == 0 {
		var err error
		if r.text[0], err = r.column("Input dims"); err != nil { // as the profiler of 2021 wrote it
			return nil, err
		}
	}
	for i, name := range []string{"Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size"} {
		var err error
		if r.comm[i], err = r.column(name); err != nil {
			return nil, err
		}
	}
	t := &Tables{ByModule: {Shaped: len(r.text[0]) > 0}, ByKernel: r.kernels()}
	for _, modular := range []bool{false, true} {
		if modular && !modules {
			break
		}
		r.modular, r.lanes = modular, map[uint32]*lane{}
		if err := r.host.Intervals(r.take); err != nil {
			return nil, err
		}
		if modular {
			t[ByModule] = r.table(ByModule)
			break
		}
		t[ByShapes], t[ByName] = r.table(ByShapes), r.table(ByName)
	}
	return t, nil
}

// A column is the values of one attribute on a lane.
type column struct {
	rows   []int32
	values []trace.Value
}

func (r *reader) column(name string) (map[uint32]*column, error) {
	out := map[uint32]*column{}
	var mu sync.Mutex
	err := r.host.Attribute(name, func(a *store.AttributeColumns) {
		mu.Lock()
		defer mu.Unlock()
		id := r.Lane(a.Location, a.Lane)
		c := out[id]
		if c == nil {
			c = &column{}
			out[id] = c
		}
		c.rows, c.values = append(c.rows, a.Row...), append(c.values, a.Value...)
	})
	return out, err
}

// value finds the value of a row; rows of a lane come in order.
func (l *lane) value(c *column, slot int, row int32) (trace.Value, bool) {
	if c == nil {
		return trace.Value{}, false
	}
	at := &l.at[slot]
	for *at < len(c.rows) && c.rows[*at] < row {
		*at++
	}
	if *at < len(c.rows) && c.rows[*at] == row {
		return c.values[*at], true
	}
	return trace.Value{}, false
}

// take reads a batch of the host.
func (r *reader) take(c *trace.Columns) error {
	id := r.Lane(c.Location, c.Lane)
	r.mu.Lock()
	l := r.lanes[id]
	if l == nil {
		l = &lane{id: id, groups: map[string]*group{}, known: map[said]*group{}, recent: map[trace.RegionID][]saying{}}
		for i := range r.text {
			l.text[i] = r.text[i][id]
		}
		for i := range r.comm {
			l.comm[i] = r.comm[i][id]
		}
		r.lanes[id] = l
	}
	r.mu.Unlock()
	for i, region := range c.Region {
		r.row(l, c.Begin[i], c.End(i), region, int32(c.First+i))
	}
	return nil
}

func (r *reader) row(l *lane, begin, end trace.Time, region trace.RegionID, row int32) {
	for n := len(l.open); n > 0 && l.open[n-1].end <= begin; n-- {
		l.open = l.open[:n-1]
	}
	o := opened{end: end}
	if n := len(l.open); n > 0 {
		o.module = l.open[n-1].module
	}
	if m := r.module[region]; m != "" {
		o.module = m
	}
	if r.operator[region] || r.modular && r.module[region] != "" {
		if g := r.group(l, region, row, o.module); g != nil {
			r.enter(l, &o, g, end-begin)
		}
	}
	l.open = append(l.open, o)
	r.launched(l, row)
}

// enter counts a call of a group.
func (r *reader) enter(l *lane, o *opened, g *group, length trace.Time) {
	o.group = g
	g.Calls++
	g.HostSelf += length
	inner := true
	for i := len(l.open) - 1; i >= 0; i-- {
		if x := &l.open[i]; x.group != nil {
			if inner { // of the operator around this is no time of its own
				x.group.HostSelf -= length
				inner = false
			}
			o.outer = o.outer || x.group == g
		}
	}
	if !o.outer {
		g.Host += length
	}
}

// launched gives the work that a call started to the operators around it.
func (r *reader) launched(l *lane, row int32) {
	launches := r.launches[l.id]
	for l.next < len(launches) && launches[l.next].fromRow < row {
		l.next++
	}
	for ; l.next < len(launches) && launches[l.next].fromRow == row; l.next++ {
		x := &launches[l.next]
		w := r.works[x.toLane]
		if w == nil {
			continue
		}
		length, region, ok := w.find(x.toRow)
		if !ok {
			continue
		}
		self := true
		for i := len(l.open) - 1; i >= 0; i-- {
			o := &l.open[i]
			if o.group == nil {
				continue
			}
			if self {
				self = false
				l.time += length
				l.works++
				o.group.DeviceSelf += length
				k := o.group.kernels[region]
				if k == nil {
					k = &Kernel{Region: region}
					o.group.kernels[region] = k
				}
				k.Calls++
				k.Time += length
			}
			if !o.outer {
				o.group.Device += length
			}
		}
	}
}

// group finds the group of a row.
func (r *reader) group(l *lane, region trace.RegionID, row int32, module string) *group {
	g := &r.Regions[region]
	if r.modular {
		if r.module[region] == "" {
			return nil
		}
		return l.find(module,
			func() *group { return &group{Row: Row{Name: module, Region: region, Flop: -1, Bytes: -1}} })
	}
	says := said{region: region}
	for i := range says.texts {
		says.texts[i], _ = l.value(l.text[i], i, row)
	}
	var comm Comm
	if v, ok := l.value(l.comm[0], 3, row); ok {
		comm = l.collective(v.String(), row)
	} else if x := l.said(&says); x != nil {
		return x
	}
	var texts [3]string
	for i, v := range says.texts {
		if v != (trace.Value{}) {
			texts[i] = v.String()
		}
	}
	// Arithmetic may hang on the arguments, such as strides, so they distinguish rows until they are joined.
	key := g.Name + "\x00" + texts[0] + "\x00" + texts[1] + "\x00" + texts[2]
	if comm.Name != "" {
		key += "\x00" + comm.Name + strconv.FormatInt(comm.Bytes, 10)
	}
	x := l.find(key, func() *group {
		x := &group{Row: Row{Name: g.Name, Shapes: texts[0], Types: texts[1], Region: region, Comm: comm}}
		x.Flop, x.Bytes = Count(g.Name, texts[0], texts[1], texts[2])
		return x
	})
	if comm.Name == "" {
		l.known[says] = x
	}
	return x
}

// said finds the group of attributes that were met before.
func (l *lane) said(says *said) *group {
	recent := l.recent[says.region]
	for i := range recent {
		if recent[i].texts == says.texts {
			return recent[i].group
		}
	}
	x := l.known[*says]
	if x != nil && len(recent) < mostRecent {
		l.recent[says.region] = append(recent, saying{*says, x})
	}
	return x
}

func (l *lane) collective(name string, row int32) Comm {
	c := Comm{Name: name}
	kind, _ := l.value(l.comm[1], 4, row)
	in, _ := l.value(l.comm[2], 5, row)
	out, _ := l.value(l.comm[3], 6, row)
	size, _ := l.value(l.comm[4], 7, row)
	a, _ := in.Number()
	b, _ := out.Number()
	n, _ := size.Number()
	if most := max(a, b); most > 0 && most < 1e15 {
		c.Bytes = int64(most * typeSize(kind.String()))
	}
	if n > 0 && n < 1e9 {
		c.Size = int64(n)
	}
	return c
}

func (l *lane) find(key string, make func() *group) *group {
	g := l.groups[key]
	if g == nil {
		g = make()
		g.kernels = map[trace.RegionID]*Kernel{}
		l.groups[key] = g
	}
	return g
}

// table joins the lanes, which it leaves as they are.
func (r *reader) table(by By) *Table {
	t := &Table{Shaped: len(r.text[0]) > 0}
	all := map[string]*group{}
	ids := make([]uint32, 0, len(r.lanes))
	for id := range r.lanes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	flop := map[string][2]float64{} // of all calls of a row; NaN-free: -1 where one is unknown
	for _, id := range ids {
		l := r.lanes[id]
		t.Unattributed -= l.time
		t.UnattributedWork -= l.works
		keys := make([]string, 0, len(l.groups))
		for k := range l.groups {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			x := l.groups[k]
			key := x.Name
			if by == ByShapes {
				key += "\x00" + x.Shapes + "\x00" + x.Types + "\x00" + x.Comm.Name + strconv.FormatInt(x.Comm.Bytes, 10)
			}
			sums, known := flop[key]
			if !known {
				sums = [2]float64{0, 0}
			}
			for i, v := range [2]float64{x.Flop, x.Bytes} {
				if v < 0 || sums[i] < 0 {
					sums[i] = -1
				} else {
					sums[i] += v * float64(x.Calls)
				}
			}
			flop[key] = sums
			g := all[key]
			if g == nil {
				g = &group{Row: x.Row, kernels: map[trace.RegionID]*Kernel{}}
				g.Calls, g.Host, g.HostSelf, g.Device, g.DeviceSelf = 0, 0, 0, 0, 0
				if by == ByName {
					g.Shapes, g.Types = "", ""
				}
				all[key] = g
			}
			g.join(x)
		}
	}
	for _, w := range r.works {
		for i := range w.rows {
			t.Unattributed += w.length[i]
		}
		t.UnattributedWork += int64(len(w.rows))
	}
	for key, g := range all {
		if sums := flop[key]; g.Calls > 0 {
			g.Flop, g.Bytes = each(sums[0], g.Calls), each(sums[1], g.Calls)
		}
		for _, k := range g.kernels {
			g.Kernels = append(g.Kernels, *k)
		}
		slices.SortFunc(g.Kernels,
			func(a, b Kernel) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Region, b.Region)) })
		t.Rows = append(t.Rows, g.Row)
	}
	t.sort()
	return t
}

func (t *Table) sort() {
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.DeviceSelf, a.DeviceSelf), cmp.Compare(b.HostSelf, a.HostSelf),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Shapes, b.Shapes), cmp.Compare(a.Types, b.Types),
			cmp.Compare(a.Comm.Bytes, b.Comm.Bytes), cmp.Compare(a.Region, b.Region))
	})
}

func each(sum float64, calls int64) float64 {
	if sum < 0 {
		return -1
	}
	return sum / float64(calls)
}

// join adds another group of the same row.
func (g *group) join(x *group) {
	g.Calls += x.Calls
	g.Host += x.Host
	g.HostSelf += x.HostSelf
	g.Device += x.Device
	g.DeviceSelf += x.DeviceSelf
	if x.Comm != g.Comm {
		g.Comm = Comm{}
	}
	for region, k := range x.kernels {
		if mine := g.kernels[region]; mine != nil {
			mine.Calls += k.Calls
			mine.Time += k.Time
		} else {
			own := *k
			g.kernels[region] = &own
		}
	}
}
