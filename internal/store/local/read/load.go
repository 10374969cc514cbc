package read

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A definitionsOf is what a store says about its rows, as Go values.
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

// load makes Go// load makes Go values of the definitions. They are copied from the maps, so
// that they stay valid after Close. O(definitions).
func (r *definitionsOf) load() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read definitions: %v: %w", p, disk.ErrDamaged)
		}
	}()
	names := string(r.C.StringBytes)
	text := func(id uint32) string { return names[r.C.StringOffset[id]:r.C.StringOffset[id+1]] }
	r.loadTree(text)
	r.loadRegions(text)
	r.loadGroups(text)
	r.loadInfo()
	return r.checkStructure()
}

func (r *definitionsOf) loadTree(text func(uint32) string) {
	c := &r.C
	n := len(c.LocationName)
	t := &store.Tree{
		Name: make([]string, n), Kind: make([]trace.Kind, n), Holds: make([]bool, n), Attributes: make([][]trace.Attribute, n),
		Parent: append([]trace.LocationID(nil), c.LocationParent...), Last: append([]trace.LocationID(nil), c.LocationLast...),
		Level: append([]uint16(nil), c.LocationLevel...), Rank: append([]int32(nil), c.LocationRank...),
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
	c.LocationFact.Each(text, func(owner uint32, a trace.Attribute) { t.Attributes[owner] = append(t.Attributes[owner], a) })
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
			Location: c.CounterLocation[i], Name: text(c.CounterName[i]), Unit: text(c.CounterUnit[i]), Monotone: c.CounterMonotone[i]&disk.CounterMonotone != 0,
			Grows: c.CounterMonotone[i]&disk.CounterGrows != 0,
		}
	}
	r.callPaths = make([]trace.CallPath, len(c.CallPathParent))
	for i := range r.callPaths {
		r.callPaths[i] = trace.CallPath{Parent: c.CallPathParent[i], Region: c.CallPathRegion[i], Flat: c.CallPathFlat[i] != 0}
	}
}

// loadGroups loads communicators and topologies.
func (r *definitionsOf) loadGroups(text func(uint32) string) {
	c := &r.C
	r.communicators = make([]trace.Communicator, len(c.CommunicatorName))
	for i := range r.communicators {
		members := c.Member[c.CommunicatorMember[i]:c.CommunicatorMember[i+1]]
		r.communicators[i] = trace.Communicator{
			Name: text(c.CommunicatorName[i]), Parent: c.CommunicatorParent[i], Members: append([]trace.LocationID(nil), members...),
		}
	}
	r.topologies = make([]trace.Topology, len(r.manifest.Topologies))
	for i, t := range r.manifest.Topologies {
		r.topologies[i] = trace.Topology{Name: t.Name, Dims: t.Dims, DimNames: t.DimNames, Periodic: t.Periodic}
	}
	for i, k := range c.CoordinateTopology {
		values := c.Axis[c.CoordinateValue[i]:c.CoordinateValue[i+1]]
		at := make([]int, len(values))
		for j, v := range values {
			at[j] = int(v)
		}
		t := &r.topologies[k]
		t.Coordinates = append(t.Coordinates, trace.Coordinate{Location: c.CoordinateLocation[i], At: at})
	}
}

func (r *definitionsOf) loadInfo() {
	m, c := r.manifest, &r.C
	r.generation = m.Generation()
	r.info = store.Info{
		Sources: m.Info.Sources, Format: m.Info.Source, End: m.Info.End, Origin: m.Info.Origin, Core: m.Info.Core,
		Intervals: int64(len(c.Begin)), Links: int64(len(c.Link.Kind) + len(c.Untimed.Kind)),
		Samples: int64(len(c.SampleTime)), Instants: int64(len(c.InstantTime)), Profile: int64(len(c.ProfileLocation)),
		Depth: m.Info.Depth, Ranks: distinctRanks(c.LocationRank), Rows: int(r.counting[len(r.counting)-1]),
		Properties: m.Info.Properties, Report: m.Report, SizeBytes: m.Size(),
	}
	if r.info.Properties == nil {
		r.info.Properties = map[string]string{}
	}
}

// checkStructure makes sure that offsets stay within their tables, so that no
// query slices past the end. Checksums have been verified: this guards against a
// store that was written wrong.
func (r *definitionsOf) checkStructure() error {
	c := &r.C
	n := len(c.LocationName)
	checks := []struct {
		name string
		ok   bool
	}{
		{"location.lane", int(c.LocationLane[n]) == len(c.LaneEnd)},
		{"lane.row", int(c.LaneRow[len(c.LaneEnd)]) == len(c.Begin)},
		{"lane.checkpoint", int(c.LaneCheckpoint[len(c.LaneEnd)]) == len(c.CheckpointSum)-1},
		{"lane.forest", int(c.LaneForest[len(c.LaneEnd)]) == len(c.LevelNode)-1},
	}
	for _, x := range checks {
		if !x.ok {
			return fmt.Errorf("%s does not fit its table: %w", x.name, disk.ErrDamaged)
		}
	}
	return nil
}
