package findings_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/answer"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// The findings of a run with many locations are made once. What is read from beside the store gives the same bytes,
// and damage to it only means that they are made again.
func TestKeptFindingsAreThoseThatWereMade(t *testing.T) {
	path := viewtest.WriteLocal(t, func(w trace.Writer) { writeManyRanks(w, 1<<13) })
	made := allOf(t, viewtest.OpenLocal(t, path))
	if !bytes.Contains(made, []byte(`"straggler"`)) {
		t.Fatalf("the slow rank is not found: %.2000s", made)
	}
	keeper := viewtest.OpenLocal(t, path).(store.Keeper)
	kept, ok := keeper.Kept("diagnosis")
	if !ok {
		t.Fatal("nothing is kept")
	}
	if again := allOf(t, viewtest.OpenLocal(t, path)); !bytes.Equal(made, again) {
		t.Errorf("kept: %d bytes, made: %d bytes", len(again), len(made))
	}
	damaged := bytes.Replace(kept, []byte("straggler"), []byte("struggler"), 1)
	for name, b := range map[string][]byte{"damaged": damaged, "cut": kept[:len(kept)/2], "empty": nil} {
		if err := keeper.Keep("diagnosis", b); err != nil {
			t.Fatal(err)
		}
		if again := allOf(t, viewtest.OpenLocal(t, path)); !bytes.Equal(made, again) {
			t.Errorf("%s: %d bytes, made: %d bytes", name, len(again), len(made))
		}
	}
	if again, _ := keeper.Kept("diagnosis"); !bytes.Equal(kept, again) {
		t.Error("what was damaged is not replaced")
	}
}

// allOf returns what the views of findings say and draw about a run.
func allOf(t *testing.T, r store.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, v := range []*view.View{findings.View, answer.View} {
		c := &viewtest.Case{}
		q := c.Request(t, v, r)
		result, err := view.Ask(t.Context(), v, q)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(viewtest.Dump(result.Scene(scene.Size{Width: 800, Height: 600})))
		if err := view.TwinOf(v, q, result).WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// writeManyRanks writes four steps of ranks that compute and meet in a barrier, one of them twice as slow.
func writeManyRanks(w trace.Writer, ranks int) {
	compute := w.Region(trace.Region{Name: "compute", Role: trace.RoleCompute})
	barrier := w.Region(trace.Region{Name: "MPI_Barrier", Role: trace.RoleCommunication})
	for rank := range ranks {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
		s := w.Stream(id, trace.StreamOptions{})
		work := trace.Time(1000)
		if rank == 77 {
			work = 2000
		}
		for step := range trace.Time(4) {
			begin := step * 2100
			s.Enter(begin, compute)
			s.Leave(begin+work, compute)
			s.Enter(begin+work, barrier)
			s.Leave(begin+2100, barrier)
		}
		_ = s.Close()
	}
}
