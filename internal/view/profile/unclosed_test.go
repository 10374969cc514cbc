package profile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/profile"
)

// One task of many is never left: it would last until the end of the trace and be nearly
// all of the time. It is left out, and the notes say so.
func TestProfileLeavesOutCallsWithoutAnEnd(t *testing.T) {
	r := viewtest.ImportBytes(t, "x.json", []byte(`{"traceEvents":[
{"ph":"B","name":"RasterTask","pid":1,"tid":1,"ts":0},
{"ph":"X","name":"RasterTask","pid":1,"tid":2,"ts":10,"dur":4},{"ph":"X","name":"RasterTask","pid":1,"tid":2,"ts":20,"dur":6},
{"ph":"X","name":"other","pid":1,"tid":3,"ts":0,"dur":1000}]}`))
	c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}
	result := c.Compute(t, profile.View, r)
	var d profile.Data
	b, err := json.Marshal(result.Data())
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 2 || d.Rows[0].Region != "other" || counted(d.Rows[1].Calls) != 2 || d.Rows[1].Inclusive != 10_000 {
		t.Errorf("%+v", d.Rows)
	}
	notes := strings.Join(result.Notes(), "\n")
	if !strings.Contains(notes, "1 call without an end in the source left out, since how long they took is not known: RasterTask (1)") {
		t.Errorf("notes: %s", notes)
	}
}
