package findings_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A trainingFault is the evidence of a fault of `parallax gen training`: the quotient of two numbers, which the fault
// sets, lies between least and most.
type trainingFault struct {
	kind        finding.Kind
	number      string // begin of the name of the evidence
	over        string // end of the name of another one, else the number counts itself
	least, most float64
	locations   int          // of the selection; 0: all
	also        finding.Kind // among the others
}

var trainingFaults = map[string]trainingFault{
	"loader":          {kind: finding.InputBound, number: "share", least: 0.3, most: 0.5},
	"launch":          {kind: finding.LaunchBound, number: "share", least: 0.2, most: 0.4},
	"synchronization": {kind: finding.SynchronizationBound, number: "share", least: 0.1, most: 0.3},
	"copy":            {kind: finding.CopyBound, number: "share", least: 0.3, most: 0.5},
	"communication":   {kind: finding.ExposedCommunication, number: "share", least: 0.6, most: 0.9},
	"rank": {kind: finding.Straggler, number: "kernels", over: "on the others, median", least: 1.35, most: 1.45,
		locations: 1, also: finding.SlowKernels},
	"stage": {kind: finding.Straggler, number: "forward-compute", over: "forward-compute on the others", least: 1.55,
		most: 1.65, locations: 6}, // two ranks, each with its GPU and its stream
	"data":   {kind: finding.Straggler, number: "slowdown", least: 1.02, most: 1.2},
	"memory": {kind: finding.MemoryFull, number: "of the memory", least: 0.92, most: 1, locations: 1},
	"kernel": {kind: finding.Straggler, number: "void pytorch_flash::flash_bwd", over: "on the others, median", least: 3.8,
		most: 4.2, locations: 1, also: finding.SlowKernels},
}

// shortOf returns the first expectation of the fault that a finding does not meet; "" if it meets all.
func (w *trainingFault) shortOf(f *finding.Finding) string {
	number, over := math.NaN(), 1.0
	for _, e := range f.Evidence {
		if strings.HasPrefix(e.Name, w.number) && math.IsNaN(number) {
			number = e.Value
		}
		if w.over != "" && strings.HasSuffix(e.Name, w.over) {
			over = e.Value
		}
	}
	switch q := number / over; {
	case f.Kind != w.kind:
		return fmt.Sprintf("kind %s, want %s", f.Kind, w.kind)
	case !(q >= w.least && q <= w.most):
		return fmt.Sprintf("%s is %g, want %g to %g", w.number, q, w.least, w.most)
	case len(f.Selection.Locations) != w.locations:
		return fmt.Sprintf("selects %d locations, want %d", len(f.Selection.Locations), w.locations)
	}
	return ""
}

// Each fault that `parallax gen training` can plant is reported first, with its evidence; without it nothing above low is.
func TestInjectedTrainingFaultsAreReportedFirst(t *testing.T) {
	for _, name := range demo.TrainingFaults {
		w, ok := trainingFaults[name]
		if !ok {
			t.Errorf("%s: no expectation", name)
			continue
		}
		d := readDemo(t, "training?locations=8&intervals=22000&fault="+name)
		if len(d.Findings) == 0 {
			t.Errorf("%s: no finding", name)
			continue
		}
		if short := w.shortOf(&d.Findings[0]); short != "" {
			t.Errorf("%s: %s: %q", name, short, texts(&d))
		}
		if w.also != "" && !slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
			return f.Kind == w.also && len(f.Selection.Locations) == 1
		}) {
			t.Errorf("%s: no %s in %q", name, w.also, texts(&d))
		}
	}
	for _, name := range []string{"training?locations=8&intervals=22000&balanced", "training?locations=8&intervals=22000&fault=stage&balanced"} {
		d := readDemo(t, name)
		for _, f := range d.Findings {
			if f.Severity != finding.Low {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	}
}

// Files that the generator writes hold the evidence: coordinates of ranks, batches, records of memory.
func TestFaultsOfTrainingAreReportedFromFilesToo(t *testing.T) {
	d, ok := demo.Find("training")
	if !ok {
		t.Fatal("no demo")
	}
	for _, c := range [][2]string{{"stage", "kineto"}, {"data", "kineto"}, {"memory", "kineto"}, {"stage", "chrome"}, {"data", "chrome"}, {"memory", "chrome"}, {"synchronization", "chrome"}} {
		fault, format := c[0], c[1]
		file := filepath.Join(t.TempDir(), "job.json")
		if _, err := demo.Generate(t.Context(), d, format, demo.Options{Locations: 8, Intervals: 4000, Fault: fault}, file); err != nil {
			t.Fatal(err)
		}
		source, err := importer.NewSource(file)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		runs := importer.ClaimAs(chrometrace.Format, source)
		if len(runs) != 1 {
			t.Fatalf("%s: %d runs", c, len(runs))
		}
		found := read(t, viewtest.Local(t, func(w trace.Writer) {
			if err := runs[0].Import(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}))
		w := trainingFaults[fault]
		if len(found.Findings) == 0 {
			t.Errorf("%s: no finding", c)
		} else if short := w.shortOf(&found.Findings[0]); short != "" {
			t.Errorf("%s: %s: %q", c, short, texts(&found))
		}
	}
}
