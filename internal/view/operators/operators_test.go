package operators_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/operator"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/operators"
)

// model is a linear layer called twice, with an operator inside that launches, and a sum that launches by itself.
const model = `
region aten::linear category=cpu_op role=compute
region aten::addmm category=cpu_op role=compute
region aten::sum category=cpu_op role=compute
region "nn.Module: Linear_0" category=python_function role=compute
region cudaLaunchKernel category=cuda_runtime role=overhead
region gemm category=kernel role=compute
region reduce category=kernel role=compute
location process "rank 0" rank=0
  location thread main
    0us..40us "nn.Module: Linear_0"
      0us..30us aten::linear "Input Dims"="[[64,32],[16,32],[16]]" "Input type"="[\"float\"]"
        5us..25us aten::addmm "Input Dims"="[[16],[64,32],[32,16]]" "Input type"="[\"float\"]"
          10us..14us cudaLaunchKernel
    50us..90us "nn.Module: Linear_0"
      50us..80us aten::linear "Input Dims"="[[64,32],[16,32],[16]]" "Input type"="[\"float\"]"
        55us..75us aten::addmm "Input Dims"="[[16],[64,32],[32,16]]" "Input type"="[\"float\"]"
          60us..64us cudaLaunchKernel
    90us..100us aten::sum "Input Dims"=7
      92us..94us cudaLaunchKernel
  location device "GPU 0" model="NVIDIA H200"
    location stream "stream 7"
      20us..40us gemm
      70us..100us gemm
      100us..105us reduce
      110us..111us reduce
link spawn 10us "rank 0/main" -> 20us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
link spawn 60us "rank 0/main" -> 70us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
link spawn 92us "rank 0/main" -> 100us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=reduce
`

func TestView(t *testing.T) {
	viewtest.Run(t, operators.View,
		viewtest.Case{Name: "bars", Trace: model},
		viewtest.Case{Name: "roofline", Trace: model, Options: map[string][]string{"picture": {"roofline"}}},
		viewtest.Case{Name: "kernels", Trace: model, Options: map[string][]string{"by": {"kernel"}}},
		viewtest.Case{Name: "modules", Trace: model, Options: map[string][]string{"by": {"module"}}},
	)
}

// TestSharesNameTheirBase: the heading above the percentages, the facts of a row and the data name the same base.
func TestSharesNameTheirBase(t *testing.T) {
	c := viewtest.Case{Trace: model}
	res := c.Compute(t, operators.View, c.Open(t))
	d := viewtest.Decoded[operators.Data](t, res)
	if d.ShareOf != "all GPU time" || d.Rows[0].Share != float64(d.Rows[0].DeviceSelf)/float64(d.Device) {
		t.Errorf("shares of %q, the first %v", d.ShareOf, d.Rows[0].Share)
	}
	for _, width := range []int{420, 700, 1600} {
		said := false
		for _, l := range res.Scene(scene.Size{Width: width, Height: 300}).Layers {
			for _, m := range l.Marks {
				if x, ok := m.(*scene.Text); ok {
					said = said || strings.Contains(strings.Join(x.Text, "\n"), "% of all GPU time")
				}
			}
		}
		if !said {
			t.Errorf("%d px: percentages without a base", width)
		}
	}
}

func data(t *testing.T, c viewtest.Case, r store.Reader) operators.Data {
	t.Helper()
	return viewtest.Decoded[operators.Data](t, c.Compute(t, operators.View, r))
}

func find(d operators.Data, name string) *operators.Row {
	for i := range d.Rows {
		if d.Rows[i].Operator == name {
			return &d.Rows[i]
		}
	}
	return &operators.Row{}
}

// Profilers of devices record kernels and no operators: rows are kernels then, and it is said.
func TestKernelsAreShownWhereNoOperatorsAre(t *testing.T) {
	c := viewtest.Case{Trace: strings.ReplaceAll(model, "category=cpu_op", "category=range")}
	r := c.Open(t)
	d := data(t, c, r)
	if gemm, reduce := find(d, "gemm"), find(d, "reduce"); d.By != "kernel" || len(d.Rows) != 2 || gemm.Calls != 2 || gemm.Device != 50_000 || reduce.Calls != 2 || reduce.DeviceSelf != 6_000 || d.Loose.Count != 0 || d.Device != 56_000 {
		t.Errorf("%+v", d)
	}
	if notes := c.Compute(t, operators.View, r).Notes(); len(notes) == 0 || !strings.Contains(notes[0], "no operators are recorded") {
		t.Error(notes)
	}
}

func TestDeviceTimeBelongsToAllOperatorsAroundTheLaunch(t *testing.T) {
	c := viewtest.Case{Trace: model}
	d := data(t, c, c.Open(t))
	linear, addmm, sum := find(d, "aten::linear"), find(d, "aten::addmm"), find(d, "aten::sum")
	if linear.Calls != 2 || linear.Device != 50_000 || linear.DeviceSelf != 0 || linear.Host != 60_000 || linear.HostSelf != 20_000 {
		t.Errorf("%+v", linear)
	}
	if addmm.Device != 50_000 || addmm.DeviceSelf != 50_000 || len(addmm.Kernels) != 1 || addmm.Kernels[0].Calls != 2 {
		t.Errorf("%+v", addmm)
	}
	if want := 2.0*64*16*32 + 64*16; *addmm.Flop != want || math.Abs(*addmm.Flops-2*want/50e-6) > 1 {
		t.Error(*addmm.Flop, *addmm.Flops)
	}
	if sum.Flop != nil || sum.Intensity != nil || sum.DeviceSelf != 5_000 {
		t.Errorf("a shape that is no list tells nothing: %+v", sum)
	}
	if d.Loose.Count != 1 || d.Loose.Time != 1_000 {
		t.Errorf("one kernel was launched by nobody: %+v", d.Loose)
	}
	c.Options = map[string][]string{"by": {"module"}}
	if m := data(t, c, c.Open(t)).Rows[0]; m.Operator != "Linear_0" || m.Calls != 2 || m.Device != 50_000 {
		t.Errorf("%+v", m)
	}
}

func TestASelectionOfRegionsChoosesRows(t *testing.T) {
	c := viewtest.Case{Trace: model, Spec: view.Spec{Regions: []string{"aten::sum"}}}
	if d := data(t, c, c.Open(t)); len(d.Rows) != 1 || d.Rows[0].Operator != "aten::sum" {
		t.Errorf("%+v", d.Rows)
	}
}

// TraceLens published these for a small BERT on one H100.
func TestBERTComputesWhatTraceLensSays(t *testing.T) {
	d := data(t, viewtest.Case{}, viewtest.Import(t, "data", "ml", "tracelens", "h100-bert-small.json.gz"))
	for _, c := range []struct {
		operator, shapes string
		calls            int64
		flop             float64
		device           int64
		rate             float64 // TFLOP/s
	}{
		{"aten::addmm", "[[512],[141,512],[512,512],[],[]]", 17, 0.0739968e9, 98_718, 12.747},
		{"aten::addmm", "[[30522],[141,512],[512,30522],[],[]]", 1, 4.41119205e9, 41_280, 106.860},
		{"aten::_scaled_dot_product_flash_attention", "[[1,8,141,64],[1,8,141,64],[1,8,141,64],[],[],[],[]]", 4, 0.040716288e9, 37_408, 0.040716288e9 * 4 / 37_408e-9 / 1e12},
	} {
		found := false
		for _, r := range d.Rows {
			if r.Operator != c.operator || r.Shapes != c.shapes {
				continue
			}
			found = true
			if r.Calls != c.calls || math.Abs(*r.Flop-c.flop) > 0.5 || int64(r.Device) != c.device || math.Abs(*r.Flops/1e12/c.rate-1) > 0.001 {
				t.Errorf("%s %s: %d calls, %v FLOP, %d ns, %v FLOP/s", c.operator, c.shapes, r.Calls, *r.Flop, r.Device, *r.Flops)
			}
		}
		if !found {
			t.Errorf("no row %s %s", c.operator, c.shapes)
		}
	}
	if len(d.Devices) != 1 || d.Devices[0].Memory == nil {
		t.Error("the device and its peaks:", d.Devices)
	}
}

func TestCollectivesHaveSizesAndBandwidths(t *testing.T) {
	d := data(t, viewtest.Case{}, viewtest.Import(t, "data", "ml", "tracelens", "mi300-resnet-act-checkpoint.json.gz"))
	c := d.Communication[0]
	if c.Collective != "allreduce" || c.Bytes != 2*8816192 || c.Size != 8 || c.Calls != 3 {
		t.Fatalf("%+v", c)
	}
	if want := float64(c.Bytes) * 3 / (float64(c.Time) / 1e9); math.Abs(*c.Algorithm-want) > 1 || math.Abs(*c.Bus-1.75*want) > 1 {
		t.Error(fmt.Sprint(*c.Algorithm, *c.Bus, want))
	}
}

// large says that a run has many intervals, so that what is found of it is kept with its store.
type large struct {
	store.Reader
	store.Keeper
}

func (l large) Info() *store.Info {
	x := *l.Reader.Info()
	x.Intervals = 2_000_000
	return &x
}

func TestTheTablesOfALargeRunAreKeptWithItsStore(t *testing.T) {
	small := viewtest.Local(t, func(w trace.Writer) { tracetest.Write(t, w, model) })
	r := large{small, small.(store.Keeper)}
	if err := operator.TablesOfRun.Prepare(t.Context(), &view.Run{Store: r}); err != nil {
		t.Fatal(err)
	}
	kept, ok := r.Kept("operators")
	if !ok {
		t.Fatal("nothing is kept")
	}
	forger := operator.TablesOfRun
	forger.Make = func(ctx context.Context, run *view.Run) (*operator.Tables, error) {
		x, err := operator.TablesOfRun.Make(ctx, run)
		x[operator.ByName].Rows[0].Region = 9000
		return x, err
	}
	if err := r.Keep("operators", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := forger.Of(t.Context(), &view.Run{Store: r}); err != nil {
		t.Fatal(err)
	}
	forged, _ := r.Kept("operators")
	for what, x := range map[string]string{"as it was": string(kept), "with a region too many": string(forged), "cut": string(kept[:40])} {
		if err := r.Keep("operators", []byte(x)); err != nil {
			t.Fatal(err)
		}
		for _, by := range []string{"shapes", "name", "module", "kernel"} {
			c := viewtest.Case{Options: map[string][]string{"by": {by}}}
			if got, want := data(t, c, r), data(t, c, small); len(want.Rows) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, by %s: %+v\nwant %+v", what, by, got, want)
			}
		}
	}
}
