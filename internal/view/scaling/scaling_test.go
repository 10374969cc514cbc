package scaling_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	kinds "github.com/parallax-hpc/parallax/internal/analysis/scaling"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/scaling"
)

// made is a program on n ranks: work is shared out, a reduction grows by the logarithm of the ranks, and what one rank alone does stays.
func made(n int) string {
	var b strings.Builder
	b.WriteString("region work role=compute\nregion setup role=compute\nregion MPI_Allreduce role=communication\n")
	work, reduce := 640000/n, int(2000+3000*math.Log2(float64(n)))
	for rank := range n {
		fmt.Fprintf(&b, "location process r%d rank=%d\n  0..4000 setup\n  4000..%d work\n  %d..%d MPI_Allreduce\n", rank, rank, 4000+work, 4000+work, 4000+work+reduce)
	}
	return b.String()
}

func TestView(t *testing.T) {
	others := []string{made(4), made(8), made(16), made(32)}
	viewtest.Run(t, scaling.View,
		viewtest.Case{Name: "factors", Trace: made(2), Others: others},
		viewtest.Case{Name: "models", Trace: made(2), Others: others, Options: map[string][]string{"picture": {"models"}}},
		viewtest.Case{Name: "two sizes", Trace: made(2), Others: others[:1], Options: map[string][]string{"by": {"weak"}}},
	)
}

func shown(t *testing.T, runs []view.Run) (scaling.Data, view.Result) {
	t.Helper()
	values, err := view.NewValues(scaling.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &view.Request{Runs: runs, Values: values, Size: scene.Size{Width: 800, Height: 500}}
	if q.Selection, err = (view.Spec{}).Resolve(runs[0].Store); err != nil {
		t.Fatal(err)
	}
	r, err := scaling.View.Compute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r.Data().(scaling.Data), r
}

func TestTheReductionDominatesAtThePredictedSize(t *testing.T) {
	var runs []view.Run
	for _, n := range []int{16, 2, 8, 32, 4} { // in any order
		runs = append(runs, view.Run{Name: fmt.Sprint(n), Source: fmt.Sprint(n), Store: storetest.Text(t, made(n), all.Summaries...)})
	}
	d, _ := shown(t, runs)
	if fmt.Sprint(d.Sizes) != "[2 4 8 16 32]" || d.Kind != kinds.Strong || d.Predicted != 128 {
		t.Errorf("sizes %v, %s, foretold at %v", d.Sizes, d.Kind, d.Predicted)
	}
	m := d.Models[0]
	if m.Region != "MPI_Allreduce" || len(m.Terms) != 1 || m.Terms[0].I != 0 || m.Terms[0].J != 1 || math.Abs(*m.C0-2000) > 1 || math.Abs(m.Terms[0].C-3000) > 1 {
		t.Errorf("the first model is %s of %s", m.Text, m.Region)
	}
	if want := 2000 + 3000*7.0; math.Abs(*m.Predicted-want) > 5 {
		t.Errorf("%v is foretold, want %v", *m.Predicted, want)
	}
	for _, m := range d.Models {
		if m.Region == "work" && (len(m.Terms) != 1 || m.Terms[0].I != -1) {
			t.Errorf("work is %s, want a share of n^-1", m.Text)
		}
		if m.Region == "setup" && len(m.Terms) != 0 {
			t.Errorf("setup is %s, want a constant", m.Text)
		}
	}
}

// BSC's own factors of EPOCH on 1 to 16 ranks: modelfactors.csv beside the traces.
func TestFactorsOfEPOCH(t *testing.T) {
	dir := "../../../../shared/data/ml/epoch"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the traces are not here")
	}
	var runs []view.Run
	for _, n := range []int{1, 2, 4, 8, 16} {
		store := viewtest.Import(t, "data", "ml", "epoch", fmt.Sprintf("epoch_%dproc.prv.gz", n))
		runs = append(runs, view.Run{Name: fmt.Sprint(n), Source: fmt.Sprint(n), Store: store})
	}
	d, _ := shown(t, runs)
	want := map[string][]float64{}
	b, err := os.ReadFile(filepath.Join(dir, "modelfactors.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.TrimSpace(line), ";")
		for _, c := range cells[1:] {
			var v float64
			fmt.Sscan(c, &v)
			want[cells[0]] = append(want[cells[0]], v)
		}
	}
	checked := 0
	for _, f := range d.Factors {
		for i, v := range f.Values {
			w := want[f.Name][i]
			if f.Share {
				w /= 100
			}
			checked++
			if math.Abs(*v/w-1) > 0.002 {
				t.Errorf("%s on %v ranks is %v, want %v", f.Name, d.Sizes[i], *v, w)
			}
		}
	}
	if checked != 55 || d.Kind != kinds.Strong {
		t.Errorf("%d values checked, %s scaling", checked, d.Kind)
	}
}
