package write

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// OwnDefinitions are those that a part made while its files were read. Numbers in them are those of the part.
type OwnDefinitions struct {
	Locations     []OwnLocation
	Regions       []trace.Region
	Attributes    []string
	Counters      []trace.Counter
	Metrics       []trace.Metric
	SourceFiles   []string
	CallPaths     []trace.CallPath
	Communicators []trace.Communicator
	Topologies    []trace.Topology
}

// An OwnLocation is a location with the key and kind by which another part may have it too.
type OwnLocation struct {
	Key  string
	Kind trace.Kind
	Location
}

// sorted is Sorted; of none, all definitions are in the order in which they came.
func (d *Definitions) sorted() Sorted {
	if d.Sorted == nil {
		return Sorted{}
	}
	return *d.Sorted
}

func (d *Definitions) ownDefinitions() OwnDefinitions {
	m := d.sorted()
	own := OwnDefinitions{Regions: d.Regions[m.Regions:], Attributes: d.Attributes[m.Attributes:],
		Counters: d.Counters[m.Counters:], Metrics: d.Metrics[m.Metrics:], SourceFiles: d.SourceFiles[m.SourceFiles:],
		CallPaths: d.CallPaths[m.CallPaths:], Communicators: d.Communicators[m.Communicators:],
		Topologies: d.Topologies[m.Topologies:]}
	for i := m.Locations; i < len(d.Locations); i++ {
		own.Locations = append(own.Locations, OwnLocation{d.keys[i], d.Kinds[d.Locations[i].Kind], d.Locations[i]})
	}
	return own
}

// number defines what a part has defined by itself, and returns the numbers of it.
func (w *Writer) number(st *State, texts uint64) (*IDs, error) {
	d, own := &w.Def, &st.Own
	m := d.sorted()
	x := &IDs{Texts: texts, Locations: firstIDs[trace.LocationID](m.Locations),
		Regions: firstIDs[trace.RegionID](m.Regions), Attributes: firstIDs[trace.AttributeID](m.Attributes),
		Counters: firstIDs[trace.CounterID](m.Counters), Metrics: firstIDs[trace.MetricID](m.Metrics),
		SourceFiles: firstIDs[trace.FileID](m.SourceFiles), CallPaths: firstIDs[trace.CallPathID](m.CallPaths),
		Communicators: firstIDs[trace.CommunicatorID](m.Communicators)}
	for i := range own.Locations {
		id, err := w.mergeLocation(&own.Locations[i], x)
		if err != nil {
			return nil, err
		}
		x.Locations = append(x.Locations, id)
	}
	for _, r := range own.Regions {
		x.Regions = append(x.Regions, w.region(r))
	}
	for _, a := range own.Attributes {
		x.Attributes = append(x.Attributes, w.Attribute(a))
	}
	for _, c := range own.Counters {
		c.Location = x.Location(c.Location)
		x.Counters = append(x.Counters, w.Counter(c))
	}
	for _, v := range own.Metrics {
		x.Metrics = append(x.Metrics, w.Metric(v))
	}
	for _, name := range own.SourceFiles {
		x.SourceFiles = append(x.SourceFiles, w.SourceFile(name))
	}
	for _, p := range own.CallPaths {
		p.Parent, p.Region = x.CallPath(p.Parent), x.Region(p.Region)
		x.CallPaths = append(x.CallPaths, w.CallPath(p))
	}
	for _, c := range own.Communicators {
		c.Parent = x.Communicator(c.Parent)
		for i, at := range c.Members {
			c.Members[i] = x.Location(at)
		}
		x.Communicators = append(x.Communicators, w.Communicator(c))
	}
	for _, t := range own.Topologies {
		for i := range t.Coordinates {
			t.Coordinates[i].Location = x.Location(t.Coordinates[i].Location)
		}
		w.Topology(t)
	}
	for i, s := range st.Series {
		to := d.Series[x.Counters[i]]
		to.Disordered = to.Disordered || s.Disordered || to.Count > 0 && s.Count > 0
		to.Count += s.Count
	}
	if x.same() {
		return nil, nil
	}
	return x, nil
}

// firstIDs are the numbers of definitions that all parts have.
func firstIDs[ID ~uint32](n int) []ID {
	list := make([]ID, n)
	for i := range list {
		list[i] = ID(i)
	}
	return list
}

func (d *IDs) same() bool {
	return d.Texts == 0 && counted(d.Locations) && counted(d.Regions) && counted(d.Attributes) && counted(d.Counters) &&
		counted(d.Metrics) && counted(d.SourceFiles) && counted(d.CallPaths) && counted(d.Communicators)
}

func counted[ID ~uint32](list []ID) bool {
	for i, id := range list {
		if int(id) != i {
			return false
		}
	}
	return true
}

// mergeLocation defines a location of a part. One that another part has too, such as a machine, must be the same
// there, but for its order.
func (w *Writer) mergeLocation(l *OwnLocation, x *IDs) (trace.LocationID, error) {
	var attributes []trace.Attribute
	if l.Attributes != nil {
		attributes = *l.Attributes
	}
	known := len(w.Def.Locations)
	id := w.Location(trace.Location{Parent: x.Location(l.Parent), Kind: l.Kind, Key: l.Key, Name: l.Name,
		Order: l.Order, Rank: int(l.Rank), Attributes: attributes})
	if int(id) == known {
		return id, nil
	}
	old := &w.Def.Locations[id]
	if old.Name != l.Name || old.Rank != l.Rank || !reflect.DeepEqual(deref(old.Attributes), attributes) {
		return id, fmt.Errorf("location %q is another one in an earlier part; import the source as a whole", l.Name)
	}
	return id, nil
}

func deref(list *[]trace.Attribute) []trace.Attribute {
	if list == nil {
		return nil
	}
	return slices.Clone(*list)
}
