package view_test

import (
	"errors"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestAKeepMakesOnceAndDropsTheOldest(t *testing.T) {
	made := map[string]int{}
	k := view.NewKeep(25, func(int) int64 { return 10 })
	r := storetest.NewMemory().Reader()
	get := func(r store.Reader, what string) {
		t.Helper()
		if _, err := k.Get(r, what, func() (int, error) { made[what]++; return 1, nil }); err != nil {
			t.Fatal(err)
		}
	}
	get(r, "a")
	get(r, "b")
	get(r, "a") // kept, and now younger than b
	get(r, "c") // b goes
	get(r, "a")
	get(r, "b") // made again
	if made["a"] != 1 || made["b"] != 2 || made["c"] != 1 {
		t.Errorf("made %v", made)
	}
	other := storetest.NewMemory().Reader()
	get(other, "a")
	if made["a"] != 2 {
		t.Error("two runs share what is kept")
	}
}

func TestAKeepForgetsFailures(t *testing.T) {
	k := view.NewKeep(10, func(int) int64 { return 1 })
	r := storetest.NewMemory().Reader()
	if _, err := k.Get(r, "x", func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Fatal("the error is lost")
	}
	if v, err := k.Get(r, "x", func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}
