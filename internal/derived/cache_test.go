package derived_test

import (
	"errors"
	"testing"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
)

func TestACacheMakesOnceAndTheMemoryDropsTheOldestOfAllRuns(t *testing.T) {
	made := map[string]int{}
	budget := memory.New(50) // half of it may be kept
	run, other := derived.NewCache(budget), derived.NewCache(budget)
	get := func(c *derived.Cache, what string) {
		t.Helper()
		if _, err := derived.Keep(c, what, func(int) int64 { return 10 }, func() (int, error) { made[what]++; return 1, nil }); err != nil {
			t.Fatal(err)
		}
	}
	get(run, "a")
	get(run, "b")
	get(run, "a") // kept, and now younger than b
	get(run, "c") // b goes
	get(run, "a")
	get(run, "b") // made again; c goes
	if made["a"] != 1 || made["b"] != 2 || made["c"] != 1 {
		t.Errorf("made %v", made)
	}
	get(other, "a") // of another run; a of the first goes, the budget is one
	if made["a"] != 2 {
		t.Error("two runs share what is kept")
	}
	if used, most := budget.Kept(); used != 20 || most != 25 {
		t.Errorf("%d of %d bytes, want 20 of 25", used, most)
	}
	run.Close()
	if used, _ := budget.Kept(); used != 10 {
		t.Errorf("a closed run leaves %d bytes, want those of the other, 10", used)
	}
	get(run, "late") // what is asked for of a run that was closed is made, and not kept
	if used, _ := budget.Kept(); used != 10 {
		t.Errorf("%d bytes are kept of a closed run", used-10)
	}
}

func TestWithoutACacheNothingIsKept(t *testing.T) {
	c, made := derived.NewCache(nil), 0
	for range 2 {
		if v, err := derived.Keep(c, "x", func(int) int64 { return 1 }, func() (int, error) { made++; return 7, nil }); v != 7 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	}
	c.Close()
	if made != 2 {
		t.Errorf("made %d times, want 2", made)
	}
}

func TestACacheForgetsFailures(t *testing.T) {
	c := derived.NewCache(memory.New(20))
	one := func(int) int64 { return 1 }
	if _, err := derived.Keep(c, "x", one, func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Fatal("the error is lost")
	}
	if v, err := derived.Keep(c, "x", one, func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}
