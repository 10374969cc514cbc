package write

import (
	"hash/maphash"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Location is the part of a trace.Location that is held until Finish: half as much, since a trace may define a
// million of them. Keys live in definitions.keys.
type Location struct {
	Name       string // in an arena
	Attributes *[]trace.Attribute
	Order      int64
	Parent     trace.LocationID
	Rank       int32
	Kind       uint32 // index of definitions.kinds
}

// Location implements trace.Writer.
func (w *Writer) Location(l trace.Location) trace.LocationID {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	stray := l.Parent != trace.NoLocation && int(l.Parent) >= len(d.Locations)
	if stray {
		l.Parent = trace.NoLocation
	}
	key := l.Key
	if key == "" {
		key = l.Name
	}
	kind := d.kind(l.Kind)
	hash := d.locationHash(l.Parent, kind, key)
	id, ok := d.locationIDs.Find(hash, func(id uint32) bool {
		old := &d.Locations[id]
		return old.Parent == l.Parent && old.Kind == kind && d.keys[id] == key
	})
	if ok {
		return trace.LocationID(id)
	}
	if stray {
		w.Report(trace.Repaired, "locations with an undefined parent, moved to the top", 1, l.Name)
	}
	id = uint32(len(d.Locations))
	name := d.names.keep(l.Name)
	if i := strings.LastIndex(name, key); i >= 0 {
		key = name[i : i+len(key)]
	} else {
		key = d.names.keep(key)
	}
	d.Locations = append(d.Locations, Location{
		Name: name, Attributes: d.ownAttributes(nil, l.Attributes), Order: l.Order, Parent: l.Parent,
		Rank: int32(l.Rank), Kind: kind,
	})
	d.keys = append(d.keys, key)
	d.locationIDs.Add(hash, id)
	return trace.LocationID(id)
}

// Describe implements trace.Writer.
func (w *Writer) Describe(id trace.LocationID, l trace.Location) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	if int(id) >= len(d.Locations) {
		return
	}
	old := &d.Locations[id]
	if l.Name != "" && l.Name != old.Name {
		old.Name = d.names.keep(l.Name)
	}
	if l.Order != 0 {
		old.Order = l.Order
	}
	if l.Rank != trace.NoRank {
		old.Rank = int32(l.Rank)
	}
	old.Attributes = d.ownAttributes(old.Attributes, l.Attributes)
}

// kind numbers a kind of locations. There are a handful, so a list is searched.
func (d *Definitions) kind(k trace.Kind) uint32 {
	for i := len(d.Kinds) - 1; i >= 0; i-- {
		if d.Kinds[i] == k {
			return uint32(i)
		}
	}
	d.Kinds = append(d.Kinds, trace.Kind(strings.Clone(string(k))))
	return uint32(len(d.Kinds) - 1)
}

// ownAttributes adds a copy of attributes to those of a location.
func (d *Definitions) ownAttributes(have *[]trace.Attribute, list []trace.Attribute) *[]trace.Attribute {
	if len(list) == 0 {
		return have
	}
	more := d.own(list)
	if have != nil {
		more = append(*have, more...)
	}
	return &more
}

func (d *Definitions) locationHash(parent trace.LocationID, kind uint32, key string) uint32 {
	const odd = 0x9e3779b97f4a7c15
	h := maphash.String(d.seed, key) ^ (uint64(parent)<<32|uint64(kind))*odd
	return uint32((h * odd) >> 32)
}
