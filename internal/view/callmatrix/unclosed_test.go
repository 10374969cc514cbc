package callmatrix_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// TestCallsWithoutAnEndAreNotCompared: they are left out of both sides, as of one run alone, and the notes say so.
func TestCallsWithoutAnEndAreNotCompared(t *testing.T) {
	r := viewtest.ImportBytes(t, "x.json", []byte(`{"traceEvents":[
{"ph":"B","name":"task","pid":1,"tid":1,"ts":0},{"ph":"X","name":"task","pid":1,"tid":2,"ts":10,"dur":4},
{"ph":"X","name":"task","pid":1,"tid":3,"ts":20,"dur":6},{"ph":"X","name":"other","pid":1,"tid":3,"ts":100,"dur":900}]}`))
	c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }, Spec: view.Spec{Locations: []string{"*2"}},
		Options: map[string][]string{"against": {"*1,*3"}}}
	result := c.Compute(t, callmatrix.View, r)
	if got := sides(t, result); strings.Contains(got, "no end") {
		t.Errorf("cells %s", got)
	}
	if notes := strings.Join(result.Notes(), "\n"); !strings.Contains(notes, "1 call without an end") {
		t.Errorf("notes: %s", notes)
	}
}
