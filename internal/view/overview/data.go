package overview

import (
	"fmt"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Part is one box of the JSON output.
type Part struct {
	Location *trace.LocationID `json:"location" about:"location"` // null for a root that the source does not have
	Path     string            `json:"path" unit:""`
	// Group is the path of the group that it is in, where groups are not those of the source.
	Group  string             `json:"group,omitempty"`
	Leaves int64              `json:"leaves" unit:"count"` // locations it stands for
	Begin  trace.Time         `json:"begin" unit:"ns"`
	End    trace.Time         `json:"end" unit:"ns"`
	Values map[string]float64 `json:"values" spread:"roles"` // ns by role
	Gain   float64            `json:"gain" unit:""`
	Loss   float64            `json:"loss" unit:""`
}

// Data is the "data" of the JSON output.
type Data struct {
	P         float64        `json:"p"`
	ChosenBy  string         `json:"p_chosen_by"` // "data" or "option"
	First     entropy.Choice `json:"first"`       // the p that the data chooses
	Suggested float64        `json:"suggested"`   // the p whose boxes come nearest to all the gain at none of the loss
	Gain      float64        `json:"gain"`
	Loss      float64        `json:"loss"`
	PIC       float64        `json:"pic"`
	Slices    int            `json:"slices"`
	Locations int            `json:"locations"`
	Parts     []Part         `json:"parts"`
	Stretches []entropy.Step `json:"stretches"` // ranges of p with one picture each
	Complete  bool           `json:"complete"`  // no stretch is missing
	// CompleteFrom is the deviation from which on all stretches are listed; null if none
	// is missing.
	CompleteFrom *float64      `json:"complete_from"`
	Thresholds   []float64     `json:"thresholds"` // p at which the boxes change, those of the list
	Curve        entropy.Curve `json:"curve"`
	// Groupings are the run's own tree and its alternatives.
	Groupings []view.Grouping `json:"groupings"`
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (r *result) Data() any {
	s := r.slide()
	d := Data{P: r.p, ChosenBy: r.chosenBy, First: r.first, Gain: r.gain, Loss: r.loss, PIC: r.pic, Slices: r.slices(),
		Locations: r.hierarchy.Leaves,
		Parts:     r.list(), Stretches: s.Steps(), Complete: s.Complete, CompleteFrom: s.CutAt(),
		Suggested: s.Suggested(),
		Curve:     s.Curve(), Groupings: r.groupings}
	d.Thresholds = s.Thresholds(d.Stretches)
	return d
}

// DataNotes describes where the list of stretches is cut.
func (r *result) DataNotes() []string {
	if text := r.slide().CutText(); text != "" {
		return []string{text}
	}
	return nil
}

func (r *result) list() []Part {
	out := make([]Part, len(r.parts))
	for k, p := range r.parts {
		node := r.node[p.Node]
		part := Part{Path: r.hierarchy.Path(node), Group: r.hierarchy.Group(node), Leaves: int64(r.count[p.Node]),
			Values: map[string]float64{},
			Gain:   p.Gain, Loss: p.Loss}
		part.Begin, part.End = r.span(p)
		if id := r.hierarchy.Location[node]; id != trace.NoLocation {
			part.Location = &id
		}
		for x, of := range r.states {
			part.Values[of.name] = math.Round(r.programme.Sum(x, p) * 1e9)
		}
		out[k] = part
	}
	return out
}

// Table has a row for each box.
func (r *result) Table() *view.Table {
	roles := make([]view.Column, len(r.states))
	for x, of := range r.states {
		roles[x] = view.Column{Name: of.name, Unit: "ns"}
	}
	return view.TableOf(r.list(), nil, map[string][]view.Column{"roles": roles})
}

// Fact describes a box.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	p := r.parts[it.A]
	begin, end := r.span(p)
	f := view.Fact{Title: r.hierarchy.Name(r.node[p.Node]), Begin: &begin, End: &end, Count: int64(r.count[p.Node])}
	f.Say("path", r.hierarchy.Path(r.node[p.Node]), "")
	f.Say("from", view.FormatTime(begin), strconv.FormatInt(int64(begin), 10))
	f.Say("to", view.FormatTime(end), strconv.FormatInt(int64(end), 10))
	f.Say("locations", view.FormatCount(r.count[p.Node]), "")
	for k, of := range r.states {
		v := math.Round(r.programme.Sum(k, p) * 1e9)
		f.Say(of.name, view.FormatDuration(v), strconv.FormatFloat(v, 'f', 0, 64))
	}
	f.Say("loss as one",
		fmt.Sprintf("%s bits, %s of all", view.FormatCount(p.Loss), view.FormatShare(r.lossShare(p.Loss))),
		strconv.FormatFloat(p.Loss, 'g', -1, 64))
	if r.aggregated(p) {
		f.Text = fmt.Sprintf("Aggregated: %s over %s.", view.Count(int(r.count[p.Node]), "location"),
			view.Count(int(p.Last-p.First)+1, "slice"))
	}
	if id := r.hierarchy.Location[r.node[p.Node]]; id != trace.NoLocation {
		f.Locations = []trace.LocationID{id}
	}
	return f, true
}

// Rows implements view.Lister: a part is a row, however many cells were looked at.
func (r *result) Rows() int { return len(r.parts) }
