package fingerprint

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/viewtest"
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
	if got := keptJobOf(r, d); !reflect.DeepEqual(words(got), words(want)) || len(got.GPUs) == 0 {
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
	for name, change := range map[string]func(*keptJob){
		"version":    func(k *keptJob) { k.Version++ },
		"generation": func(k *keptJob) { k.Generation++ },
		"no job":     func(k *keptJob) { k.Job = nil },
		"a unit":     func(k *keptJob) { k.Job.Steps = []step.Step{{Unit: 99}} },
		"a region":   func(k *keptJob) { k.Job.GPUs[0].Kernels[1<<30] = step.Sum{} },
		"a lane": func(k *keptJob) {
			k.Job.GPUs[0].Gaps = []step.Gap{{Next: trace.NoRegion, Host: trace.NoRegion, Lane: 1 << 30, Known: true}}
		},
		"fewer GPUs": func(k *keptJob) { k.Job.GPUs = nil },
	} {
		var k keptJob
		if err := json.Unmarshal(good, &k); err != nil {
			t.Fatal(err)
		}
		change(&k)
		b, _ := json.Marshal(k)
		if err := r.Keep("steps", b); err != nil {
			t.Fatal(err)
		}
		if keptJobOf(r, d) != nil {
			t.Errorf("%s: taken as it is", name)
		}
	}
	if err := r.Keep("steps", []byte(strings.Repeat("[", 1000))); err != nil || keptJobOf(r, d) != nil {
		t.Errorf("no JSON is taken (%v)", err)
	}
}
