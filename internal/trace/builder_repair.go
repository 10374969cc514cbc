package trace

// Repairs counts the changes by a Builder.
type Repairs struct {
	Forced    int64 // closed because an outer interval was left
	Stray     int64 // Leave records that close nothing
	Unclosed  int64 // closed at the end of the trace
	Negative  int64 // intervals with their end before their begin
	Backwards int64 // records moved to the time of the one before
	Rounded   int64 // intervals with an end moved by less than times are exact
	Deep      int64 // rows nested deeper than a depth can say
}

// Add adds the counts of q.
func (r *Repairs) Add(q Repairs) {
	r.Forced += q.Forced
	r.Stray += q.Stray
	r.Unclosed += q.Unclosed
	r.Negative += q.Negative
	r.Backwards += q.Backwards
	r.Rounded += q.Rounded
	r.Deep += q.Deep
}

// Entries returns the counts that are not zero as lines of the import report.
func (r Repairs) Entries() []ReportEntry {
	all := []ReportEntry{
		{Kind: Repaired, What: "intervals closed because an outer one was left", Count: r.Forced},
		{Kind: MissingIntervals, What: "leave records without an open interval", Count: r.Stray},
		{Kind: Repaired, What: "intervals without an end, closed at the end of the trace", Count: r.Unclosed},
		{Kind: Repaired, What: "intervals that end before they begin, made empty", Count: r.Negative},
		{Kind: Repaired, What: "records that run backwards in time, moved to the time of the one before",
			Count: r.Backwards},
		{Kind: Repaired,
			What:  "intervals whose end was moved by no more than times in the source are exact, so that they nest",
			Count: r.Rounded},
		{Kind: Repaired, What: "intervals nested deeper than 65535, kept at that depth", Count: r.Deep},
	}
	kept := all[:0]
	for _, e := range all {
		if e.Count != 0 {
			kept = append(kept, e)
		}
	}
	return kept
}
