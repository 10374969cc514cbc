package profile_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

type oracle struct {
	Traces []struct {
		Name      string
		End       trace.Time `json:"trace_end"`
		Processes map[string]struct {
			Events  [][3]any
			Profile map[string]struct {
				Count     float64
				Inclusive float64 `json:"inclusive_outermost_total"`
				Exclusive float64 `json:"exclusive_total"`
			}
		}
	}
}

// Profiles of traces must be those of the reference implementation: calls,
// exclusive time, and inclusive time in which recursion counts once.
func TestProfilesOfTracesAgreeWithTheReference(t *testing.T) {
	b, err := os.ReadFile("testdata/callmatrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, tr := range o.Traces {
		r := viewtest.Local(t, func(w trace.Writer) {
			for name, p := range tr.Processes {
				at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: name, Rank: trace.NoRank})
				s := w.Stream(at, trace.StreamOptions{})
				for _, e := range p.Events {
					region := w.Region(trace.Region{Name: e[2].(string)})
					if e[1].(string) == "E" {
						s.Enter(trace.Time(e[0].(float64)), region)
					} else {
						s.Leave(trace.Time(e[0].(float64)), region)
					}
				}
				for range p.Events { // what nobody leaves the oracle counts as calls, a store keeps apart
					s.Leave(tr.End, trace.NoRegion)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
		for name, p := range tr.Processes {
			if len(p.Profile) == 0 {
				continue // a process that did nothing
			}
			c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }, Spec: view.Spec{Locations: []string{name}}}
			got, _ := data(t, c)
			if len(got) != len(p.Profile) {
				t.Errorf("%s, process %s: %d regions, want %d", tr.Name, name, len(got), len(p.Profile))
			}
			for region, want := range p.Profile {
				checked++
				if g := got[region]; counted(g.Calls) != want.Count || g.Inclusive != want.Inclusive || g.Exclusive != want.Exclusive {
					t.Errorf("%s, process %s, %s: %v calls, inclusive %v, exclusive %v, want %+v", tr.Name, name, region, counted(g.Calls), g.Inclusive, g.Exclusive, want)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d regions checked", checked)
	}
}
