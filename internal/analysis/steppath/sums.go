package steppath

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Part is the time of a kind, and of one of its operations or call paths, on the paths of steps.
type Part struct {
	Kind     Kind
	Region   trace.RegionID   // NoRegion: of several
	Name     string           // of the region
	CallPath string           // names from the top, joined by " > "; empty: of several
	At       trace.LocationID // of the first section
	Time     trace.Time
	Steps    int // that have it on their path
	// P50, P95 and P99 are over these steps.
	P50, P95, P99 trace.Time
}

// Sums are the paths of steps added up.
type Sums struct {
	Length  trace.Time // of all steps
	Kinds   [Kinds]trace.Time
	Longest int    // place of the longest step
	Parts   []Part // longest first
}

// A partKey identifies a part.
type partKey struct {
	kind Kind
	path string
}

// Sum adds up the paths of steps by "callpath", "operation" or "service", which is the kind. Parts are of the chosen
// regions; nil: of all.
func (p *Paths) Sum(steps []Path, regions []trace.Region, by string, chosen []trace.RegionID) Sums {
	var out Sums
	parts := map[partKey]*Part{}
	times := map[partKey]map[int]trace.Time{} // by step
	for i := range steps {
		s := &steps[i]
		if s.End-s.Begin > steps[out.Longest].End-steps[out.Longest].Begin {
			out.Longest = i
		}
		out.Length += s.End - s.Begin
		for k := range s.Sections {
			x := &s.Sections[k]
			out.Kinds[x.Kind] += x.End - x.Begin
			if chosen != nil && !slices.Contains(chosen, x.Region) {
				continue
			}
			key, part := p.partOf(regions, by, x)
			if parts[key] == nil {
				parts[key], times[key] = part, map[int]trace.Time{}
			}
			times[key][i] += x.End - x.Begin
		}
	}
	for key, x := range parts {
		x.fill(times[key])
		out.Parts = append(out.Parts, *x)
	}
	slices.SortFunc(out.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.CallPath, b.CallPath), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Kind.String(), b.Kind.String()))
	})
	return out
}

// partOf returns the part to which a section counts.
func (p *Paths) partOf(regions []trace.Region, by string, x *Section) (partKey, *Part) {
	part := &Part{Kind: x.Kind, Region: trace.NoRegion, At: x.Location}
	if by == "service" {
		return partKey{kind: x.Kind}, part
	}
	part.Region = x.Region
	if x.Region != trace.NoRegion {
		part.Name = regions[x.Region].Name
	}
	if by == "operation" {
		return partKey{x.Kind, part.Name}, part
	}
	var names []string
	if x.Calls >= 0 {
		for _, id := range p.Calls[x.Calls] {
			names = append(names, regions[id].Name)
		}
	}
	part.CallPath = strings.Join(names, " > ")
	return partKey{x.Kind, part.CallPath}, part
}

// fill takes the times of a part by step.
func (x *Part) fill(times map[int]trace.Time) {
	list := slices.Sorted(maps.Values(times))
	for _, t := range list {
		x.Time += t
	}
	x.Steps = len(list)
	x.P50, x.P95, x.P99 = request.Quantile(list, 0.5), request.Quantile(list, 0.95), request.Quantile(list, 0.99)
}

// Places returns the shares of the length on threads, on GPUs, and between them, from a launch or other work to the
// begin of work.
func (s *Sums) Places() (host, gpus, between float64) {
	for k, t := range s.Kinds {
		part := 0.0
		if s.Length > 0 {
			part = float64(t) / float64(s.Length)
		}
		switch kind := Kind(k); {
		case kind.OnGPU():
			gpus += part
		case kind == Launch || kind == Queue:
			between += part
		default:
			host += part
		}
	}
	return host, gpus, between
}
