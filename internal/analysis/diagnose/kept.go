package diagnose

// Diagnoses of large runs are made once and stored next to the run.

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// manyLocations is how many a run has from which on its diagnosis is kept next to the store: its rules go through the
// causes of all of them one after the other.
const manyLocations = 1 << 13

// kept reports whether the question is the usual one, about a whole run that is large.
func (q *Question) kept() bool {
	return q.Phase == "auto" && q.window().Whole(q.Run.Store) && q.Selection.Regions == nil &&
		q.Run.Store.Locations().Len() >= manyLocations
}

// once returns the diagnosis of a whole run, which is made once.
func (q *Question) once(ctx context.Context) (*Result, error) {
	ofRun := derived.Derived[*keptResult]{
		Name: "diagnosis", Version: derived.ProgramVersion(), Restore: (*keptResult).restore,
		Make: func(ctx context.Context, _ *derived.Run) (*keptResult, error) {
			r, err := q.answer(ctx)
			if err != nil {
				return nil, err
			}
			return keep(r)
		},
	}
	k, err := ofRun.Of(ctx, q.Run)
	if err != nil {
		return nil, err
	}
	return k.result(q.Run.Store.Locations())
}

// A keptResult is a result as it lies next to a store. Lists whose emptiness has a meaning, and pointers to numbers
// that may be 0, are in Text, as JSON: gob does not tell these from none.
type keptResult struct {
	Text   []byte
	Plain  Result   // without what is in the other fields
	Words  []string // of causes, each once
	Causes derived.Long[keptCause]
}

type keptText struct {
	Findings []finding.Finding
	Hot      []finding.Proof
	Notes    []string
}

// A keptCause is a cause without its path, which follows from the location. Texts are places in Words.
type keptCause struct {
	Cause, Region, Finding int32
	Location               trace.LocationID
	Time, Direct           trace.Time
	Share                  float64
}

func keep(r *Result) (*keptResult, error) {
	b, err := json.Marshal(keptText{r.Findings, r.Hot, r.Notes})
	k := &keptResult{Text: b, Plain: *r}
	k.Plain.Findings, k.Plain.Hot, k.Plain.Notes, k.Plain.Causes = nil, nil, nil, nil
	places := map[string]int32{}
	place := func(text string) int32 {
		at, ok := places[text]
		if !ok {
			at = int32(len(k.Words))
			places[text] = at
			k.Words = append(k.Words, text)
		}
		return at
	}
	k.Causes = make([]keptCause, len(r.Causes))
	for i := range r.Causes {
		x := &r.Causes[i]
		k.Causes[i] = keptCause{place(x.Cause), place(x.Region), place(x.Finding), x.Location, x.Time, x.Direct,
			x.Share}
	}
	return k, err
}

// result returns the result with findings that are the caller's.
func (k *keptResult) result(t *store.Tree) (*Result, error) {
	var text keptText
	if err := json.Unmarshal(k.Text, &text); err != nil {
		return nil, err
	}
	r := k.Plain
	r.Findings, r.Hot, r.Notes = text.Findings, text.Hot, text.Notes
	r.Causes = make([]Cause, len(k.Causes))
	_ = parallel.Ranges(context.Background(), len(r.Causes), partOfCauses, func(from, to int) {
		for i := from; i < to; i++ {
			x := &k.Causes[i]
			r.Causes[i] = Cause{Cause: k.Words[x.Cause], Location: x.Location, Region: k.Words[x.Region],
				Finding: k.Words[x.Finding], Time: x.Time, Share: x.Share, Direct: x.Direct}
			if x.Location != trace.NoLocation {
				r.Causes[i].Path = t.Path(x.Location)
			}
		}
	})
	return &r, nil
}

var errKept = errors.New("the diagnosis names what the run does not have")

// restore checks a diagnosis that was read from next to the store against its run.
func (k *keptResult) restore(s store.Reader) error {
	locations, regions := trace.LocationID(s.Locations().Len()), trace.RegionID(len(s.Regions()))
	location := func(id trace.LocationID) bool { return id >= 0 && id < locations }
	region := func(id trace.RegionID) bool { return id >= 0 && id < regions }
	fits := func(locations []trace.LocationID, regions []trace.RegionID) bool {
		return !slices.ContainsFunc(locations, func(id trace.LocationID) bool { return !location(id) }) &&
			!slices.ContainsFunc(regions, func(id trace.RegionID) bool { return !region(id) })
	}
	word := func(at int32) bool { return at >= 0 && int(at) < len(k.Words) }
	for i := range k.Causes {
		x := &k.Causes[i]
		if x.Location != trace.NoLocation && !location(x.Location) || !word(x.Cause) || !word(x.Region) ||
			!word(x.Finding) {
			return errKept
		}
	}
	var text keptText
	if err := json.Unmarshal(k.Text, &text); err != nil {
		return err
	}
	for i := range text.Findings {
		if f := &text.Findings[i].Selection; !fits(f.Locations, f.Regions) {
			return errKept
		}
	}
	return k.Plain.Waits.restore(fits)
}

// restore checks a table, whose columns are of units and of machines.
func (t *CauseTable) restore(fits func([]trace.LocationID, []trace.RegionID) bool) error {
	n := len(t.Units)
	if len(t.Names) != n || len(t.Machine) != n || len(t.Caused) != n || len(t.Waited) != n || !fits(t.Units, nil) {
		return errKept
	}
	for _, m := range t.Machine {
		if m < -1 || int(m) >= len(t.Machines) {
			return errKept
		}
	}
	for i := range t.Causes {
		c := &t.Causes[i]
		at := []trace.LocationID{c.At}
		if c.At == trace.NoLocation {
			at = nil
		}
		if len(c.Waiters) != n || !fits(at, c.Regions) {
			return errKept
		}
	}
	return nil
}
