package tables

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A counter and where its samples go.
type counter struct {
	id trace.CounterID
	at trace.LocationID
}

// theRun reads the description of the whole run.
func (r *converter) theRun() error {
	err := r.each("runs", "format origin end", func(x *row) error {
		if format := x.text(0); format != "" {
			trace.SetFormat(r.w, format)
		}
		if origin := x.or(1, 0); origin >= -mostTime && origin <= mostTime {
			r.origin = trace.Time(origin)
		}
		if end := x.or(2, 0); end >= 0 && end <= mostTime {
			r.end = trace.Time(end)
		}
		return errEnough
	})
	if err != nil {
		return err
	}
	return r.each("report", "kind what count example lost consequence", func(x *row) error {
		kind, n := trace.ParseReportKind(x.text(0), x.text(5)), x.or(2, 0)
		if kind.Lost() && x.or(4, 1) == 0 {
			kind = trace.Redundant
		}
		if kind != 0 && n > 0 {
			r.w.Report(kind, x.text(1), n, x.text(3))
		}
		return nil
	})
}

// valueOf reads a value as it was typed.
func valueOf(kind, text string) trace.Value {
	switch kind {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return trace.Integer(n)
		}
	case "number":
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return trace.Number(x)
		}
	}
	return trace.Text(text)
}

const attributeColumns = "of location lane row region_id key value type"

// definitions reads the tables that rows refer to by number, in the order of the numbers.
func (r *converter) definitions() error {
	ofLocation, ofRegion := map[int64][]trace.Attribute{}, map[int64][]trace.Attribute{}
	err := r.each("attributes", attributeColumns, func(x *row) error {
		a := trace.Attribute{Key: x.text(5), Value: valueOf(x.text(7), x.text(6))}
		switch x.text(0) {
		case "run":
			r.w.Property(a.Key, a.Value.String())
		case "location":
			id := x.or(1, -1)
			ofLocation[id] = append(ofLocation[id], a)
		case "region":
			id := x.or(4, -1)
			ofRegion[id] = append(ofRegion[id], a)
		default:
			return errEnough // those of intervals are read next to them
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range r.schema.Attributes {
		r.attribute[name] = r.w.Attribute(name)
	}
	if err := r.locations(ofLocation); err != nil {
		return err
	}
	err = r.each("regions", "id name category role file line", func(x *row) error {
		id, ok := x.integer(0)
		if !ok {
			return nil
		}
		role, _ := trace.ParseRole(x.text(3))
		r.fileOf[id] = x.text(4)
		r.regions[id] = r.w.Region(trace.Region{Name: x.text(1), Category: x.text(2), Role: role, File: x.text(4),
			Line: int(x.or(5, 0)), Attributes: ofRegion[id]})
		return nil
	})
	if err != nil {
		return err
	}
	err = r.each("counters", "id name unit monotone location", func(x *row) error {
		at := r.places[x.or(4, -1)]
		if at == nil {
			r.skip(trace.MissingValues, "counters of a location that is not there", 1, x.text(1))
			return nil
		}
		r.counters[x.or(0,
			-1)] = counter{r.w.Counter(trace.Counter{Location: at.id, Name: x.text(1), Unit: x.text(2),
			Monotone: x.or(3, 0) == 1}), at.id}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.communicators(); err != nil {
		return err
	}
	return r.topologies()
}

func (r *converter) locations(attributes map[int64][]trace.Attribute) error {
	ranks := map[int64]int64{} // as inherited
	services := false
	err := r.each("locations", "id parent name kind rank", func(x *row) error {
		id, ok := x.integer(0)
		if !ok || r.places[id] != nil {
			r.skip(trace.MissingLocations, "locations without a number of their own", 1, x.text(2))
			return nil
		}
		l := trace.Location{Parent: trace.NoLocation, Kind: trace.Kind(x.text(3)), Key: strconv.FormatInt(id, 10),
			Name: x.text(2), Rank: trace.NoRank, Order: id, Attributes: attributes[id]}
		rank, inherited := x.or(4, trace.NoRank), int64(trace.NoRank)
		if parent, has := x.integer(1); has {
			if up := r.places[parent]; up != nil {
				l.Parent, inherited = up.id, ranks[parent]
			} else {
				r.w.Report(trace.Repaired, "locations whose parent is not there, moved to the top", 1, l.Name)
			}
		}
		if ranks[id] = rank; rank != inherited && rank >= 0 && rank < 1<<31 {
			l.Rank = int(rank)
		}
		services = services || l.Kind == "service"
		r.places[id] = &location{id: r.w.Location(l)}
		return nil
	})
	_, traces := r.attribute["trace"]
	_, spans := r.attribute["span"]
	r.spans = services && traces && spans // as runfacts.HasSpans tells them
	return err
}

// communicators come a row a member.
func (r *converter) communicators() error {
	var c trace.Communicator
	last, whole := int64(-1), true
	define := func() {
		switch {
		case last >= 0 && whole:
			r.groups[last] = r.w.Communicator(c)
		case last >= 0:
			r.skip(trace.MissingGroups, "communicators with a member that is not there", 1, c.Name)
		}
		whole = true
	}
	err := r.each("communicators", "id name parent number location", func(x *row) error {
		id := x.or(0, -1)
		if id < 0 {
			return nil
		}
		if id != last {
			define()
			last, c = id, trace.Communicator{Name: x.text(1), Parent: trace.NoCommunicator, Members: c.Members[:0]}
			if up, has := x.integer(2); has {
				if known, ok := r.groups[up]; ok {
					c.Parent = known
				}
			}
		}
		if _, member := x.integer(3); member {
			l := r.places[x.or(4, -1)]
			if l == nil {
				whole = false
				return nil
			}
			c.Members = append(c.Members, l.id)
		}
		return nil
	})
	define()
	return err
}

// mostDimensions bounds the dimensions of a grid.
const mostDimensions = 64

func (r *converter) topologies() error {
	var all []*trace.Topology
	err := r.each("topologies", "topology name dimension dimension_name size periodic", func(x *row) error {
		id, size := x.or(0, -1), x.or(4, 0)
		if id == int64(len(all)) {
			all = append(all, &trace.Topology{Name: x.text(1)})
		}
		if id != int64(len(all)-1) || x.or(2, -1) != int64(len(all[id].Dims)) || len(all[id].Dims) >= mostDimensions ||
			size < 1 || size > 1<<31 {
			r.skip(trace.MissingGroups, "dimensions of topologies that are out of place", 1, "")
			return nil
		}
		t := all[id]
		t.Dims, t.DimNames, t.Periodic = append(t.Dims, int(size)), append(t.DimNames, x.text(3)),
			append(t.Periodic, x.or(5, 0) == 1)
		return nil
	})
	if err != nil {
		return err
	}
	err = r.each("coordinates", "topology location dimension place", func(x *row) error {
		id, l, dimension := x.or(0, -1), r.places[x.or(1, -1)], x.or(2, -1)
		if id < 0 || id >= int64(len(all)) || l == nil || dimension < 0 || dimension >= int64(len(all[id].Dims)) {
			r.skip(trace.MissingGroups, "coordinates of what is not there", 1, "")
			return nil
		}
		t := all[id]
		if dimension == 0 {
			t.Coordinates = append(t.Coordinates, trace.Coordinate{Location: l.id})
		}
		if n := len(t.Coordinates) - 1; n >= 0 && t.Coordinates[n].Location == l.id &&
			int64(len(t.Coordinates[n].At)) == dimension {
			t.Coordinates[n].At = append(t.Coordinates[n].At, int(x.or(3, 0)))
		} else {
			r.skip(trace.MissingGroups, "coordinates of what is not there", 1, "")
		}
		return nil
	})
	for _, t := range all {
		r.w.Topology(*t)
	}
	return err
}
