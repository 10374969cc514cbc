package history

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
)

// A run that takes a third longer from the tenth on has changed there, and one that is longer once is outside.
func TestALastingChangeIsFoundAndASingleRunIsOutside(t *testing.T) {
	var runs []*fingerprint.Print
	for i := range 20 {
		length := 100 + float64(i%3)
		if i >= 10 {
			length += 33
		}
		if i == 17 {
			length += 20
		}
		runs = append(runs, &fingerprint.Print{Length: length, Unit: "ns"})
	}
	list, err := OfRuns(context.Background(), runs, 0.01)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d series, %v", len(list), err)
	}
	s := &list[0]
	if len(s.Changes) != 1 || s.Changes[0].Index != 10 {
		t.Errorf("changes: %+v", s.Changes)
	}
	if len(s.Outside) != 1 || s.Outside[0] != 17 || !(s.Low < 134 && s.High > 134) {
		t.Errorf("outside are %v, usual is %g to %g", s.Outside, s.Low, s.High)
	}
	list, err = OfRuns(context.Background(), runs[:3], 0.01)
	if err != nil || !math.IsNaN(list[0].Mean) {
		t.Errorf("three runs have usual values: %+v, %v", list[0], err)
	}
}
