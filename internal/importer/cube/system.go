package cube

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A systemWalk finds the locations of a system tree, by their ids in the file.
type systemWalk struct {
	c                        *converter
	nodes, groups, locations map[string]trace.LocationID
	found                    []trace.LocationID // in order of the document
	ids                      []string
}

func (c *converter) defineSystem() {
	s := &systemWalk{c: c, nodes: map[string]trace.LocationID{}, groups: map[string]trace.LocationID{},
		locations: map[string]trace.LocationID{}}
	for i := range c.anchor.System.Parts {
		s.walk(&c.anchor.System.Parts[i], trace.NoLocation, 0)
	}
	c.columns = s.columns()
	for i := range c.anchor.System.Topologies {
		s.topology(&c.anchor.System.Topologies[i])
	}
}

// walk defines a node of the tree. Its depth is bounded by the reader of XML.
func (s *systemWalk) walk(p *systemPart, parent trace.LocationID, order int) {
	name := strings.TrimSpace(p.Name)
	l := trace.Location{Parent: parent, Key: p.XMLName.Local + " " + p.ID, Name: name, Rank: trace.NoRank,
		Order: int64(order), Attributes: attributes(p)}
	ids := s.nodes
	switch p.XMLName.Local {
	case "systemtreenode", "machine", "node":
		l.Kind = nodeKind(p)
	case "locationgroup", "process":
		ids = s.groups
		l.Kind = trace.KindProcess
		if t := strings.ToLower(p.Type); t == "accelerator" || t == "gpu" {
			l.Kind = trace.KindDevice
		} else if t != "" && t != "process" {
			l.Kind = trace.KindGroup
		} else if rank, err := strconv.ParseInt(strings.TrimSpace(p.Rank), 10, 32); err == nil && rank >= 0 {
			l.Rank = int(rank)
		}
	case "location", "thread":
		ids = s.locations
		l.Kind = trace.KindThread
		if t := strings.ToLower(p.Type); t == "accelerator stream" || t == "gpu" || t == "accelerator" {
			l.Kind = trace.KindStream
		} else if t == "metric" {
			l.Kind = trace.KindGroup
		}
	default:
		s.c.w.Report(trace.MissingLocations, "parts of the system of an unknown kind", 1,
			s.c.box.place(anchorName)+": "+p.XMLName.Local)
		return
	}
	if l.Name == "" {
		l.Name = string(l.Kind) + " " + p.ID
	}
	id := s.c.w.Location(l)
	ids[p.ID] = id
	if p.XMLName.Local == "location" || p.XMLName.Local == "thread" {
		s.found, s.ids = append(s.found, id), append(s.ids, p.ID)
	}
	for i := range p.Parts {
		s.walk(&p.Parts[i], id, i)
	}
}

// nodeKind returns the kind of a node: Cube calls the whole system a machine.
func nodeKind(p *systemPart) trace.Kind {
	class := cmp.Or(strings.ToLower(strings.TrimSpace(p.Class)), p.XMLName.Local)
	holds := false
	for _, q := range p.Parts {
		holds = holds || q.XMLName.Local == "locationgroup" || q.XMLName.Local == "process"
	}
	switch {
	case class == "node" || class == "host" || class == "machine" && holds:
		return trace.KindMachine
	case class == "machine":
		return trace.KindCluster
	case class == "systemtreenode":
		return trace.KindGroup
	}
	return trace.Kind(class)
}

func attributes(p *systemPart) (out []trace.Attribute) {
	for _, a := range p.Attributes {
		if a.Key != "" {
			out = append(out, trace.Attribute{Key: a.Key, Value: trace.Text(a.Value)})
		}
	}
	if text := strings.TrimSpace(p.Text); text != "" {
		out = append(out, trace.Attribute{Key: "description", Value: trace.Text(text)})
	}
	return out
}

// columns orders the locations as the data has them: by id, where ids count from 0.
func (s *systemWalk) columns() []trace.LocationID {
	out := make([]trace.LocationID, len(s.found))
	set := make([]bool, len(s.found))
	for i, id := range s.ids {
		n, err := strconv.ParseUint(id, 10, 31)
		if err != nil || int(n) >= len(out) || set[n] {
			s.c.w.Report(trace.Guessed,
				"locations whose ids do not count from 0: the order of the file is taken for that of the data", 1,
				s.c.box.place(anchorName))
			return s.found
		}
		out[n], set[n] = s.found[i], true
	}
	return out
}

// topology places locations, processes or nodes on a grid.
func (s *systemWalk) topology(t *topology) {
	out := trace.Topology{Name: t.Name}
	for _, d := range t.Dims {
		out.Dims = append(out.Dims, d.Size)
		out.DimNames = append(out.DimNames, d.Name)
		out.Periodic = append(out.Periodic, d.Periodic == "true" || d.Periodic == "1")
	}
	bad := int64(0)
	for _, k := range t.Coordinates {
		id, ok := s.placed(k.Attributes)
		var at []int
		for word := range strings.FieldsSeq(k.At) {
			n, err := strconv.ParseInt(word, 10, 32)
			ok = ok && err == nil
			at = append(at, int(n))
		}
		if !ok || len(at) != len(out.Dims) {
			bad++
			continue
		}
		out.Coordinates = append(out.Coordinates, trace.Coordinate{Location: id, At: at})
	}
	importer.Tell(s.c.w, trace.MissingGroups, "coordinates that cannot be read", bad,
		s.c.box.place(anchorName)+": "+t.Name)
	if len(out.Dims) > 0 {
		s.c.w.Topology(out)
	}
}

// placed returns the location of a coordinate.
func (s *systemWalk) placed(list []xml.Attr) (trace.LocationID, bool) {
	for _, a := range list {
		ids := s.locations
		switch name := strings.ToLower(a.Name.Local); {
		case strings.HasPrefix(name, "lg") || strings.HasPrefix(name, "proc"):
			ids = s.groups
		case strings.HasPrefix(name, "stn") || strings.HasPrefix(name, "node") || strings.HasPrefix(name, "mach"):
			ids = s.nodes
		}
		if id, ok := ids[a.Value]; ok {
			return id, true
		}
	}
	return 0, false
}
