package otf2

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Records of a marker file.
const (
	markerDefinition = 5
	markerRecord     = 6
)

// The scopes of markers.
const (
	markerGlobal   = 0
	markerLocation = 1
	markerGroup    = 2
	markerNode     = 3
)

// readMarkers reads the marks that tools left in a trace, as instants of whom
// they are about.
func (a *archive) readMarkers(ctx context.Context) error {
	if a.files.marker == "" {
		return nil
	}
	label := a.run.Label(a.files.marker)
	f, err := a.openFile(a.files.marker)
	if err != nil {
		a.w.Report(trace.MissingFiles, "marker files that cannot be read", 1, err.Error())
		return nil
	}
	defer f.Close()
	var r definitionReader
	var rec record
	var kinds table[trace.RegionID]
	var lost int64
	time := newTimer(a.defs.resolution, a.defs.offset)
	for r.open(f); r.next(&rec); {
		if r.read&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !a.marker(rec.id, &rec.fields, &kinds, &time) {
			lost++
		}
	}
	a.report(trace.MissingEvents, "markers that cannot be read or name no location", lost, label)
	if !r.damage.whole() {
		a.w.Report(trace.MissingRest, "marker files that are cut", 1, label)
	}
	return nil
}

func (a *archive) marker(id uint8, f *fields, kinds *table[trace.RegionID], time *timer) bool {
	switch id {
	case markerDefinition:
		self := f.uint32()
		group, category := f.text(), f.text()
		if !f.bad {
			kinds.put(uint64(self),
				a.w.Region(trace.Region{Name: category, Category: group, Role: trace.RoleAnnotation}))
		}
		return !f.bad
	case markerRecord:
		ticks := f.uint64()
		f.uint64() // duration
		kind, scope, at := f.uint32(), f.uint8(), f.uint64()
		text := f.text()
		region, ok := kinds.get(uint64(kind))
		place := a.markerPlace(scope, at)
		if f.bad || !ok || place == trace.NoLocation {
			return false
		}
		s := a.shared(place)
		s.stream.Instant(time.at(ticks), region)
		if text != "" {
			s.stream.Attribute(a.w.Attribute("text"), trace.Text(text))
		}
		return true
	}
	return false
}

func (a *archive) markerPlace(scope uint8, at uint64) trace.LocationID {
	switch scope {
	case markerGlobal:
		if len(a.tree.nodes) > 0 {
			return a.tree.nodes[0]
		}
	case markerLocation:
		if i, ok := a.defs.locIndex.get(at); ok {
			return a.tree.places[i].id
		}
	case markerGroup:
		if i, ok := a.defs.groupIndex.get(at); ok {
			return a.tree.groups[i]
		}
	case markerNode:
		if i, ok := a.defs.nodeIndex.get(at); ok {
			return a.tree.nodes[i]
		}
	}
	return trace.NoLocation
}
