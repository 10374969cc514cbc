package utilization

import (
	"context"
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Sums of floating-point numbers depend on how time is cut into pieces: where one ends is where busy time does.
func TestBusyTimeThatTouchesIsOneBar(t *testing.T) {
	r := storetest.Text(t, `
region f role=compute
region g role=compute
region wait role=synchronization
location process r0 rank=0
  0..10 f
  10..30 g
    15..20 f
  30..40 wait
  40..50 f
location process r1 rank=1
  5..10 wait
  10..20 g
  20..25 f
`)
	var got [2]string
	s := NewState("busy", r.Regions(), nil, nil, nil)
	err := scanBars(context.Background(), r, s, store.Window{End: 50}, func(id trace.LocationID, a, b trace.Time) {
		got[id] += fmt.Sprintf(" %d-%d", a, b)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := [2]string{" 0-30 40-50", " 10-25"}; got != want {
		t.Errorf("bars are %q, want %q", got, want)
	}
}
