package steppath

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Section is a stretch of a path. Location is where the path is; Region is the innermost region there, NoRegion for
// none. Row and Lane are those of the store, Row -1 for none. Calls is one of Paths.Calls, -1 for none.
type Section struct {
	Kind     Kind
	Begin    trace.Time
	End      trace.Time
	Location trace.LocationID
	Lane     int
	Row      int
	Region   trace.RegionID
	Calls    int32
}

// A Step is a step of all units: it is as long as the unit takes that ends it last.
type Step struct {
	Name       string
	Begin, End trace.Time
	Unit       int
}

// stepsOf takes the steps of all units together by their names, in order of time. Without steps the whole graph, in
// [from, to), is one.
func (g *Graph) stepsOf(job *step.Job, from, to trace.Time) (out []Step) {
	byName := map[string]int{}
	for _, s := range job.Steps {
		i, ok := byName[s.Name]
		if !ok {
			byName[s.Name] = len(out)
			out = append(out, Step{s.Name, s.Begin, s.End, s.Unit})
			continue
		}
		x := &out[i]
		x.Begin = min(x.Begin, s.Begin)
		if s.End > x.End {
			x.End, x.Unit = s.End, s.Unit
		}
	}
	if len(out) == 0 {
		if begin, end, unit := g.extent(); max(begin, from) < min(end, to) {
			out = append(out, Step{"the selection", max(begin, from), min(end, to), unit})
		}
	}
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.Begin, b.Begin) })
	return out
}

// A Path is the critical path of a step in order of time; its sections lie end to end.
type Path struct {
	Step
	Sections []Section
}

// Paths are those of the steps of a window.
type Paths struct {
	By    string // the kind of steps; "" where none were found
	Steps []Path // by begin
	// Calls are the regions around sections, outermost first, with their own last.
	Calls [][]trace.RegionID
	// Matched counts collectives whose members were found on other units.
	Matched int
}

// SizeBytes estimates the memory of paths.
func (p *Paths) SizeBytes() int64 {
	return int64(64*p.Sections() + 200*len(p.Steps) + 100*len(p.Calls))
}

// Sections counts those of all steps.
func (p *Paths) Sections() (n int) {
	for i := range p.Steps {
		n += len(p.Steps[i].Sections)
	}
	return n
}

// fits reports whether paths speak of nothing that their run does not have.
func (p *Paths) fits(units, regions, locations int) bool {
	known := func(id trace.RegionID) bool { return id == trace.NoRegion || int(id) < regions }
	for _, list := range p.Calls {
		for _, id := range list {
			if id == trace.NoRegion || !known(id) {
				return false
			}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Unit < 0 || s.Unit >= units || s.End < s.Begin {
			return false
		}
		for k := range s.Sections {
			x := &s.Sections[k]
			if int(x.Kind) >= Kinds || !known(x.Region) ||
				x.Location != trace.NoLocation && int(x.Location) >= locations || x.Begin >= x.End ||
				int(x.Calls) >= len(p.Calls) || x.Row >= 0 && x.Location == trace.NoLocation {
				return false
			}
		}
	}
	return true
}

// Find walks the steps of a job, or all of a window where it has none, on all cores.
func Find(ctx context.Context, s *runfacts.GPUPart, job *step.Job) (*Paths, error) {
	g, err := gather(s)
	if err != nil {
		return nil, err
	}
	steps := g.stepsOf(job, s.Window.Begin, s.Window.End)
	walked := make([][]place, len(steps))
	err = parallel.For(ctx, len(steps), func(i int) {
		g.walk(steps[i].Unit, steps[i].Begin, steps[i].End, func(x place) { walked[i] = append(walked[i], x) })
		slices.Reverse(walked[i])
	})
	if err != nil {
		return nil, err
	}
	p := &Paths{By: job.By, Matched: g.matched, Steps: make([]Path, len(steps))}
	known := map[string]int32{}
	var key []byte
	for i, list := range walked {
		p.Steps[i] = Path{steps[i], make([]Section, len(list))}
		for k := range list {
			x := &list[k]
			around := g.around(x)
			key = key[:0]
			for _, id := range around {
				key = binary.AppendUvarint(key, uint64(id))
			}
			calls, ok := known[string(key)]
			if !ok && len(around) > 0 {
				calls = int32(len(p.Calls))
				known[string(key)] = calls
				p.Calls = append(p.Calls, around)
			} else if !ok {
				calls = -1
			}
			p.Steps[i].Sections[k] = x.section(calls)
		}
	}
	return p, nil
}

func (x *place) section(calls int32) Section {
	s := Section{Kind: x.kind, Begin: x.begin, End: x.end, Location: trace.NoLocation, Row: -1, Region: trace.NoRegion,
		Calls: calls}
	if x.lane != nil {
		s.Location, s.Lane = x.lane.location, x.lane.number
	}
	if x.at >= 0 {
		s.Row, s.Region = int(x.lane.row[x.at]), x.lane.region[x.at]
	}
	return s
}

// around returns the regions around a section, outermost first, with its own last: of GPU work those around the call
// that launched it. Ranges and functions of Python are left out where operators or calls are among them.
func (g *Graph) around(s *place) []trace.RegionID {
	if s.at < 0 {
		return nil
	}
	l, at := s.lane, s.at
	var out []trace.RegionID
	if l.gpu >= 0 {
		out = append(out, l.region[at])
		x := l.launch[at]
		if x.lane == nil {
			return out
		}
		l, at = x.lane, x.lane.parent[x.to]
	}
	for ; at >= 0; at = l.parent[at] {
		if g.operator[l.region[at]] || len(out) == 0 {
			out = append(out, l.region[at])
		}
	}
	slices.Reverse(out)
	return out
}
