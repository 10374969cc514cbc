package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/search"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const exchange = `
region main role=compute
region step role=compute
region MPI_Send role=communication
region MPI_Recv role=communication
region kernel role=compute
location process "r0" rank=0
  0..1000 main
    100..400 step
      200..220 MPI_Send
      300..310 MPI_Send
location process "r1" rank=1
  0..1000 main
    150..260 MPI_Recv
    500..700 step
      600..650 MPI_Recv
location stream "gpu" rank=1
  710..800 kernel
link message 205 r0 -> 255 r1 size=4096
link message 305 r0 -> 640 r1 size=8
link spawn 645 r1 -> 710 gpu
`

// told names steps as region@begin by what.
func told(r store.Reader, steps []search.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, fmt.Sprintf("%s@%d %s", r.Regions()[s.Region].Name, s.Begin, s.By))
	}
	return strings.Join(out, ", ")
}

// row of the interval that begins at a time.
func row(t *testing.T, r store.Reader, location string, begin trace.Time) store.Row {
	t.Helper()
	at, ok, err := r.At(trace.LocationID(slices.Index(r.Locations().Name, location)), 0, begin)
	if !ok || err != nil {
		t.Fatalf("nothing is open on %s at %d", location, begin)
	}
	return at
}

func TestCausesAndEffectsFollowLinksAndCallers(t *testing.T) {
	r := (&viewtest.Case{Trace: exchange}).Open(t)
	for _, c := range []struct {
		location               string
		begin                  trace.Time
		causes, effects, chain string
	}{
		{"gpu", 710, "MPI_Recv@600 spawn", "", "MPI_Recv@600 spawn, MPI_Send@300 message, step@100 caller, main@0 caller"},
		{"r1", 600, "MPI_Send@300 message, step@500 caller", "kernel@710 spawn", "MPI_Send@300 message, step@100 caller, main@0 caller"},
		// What an interval calls counts as its own: a step has the effects of its sends.
		{"r0", 100, "main@0 caller", "MPI_Recv@150 message, MPI_Recv@600 message", "main@0 caller"},
		{"r1", 0, "MPI_Send@300 message, MPI_Send@200 message", "kernel@710 spawn", ""},
		{"r1", 500, "MPI_Send@300 message, main@0 caller", "kernel@710 spawn", "main@0 caller"},
	} {
		n, ok, err := search.CausesOf(t.Context(), r, row(t, r, c.location, c.begin), 10)
		if err != nil || !ok {
			t.Fatalf("%s at %d: %v, %v", c.location, c.begin, ok, err)
		}
		if got := [3]string{told(r, n.Causes), told(r, n.Effects), told(r, n.Chain)}; got != [3]string{c.causes, c.effects, c.chain} {
			t.Errorf("%s at %d: causes, effects and chain are %q", c.location, c.begin, got)
		}
	}
}

func TestAllLinksAreCountedAndTheFirstAreListed(t *testing.T) {
	r := (&viewtest.Case{Trace: exchange}).Open(t)
	n, _, err := search.CausesOf(t.Context(), r, row(t, r, "r0", 100), 1)
	if err != nil || n.EffectCount != 2 || told(r, n.Effects) != "MPI_Recv@150 message" {
		t.Errorf("%d effects, named %s: %v", n.EffectCount, told(r, n.Effects), err)
	}
}

func TestNoIntervalHasNoCauses(t *testing.T) {
	r := (&viewtest.Case{Trace: exchange}).Open(t)
	for _, at := range []store.Row{{Location: 0, Row: 99}, {Location: 0, Lane: 7}, {Location: 99}, {Location: 0, Row: -1}, {Location: trace.NoLocation}, {Lane: -1}} {
		if _, ok, err := search.CausesOf(t.Context(), r, at, 10); ok || err != nil {
			t.Errorf("%+v: %v, %v", at, ok, err)
		}
	}
}
