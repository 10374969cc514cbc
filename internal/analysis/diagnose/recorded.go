package diagnose

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A run of moments alone holds how long each location is busy, and nothing about waits: it tells whether work is spread
// evenly, and how much of the time is work.

// recordedMoments sums the busy time that locations recorded themselves, in windows that meet the selection. Windows
// cannot be cut: those at its ends count whole.
type recordedMoments struct {
	ids        []trace.LocationID
	busy       []float64
	begin, end trace.Time // of the windows
}

// onlyMoments reports whether a run has neither intervals nor a profile, so that what it has is moments.
func onlyMoments(r store.Reader) bool { return r.Info().Intervals == 0 && r.Info().Profile == 0 }

func (q *Question) readMoments(ctx context.Context) (*recordedMoments, error) {
	m := &recordedMoments{begin: q.Selection.End, end: q.Selection.Begin}
	at := map[trace.LocationID]int{}
	err := q.Run.Store.Moments(ctx, q.Selection.Locations, func(rows []trace.MomentRow) error {
		for i := range rows {
			row := &rows[i]
			k, ok := at[row.Location]
			if !ok {
				k = len(m.ids)
				at[row.Location] = k
				m.ids, m.busy = append(m.ids, row.Location), append(m.busy, 0)
			}
			if row.Begin >= q.Selection.End || row.End <= q.Selection.Begin {
				continue
			}
			m.begin, m.end = min(m.begin, row.Begin), max(m.end, row.End)
			if moment.BusyRoles.Has(row.Role) {
				m.busy[k] += row.Weight
			}
		}
		return nil
	})
	return m, err
}

// answerMoments diagnoses a run of moments alone.
func (q *Question) answerMoments(ctx context.Context) (*Result, error) {
	m, err := q.readMoments(ctx)
	if err != nil {
		return nil, err
	}
	// The last window may reach past the end of the run.
	length := float64(max(min(m.end, q.Selection.End)-max(m.begin, q.Selection.Begin), 0))
	of := words.Count(len(m.ids), "location")
	r := &Result{Findings: []finding.Finding{}, Unit: "ns", POP: pop.Of(m.busy, length), Over: of, What: "locations"}
	if length == 0 {
		return r, nil
	}
	all := length * float64(len(m.ids))
	work := r.POP.Mean * float64(len(m.ids))
	r.Accounts.Time, r.Accounts.Work = trace.Time(all), trace.Time(work)
	r.Accounts.Waiting = max(r.Accounts.Time-r.Accounts.Work, 0)
	r.Accounts.Unexplained, r.Unexplained = r.Accounts.Waiting, r.Accounts.Waiting
	if e := &r.POP; len(m.ids) > 1 && e.LoadBalance < even {
		r.Findings = append(r.Findings, q.unevenMoments(m, e, e.Lost()/all, of))
	}
	return r, nil
}

// unevenMoments words work that is spread unevenly over locations.
func (q *Question) unevenMoments(m *recordedMoments, e *pop.Efficiency, share float64, of string) finding.Finding {
	slowest := m.ids[e.Slowest]
	name := runfacts.UnitNames(q.Run.Store.Locations(), m.ids)[e.Slowest]
	d := &findingList{during: q.window(), lostIn: "ns"}
	d.add(finding.Finding{
		Kind: finding.Imbalance, Severity: finding.LevelOf(share), Lost: trace.Time(e.Lost()), Hit: share,
		Share: share, ShareOf: "the time of " + of, View: "moments", Next: nextSteps[finding.Imbalance],
		NoGain: "the recorder does not tell who waits for whom",
		Text: fmt.Sprintf("Work is spread unevenly: load balance %s (POP, %s). %s is busy for %s, the mean is %s.",
			words.FormatShare(e.LoadBalance), of, capital(name), words.FormatDuration(e.Max),
			words.FormatDuration(e.Mean)),
		Evidence: []finding.Evidence{
			{Name: "busy, " + name, Value: e.Max, Unit: "ns", From: q.momentsQuery("max(busy)")},
			{Name: "busy, mean", Value: e.Mean, Unit: "ns", From: q.momentsQuery("avg(busy)")},
			{Name: "load balance", Value: e.LoadBalance, Unit: "share", From: q.momentsQuery("avg(busy) / max(busy)")}},
		Selection: finding.Selection{Locations: []trace.LocationID{slowest}}}, nil)
	f := d.list[0]
	for _, e := range f.Evidence {
		if e.From != "" {
			f.Claims = append(f.Claims, finding.Claim{Says: e.Name, Value: e.Value, Unit: e.Unit, From: e.From})
		}
	}
	f.Proof = proofOf(&f)
	return f
}

// momentsQuery asks for something of the busy times of all locations with moments; "" if the selection is a part.
func (q *Question) momentsQuery(what string) string {
	w := q.window()
	if !w.Whole(q.Run.Store) || w.Locations != nil {
		return ""
	}
	var busy []string
	for role := range trace.Role(trace.RoleCount) {
		if moment.BusyRoles.Has(role) {
			busy = append(busy, "'"+role.String()+"'")
		}
	}
	return fmt.Sprintf("select %s from (select total(case when role in (%s) then weight else 0 end) as busy "+
		"from moments group by location)", what, strings.Join(busy, ", "))
}
