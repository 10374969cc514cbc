//go:build unix

package kaleidoscope_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

// processorTime is that of the test so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The paper's largest trace, 15,419 records, took 45 seconds there: its tree, layout and picture take less processor time
// here.
func TestThePapersLargestTraceTakesNoLongerThanThere(t *testing.T) {
	begin := processorTime(t)
	c := viewtest.Case{Reader: fromDemo("semigroup"), Size: scene.Size{Width: 850, Height: 850}}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	r.Scene(c.Size)
	if d := r.Data().(kaleidoscope.Data); d.Calls != 15_419 {
		t.Errorf("%d calls", d.Calls)
	}
	if took := processorTime(t) - begin; took > 45*time.Second {
		t.Errorf("%v of processor time, the paper had 45 s", took)
	}
}
