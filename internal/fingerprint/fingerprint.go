// Package fingerprint is what a run is remembered by among many: its length, its call
// paths with their time, its steps, POP's sums. It is computed once, takes some kilobytes
// and is kept with the store, so that two hundred runs can be compared without a look at
// their intervals.
//
//	paths.go     call paths, with names that hold for any run
//	parallel.go  ranks, useful time, instructions and cycles
//	steps.go     steps of GPU jobs; job.go keeps those of a large run whole
package fingerprint

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// version changes with what a print holds or how it is found.
const version = 4

// A Print is what is remembered of a run. Times are in ns, or in Unit of a profile.
type Print struct {
	Version    int    `json:"version"`
	Generation uint64 `json:"generation"`

	Format     string            `json:"format"`
	Unit       string            `json:"unit"`
	Timed      bool              `json:"timed"` // a trace; else a profile
	Length     float64           `json:"length"`
	Ranks      int               `json:"ranks"`
	Locations  int               `json:"locations"` // that hold something
	Summed     bool              `json:"-"`         // taken apart evenly: see OfRank
	Intervals  int64             `json:"intervals"`
	Properties map[string]string `json:"properties"`

	Paths []Path `json:"paths"`
	// Folded is how many small call paths were joined with others below the same caller.
	Folded int `json:"folded,omitempty"`
	// Beside says that times of a location may add up to more than its length.
	Beside bool `json:"beside,omitempty"`

	Units []Unit `json:"units,omitempty"`
	// Instructions and Cycles of all units in useful time; 0 where the source counts none.
	Instructions float64 `json:"instructions,omitempty"`
	Cycles       float64 `json:"cycles,omitempty"`

	GPU bool `json:"gpu,omitempty"` // steps are those of GPUs, and have parts
	// StepsBy says what a step is; Steps are the means over ranks.
	StepsBy string `json:"steps_by,omitempty"`
	Steps   []Step `json:"steps,omitempty"`

	longest float64 // of a profile: the most time that a location has
}

// A Path is a call path: parents come first, -1 at the top. Times are those of all
// locations together.
type Path struct {
	Parent    int32      `json:"parent"`
	Name      string     `json:"name"`
	Role      trace.Role `json:"role"`
	Calls     float64    `json:"calls"`
	Inclusive float64    `json:"inclusive"`
	Exclusive float64    `json:"exclusive"`
}

// A Unit is a location that takes part in POP's factors.
type Unit struct {
	Name   string  `json:"name"`
	Rank   int32   `json:"rank"`
	Useful float64 `json:"useful"`
	// Waiting is its time in communication, synchronization and idle.
	Waiting float64 `json:"waiting"`
}

// A Step is one step of a GPU job and its parts, which add up to it, by step.Term.
type Step struct {
	Name  string    `json:"name"`
	Total float64   `json:"total"`
	Terms []float64 `json:"terms"`
}

// Of gives the print of a run: that kept with its store, or a new one, which is kept.
func Of(ctx context.Context, run *view.Run) (*Print, error) {
	return derived.Keep(run.Cache, "fingerprint",
		func(p *Print) int64 { return int64(200 * (len(p.Paths) + len(p.Units) + len(p.Steps) + 8)) },
		func() (*Print, error) {
			k, keeps := run.Store.(store.Keeper)
			if keeps {
				if p := read(k, run.Store.Generation()); p != nil {
					return p, nil
				}
			}
			p, err := take(ctx, run)
			if err == nil && keeps {
				if b, bad := json.Marshal(p); bad == nil {
					_ = k.Keep("fingerprint", b) // where it cannot be kept it is taken again
				}
			}
			return p, err
		})
}

// OfRank is Of, but a profile of one location that is the sum of several ranks is taken apart
// evenly among them: sums of different sizes cannot be held against each other.
func OfRank(ctx context.Context, run *view.Run) (*Print, error) {
	p, err := Of(ctx, run)
	if err != nil || p.Timed || p.Size() > 1 {
		return p, err
	}
	n, err := view.RanksOf(run)
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

// read gives a print that is of this version and of this run.
func read(k store.Keeper, generation uint64) *Print {
	b, ok := k.Kept("fingerprint")
	if !ok {
		return nil
	}
	var p Print
	if json.Unmarshal(b, &p) != nil || p.Version != version || p.Generation != generation || !p.sound() {
		return nil
	}
	return &p
}

// sound reports whether a print that was read can be trusted not to lead astray.
func (p *Print) sound() bool {
	for i := range p.Paths {
		if up := p.Paths[i].Parent; up < -1 || up >= int32(i) {
			return false
		}
	}
	for i := range p.Steps {
		if len(p.Steps[i].Terms) != int(step.Terms) {
			return false
		}
	}
	return true
}

// take computes a print. O(call paths × locations), and the rows of GPU jobs.
func take(ctx context.Context, run *view.Run) (*Print, error) {
	r := run.Store
	info := r.Info()
	length, err := view.RecordedTime(ctx, r, 0, info.End)
	if err != nil {
		return nil, err
	}
	p := &Print{Version: version, Generation: r.Generation(), Format: info.Format, Unit: "ns", Timed: info.Timed(),
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

// properties keeps those that are short enough to be a key.
func properties(all map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range all {
		if len(out) < mostProperties && len(k) <= mostText && len(v) <= mostText {
			out[k] = v
		}
	}
	return out
}

// Size is how many take part: ranks, or locations where there are no ranks.
func (p *Print) Size() int {
	if p.Ranks > 0 {
		return p.Ranks
	}
	return max(p.Locations, 1)
}
