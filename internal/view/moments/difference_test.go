package moments_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

func TestMomentsOfTwoRunsAreSubtractedRankByRank(t *testing.T) {
	before := "region run role=compute\nlocation process a rank=0\n  0..100 run\nlocation process b rank=1\n  0..40 run\n"
	after := "region run role=compute\nlocation process x rank=0\n  0..100 run\nlocation process y rank=1\n  20..80 run\nlocation process z rank=2\n  0..100 run\n"
	type row struct {
		Path           string
		M0, M0_a, M0_b float64
		M1, M2, M3     *float64
	}
	ask := func(others ...string) (d struct {
		Rows []row
		Text string
	}, notes string) {
		c := viewtest.Case{Trace: before, Others: others}
		r := c.Compute(t, moments.View, c.Open(t))
		b, err := json.Marshal(r.Data())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		return d, strings.Join(r.Notes(), "; ")
	}
	same, _ := ask(before)
	for _, x := range same.Rows {
		if x.M0 != 0 || *x.M1 != 0 || *x.M2 != 0 || *x.M3 != 0 {
			t.Errorf("%s differs from itself: %+v", x.Path, x)
		}
	}
	d, notes := ask(after[:strings.Index(after, "location process z")])
	if x := d.Rows[1]; x.M0_a != 40 || x.M0_b != 60 || x.M0 != 20 || *x.M1 != 30 || *x.M2 != 10 {
		t.Errorf("rank 1 works 20 ns longer and 30 ns later: %+v", x)
	}
	if !strings.Contains(d.Text, "most on b with +20.0 ns") {
		t.Errorf("the text does not name who changed most: %s (%s)", d.Text, notes)
	}
	if _, notes := ask(after); !strings.Contains(notes, "not as many ranks") {
		t.Errorf("two ranks against three: %s", notes)
	}
}
