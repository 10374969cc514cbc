package perfetto

import (
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sequence is the state of one writer so far. Names, defaults and clocks hold
// for its own packets only, until it clears them.
type sequence struct {
	id    uint32
	begun bool // a packet was seen
	valid bool // its state is complete since it was cleared

	names       table[string]
	categories  table[string]
	keys        table[string] // of annotations
	texts       table[string] // of annotations
	bodies      table[string] // of log messages
	functions   table[string]
	paths       table[string]
	sources     table[string] // places in source code, as text
	frames      table[stackFrame]
	stacks      table[[]uint64]
	sampled     map[uint64]sampledStack // some of stacks
	stages      table[string]           // of GPUs: queues and stages
	contexts    table[int64]            // of GPUs: the process
	correlation table[string]

	ticking     *clock // the one used last
	tickingID   uint32
	clock       uint32 // default; 0 for none
	track       uint64 // default; 0 for none
	extra       []uint64
	extraDouble []uint64

	regions map[regionKey]trace.RegionID // of interned names
	recent  []regionMemo                 // some of them, by the number of the name
	lanes   map[uint64]*lane             // by track
	last    *lane
	sums    map[uint64]float64 // of counters that write differences

	thread *oldThread // the thread that the sequence writes for, in old traces
}

// A regionKey is a pair of interned ids.
type regionKey struct{ name, category uint64 }

// A table holds interned values by their id. Ids are small numbers in the order
// of use, as a rule.
type table[T any] struct {
	small []entry[T]
	large map[uint64]T
}

type entry[T any] struct {
	value T
	set   bool
}

func (t *table[T]) put(id uint64, v T) {
	if id < uint64(2*len(t.small)+256) {
		for uint64(len(t.small)) <= id {
			t.small = append(t.small, entry[T]{})
		}
		t.small[id] = entry[T]{v, true}
		return
	}
	if t.large == nil {
		t.large = map[uint64]T{}
	}
	t.large[id] = v
}

func (t *table[T]) get(id uint64) (v T, ok bool) {
	if id < uint64(len(t.small)) && t.small[id].set {
		return t.small[id].value, true
	}
	v, ok = t.large[id]
	return v, ok
}

func (t *table[T]) clear() {
	clear(t.small)
	t.small = t.small[:0]
	t.large = nil
}

func newSequence(id uint32) *sequence {
	return &sequence{id: id, regions: map[regionKey]trace.RegionID{}, lanes: map[uint64]*lane{}}
}

// A regionMemo is the region that was found last for a name.
type regionMemo struct {
	category uint64
	id       trace.RegionID
	set      bool
}

// remember keeps the region of a name that is in the table of names.
func (s *sequence) remember(k regionKey, id trace.RegionID) {
	if n := len(s.names.small); len(s.recent) < n {
		s.recent = append(s.recent, make([]regionMemo, n-len(s.recent))...)
	}
	if k.name < uint64(len(s.recent)) {
		s.recent[k.name] = regionMemo{k.category, id, true}
	}
}

// forgetRegions is for numbers of names that may mean others from now on.
func (s *sequence) forgetRegions() {
	clear(s.regions)
	clear(s.recent)
}

// forget begins the sequence's state anew. Open intervals stay open.
func (s *sequence) forget() {
	for _, t := range []*table[string]{&s.names, &s.categories, &s.keys, &s.texts, &s.bodies, &s.functions, &s.paths,
		&s.sources, &s.stages, &s.correlation} {
		t.clear()
	}
	s.frames.clear()
	s.stacks.clear()
	s.contexts.clear()
	s.sampled = nil
	s.forgetRegions()
	s.sums = nil
	s.clock, s.track, s.extra, s.extraDouble = 0, 0, nil, nil
	s.valid = true
}

// sequenceDefaults hold for packets of a sequence that do not say otherwise.
type sequenceDefaults struct {
	clock uint32 `pb:"58"`
	event struct {
		track       uint64   `pb:"11"`
		extra       []uint64 `pb:"31"`
		extraDouble []uint64 `pb:"45"`
	} `pb:"11"`
}

var defaultsTable = protobuf.TableOf[sequenceDefaults]()

func (s *sequence) setDefaults(b []byte) bool {
	d, ok := defaultsTable.Of(b)
	s.clock, s.track, s.extra, s.extraDouble = d.clock, d.event.track, d.event.extra, d.event.extraDouble
	return ok
}

// Numbers of the fields of interned data.
const (
	internedCategories  = 1
	internedNames       = 2
	internedKeys        = 3
	internedSources     = 4
	internedFunctions   = 5
	internedFrames      = 6
	internedStacks      = 7
	internedPaths       = 18
	internedBodies      = 20
	internedContexts    = 23
	internedStages      = 24
	internedTexts       = 29
	internedCorrelation = 43
)

// internedStrings returns the table of strings that a field of interned data adds
// to; nil for fields that are no strings.
func (s *sequence) internedStrings(number int32) *table[string] {
	switch number {
	case internedNames:
		return &s.names
	case internedCategories:
		return &s.categories
	case internedKeys:
		return &s.keys
	case internedTexts:
		return &s.texts
	case internedBodies:
		return &s.bodies
	case internedFunctions:
		return &s.functions
	case internedPaths:
		return &s.paths
	case internedStages:
		return &s.stages
	case internedCorrelation:
		return &s.correlation
	}
	return nil
}

// internValues takes the values that later packets refer to by number.
func (s *sequence) internValues(b []byte) bool {
	m := protobuf.Open(b)
	sound := true
	for m.Next() {
		if t := s.internedStrings(m.Number); t != nil {
			sound = s.internString(t, m.Bytes) && sound
			continue
		}
		switch m.Number {
		case internedSources:
			p, _ := sourcePlaces.Of(m.Bytes)
			s.sources.put(p.id, p.text())
		case internedFrames:
			f, _ := stackFrames.Of(m.Bytes)
			s.frames.put(f.id, f)
		case internedStacks:
			k, _ := callStacks.Of(m.Bytes)
			s.stacks.put(k.id, k.frames)
		case internedContexts:
			c, _ := gpuContexts.Of(m.Bytes)
			s.contexts.put(c.id, c.pid)
		}
	}
	return sound && !m.Broken
}

type internedString struct {
	id   uint64 `pb:"1"`
	text []byte `pb:"2"`
}

var internedStringTable = protobuf.TableOf[internedString]()

func (s *sequence) internString(t *table[string], b []byte) bool {
	f, sound := internedStringTable.Of(b)
	old, ok := t.get(f.id)
	if !ok || old != string(f.text) {
		t.put(f.id, string(f.text))
	}
	if ok && old != string(f.text) { // the number is given anew
		s.forgetRegions()
	}
	return sound
}
