package moments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/utilization"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// statesOf returns busy as the request has it, and the layers asked for.
func statesOf(q *view.Request, regions []trace.Region) (layers []*utilization.State, busy *utilization.State,
	err error) {
	v := q.Values
	busy, err = stateOf("busy", regions, v.RegionPatterns("busy", regions), v.RegionPatterns("idle", regions),
		q.Selection.Regions)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range v.Patterns("layers") {
		for _, name := range strings.Split(p, ",") {
			s := busy
			if name != "busy" {
				if s, err = stateOf(name, regions, []string{name}, nil, q.Selection.Regions); err != nil {
					return nil, nil, err
				}
			}
			layers = append(layers, s)
		}
	}
	return layers, busy, nil
}

// stateOf reads the patterns of a state.
func stateOf(name string, regions []trace.Region, busy, idle []string,
	chosen []trace.RegionID) (*utilization.State, error) {
	counts, err := compile("busy", busy, regions)
	if err != nil {
		return nil, err
	}
	not, err := compile("idle", idle, regions)
	if err != nil {
		return nil, err
	}
	return utilization.NewState(name, regions, counts, not, chosen), nil
}

// compile reads --busy or --idle, where a bare role name is a role; nil without patterns.
func compile(option string, patterns []string, regions []trace.Region) (*utilization.Regions, error) {
	if patterns == nil {
		return nil, nil
	}
	var list []func(trace.RegionID, *trace.Region) bool
	for _, p := range patterns {
		if _, ok := trace.ParseRole(p); ok {
			p = "role:" + p
		}
		m, err := view.RegionPattern(p)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", option, err)
		}
		found := strings.HasPrefix(p, "role:") // a role may be absent
		for i := range regions {
			found = found || m(trace.RegionID(i), &regions[i])
		}
		if !found {
			return nil,
				fmt.Errorf("--%s %q matches none of %d regions; `parallax info` lists them", option, p, len(regions))
		}
		list = append(list, m)
	}
	match := func(id trace.RegionID, r *trace.Region) bool {
		return slices.ContainsFunc(list, func(m func(trace.RegionID, *trace.Region) bool) bool { return m(id, r) })
	}
	return &utilization.Regions{Patterns: patterns, Match: match}, nil
}

// describe says which regions count.
func describe(s *utilization.State, chosen bool) string {
	if s.Name != "busy" {
		return fmt.Sprintf("%s: %s regions", s.Name, view.Thousands(int64(s.Counted)))
	}
	text := "busy: the innermost region is "
	switch {
	case s.Busy == nil && chosen:
		text += "one of those chosen"
	case s.Busy == nil:
		text += "compute, io or copy"
	default:
		text += strings.Join(s.Busy.Patterns, ", ")
	}
	if s.Idle != nil {
		text += ", not " + strings.Join(s.Idle.Patterns, ", ")
	}
	if !s.Whole {
		text += fmt.Sprintf(" (%s of %s regions)", view.Thousands(int64(s.Counted)), view.Thousands(int64(s.Of)))
	}
	return text
}

// rowNotes say which rows are shown, and how they were recorded.
func rowNotes(f *utilization.Rows) []string {
	notes := view.RowNotes(f.Reader)
	if samples, left := f.Sampled(); samples {
		notes = append(notes, "rows of samples are busy from one sample to the next: the view profile has the time "+
			"that samples stand for")
	} else if left > 0 && f.Selection.Locations == nil {
		notes = append(notes, fmt.Sprintf("left out: %s with samples alone, which do not show when a thread was busy; "+
			"the views profile and calltree show them", view.Count(left, "location")))
	}
	if f.Recorded != nil {
		return append(notes, recordedNotes(f.Recorded, f)...)
	}
	if f.Counter != nil {
		if n := f.Counter.Missing(f.IDs); n > 0 {
			notes = append(notes, fmt.Sprintf("%s without counter %s", view.Count(n, "location"), f.Counter.Name))
		}
	}
	return notes
}

// recordedNotes say what windows that a recorder wrote do not tell.
func recordedNotes(c *utilization.Recorded, f *utilization.Rows) []string {
	notes := []string{fmt.Sprintf("recorded inside the program: windows of %s, nothing finer is known",
		view.FormatTime(c.Longest))}
	if c.Begin < f.Selection.Begin || c.End > f.Selection.End {
		notes = append(notes, fmt.Sprintf("windows count whole: the numbers are those of %s to %s",
			view.FormatTime(c.Begin), view.FormatTime(c.End)))
	}
	if w := c.WaitForCores(); w.Rows > 0 {
		notes = append(notes, fmt.Sprintf("busy time goes by the clock, and others had the cores for some of it: "+
			"%d of %d rows waited for a core for more than 5 %% of their busy time; %s waited longest, %s beside %s "+
			"of busy time", w.Rows, w.Of, f.Tree.Name[w.Longest], view.FormatTime(trace.Time(w.Waited)),
			view.FormatTime(trace.Time(w.Busy))))
	}
	return notes
}
