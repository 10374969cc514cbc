package compare_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

func shared(t *testing.T, name string, elem ...string) view.Run {
	t.Helper()
	found, err := filepath.Glob(viewtest.Shared(t, elem...))
	if err != nil || len(found) == 0 {
		t.Skip("the traces are not here")
	}
	elem[len(elem)-1] = filepath.Base(found[0])
	return view.Run{Name: name, Source: name, Store: viewtest.Import(t, elem...)}
}

// ResNet-50 with no and with four loader workers, of Kineto's samples: the loader is what differs, kernels
// are not, and one job a side settles nothing.
func TestTheLoaderIsNamed(t *testing.T) {
	dir := viewtest.Shared(t, "data", "ml")
	name := func(folder, part string) string {
		found, _ := filepath.Glob(filepath.Join(dir, folder, "*"+part+"*"))
		if len(found) == 0 {
			t.Skip("the traces are not here")
		}
		return filepath.Base(found[0])
	}
	d := compared(t, []view.Run{
		shared(t, "workers0", "data", "ml", "resnet50-workers0", name("resnet50-workers0", "143089861")),
		shared(t, "workers4", "data", "ml", "resnet50-workers4", name("resnet50-workers4", "212756351")),
	}, nil)
	loader, kernel := row(t, &d, "DataLoader"), row(t, &d, "Kernel")
	if math.Abs(loader.A-59262e3) > 1e3 || math.Abs(loader.B-1186e3) > 1e3 || d.Rows[0].Region != "DataLoader" {
		t.Errorf("DataLoader %v to %v ns a step, first is %s", loader.A, loader.B, d.Rows[0].Region)
	}
	if math.Abs(kernel.B/kernel.A-1) > 0.006 {
		t.Errorf("Kernel %v to %v", kernel.A, kernel.B)
	}
	if d.Length.Verdict != statistics.Unknown || !strings.Contains(d.Text, "one run per side") {
		t.Errorf("the step is %s: %s", d.Length.Verdict, d.Text)
	}
	if c := d.Sum; math.Abs(c.Length-c.Parts) > 1 || c.Of != "step" {
		t.Errorf("the step changed by %v, its parts by %v", c.Length, c.Parts)
	}
	for i := range d.Rows {
		if r := d.Rows[i].Region; r == "pid" || r == "tid" || strings.Contains(r, "ProfilerStep#1") {
			t.Errorf("%s is a row", r)
		}
	}
	if d.Matched.Share < 0.9 {
		t.Errorf("%v of the time is matched", d.Matched.Share)
	}
}

// With two windows a side, taken as runs, the sentence still names the loader.
func TestTheLoaderIsNamedWithTwoRunsASide(t *testing.T) {
	var list []view.Run
	for _, folder := range []string{"resnet50-workers0", "resnet50-workers4"} {
		found, _ := filepath.Glob(filepath.Join(viewtest.Shared(t, "data", "ml"), folder, "*"))
		if len(found) != 2 {
			t.Skip("the traces are not here")
		}
		for _, file := range found {
			r := shared(t, folder+filepath.Base(file), "data", "ml", folder, filepath.Base(file))
			r.Keys = map[string]string{"workers": folder}
			list = append(list, r)
		}
	}
	d := compared(t, list, map[string][]string{"by": {"workers"}})
	if want := "The largest difference is not certain: DataLoader 47.4 ms to 739 µs (−46.6 ms"; !strings.Contains(d.Text, want) {
		t.Errorf("%q does not say %q", d.Text, want)
	}
}

// The bar is of means, the whisker of the usual step: where one step in six waits for all the others, they lie apart.
func TestPartsThatSingleStepsMakeAreNamed(t *testing.T) {
	r := computed(t, []view.Run{shared(t, "workers0", "data", "ml", "resnet50-workers0"), shared(t, "workers4", "data", "ml", "resnet50-workers4")}, nil)
	var want []string
	for _, row := range r.Data().(compare.Data).Rows {
		if row.Kind == "part" && row.Steps != nil && (row.Difference < row.Steps.Low || row.Difference > row.Steps.High) {
			want = append(want, row.Region)
		}
	}
	if len(want) == 0 {
		t.Fatal("no part lies outside its interval: nothing is tested")
	}
	if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, strings.Join(want, ", ")+": single steps") {
		t.Errorf("%v are not named: %s", want, notes)
	}
}

// Two runs of HPL with different broadcasts: one probes, the other receives.
func TestTheBroadcastOfHPLIsNamed(t *testing.T) {
	d := compared(t, []view.Run{shared(t, "a", "data", "otf2-hpl16-deep-a"), shared(t, "b", "data", "otf2-hpl16-deep-b")}, nil)
	if d.Rows[0].Region != "MPI_Iprobe" || !strings.Contains(d.Rows[0].CallPath, "HPL_bcast") || d.Rows[1].Region != "MPI_Recv" {
		t.Errorf("the first rows are %s and %s", d.Rows[0].CallPath, d.Rows[1].CallPath)
	}
	if c := d.Sum; math.Abs(c.Length-c.Parts-c.Unrecorded) > 1 {
		t.Errorf("%v is not %v + %v", c.Length, c.Parts, c.Rest)
	}
}
