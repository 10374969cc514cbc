package findings_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Each fault that `parallax gen training` can plant is named first, in the words that tell it; without it nothing above low is told.
func TestEachFaultOfTrainingIsNamedFirst(t *testing.T) {
	want := map[string]struct {
		kind finding.Kind
		text string
		also finding.Kind // among the others
	}{
		"loader":          {finding.InputBound, `input-bound`, ""},
		"launch":          {finding.LaunchBound, `launch-bound`, ""},
		"synchronization": {finding.SynchronizationBound, `synchronizes too often`, ""},
		"copy":            {finding.CopyBound, `Copies that nothing hides`, ""},
		"communication":   {finding.ExposedCommunication, `Communication that computation does not hide`, ""},
		"rank":            {finding.Straggler, `^Rank 5 `, finding.SlowKernels},
		"stage":           {finding.Straggler, `^Stage PP 2 `, ""},
		"data":            {finding.Straggler, `the work itself is uneven`, ""},
		"memory":          {finding.MemoryFull, `nearly full`, ""},
		"kernel":          {finding.Straggler, `^Rank 5 `, finding.SlowKernels},
	}
	for _, name := range demo.TrainingFaults {
		w, ok := want[name]
		if !ok {
			t.Errorf("%s: no expectation", name)
			continue
		}
		d := readDemo(t, "training?locations=8&intervals=22000&fault="+name)
		if len(d.Findings) == 0 || d.Findings[0].Kind != w.kind || !regexp.MustCompile(w.text).MatchString(d.Findings[0].Text) {
			t.Errorf("%s: %q", name, texts(&d))
		}
		also := w.also == ""
		for _, f := range d.Findings {
			also = also || f.Kind == w.also && regexp.MustCompile(`^Kernels of rank 5 run below their peers`).MatchString(f.Text)
		}
		if !also {
			t.Errorf("%s: no %s in %q", name, w.also, texts(&d))
		}
		if name == "kernel" {
			flash := false
			for _, f := range d.Findings {
				flash = flash || f.Kind == finding.SlowKernels && regexp.MustCompile(`flash_bwd`).MatchString(f.Text)
			}
			if !flash {
				t.Errorf("the kernel is not named: %q", texts(&d))
			}
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

// What a fault needs to be told by is in the files that the generator writes: coordinates of ranks, batches, records of memory.
func TestFaultsOfTrainingAreNamedInFilesToo(t *testing.T) {
	d, ok := demo.Find("training")
	if !ok {
		t.Fatal("no demo")
	}
	text := map[string]string{"stage": `^Stage PP 2 `, "data": `the work itself is uneven`, "memory": `nearly full`, "synchronization": `synchronizes too often`}
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
		if len(found.Findings) == 0 || !regexp.MustCompile(text[fault]).MatchString(found.Findings[0].Text) {
			t.Errorf("%s: %q", c, texts(&found))
		}
	}
}
