package perfscript

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "header.txt", Anywhere: true},
		{Path: "system-wide.txt", Anywhere: true},
		{Path: "odd.txt", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.txt", "testdata/header.txt", "testdata/odd.txt")
}

// Samples counted in the files: lines that name the event, and their periods.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for file, want := range map[string]struct {
		samples, period float64
		threads         int
	}{
		"simple-with-header.linux-perf.txt": {136, 136136136, 1},
		"simple-with-pid.linux-perf.txt":    {137, 0, 1},
		"system-wide.linux-perf.txt":        {556, 556556556, 2},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "public/perf-script/speedscope/"+file))
		total := map[string]float64{}
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, row := range rows {
				total[r.Metrics()[row.Metric].Name] += row.Exclusive
			}
			return nil
		})
		threads := 0
		for _, k := range r.Locations().Kind {
			if k == trace.KindThread {
				threads++
			}
		}
		got := fmt.Sprint(total["samples of cpu-clock"], total["cpu-clock"], threads, r.Info().Instants, len(r.Info().Report))
		if w := fmt.Sprint(want.samples, want.period, want.threads, want.samples, 0); got != w || err != nil {
			t.Errorf("%s: samples, period, threads, instants, reports %s, want %s: %v", file, got, w, err)
		}
	}
}

// A file that ends within a line makes no function of half a name, and says so.
func TestALineThatIsCutIsNoFunction(t *testing.T) {
	const whole = "prog  7/7  [001] 12.000001: 100 cycles: \n\t    ffffffff81000000 do_syscall_64+0x5 ([kernel.kallsyms])\n\t          401000 main+0x10 (/bin/prog)\n\n"
	at := len("prog  7/7  [001] 12.000001: 100 cycles: \n")
	for cut := at + 20; cut < len(whole)-1; cut++ {
		s, err := importer.NewSourceFS("x", fstest.MapFS{"perf.txt": {Data: []byte(whole[:cut])}})
		if err != nil {
			t.Fatal(err)
		}
		w := importertest.NewCount()
		if err := importer.ClaimAs(Format, s)[0].Import(t.Context(), w); err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		for _, r := range w.Regions {
			if r.Name != "do_syscall_64" && r.Name != "main" && r.Name != "(no stack)" {
				t.Errorf("cut after %d bytes: region %q", cut, r.Name)
			}
		}
		if len(w.Reported) == 0 {
			t.Errorf("cut after %d bytes: nothing is said", cut)
		}
	}
}
