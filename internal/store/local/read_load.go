package local

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// load makes Go values of the definitions. They are copied from the maps, so
// that they stay valid after Close. O(definitions).
func (r *Reader) load() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read definitions: %v: %w", p, ErrDamaged)
		}
	}()
	names := string(r.c.stringBytes)
	text := func(id uint32) string { return names[r.c.stringOffset[id]:r.c.stringOffset[id+1]] }
	r.loadTree(text)
	r.loadRegions(text)
	r.loadGroups(text)
	r.loadInfo()
	return r.checkStructure()
}

func (r *Reader) loadTree(text func(uint32) string) {
	c := &r.c
	n := len(c.locationName)
	t := &store.Tree{
		Name: make([]string, n), Kind: make([]trace.Kind, n), Holds: make([]bool, n), Attributes: make([][]trace.Attribute, n),
		Parent: append([]trace.LocationID(nil), c.locationParent...), Last: append([]trace.LocationID(nil), c.locationLast...),
		Level: append([]uint16(nil), c.locationLevel...), Rank: append([]int32(nil), c.locationRank...),
	}
	r.lanes = append([]uint32(nil), c.locationLane...)
	r.holders, r.counting = make([]uint32, n+1), make([]uint32, n+1)
	for id := range n {
		t.Name[id], t.Kind[id] = text(c.locationName[id]), trace.Kind(text(c.locationKind[id]))
		r.holders[id+1], r.counting[id+1] = r.holders[id], r.counting[id]
		if c.locationLane[id] == c.locationLane[id+1] {
			continue
		}
		r.holders[id+1]++
		if t.Kind[id].Aside() {
			if t.Aside == nil {
				t.Aside = make([]bool, n)
			}
			t.Aside[id] = true
			r.aside = append(r.aside, trace.LocationID(id))
			continue
		}
		t.Holds[id] = true
		r.counting[id+1]++
	}
	c.locationFact.each(text, func(owner uint32, a trace.Attribute) { t.Attributes[owner] = append(t.Attributes[owner], a) })
	r.tree = t
}

func (f *definitionFacts) each(text func(uint32) string, add func(uint32, trace.Attribute)) {
	for i, owner := range f.owner {
		s := ""
		bits := f.bits[i]
		if f.kind[i] == trace.ValueText {
			s, bits = text(uint32(bits)), 0
		}
		add(owner, trace.Attribute{Key: text(f.key[i]), Value: trace.ValueOf(f.kind[i], bits, s)})
	}
}

func (r *Reader) loadRegions(text func(uint32) string) {
	c := &r.c
	r.regions = make([]trace.Region, len(c.regionName))
	r.roles = make([]trace.Role, len(c.regionName))
	for id := range r.regions {
		r.regions[id] = trace.Region{
			Name: text(c.regionName[id]), Category: text(c.regionCategory[id]), Role: c.regionRole[id],
			File: text(c.regionFile[id]), Line: int(c.regionLine[id]),
		}
		r.roles[id] = c.regionRole[id]
	}
	c.regionFact.each(text, func(owner uint32, a trace.Attribute) {
		r.regions[owner].Attributes = append(r.regions[owner].Attributes, a)
	})
	r.attributes = make([]string, len(c.attributeName))
	for i, n := range c.attributeName {
		r.attributes[i] = text(n)
	}
	r.counters = make([]trace.Counter, len(c.counterName))
	for i := range r.counters {
		r.counters[i] = trace.Counter{
			Location: c.counterLocation[i], Name: text(c.counterName[i]), Unit: text(c.counterUnit[i]), Monotone: c.counterMonotone[i]&counterMonotone != 0,
			Grows: c.counterMonotone[i]&counterGrows != 0,
		}
	}
	r.callPaths = make([]trace.CallPath, len(c.callPathParent))
	for i := range r.callPaths {
		r.callPaths[i] = trace.CallPath{Parent: c.callPathParent[i], Region: c.callPathRegion[i], Flat: c.callPathFlat[i] != 0}
	}
}

// loadGroups loads communicators and topologies.
func (r *Reader) loadGroups(text func(uint32) string) {
	c := &r.c
	r.communicators = make([]trace.Communicator, len(c.communicatorName))
	for i := range r.communicators {
		members := c.member[c.communicatorMember[i]:c.communicatorMember[i+1]]
		r.communicators[i] = trace.Communicator{
			Name: text(c.communicatorName[i]), Parent: c.communicatorParent[i], Members: append([]trace.LocationID(nil), members...),
		}
	}
	r.topologies = make([]trace.Topology, len(r.manifest.Topologies))
	for i, t := range r.manifest.Topologies {
		r.topologies[i] = trace.Topology{Name: t.Name, Dims: t.Dims, DimNames: t.DimNames, Periodic: t.Periodic}
	}
	for i, k := range c.coordinateTopology {
		values := c.axis[c.coordinateValue[i]:c.coordinateValue[i+1]]
		at := make([]int, len(values))
		for j, v := range values {
			at[j] = int(v)
		}
		t := &r.topologies[k]
		t.Coordinates = append(t.Coordinates, trace.Coordinate{Location: c.coordinateLocation[i], At: at})
	}
}

func (r *Reader) loadInfo() {
	m, c := r.manifest, &r.c
	r.generation = m.generation()
	r.info = store.Info{
		Sources: m.Info.Sources, Format: m.Info.Source, End: m.Info.End, Origin: m.Info.Origin, Core: m.Info.Core,
		Intervals: int64(len(c.begin)), Links: int64(len(c.link.kind) + len(c.untimed.kind)),
		Samples: int64(len(c.sampleTime)), Instants: int64(len(c.instantTime)), Profile: int64(len(c.profileLocation)),
		Depth: m.Info.Depth, Ranks: distinctRanks(c.locationRank), Rows: int(r.counting[len(r.counting)-1]),
		Properties: m.Info.Properties, Report: m.Report, SizeBytes: m.size(),
	}
	if r.info.Properties == nil {
		r.info.Properties = map[string]string{}
	}
}

// checkStructure makes sure that offsets stay within their tables, so that no
// query slices past the end. Checksums have been verified: this guards against a
// store that was written wrong.
func (r *Reader) checkStructure() error {
	c := &r.c
	n := len(c.locationName)
	checks := []struct {
		name string
		ok   bool
	}{
		{"location.lane", int(c.locationLane[n]) == len(c.laneEnd)},
		{"lane.row", int(c.laneRow[len(c.laneEnd)]) == len(c.begin)},
		{"lane.checkpoint", int(c.laneCheckpoint[len(c.laneEnd)]) == len(c.checkpointSum)-1},
		{"lane.forest", int(c.laneForest[len(c.laneEnd)]) == len(c.levelNode)-1},
	}
	for _, x := range checks {
		if !x.ok {
			return fmt.Errorf("%s does not fit its table: %w", x.name, ErrDamaged)
		}
	}
	return nil
}
