package read

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A definitionsOf holds the definitions of a store as Go values.
type definitionsOf struct {
	*rows.Table
	*sections // for the manifest

	generation    uint64
	info          store.Info
	tree          *store.Tree
	lanes         []uint32
	counting      []uint32 // locations with intervals that are not aside, before each, n+1
	counters      []trace.Counter
	attributes    []string
	callPaths     []trace.CallPath
	communicators []trace.Communicator
	topologies    []trace.Topology
}

// load makes Go values of the definitions. They are copied from the maps, so
// that they stay valid after Close. O(definitions).
func (r *definitionsOf) load() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read definitions: %v: %w", p, disk.ErrDamaged)
		}
	}()
	names := string(r.C.StringBytes)
	text := func(id uint32) string { return names[r.C.StringOffset[id]:r.C.StringOffset[id+1]] }
	parts := []func(func(uint32) string){r.loadTree, r.loadGroups, r.loadRegions}
	_ = parallel.For(context.Background(), len(parts), func(i int) { parts[i](text) })
	r.loadInfo()
	err = r.checkStructure()
	r.C.StringOffset, r.C.LocationName, r.C.LocationKind = nil, nil, nil // the tree has them
	return err
}

func (r *definitionsOf) loadTree(text func(uint32) string) {
	c := &r.C
	n := len(c.LocationName)
	t := &store.Tree{
		Name: make([]string, n), Kind: make([]trace.Kind, n), Holds: make([]bool, n),
		Attributes: make([][]trace.Attribute, n),
		Parent:     append([]trace.LocationID(nil), c.LocationParent...),
		Last:       append([]trace.LocationID(nil), c.LocationLast...),
		Level:      append([]uint16(nil), c.LocationLevel...), Rank: append([]int32(nil), c.LocationRank...),
	}
	r.lanes = append([]uint32(nil), c.LocationLane...)
	r.Holders, r.counting = make([]uint32, n+1), make([]uint32, n+1)
	for id := range n {
		t.Name[id], t.Kind[id] = text(c.LocationName[id]), trace.Kind(text(c.LocationKind[id]))
		r.Holders[id+1], r.counting[id+1] = r.Holders[id], r.counting[id]
		if c.LocationLane[id] == c.LocationLane[id+1] {
			continue
		}
		r.Holders[id+1]++
		if t.Kind[id].Aside() {
			if t.Aside == nil {
				t.Aside = make([]bool, n)
			}
			t.Aside[id] = true
			r.Aside = append(r.Aside, trace.LocationID(id))
			continue
		}
		t.Holds[id] = true
		r.counting[id+1]++
	}
	c.LocationFact.Each(text,
		func(owner uint32, a trace.Attribute) { t.Attributes[owner] = append(t.Attributes[owner], a) })
	r.tree = t
}

func (r *definitionsOf) loadRegions(text func(uint32) string) {
	c := &r.C
	r.Regions = make([]trace.Region, len(c.RegionName))
	r.Roles = make([]trace.Role, len(c.RegionName))
	for id := range r.Regions {
		r.Regions[id] = trace.Region{
			Name: text(c.RegionName[id]), Category: text(c.RegionCategory[id]), Role: c.RegionRole[id],
			File: text(c.RegionFile[id]), Line: int(c.RegionLine[id]),
		}
		r.Roles[id] = c.RegionRole[id]
	}
	c.RegionFact.Each(text, func(owner uint32, a trace.Attribute) {
		r.Regions[owner].Attributes = append(r.Regions[owner].Attributes, a)
	})
	r.attributes = make([]string, len(c.AttributeName))
	for i, n := range c.AttributeName {
		r.attributes[i] = text(n)
	}
	r.counters = make([]trace.Counter, len(c.CounterName))
	for i := range r.counters {
		r.counters[i] = trace.Counter{
			Location: c.CounterLocation[i], Name: text(c.CounterName[i]), Unit: text(c.CounterUnit[i]),
			Monotone: c.CounterMonotone[i]&disk.CounterMonotone != 0,
			Grows:    c.CounterMonotone[i]&disk.CounterGrows != 0,
		}
	}
	r.callPaths = make([]trace.CallPath, len(c.CallPathParent))
	for i := range r.callPaths {
		r.callPaths[i] = trace.CallPath{Parent: c.CallPathParent[i], Region: c.CallPathRegion[i],
			Flat: c.CallPathFlat[i] != 0}
	}
}

// loadGroups loads communicators and topologies.
func (r *definitionsOf) loadGroups(text func(uint32) string) {
	c := &r.C
	r.communicators = make([]trace.Communicator, len(c.CommunicatorName))
	for i := range r.communicators {
		members := c.Member[c.CommunicatorMember[i]:c.CommunicatorMember[i+1]]
		r.communicators[i] = trace.Communicator{
			Name: text(c.CommunicatorName[i]), Parent: c.CommunicatorParent[i],
			Members: append([]trace.LocationID(nil), members...),
		}
	}
	r.topologies = make([]trace.Topology, len(r.manifest.Topologies))
	for i, t := range r.manifest.Topologies {
		r.topologies[i] = trace.Topology{Name: t.Name, Dims: t.Dims, DimNames: t.DimNames, Periodic: t.Periodic}
	}
	places := make([]int, len(c.Axis)) // of all: there may be millions
	for i, v := range c.Axis {
		places[i] = int(v)
	}
	counts := make([]int, len(r.topologies))
	for _, k := range c.CoordinateTopology {
		counts[k]++
	}
	for k, n := range counts {
		if n > 0 {
			r.topologies[k].Coordinates = make([]trace.Coordinate, 0, n)
		}
	}
	for i, k := range c.CoordinateTopology {
		from, to := c.CoordinateValue[i], c.CoordinateValue[i+1]
		t := &r.topologies[k]
		t.Coordinates = append(t.Coordinates,
			trace.Coordinate{Location: c.CoordinateLocation[i], At: places[from:to:to]})
	}
}

func (r *definitionsOf) loadInfo() {
	m, c := r.manifest, &r.C
	r.generation = m.Generation()
	r.info = store.Info{
		Sources: m.Info.Sources, Format: m.Info.Source, End: m.Info.End, Origin: m.Info.Origin, Core: m.Info.Core,
		Intervals: int64(len(c.Begin)), Inferred: m.Info.Inferred,
		Links:   int64(len(c.Link.Kind) + len(c.Untimed.Kind)),
		Samples: int64(len(c.SampleTime)), Instants: int64(len(c.InstantTime)), Profile: int64(len(c.ProfileLocation)),
		Lines: int64(len(c.LineLocation)),
		Depth: m.Info.Depth, Ranks: distinctRanks(c.LocationRank), Rows: int(r.counting[len(r.counting)-1]),
		Properties: m.Info.Properties, Report: m.Report, SizeBytes: m.Size(),
	}
	if r.info.Properties == nil {
		r.info.Properties = map[string]string{}
	}
}

// checkStructure checks that definitions are consistent: offsets ascend and stay within their tables, parents come
// before their children, ids exist. Checksums have been verified: this guards against a store that was written wrong,
// or to do harm. O(locations + lanes + other definitions).
func (r *definitionsOf) checkStructure() error {
	c := &r.C
	locations, regions := len(c.LocationName), len(c.RegionName)
	lanes := len(c.LaneEnd)
	checks := []struct {
		name string
		ok   func() bool
	}{
		{"location.lane", func() bool { return ascends(c.LocationLane, uint32(lanes)) }},
		{"location.parent", func() bool { return parentsBefore(c.LocationParent, trace.NoLocation) }},
		{"location.last", func() bool { return nested(c.LocationParent, c.LocationLast) }},
		{"lane.row", func() bool { return ascends(c.LaneRow, uint64(len(c.Begin))) }},
		{"lane.checkpoint", func() bool { return ascends(c.LaneCheckpoint, uint64(len(c.CheckpointSum)-1)) }},
		{"lane.forest", func() bool { return ascends(c.LaneForest, uint64(len(c.LevelNode)-1)) }},
		{"lane.end", func() bool { return within(c.LaneEnd, 0, r.End) }},
		{"region.role", func() bool { return below(c.RegionRole, trace.RoleCount) }},
		{"counter.location", func() bool { return belowOr(c.CounterLocation, locations, trace.NoLocation) }},
		{"counter.first", func() bool { return pieces(c.CounterFirst, c.CounterCount, uint64(len(c.SampleTime))) }},
		{"communicator.parent", func() bool { return acyclic(c.CommunicatorParent, trace.NoCommunicator) }},
		{"member.location", func() bool { return belowOr(c.Member, locations, trace.NoLocation) }},
		{"coordinate.location", func() bool { return belowOr(c.CoordinateLocation, locations, trace.NoLocation) }},
		{"callpath.parent", func() bool { return acyclic(c.CallPathParent, trace.NoCallPath) }},
		{"callpath.region", func() bool { return below(c.CallPathRegion, regions) }},
	}
	for _, x := range checks {
		if !x.ok() {
			return fmt.Errorf("%s holds what cannot be: %w", x.name, disk.ErrDamaged)
		}
	}
	if r.End < 0 || r.End >= disk.MostTime {
		return fmt.Errorf("the trace ends at %d ns: %w", r.End, disk.ErrDamaged)
	}
	for _, e := range r.manifest.Report {
		if !e.Kind.Valid() {
			return fmt.Errorf("the import report has an entry of kind %d: %w", e.Kind, disk.ErrDamaged)
		}
	}
	return nil
}

// ascends reports whether offsets never go down, from 0 to the end of their table.
func ascends[T uint32 | uint64](offsets []T, end T) bool {
	return len(offsets) > 0 && offsets[0] == 0 && offsets[len(offsets)-1] == end && slices.IsSorted(offsets)
}

// parentsBefore reports whether every parent has a lower number than its child, so that no chain of them has an end
// that never comes.
func parentsBefore[T ~uint32](parents []T, none T) bool {
	for i, p := range parents {
		if p != none && int64(p) >= int64(i) {
			return false
		}
	}
	return true
}

// acyclic reports whether every chain of parents ends, and stays in the table. O(n): chains known to end are not
// followed again.
func acyclic[T ~uint32](parents []T, none T) bool {
	state := make([]uint8, len(parents)) // 1: on the chain at hand, 2: ends
	for i := range parents {
		for at := T(i); state[at] != 2; {
			if state[at] == 1 || parents[at] != none && int64(parents[at]) >= int64(len(parents)) {
				return false
			}
			if state[at] = 1; parents[at] == none {
				break
			}
			at = parents[at]
		}
		for at := T(i); state[at] == 1; at = parents[at] {
			if state[at] = 2; parents[at] == none {
				break
			}
		}
	}
	return true
}

// nested reports whether the locations are in preorder: the descendants of one are all that follow it up to its last.
func nested(parents, last []trace.LocationID) bool {
	for i, p := range parents {
		if int(last[i]) < i || int(last[i]) >= len(last) || p != trace.NoLocation && last[i] > last[p] {
			return false
		}
	}
	return true
}

func below[T ~uint8 | ~uint32](list []T, n int) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return int(v) >= n })
}

func belowOr[T ~uint32](list []T, n int, none T) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return v != none && int64(v) >= int64(n) })
}

func within(list []trace.Time, from, to trace.Time) bool {
	return !slices.ContainsFunc(list, func(t trace.Time) bool { return t < from || t > to })
}

// pieces reports whether each piece is in its table.
func pieces(first, count []uint64, end uint64) bool {
	for i := range first {
		if first[i] > end || count[i] > end-first[i] {
			return false
		}
	}
	return true
}
