package ctf

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	c := newConverter(run, w)
	streams, err := c.load()
	if err != nil {
		return err
	}
	if len(streams) == 0 {
		return &importer.Error{File: run.Label(run.Files[0]),
			Cause: "the folder has this description of a CTF trace and no file of events that it describes",
			Hint:  "give the folder with its stream files, as the recorder wrote it", Kind: importer.ErrNotFound}
	}
	if err := merge(ctx, streams, c.event); err != nil {
		return err
	}
	return c.close()
}

// A converter gives events their meaning.
type converter struct {
	run        importer.Run
	w          trace.Writer
	tally      *tally
	opened     importer.Rows
	rows       map[rowKey]*row
	cpus       map[int64]*cpu
	cpuList    []*cpu
	threads    map[int64]*thread
	threadList []*thread
	regions    map[uint64]trace.RegionID // of functions, by address
	texts      map[string]trace.Value
	symbols    map[uint64]string // names of functions, by address
	otf2       otf2Names
	tasks      map[string]trace.RegionID // by name
	states     [threadStates]trace.RegionID
	tid        trace.AttributeID
	ends       int64 // fields of events that end something
	dropped    int64 // events whose fields are more than are kept
	example    string
}

// A row is a location with its stream.
type row = importer.Row

type rowKey struct {
	kind trace.Kind
	id   int64
	file string
}

func newConverter(run importer.Run, w trace.Writer) *converter {
	c := &converter{
		run: run, w: w, tid: w.Attribute("tid"), tasks: map[string]trace.RegionID{},
		tally: &tally{w: w, streams: map[streamKey]*counts{}}, opened: importer.NewRows(w), rows: map[rowKey]*row{},
		cpus: map[int64]*cpu{}, threads: map[int64]*thread{},
		regions: map[uint64]trace.RegionID{}, symbols: map[uint64]string{}, texts: map[string]trace.Value{},
		otf2: otf2Names{strings: map[uint64]string{}, regions: map[uint64]uint64{}, groups: map[uint64]uint64{},
			locations: map[uint64]otf2Location{}},
	}
	for i := range c.states {
		c.states[i] = trace.NoRegion
	}
	return c
}

// load reads the metadata of every trace of the run, and returns the streams.
func (c *converter) load() (streams []*stream, err error) {
	traces := map[string]*traceClass{}
	for _, file := range c.run.Files {
		if path.Base(file) == "metadata" {
			t, err := readMetadata(c.run, file)
			if err != nil {
				return nil, err
			}
			traces[path.Dir(file)] = t
			c.describe(t)
		}
	}
	for _, file := range c.run.Companions {
		if isSymbols(c.run.Source.Head(file)) {
			if err := readSymbols(c.run, file, c.symbols); err != nil {
				return nil, err
			}
		}
	}
	for _, file := range c.run.Files {
		if t := traces[path.Dir(file)]; t != nil && path.Base(file) != "metadata" {
			streams = append(streams,
				&stream{run: c.run, file: file, label: c.run.Label(file), trace: t, tally: c.tally,
					number: len(streams), cpu: -1, id: -1})
		}
	}
	return streams, nil
}

// describe gives events their meaning, names of attributes, and properties of the trace.
func (c *converter) describe(t *traceClass) {
	for key, v := range t.env {
		c.w.Property(strings.ReplaceAll(key, "_", " "), v)
	}
	names := make([]string, 0, len(t.leaves))
	for name := range t.leaves {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.leaves[name].attr = c.w.Attribute(name)
	}
	known := map[string]bool{}
	var list []*eventClass
	for _, s := range t.streams {
		for _, e := range s.events {
			known[e.name] = true
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *eventClass) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.stream, b.stream), cmp.Compare(a.id, b.id))
	})
	for _, e := range list {
		e.meaning = c.meaningOf(t, e.name, known)
	}
}

// A meaning is the effect of events of a name.
type meaning struct {
	kind   meaningKind
	name   string
	role   trace.Role
	word   string // category
	region trace.RegionID
	known  bool                                // the region is defined
	field  [5]*leaf                            // those that it is made of
	take   func(*converter, *stream, *meaning) // of special ones
}

type meaningKind uint8

const (
	isInstant meaningKind = iota
	isEnter
	isLeave
	isCall      // of the system
	isReturn    // from it
	isReturnAny // whichever call was last
	isFunction  // entered, by address
	isFunctionEnd
	isSpecial
)

// endings are how names of two events that belong together end.
var endings = [][2]string{{"entry", "exit"}, {"enter", "exit"}, {"begin", "end"}, {"start", "stop"}, {"start", "end"},
	{"entry", "return"}}

// meaningOf decides by the name, and by which other names there are.
func (c *converter) meaningOf(t *traceClass, name string, known map[string]bool) *meaning {
	kernel := t.env["domain"] == "kernel"
	word := "event"
	if i := strings.IndexByte(name, ':'); i > 0 {
		word = name[:i]
	}
	m := &meaning{name: name, word: word, role: trace.RoleAnnotation}
	leaves := func(names ...string) *meaning {
		for i, n := range names {
			m.field[i] = t.leaves[n]
		}
		return m
	}
	special := func(take func(*converter, *stream, *meaning)) { m.kind, m.take = isSpecial, take }
	switch {
	case name == "sched_switch" && t.leaves["next_tid"] != nil:
		special((*converter).schedule)
		return leaves("prev_tid", "prev_state", "next_tid", "next_comm", "prev_comm")
	case (name == "sched_wakeup" || name == "sched_wakeup_new") && t.leaves["tid"] != nil:
		special((*converter).wake)
		return leaves("tid", "comm")
	case t.env["tracer_name"] == "otf2":
		return c.otf2Meaning(t, m)
	}
	if strings.HasPrefix(word, "lttng_ust_cyg_profile") {
		leaves("addr")
		switch name[len(word):] {
		case ":func_entry":
			m.kind = isFunction
			return m
		case ":func_exit":
			m.kind = isFunctionEnd
			return m
		}
	}
	for _, begin := range []string{"syscall_entry_", "compat_syscall_entry_"} {
		if call, ok := strings.CutPrefix(name, begin); ok {
			m.kind, m.name, m.word, m.role = isCall, call, "syscall", trace.RoleByName
			return m
		}
		if call, ok := strings.CutPrefix(name, strings.Replace(begin, "entry", "exit", 1)); ok {
			m.kind, m.name, m.word, m.role = isReturn, call, "syscall", trace.RoleByName
			return m
		}
	}
	if call, ok := strings.CutPrefix(name, "sys_"); ok && kernel && known["exit_syscall"] { // LTTng before 2.6
		m.kind, m.name, m.word, m.role = isCall, call, "syscall", trace.RoleByName
		return m
	}
	if name == "exit_syscall" {
		m.kind = isReturnAny
		return m
	}
	for _, e := range endings {
		for i, end := range e {
			base, ok := strings.CutSuffix(name, end)
			if !ok || base == "" || !strings.ContainsAny(base[len(base)-1:], "_:-. ") || !known[base+e[1-i]] {
				continue
			}
			m.kind = [...]meaningKind{isEnter, isLeave}[i]
			m.name = strings.TrimRight(base, "_:-. ")
			m.role = trace.RoleByName
			if kernel &&
				(strings.Contains(m.name, "irq") || strings.Contains(m.name, "hrtimer") ||
					strings.Contains(m.name, "tasklet")) {
				m.word, m.role = "interrupt", trace.RoleOverhead
			}
			return m
		}
	}
	return m
}

// regionOf defines the region of an event when the first one comes.
func (c *converter) regionOf(m *meaning) trace.RegionID {
	if !m.known {
		m.region = c.w.Region(trace.Region{Name: m.name, Category: m.word, Role: m.role})
		m.known = true
	}
	return m.region
}

// event takes the event that a stream is at.
func (c *converter) event(s *stream) error {
	m := s.event.meaning
	if len(s.d.values) == mostValues {
		c.dropped++
		c.example = s.label
	}
	switch m.kind {
	case isSpecial:
		m.take(c, s, m)
	case isInstant:
		r := c.rowOf(s, false)
		r.Stream.Instant(s.time, c.regionOf(m))
		c.tell(s, r)
	case isEnter, isCall:
		r := c.rowOf(s, m.kind == isCall)
		r.Stream.Enter(s.time, c.regionOf(m))
		c.tell(s, r)
	case isLeave, isReturn:
		c.rowOf(s, m.kind == isReturn).Stream.Leave(s.time, c.regionOf(m))
		c.ended(s)
	case isReturnAny:
		c.rowOf(s, true).Stream.Leave(s.time, trace.NoRegion)
		c.ended(s)
	case isFunction:
		r := c.rowOf(s, true)
		r.Stream.Enter(s.time, c.function(s, m))
		c.tell(s, r)
	case isFunctionEnd:
		region := trace.NoRegion
		if s.d.find(m.field[0]) != nil {
			region = c.function(s, m)
		}
		c.rowOf(s, true).Stream.Leave(s.time, region)
	}
	if s.on == nil && s.cpu >= 0 {
		s.on = c.cpus[s.cpu]
	}
	if s.on != nil {
		s.on.last = max(s.on.last, s.time)
	}
	return nil
}

// ended counts fields of an event that ends something: there is no place for them.
func (c *converter) ended(s *stream) {
	if n := len(s.d.values) - s.d.contexts; n > 0 {
		c.ends += int64(n)
	}
}

// find returns the value of a field of the payload or, failing that, of the context.
func (d *decoder) find(l *leaf) *value {
	if l == nil {
		return nil
	}
	for i := len(d.values) - 1; i >= 0; i-- {
		if d.values[i].leaf == l {
			return &d.values[i]
		}
	}
	return nil
}

func (c *converter) function(s *stream, m *meaning) trace.RegionID {
	v := s.d.find(m.field[0])
	if v == nil {
		return c.regionOf(m)
	}
	return importer.Once(c.regions, v.bits, func() trace.RegionID {
		r := trace.Region{Name: c.symbols[v.bits], Category: "function", Role: trace.RoleByName}
		if r.Name == "" {
			r.Name, r.Role = "0x"+strconv.FormatUint(v.bits, 16), trace.RoleCompute
		}
		return c.w.Region(r)
	})
}

// tell adds the fields of an event to the row written last.
func (c *converter) tell(s *stream, r *row) {
	for i := range s.d.values {
		v := &s.d.values[i]
		if i < s.d.contexts && isIdentity(v.leaf.name) {
			continue
		}
		switch v.kind {
		case valueFloat:
			r.Stream.Attribute(v.leaf.attr, trace.ValueOf(trace.ValueNumber, v.bits, ""))
		case valueText:
			r.Stream.Attribute(v.leaf.attr, c.textOf(v.text))
		case valueLabel:
			r.Stream.Attribute(v.leaf.attr, trace.Text(v.label))
		default:
			r.Stream.Attribute(v.leaf.attr, trace.Integer(int64(v.bits)))
		}
	}
}

// isIdentity: fields of contexts that tell the row, not the event.
func isIdentity(name string) bool {
	switch name {
	case "vtid", "tid", "vpid", "pid", "procname", "cpu_id":
		return true
	}
	return false
}

// mostTexts bounds how many strings are kept to be given again.
const mostTexts = 1 << 12

func (c *converter) textOf(b []byte) trace.Value {
	if v, ok := c.texts[string(b)]; ok {
		return v
	}
	v := trace.Text(strings.ToValidUTF8(string(b), "\uFFFD"))
	if len(c.texts) < mostTexts {
		c.texts[string(b)] = v
	}
	return v
}

// rowOf is where an event belongs: to the thread that its context names, to the one that its CPU runs (of
// calls), to its CPU, or to its stream.
func (c *converter) rowOf(s *stream, call bool) *row {
	var tid, pid int64 = -1, -1
	var name []byte
	for i := range s.d.contexts {
		switch v := &s.d.values[i]; v.leaf.name {
		case "vtid":
			tid = int64(v.bits)
		case "tid":
			if tid < 0 {
				tid = int64(v.bits)
			}
		case "vpid":
			pid = int64(v.bits)
		case "pid":
			if pid < 0 {
				pid = int64(v.bits)
			}
		case "procname":
			name = v.text
		}
	}
	if tid < 0 && call && s.cpu >= 0 {
		if u := c.cpus[s.cpu]; u != nil && u.running && u.tid > 0 {
			tid = u.tid
		}
	}
	switch {
	case tid >= 0 && (tid > 0 || call):
		return c.thread(tid, pid, name).row(c)
	case s.cpu >= 0:
		if s.on == nil {
			s.on = c.cpu(s.cpu)
		}
		return &s.on.row
	}
	key := rowKey{kind: trace.KindStream, id: s.id, file: s.file}
	r := c.rows[key]
	if r == nil {
		r = c.addRow(key,
			trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Key: s.file, Name: path.Base(s.file),
				Rank: trace.NoRank}, trace.StreamOptions{Unordered: true})
	}
	return r
}

func (c *converter) addRow(key rowKey, l trace.Location, o trace.StreamOptions) *row {
	r := c.opened.Open(l, o)
	c.rows[key] = r
	return r
}

// close ends open intervals and reports the counts.
func (c *converter) close() error {
	c.stay()
	importer.Tell(c.w, trace.MissingDetails, "fields of events that end an interval", c.ends, "")
	importer.Tell(c.w, trace.MissingDetails, "events of which only the first 24 fields are kept", c.dropped, c.example)
	c.otf2.report(c.w)
	return c.opened.Close()
}
