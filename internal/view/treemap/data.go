package treemap

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Part is one cell of the cut in the JSON output.
type Part struct {
	Location *trace.LocationID `json:"location" about:"location"` // null for a root that the source does not have
	Path     string            `json:"path" unit:""`
	// Group is the path of the group that it is in, where groups are not those of the source.
	Group  string             `json:"group,omitempty"`
	Level  int                `json:"level" unit:"count"`
	Leaves int32              `json:"leaves" unit:"count"`
	Values map[string]float64 `json:"values" spread:"variables"` // ns, or the metric's unit
	Gain   float64            `json:"gain" unit:""`
	Loss   float64            `json:"loss" unit:""`
	Share  float64            `json:"-" table:"share of loss" unit:"share"`
	// of its locations from their mean, all variables together
	Deviation float64  `json:"deviation" unit:"share"`
	Threshold *float64 `json:"threshold" unit:""`
}

// A Finding is a group whose members differ.
type Finding struct {
	Location *trace.LocationID `json:"location"`
	Path     string            `json:"path"`
	Loss     float64           `json:"loss"`  // bits lost when its children are drawn as one
	Share    float64           `json:"share"` // of all there is to lose
	Text     string            `json:"text"`
}

// Data is the "data" of the JSON output.
type Data struct {
	P          float64        `json:"p"`
	ChosenBy   string         `json:"p_chosen_by"` // "data" or "option"
	First      entropy.Choice `json:"first"`       // the p that the data chooses
	Suggested  float64        `json:"suggested"`
	Gain       float64        `json:"gain"`
	Loss       float64        `json:"loss"`
	PIC        float64        `json:"pic"`
	Variables  []string       `json:"variables"`
	Cuts       float64        `json:"cuts_log10"` // of how many cuts this is the best
	Parts      []Part         `json:"parts"`
	Stretches  []entropy.Step `json:"stretches"` // all ranges of p with one picture each
	Complete   bool           `json:"complete"`  // no stretch is missing
	Thresholds []float64      `json:"thresholds"`
	Curve      entropy.Curve  `json:"curve"`
	Findings   []Finding      `json:"findings"`
	// Groupings are the run's own tree and its alternatives.
	Groupings []view.Grouping `json:"groupings"`
}

func (r *result) Data() any {
	d := Data{P: r.p, ChosenBy: r.chosenBy, First: r.first, Gain: r.cut.Gain, Loss: r.cut.Loss,
		Variables: []string{}, Parts: r.parts(), Stretches: r.slider.Steps(), Complete: r.slider.Complete,
		Findings: r.findings(10), Groupings: r.groupings}
	if r.scale == entropy.Normalised {
		d.Gain, d.Loss = ratio(r.cut.Gain, r.labels.Gain[0]), r.share(r.cut.Loss)
	}
	d.PIC = r.p*d.Gain - (1-r.p)*d.Loss
	d.Cuts = r.ways()
	d.Thresholds = r.slider.Thresholds(d.Stretches)
	d.Suggested, d.Curve = r.slider.Suggested(), r.slider.Curve()
	for _, v := range r.variables {
		d.Variables = append(d.Variables, v.Name)
	}
	return d
}

// parts are those of the cut.
func (r *result) parts() []Part {
	out := make([]Part, len(r.cut.Parts))
	for k, i := range r.cut.Parts {
		part := Part{Location: r.locationOrNil(i), Path: r.hierarchy.Path(i), Group: r.hierarchy.Group(i),
			Level:  int(r.hierarchy.Depth[i]),
			Leaves: r.labels.Leaves[i],
			Values: map[string]float64{}, Gain: r.labels.Gain[i], Loss: r.labels.Loss[i],
			Share: r.share(r.labels.Loss[i]), Deviation: r.deviation(i), Threshold: r.threshold(i)}
		for x, v := range r.variables {
			part.Values[v.Name] = r.value(x, i)
		}
		out[k] = part
	}
	return out
}

// value of a node: a whole number of nanoseconds, or as it is.
func (r *result) value(x int, i int32) float64 {
	v := r.labels.Sum[x][i] * r.unit
	if r.variables[x].Instant {
		return math.Round(r.labels.Sum[x][i] / r.variables[x].Weight)
	}
	if r.mean {
		return v / float64(max(r.labels.Leaves[i], 1))
	}
	switch {
	case r.unitName == "ns" && r.request.Store().Info().Intervals > 0:
		return math.Round(v)
	case r.unitName == "ns":
		return math.Round(v*1e3) / 1e3 // removes rounding errors of the division by a second
	}
	return v
}

func (r *result) locationOrNil(i int32) *trace.LocationID {
	if id := r.location(i); id != trace.NoLocation {
		return &id
	}
	return nil
}

// findings lists the groups whose children differ, in order of the loss of drawing these
// children as one. O(nodes log most).
func (r *result) findings(most int) []Finding {
	top := r.differing(most)
	t, between := r.tree, r.between
	out := []Finding{}
	for _, n := range top {
		i := int(n)
		if r.share(between[i]) <= 1e-6 {
			continue
		}
		children := 0
		for c := n + 1; c <= t.Last[i]; c = t.Last[c] + 1 {
			children++
		}
		f := Finding{Location: r.locationOrNil(n), Path: r.hierarchy.Path(n), Loss: between[i],
			Share: r.share(between[i])}
		name := r.hierarchy.Path(n)
		if name == "" {
			name = "the whole"
		}
		f.Text = fmt.Sprintf("%s %s: its %s %s differ, loss %s bits, %s of all", r.hierarchy.Kind(n), name,
			view.Thousands(int64(children)), plural(r.hierarchy.Kind(n+1)), view.FormatCount(f.Loss),
			view.FormatShare(f.Share))
		out = append(out, f)
	}
	return out
}

// differing lists the groups whose children differ, most first. O(nodes log nodes) once.
func (l *labelled) differing(most int) []int32 {
	l.ranking.Do(func() {
		t := l.tree
		l.between = slices.Clone(l.labels.Loss) // loss of a node less that of its children
		for i := t.Len() - 1; i > 0; i-- {
			l.between[t.Parent[i]] -= l.labels.Loss[i]
		}
		for i := range l.between {
			if !t.Leaf(i) && l.between[i] > 1e-6*l.labels.Loss[0] {
				l.ranked = append(l.ranked, int32(i))
			}
		}
		slices.SortStableFunc(l.ranked, func(a, b int32) int { return cmp.Compare(l.between[b], l.between[a]) })
		l.ranked = l.ranked[:min(len(l.ranked), 64)]
	})
	return l.ranked[:min(len(l.ranked), most)]
}

func plural(kind string) string {
	if kind == "process" {
		return "processes"
	}
	return kind + "s"
}

// Table has a row for each part of the cut.
func (r *result) Table() *view.Table {
	unit := ""
	switch r.unitName {
	case "ns", "bytes", "count":
		unit = r.unitName
	}
	variables := make([]view.Column, len(r.variables))
	for x, v := range r.variables {
		variables[x] = view.Column{Name: v.Name, Unit: unit}
		if v.Instant {
			variables[x].Unit = "count"
		}
	}
	return view.TableOf(r.parts(), nil, map[string][]view.Column{"variables": variables})
}
