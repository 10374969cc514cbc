package diagnose

// The answer for a run: the first cause, the numbers that prove it, and the next step.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// An Answer summarises a run: the first cause, its cost, the numbers that prove it, and the next step.
type Answer struct {
	// Text is one sentence. Kind, Title and Severity are empty if nothing stands out.
	Text     string        `json:"text"`
	Kind     finding.Kind  `json:"kind"`
	Title    string        `json:"title"`
	Severity finding.Level `json:"severity"`
	// Lost is the time lost, in Unit; Share its part of ShareOf.
	Lost    trace.Time `json:"lost"`
	Unit    string     `json:"unit"`
	Share   float64    `json:"share"`
	ShareOf string     `json:"share_of"`
	// Proof are numbers of one unit to compare: who is slow, and the others.
	Proof []finding.Proof `json:"proof"`
	// Evidence are the numbers behind the sentence.
	Evidence []finding.Evidence `json:"evidence"`
	// SeenAs are symptoms of the cause, a few words each.
	SeenAs []string `json:"seen_as"`
	// Doubts are why the times may not be right.
	Doubts []string `json:"doubts"`
	Next   string   `json:"next"`
	// Gain is the time to be gained; nil: none is predicted. Place is where the code is, "file:line" or empty.
	Gain  *finding.Gain `json:"gain"`
	Place string        `json:"place"`
	// View, Options and Selection are the state of the page that shows it.
	View      string              `json:"view"`
	Options   map[string][]string `json:"options"`
	Selection finding.Selection   `json:"selection"`
	// Of is the number of findings, PhaseCount that of the phases they are about.
	Of         int `json:"of"`
	PhaseCount int `json:"phase_count"`
}

// doubted are kinds about the recording, not about the program.
var doubted = []finding.Kind{finding.Clock, finding.Data}

// Answer chooses the finding that answers for the run: the first that is about the program.
func (r *Result) Answer() *Answer {
	a := &Answer{Proof: []finding.Proof{}, Evidence: []finding.Evidence{}, SeenAs: []string{}, Doubts: []string{},
		Options:   map[string][]string{},
		Selection: finding.Selection{Locations: []trace.LocationID{}, Regions: []trace.RegionID{}},
		Of:        len(r.Findings), PhaseCount: r.PhaseCount}
	var chosen *finding.Finding
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case slices.Contains(doubted, f.Kind):
			a.Doubts = append(a.Doubts, f.Text)
		case chosen == nil && (f.Lost > 0 || f.Severity != finding.Low):
			chosen = f
		}
	}
	if chosen == nil {
		r.quiet(a)
		return a
	}
	a.Text, a.Kind, a.Severity, a.Next = chosen.Text, chosen.Kind, chosen.Severity, chosen.Next
	a.Lost, a.Unit, a.Share, a.ShareOf = chosen.Lost, chosen.Unit, chosen.Share, chosen.ShareOf
	a.View, a.Options, a.Selection = chosen.View, chosen.Options, chosen.Selection
	a.Title, a.Gain, a.Place, a.SeenAs = chosen.Title, chosen.Gain, chosen.Place, chosen.SeenAs
	a.Proof = chosen.Proof
	a.Evidence = append(a.Evidence, chosen.Evidence...)
	return a
}

// quiet is the answer where no finding is one: how much is waited, and the regions that take most time.
func (r *Result) quiet(a *Answer) {
	a.Unit, a.ShareOf, a.View = "ns", "all time", "profile"
	a.Next = "Look at the profile for the regions that take most time."
	a.Proof = append(a.Proof, r.Hot...)
	t := &r.Accounts
	switch {
	case t.Time > 0:
		a.Lost, a.Share = t.Waiting, float64(t.Waiting)/float64(t.Time)
		work := words.FormatShare(float64(t.Work) / float64(t.Time))
		if a.Share >= finding.HighShare {
			a.Text = fmt.Sprintf("%s of the time is waiting, and no single cause explains it. %s is work.",
				words.FormatShare(a.Share), work)
			a.View, a.Next = "findings", "Open the causes of waiting: they show for which ranks and regions the "+
				"time is lost."
			a.Proof = []finding.Proof{{Name: "work", Value: float64(t.Work), Unit: "ns"},
				{Name: "waited", Value: float64(t.Waiting), Unit: "ns"}}
			return
		}
		a.Text = fmt.Sprintf("Nothing stands out: %s of the time is work, %s is waiting.", work,
			words.FormatShare(a.Share))
	default:
		a.Text = "Nothing stands out."
	}
	if len(r.Hot) > 0 && r.HotOf > 0 {
		names := make([]string, len(r.Hot))
		for i, p := range r.Hot {
			names[i] = fmt.Sprintf("%s (%s)", words.Middle(p.Name), words.FormatShare(p.Value/r.HotOf))
		}
		a.Text += " Most time is in " + strings.Join(names, ", ") + "."
	}
}

// hottest returns the regions with most exclusive time, and that of all.
func (f *facts) hottest() (list []finding.Proof, all float64) {
	of := map[trace.RegionID]float64{}
	for i, r := range f.table.region {
		all += f.table.exclusive[i]
		if g := &f.regions[r]; g.Role != trace.RoleIdle {
			of[r] += f.table.exclusive[i]
		}
	}
	for r, v := range of {
		list = append(list, finding.Proof{Name: f.regions[r].Name, Value: v, Unit: f.unit})
	}
	slices.SortFunc(list, func(a, b finding.Proof) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), mostProofs)], all
}

// mostProofs is how many numbers a proof compares.
const mostProofs = 3

// proofOf finds numbers of a finding that can be compared: those in the unit of the loss, else the loss against all
// there is, else those in the unit of the first. "x, least", "x, median" and "x, most" are one.
func proofOf(f *finding.Finding) []finding.Proof {
	out := proofIn(f, f.Unit)
	switch {
	case len(out) > 1:
		return out
	case f.Lost > 0 && f.Share > 0:
		return []finding.Proof{{Name: "lost", Value: float64(f.Lost), Unit: f.Unit},
			{Name: f.ShareOf, Value: float64(f.Lost) / f.Share, Unit: f.Unit}}
	case len(out) == 0 && len(f.Evidence) > 0:
		return proofIn(f, f.Evidence[0].Unit)
	}
	return out
}

// proofIn lists the numbers of one unit.
func proofIn(f *finding.Finding, unit string) []finding.Proof {
	out := []finding.Proof{}
	for _, e := range f.Evidence {
		name, of, _ := cutLast(e.Name, ", ")
		known := slices.IndexFunc(out, func(p finding.Proof) bool { return p.Name == name })
		v := e.Value
		switch {
		case e.Unit != unit:
		case of == "least" && known < 0 && len(out) < mostProofs:
			out = append(out, finding.Proof{Name: name, Value: v, Least: &v, Unit: e.Unit})
		case of == "median" && known >= 0:
			out[known].Value = v
		case of == "most" && known >= 0:
			out[known].Most = &v
		case of == "" && len(out) < mostProofs:
			out = append(out, finding.Proof{Name: name, Value: v, Unit: e.Unit})
		}
	}
	if len(out) > 1 && out[1].Most != nil { // one against the others: what else there is tells of something else
		out = out[:2]
	}
	return out
}

// cutLast cuts a text at the last separator if least, median or most follows it.
func cutLast(s, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(s, separator); at >= 0 {
		if after := s[at+len(separator):]; slices.Contains([]string{"least", "median", "most"}, after) {
			return s[:at], after, true
		}
	}
	return s, "", false
}
