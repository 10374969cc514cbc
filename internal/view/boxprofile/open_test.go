package boxprofile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

func TestAWindowInsideACallSaysThatItIsOpen(t *testing.T) {
	c := viewtest.Case{Trace: `
region run role=compute
location process p1 rank=0
  0..64 run
`, Spec: view.Spec{From: "20", To: "40"}}
	_, err := view.Ask(context.Background(), boxprofile.View, c.Request(t, boxprofile.View, c.Open(t)))
	if err == nil || !strings.Contains(err.Error(), "1 call in it began before") {
		t.Errorf("got %v", err)
	}
}
