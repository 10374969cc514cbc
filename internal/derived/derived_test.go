package derived_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
)

// A fakeStore keeps results in memory.
type fakeStore struct {
	store.Reader
	generation uint64
	kept       map[string][]byte
}

func newFakeStore() *fakeStore { return &fakeStore{kept: map[string][]byte{}} }

func (f *fakeStore) Generation() uint64              { return f.generation }
func (f *fakeStore) Kept(name string) ([]byte, bool) { b, ok := f.kept[name]; return b, ok }
func (f *fakeStore) Keep(name string, b []byte) error {
	f.kept[name] = b
	return nil
}

// A found is a result; restored is not written.
type found struct {
	Numbers  []float64
	restored bool
}

func (f *found) restore(store.Reader) error {
	if len(f.Numbers) == 0 {
		return errors.New("it has no numbers")
	}
	f.restored = true
	return nil
}

// counted is a Derived that counts how often it is made.
func counted(made *int) derived.Derived[*found] {
	return derived.Derived[*found]{Name: "found", Version: 1, Restore: (*found).restore, Make: func(context.Context, *derived.Run) (*found, error) {
		*made++
		return &found{Numbers: []float64{1, math.Inf(1)}}, nil
	}}
}

func TestAResultIsFoundInMemoryThenBesideTheStoreThenMade(t *testing.T) {
	made := 0
	d := counted(&made)
	r := newFakeStore()
	run := &derived.Run{Store: r, Cache: derived.NewCache(memory.New(1 << 20))}
	if _, ok := d.Found(run); ok {
		t.Fatal("found before it was made")
	}
	for range 2 {
		if x, err := d.Of(t.Context(), run); err != nil || x.restored {
			t.Fatal(x, err)
		}
	}
	other := &derived.Run{Store: r}
	x, err := d.Of(t.Context(), other)
	if err != nil || !x.restored || !reflect.DeepEqual(x.Numbers, []float64{1, math.Inf(1)}) {
		t.Errorf("beside the store lies %+v (%v)", x, err)
	}
	if _, ok := d.Found(other); !ok || made != 1 {
		t.Errorf("made %d times, want once", made)
	}
}

func TestAResultOfAnotherVersionOrRunOrDamagedIsMadeAnew(t *testing.T) {
	made := 0
	d := counted(&made)
	r := newFakeStore()
	run := &derived.Run{Store: r}
	if _, err := d.Of(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	good := r.kept["found"]
	for name, change := range map[string]func(){
		"another version": func() { d.Version++ },
		"another run":     func() { r.generation++ },
		"cut":             func() { r.kept["found"] = good[:len(good)-1] },
		"empty":           func() { r.kept["found"] = nil },
		"no head":         func() { r.kept["found"] = good[8:] },
		"a bit":           func() { r.kept["found"][len(good)-1] ^= 1 },
		"restore refuses": func() {
			empty := d
			empty.Make = func(context.Context, *derived.Run) (*found, error) { return &found{}, nil }
			delete(r.kept, "found")
			if _, err := empty.Of(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		if _, ok := d.Found(run); ok {
			t.Errorf("%s: taken as it is", name)
		}
		before := made
		if x, err := d.Of(t.Context(), run); err != nil || made != before+1 || len(x.Numbers) != 2 {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
		good = r.kept["found"]
		if _, ok := d.Found(run); !ok {
			t.Errorf("%s: not kept again", name)
		}
	}
}

func TestCheapResultsAreNotStored(t *testing.T) {
	made := 0
	d := counted(&made)
	d.Keeps = func(store.Reader) bool { return false }
	r := newFakeStore()
	run := &derived.Run{Store: r}
	if err := d.Prepare(t.Context(), run); err != nil || made != 0 {
		t.Errorf("made %d times at import (%v)", made, err)
	}
	if _, err := d.Of(t.Context(), run); err != nil || len(r.kept) > 0 {
		t.Errorf("kept %v (%v)", r.kept, err)
	}
	d.Keeps = nil
	if err := d.Prepare(t.Context(), run); err != nil || made != 2 || len(r.kept) != 1 {
		t.Errorf("made %d times, kept %d (%v)", made, len(r.kept), err)
	}
}
