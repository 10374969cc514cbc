package fingerprint_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
)

const steps = `
region "step 1" role=annotation
region "step 2" role=annotation
region work role=compute
region MPI_Wait role=communication
location process r0 rank=0
  0..100 "step 1"
    10..60 work
  100..200 "step 2"
    110..150 work
    150..190 MPI_Wait
location process r1 rank=1
  0..100 "step 1"
    10..90 work
`

func of(t *testing.T, r store.Reader) *fingerprint.Print {
	t.Helper()
	p, err := fingerprint.OfRun.Of(context.Background(), &derived.Run{Name: "x", Store: r})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStepsAreFoldedAndTimesStay(t *testing.T) {
	p := of(t, storetest.Text(t, steps, all.Summaries...))
	got := map[string]fingerprint.Path{}
	for _, x := range p.Paths {
		got[x.Name] = x
	}
	for name, want := range map[string][3]float64{"step …": {3, 300, 90}, "work": {3, 170, 170}, "MPI_Wait": {1, 40, 40}} {
		if x := got[name]; [3]float64{x.Calls, x.Inclusive, x.Exclusive} != want {
			t.Errorf("%s: calls, inclusive, exclusive are %v, want %v", name, x, want)
		}
	}
	if len(p.Paths) != 3 || p.Length != 200 || p.Size() != 2 {
		t.Errorf("%d paths, length %v, size %d", len(p.Paths), p.Length, p.Size())
	}
	if p.Units[0].Useful != 90 || p.Units[0].Waiting != 40 || p.Units[1].Useful != 80 {
		t.Errorf("units are %+v", p.Units)
	}
}

// Iterations that no name numbers are steps; pieces of computation between messages, most of them tiny, are none.
func TestPiecesOfComputationAreNoSteps(t *testing.T) {
	text := func(lengths ...int) string {
		b := "region Running role=compute\nregion MPI_Send role=communication\nlocation process r0 rank=0\n"
		at := 0
		for _, n := range lengths {
			b += fmt.Sprintf("  %d..%d Running\n  %d..%d MPI_Send\n", at, at+n, at+n, at+n+5)
			at += n + 5
		}
		return b
	}
	if p := of(t, storetest.Text(t, text(100, 110, 90, 100), all.Summaries...)); len(p.Steps) != 4 || p.StepsBy != "Running" {
		t.Errorf("iterations: %d steps by %q", len(p.Steps), p.StepsBy)
	}
	if p := of(t, storetest.Text(t, text(2, 1000, 3, 4, 900, 2), all.Summaries...)); len(p.Steps) != 0 {
		t.Errorf("pieces: %d steps by %q", len(p.Steps), p.StepsBy)
	}
}

// A counter tells what was counted since its sample before; what falls into useful time counts.
func TestInstructionsCountInUsefulTime(t *testing.T) {
	p := of(t, storetest.Text(t, `
region work role=compute
region MPI_Wait role=communication
location process r0 rank=0
  0..100 work
  100..150 MPI_Wait
  150..250 work
  counter PAPI_TOT_INS
  counter PAPI_TOT_CYC
  100 PAPI_TOT_INS=1000
  150 PAPI_TOT_INS=70
  250 PAPI_TOT_INS=3000
  100 PAPI_TOT_CYC=500
  150 PAPI_TOT_CYC=200
  200 PAPI_TOT_CYC=400
  250 PAPI_TOT_CYC=400
`, all.Summaries...))
	if math.Abs(p.Instructions-4000) > 1e-9 || math.Abs(p.Cycles-1300) > 1e-9 {
		t.Errorf("%v instructions, %v cycles, want 4000 and 1300", p.Instructions, p.Cycles)
	}
}

func TestSmallCallPathsAreJoinedAndTheSumStays(t *testing.T) {
	text := "region main role=compute\n"
	calls := ""
	for i := range 4000 {
		text += fmt.Sprintf("region f%d role=compute\n", i)
		calls += fmt.Sprintf("    %d..%d f%d\n", 100*i, 100*i+1+i%90, i)
	}
	p := of(t, storetest.Text(t, text+"location process r0 rank=0\n  0..400000 main\n"+calls, all.Summaries...))
	sum := 0.0
	for _, x := range p.Paths {
		sum += x.Exclusive
	}
	if sum != 400000 || p.Folded == 0 || len(p.Paths) > 1600 {
		t.Errorf("%d paths, %d folded, exclusive times add up to %v, want 400000", len(p.Paths), p.Folded, sum)
	}
}

// onDisk writes a store and opens it.
func onDisk(t *testing.T, path string) *local.Reader {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		w, err := local.Create(path, local.Options{Summaries: all.Summaries, Digests: all.Digests})
		if err != nil {
			t.Fatal(err)
		}
		tracetest.Write(t, w, steps)
		if err := w.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	r, err := local.Open(path, all.Summaries, all.Digests...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// A closed store has no intervals to ask: what answers is what was kept.
func TestAPrintIsKeptWithItsStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.plx")
	r := onDisk(t, path)
	first := of(t, r)
	again := onDisk(t, path)
	again.Close()
	if second := of(t, again); !reflect.DeepEqual(first, second) {
		t.Errorf("kept %+v, was %+v", second, first)
	}
	if err := r.Verify(); err != nil {
		t.Errorf("the store with a print: %v", err)
	}
}

func TestForeignFingerprintsAreNotTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.plx")
	r := onDisk(t, path)
	want := of(t, r)
	for _, text := range []string{"", "{", "null", `{"version":2}`, fmt.Sprintf(`{"version":2,"generation":%d,"paths":[{"parent":7}]}`, r.Generation()), fmt.Sprintf(`{"version":2,"generation":%d,"steps":[{"terms":[1]}]}`, r.Generation()), `{"version":999}`} {
		if err := r.Keep("fingerprint", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := of(t, r); !reflect.DeepEqual(got, want) {
			t.Errorf("%q was taken for a print: %+v", text, got)
		}
	}
}
