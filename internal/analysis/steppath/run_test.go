package steppath_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// large says that a run has many intervals, so that what is found of it is kept.
type large struct {
	store.Reader
	store.Keeper
}

func (l large) Info() *store.Info {
	x := *l.Reader.Info()
	x.Intervals = 2 << 20
	return &x
}

// openLarge gives a real job of GPUs that says that it is large.
func openLarge(t *testing.T) large {
	r := viewtest.Import(t, "data", "ml", "h200", "starved.json.gz")
	return large{r, r.(store.Keeper)}
}

func wholeOf(t *testing.T, r store.Reader) *runfacts.GPUPart {
	return runfacts.FindDevices(r.Locations(), nil).In(t.Context(), r, store.Window{End: r.Info().End})
}

func TestTheStepsOfALargeRunAreKeptWithItsStore(t *testing.T) {
	r := openLarge(t)
	if err := step.JobOfRun.Prepare(t.Context(), &derived.Run{Store: r}); err != nil {
		t.Fatal(err)
	}
	want, err := step.Analyse(wholeOf(t, r))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := step.JobOfRun.Found(&derived.Run{Store: r})
	if !ok || len(got.GPUs) == 0 || words(got) != words(want) {
		t.Errorf("kept (%v)\n%s\nfound\n%s", ok, words(got), words(want))
	}
}

func words(j *step.Job) string { b, _ := json.Marshal(j); return string(b) }

// refuses reports whether a result that was changed before it was kept is not taken.
func refuses[T any](t *testing.T, d derived.Derived[T], r large, change func(T)) bool {
	t.Helper()
	good, _ := r.Kept(d.Name)
	forger := d
	forger.Make = func(ctx context.Context, run *derived.Run) (T, error) {
		x, err := d.Make(ctx, run)
		change(x)
		return x, err
	}
	if err := r.Keep(d.Name, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := forger.Of(t.Context(), &derived.Run{Store: r}); err != nil {
		t.Fatal(err)
	}
	if b, ok := r.Kept(d.Name); !ok || len(b) == 0 || string(b) == string(good) {
		t.Fatal("nothing else was kept")
	}
	_, ok := d.Found(&derived.Run{Store: r})
	return !ok
}

func TestAKeptJobOfAnotherRunIsFoundAnew(t *testing.T) {
	r := openLarge(t)
	for name, change := range map[string]func(*step.Job){
		"a unit":   func(x *step.Job) { x.Steps = []step.Step{{Unit: 99}} },
		"a region": func(x *step.Job) { x.GPUs[0].Kernels[0].Region = 1 << 30 },
		"a lane": func(x *step.Job) {
			x.GPUs[0].Gaps = []step.Gap{{Next: trace.NoRegion, Host: trace.NoRegion, Lane: 1 << 30, Known: true}}
		},
		"fewer GPUs": func(x *step.Job) { x.GPUs = nil },
	} {
		if !refuses(t, step.JobOfRun, r, change) {
			t.Errorf("%s: taken as it is", name)
		}
	}
}

func TestThePathsOfALargeRunAreKeptWithItsStore(t *testing.T) {
	r := openLarge(t)
	if err := steppath.PathsOfRun.Prepare(t.Context(), &derived.Run{Store: r}); err != nil {
		t.Fatal(err)
	}
	part := wholeOf(t, r)
	job, err := step.Analyse(part)
	if err != nil {
		t.Fatal(err)
	}
	want, err := steppath.Find(t.Context(), part, job)
	if err != nil || want.Sections() == 0 {
		t.Fatal(err, want)
	}
	if got, ok := steppath.PathsOfRun.Found(&derived.Run{Store: r}); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("kept (%v)\n%+v\nfound\n%+v", ok, got, want)
	}
	for name, change := range map[string]func(*steppath.Paths){
		"a unit":     func(x *steppath.Paths) { x.Steps[0].Unit = 99 },
		"a region":   func(x *steppath.Paths) { x.Steps[0].Sections[0].Region = 1 << 30 },
		"a location": func(x *steppath.Paths) { x.Steps[0].Sections[0].Location = 1 << 30 },
		"a kind":     func(x *steppath.Paths) { x.Steps[0].Sections[0].Kind = 99 },
		"calls":      func(x *steppath.Paths) { x.Calls = nil },
	} {
		if !refuses(t, steppath.PathsOfRun, r, change) {
			t.Errorf("%s: taken as it is", name)
		}
	}
}
