package phases

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/delay"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Verdict names the unit that delayed the others in a phase.
type Verdict struct {
	Phase    string           `json:"phase"`
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Why      string           `json:"why"`
	// Waited is the waiting of the others because of it, in ns, added up.
	Waited trace.Time `json:"waited"`
	// Its parts: at collectives to which it comes last, for its messages, and while it works longest.
	AtCollectives trace.Time `json:"waited_at_collectives"`
	ForMessages   trace.Time `json:"waited_for_messages"`
	WhileItWorks  trace.Time `json:"waited_while_it_works"`
	// Works is its work in the phase and Median that of the units, if that is the reason.
	Works  float64 `json:"works,omitempty"`
	Median float64 `json:"median,omitempty"`

	unit, phase int
}

// judge finds in each phase the unit that the others wait for.
func (r *result) judge() {
	r.delays = delay.Find(&delay.Run{Phases: r.phases, Units: len(r.units), Waiting: r.waiting, Loads: r.loads,
		Waits: r.waits})
	r.verdicts = []Verdict{}
	for i := range r.delays.Delays {
		d := &r.delays.Delays[i]
		id := r.units[d.Unit]
		r.verdicts = append(r.verdicts, Verdict{Phase: r.phases.List[d.Phase].Name, Location: id,
			Path: r.tree.Path(id), Why: r.why(d), Waited: d.Total(), AtCollectives: d.Collectives,
			ForMessages: d.Messages, WhileItWorks: d.Work, Works: d.Works, Median: d.Median,
			unit: d.Unit, phase: d.Phase})
	}
}

// why describes the cause in the unit.
func (r *result) why(d *delay.Delay) string {
	name := r.names[d.Unit]
	region := ""
	if d.Longest > 0 {
		region = " in " + shorten(r.request.Store().Regions()[d.Region].Name)
	}
	waiters := view.Count(d.Waiters(), "other") + " wait"
	if d.Waiters() == 1 {
		waiters += "s"
	}
	switch {
	case d.LongWork():
		return fmt.Sprintf("%s works %s, the median is %s; the others wait %s meanwhile", name,
			view.FormatDuration(d.Works), view.FormatDuration(d.Median), view.FormatTime(d.Work))
	case d.Collectives >= d.Messages:
		return fmt.Sprintf("%s arrives last at %s; %s %s for it%s", name, view.Count(d.Arrivals, "collective"),
			waiters, view.FormatTime(d.Collectives), region)
	}
	return fmt.Sprintf("%s is late with messages; %s %s for it%s", name, waiters, view.FormatTime(d.Messages), region)
}

// shorten cuts the arguments of long names.
func shorten(name string) string {
	if i := strings.IndexAny(name, "(<"); i > 0 && len(name) > 48 {
		return name[:i]
	}
	return name
}
