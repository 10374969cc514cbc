package topology

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestKeptLayoutsAreThoseThatWereFound(t *testing.T) {
	want := &layouts{Role: trace.RoleIO, Found: []proposal.Layout{
		{Kind: proposal.Coordinates, Dims: []int{4, 2}, Neighbours: 0.5},
		{Kind: proposal.Rows, Dims: []int{2, 2}, Places: [][]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}}},
		{Kind: proposal.Grid, Dims: []int{1, 2, 1}, Periodic: []bool{false, true, false}, Traffic: 0.9,
			Places: [][]int{{0, 0, 0}, {0, 1, 0}}},
		{Kind: proposal.Grid, Dims: []int{2, 1, 1}, Places: [][]int{{-2, 0}, {0, 0, 0}, {1, 0, 0}}}, // with a master
	}}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(want); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	got := &layouts{}
	if err := gob.NewDecoder(&b).Decode(got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	var none layouts
	if none.GobDecode(whole[:len(whole)/2]) == nil {
		t.Error("half of the bytes are taken")
	}
}
