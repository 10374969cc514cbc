// Package fingerprint makes the summary by which a run is compared with many: its length, its call paths
// with their time, its steps, POP's sums. It is computed once, takes some kilobytes and is kept with the
// store, so that two hundred runs can be compared without a look at their intervals.
//
//	paths.go     call paths, with names that hold for any run
//	parallel.go  ranks, useful time, instructions and cycles
//	steps.go     steps of GPU jobs
package fingerprint

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Property is something that the source says of the run.
type Property struct{ Name, Value string }

// A Print is the summary of a run. Times are in ns, or in Unit of a profile.
type Print struct {
	Format     string
	Unit       string
	Timed      bool // a trace; else a profile
	Length     float64
	Ranks      int
	Locations  int  // that hold something
	Summed     bool // taken apart evenly: see OfRank
	Intervals  int64
	Properties []Property // by name

	Paths []Path
	// Folded is how many small call paths were joined with others below the same caller.
	Folded int
	// Beside says that times of a location may add up to more than its length.
	Beside bool

	Units []Unit
	// Instructions and Cycles of all units in useful time; 0 where the source counts none.
	Instructions float64
	Cycles       float64

	GPU bool // steps are those of GPUs, and have parts
	// StepsBy names the markers of steps; Steps are the means over ranks.
	StepsBy string
	Steps   []Step

	longest float64 // of a profile: the most time that a location has
}

// A Path is a call path: parents come first, -1 at the top. Times are those of all
// locations together.
type Path struct {
	Parent    int32
	Name      string
	Role      trace.Role
	Calls     float64
	Inclusive float64
	Exclusive float64
}

// A Unit is a location that takes part in POP's factors.
type Unit struct {
	Name   string
	Rank   int32
	Useful float64
	// Waiting is its time in communication, synchronization and idle.
	Waiting float64
}

// A Step is one step of a GPU job and its parts, which add up to it, by step.Term.
type Step struct {
	Name  string
	Total float64
	Terms []float64
}

// OfRun is the print of a run.
var OfRun = derived.Derived[*Print]{Name: "fingerprint", Version: 8, Make: take, Restore: (*Print).restore}

// errOtherRun is the error of a print that cannot be of the run.
var errOtherRun = errors.New("the fingerprint is not that of this run")

// OfRank is OfRun, but a profile of one location that is the sum of several ranks is taken apart
// evenly among them: sums of different sizes cannot be held against each other.
func OfRank(ctx context.Context, run *derived.Run) (*Print, error) {
	p, err := OfRun.Of(ctx, run)
	if err != nil || p.Timed || p.Size() > 1 {
		return p, err
	}
	n, err := run.Ranks()
	if err != nil || n < 2 {
		return p, err
	}
	out := *p
	out.Ranks, out.Locations, out.Summed = int(n), int(n), true
	out.Length /= n
	out.Units = slices.Clone(p.Units)
	for i := range out.Units {
		out.Units[i].Useful /= n
		out.Units[i].Waiting /= n
	}
	return &out, nil
}

// restore checks a print that was kept.
func (p *Print) restore(store.Reader) error {
	for i := range p.Paths {
		if up := p.Paths[i].Parent; up < -1 || up >= int32(i) {
			return errOtherRun
		}
	}
	for i := range p.Steps {
		if len(p.Steps[i].Terms) != int(step.Terms) {
			return errOtherRun
		}
	}
	return nil
}

// take computes a print. O(call paths × locations), and the rows of GPU jobs.
func take(ctx context.Context, run *derived.Run) (*Print, error) {
	r := run.Store
	info := r.Info()
	length, err := runfacts.RecordedTime(ctx, r, 0, info.End)
	if err != nil {
		return nil, err
	}
	p := &Print{Format: info.Format, Unit: "ns", Timed: info.Timed(),
		Length: float64(length),
		Ranks:  info.Ranks, Intervals: info.Intervals, Properties: properties(info.Properties), Paths: []Path{}}
	if err := p.takePaths(ctx, r); err != nil {
		return nil, err
	}
	if err := p.takeUnits(ctx, r); err != nil {
		return nil, err
	}
	if err := p.takeSteps(ctx, run); err != nil {
		return nil, err
	}
	if !p.Timed {
		p.Length = p.wallOf()
	}
	return p, ctx.Err()
}

// wallOf is the length of a profile, which has no clock: the most time that a location has.
func (p *Print) wallOf() float64 {
	if p.longest > 0 {
		return p.longest
	}
	sum := 0.0
	for i := range p.Paths {
		sum += p.Paths[i].Exclusive
	}
	return sum / float64(max(p.Locations, 1))
}

const (
	mostProperties = 64
	mostText       = 200
)

// properties keeps the first, by name, that are short enough to be a key.
func properties(all map[string]string) (out []Property) {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if v := all[k]; len(out) < mostProperties && len(k) <= mostText && len(v) <= mostText {
			out = append(out, Property{k, v})
		}
	}
	return out
}

// Property returns the value of a property.
func (p *Print) Property(name string) (value string, known bool) {
	for _, x := range p.Properties {
		if x.Name == name {
			return x.Value, true
		}
	}
	return "", false
}

// Size is how many take part: ranks, or locations if there are no ranks.
func (p *Print) Size() int {
	if p.Ranks > 0 {
		return p.Ranks
	}
	return max(p.Locations, 1)
}
