package fingerprint

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// large says that a run has many intervals, so that what is found of it is kept.
type large struct {
	store.Reader
	store.Keeper
}

func (l large) Info() *store.Info {
	x := *l.Reader.Info()
	x.Intervals = fewIntervals
	return &x
}

// openLarge gives a real job of GPUs that says that it is large.
func openLarge(t *testing.T) large {
	r := viewtest.Import(t, "data", "ml", "h200", "starved.json.gz")
	return large{r, r.(store.Keeper)}
}

func TestTheStepsOfALargeRunAreKeptWithItsStore(t *testing.T) {
	r := openLarge(t)
	run := &view.Run{Store: r}
	if err := PrepareJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	d := view.FindDevices(r.Locations(), nil)
	if !HasJob(r, d) {
		t.Fatal("nothing is kept")
	}
	want, err := JobOf(t.Context(), r, store.Window{End: r.Info().End}, d).Analyse()
	if err != nil {
		t.Fatal(err)
	}
	k := jobKeeping(r, d)
	if got := k.read(r, d); !reflect.DeepEqual(words(got), words(want)) || len(got.GPUs) == 0 {
		t.Errorf("kept\n%s\nfound\n%s", words(got), words(want))
	}
}

func words(j *step.Job) string { b, _ := json.Marshal(j); return string(b) }

func TestAKeptJobOfAnotherRunOrVersionIsFoundAnew(t *testing.T) {
	r := openLarge(t)
	d := view.FindDevices(r.Locations(), nil)
	if _, err := Job(t.Context(), &view.Run{Store: r}, d); err != nil {
		t.Fatal(err)
	}
	good, _ := r.Kept("steps")
	k := jobKeeping(r, d)
	for name, change := range map[string]func(*kept[step.Job]){
		"version":    func(x *kept[step.Job]) { x.Version++ },
		"generation": func(x *kept[step.Job]) { x.Generation++ },
		"no job":     func(x *kept[step.Job]) { x.Found = nil },
		"a unit":     func(x *kept[step.Job]) { x.Found.Steps = []step.Step{{Unit: 99}} },
		"a region":   func(x *kept[step.Job]) { x.Found.GPUs[0].Kernels[1<<30] = step.Sum{} },
		"a lane": func(x *kept[step.Job]) {
			x.Found.GPUs[0].Gaps = []step.Gap{{Next: trace.NoRegion, Host: trace.NoRegion, Lane: 1 << 30, Known: true}}
		},
		"fewer GPUs": func(x *kept[step.Job]) { x.Found.GPUs = nil },
	} {
		var x kept[step.Job]
		if err := json.Unmarshal(good, &x); err != nil {
			t.Fatal(err)
		}
		change(&x)
		b, _ := json.Marshal(x)
		if err := r.Keep("steps", b); err != nil {
			t.Fatal(err)
		}
		if k.read(r, d) != nil {
			t.Errorf("%s: taken as it is", name)
		}
	}
	if err := r.Keep("steps", []byte(strings.Repeat("[", 1000))); err != nil || k.read(r, d) != nil {
		t.Errorf("no JSON is taken (%v)", err)
	}
}

func TestThePathsOfALargeRunAreKeptWithItsStore(t *testing.T) {
	r := openLarge(t)
	if err := PrepareStepPaths(t.Context(), &view.Run{Store: r}); err != nil {
		t.Fatal(err)
	}
	good, ok := r.Kept("steppaths")
	if !ok {
		t.Fatal("nothing is kept")
	}
	whole := store.Window{End: r.Info().End}
	d := view.FindDevices(r.Locations(), nil)
	source := JobOf(t.Context(), r, whole, d)
	job, err := source.Analyse()
	if err != nil {
		t.Fatal(err)
	}
	want, err := steppath.Find(t.Context(), source, job)
	if err != nil || want.Sections() == 0 {
		t.Fatal(err, want)
	}
	k := pathKeeping(r, d)
	if got := k.read(r, d); !reflect.DeepEqual(got, want) {
		t.Errorf("kept\n%+v\nfound\n%+v", got, want)
	}
	for name, change := range map[string]func(*kept[steppath.Paths]){
		"version":    func(x *kept[steppath.Paths]) { x.Version++ },
		"a unit":     func(x *kept[steppath.Paths]) { x.Found.Steps[0].Unit = 99 },
		"a region":   func(x *kept[steppath.Paths]) { x.Found.Steps[0].Sections[0].Region = 1 << 30 },
		"a location": func(x *kept[steppath.Paths]) { x.Found.Steps[0].Sections[0].Location = 1 << 30 },
		"a kind":     func(x *kept[steppath.Paths]) { x.Found.Steps[0].Sections[0].Kind = 99 },
		"calls":      func(x *kept[steppath.Paths]) { x.Found.Calls = nil },
	} {
		var x kept[steppath.Paths]
		if err := json.Unmarshal(good, &x); err != nil {
			t.Fatal(err)
		}
		change(&x)
		b, _ := json.Marshal(x)
		if err := r.Keep("steppaths", b); err != nil {
			t.Fatal(err)
		}
		if k.read(r, d) != nil {
			t.Errorf("%s: taken as it is", name)
		}
	}
}
