package ctf

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readEvents reads all runs of a source and shows every event.
func readEvents(t testing.TB, dir string, w trace.Writer, each func(*stream)) error {
	t.Helper()
	s, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs := Format.Claim(s)
	if len(runs) == 0 {
		return errors.New("not claimed")
	}
	for _, run := range runs {
		run.Source = s
		c := newConverter(run, w)
		streams, err := c.load()
		if err != nil {
			return err
		}
		if err := merge(context.Background(), streams, func(s *stream) error { each(s); return c.event(s) }); err != nil {
			return err
		}
		if err := c.close(); err != nil {
			return err
		}
	}
	return nil
}

// countEvents counts events by name.
func countEvents(t testing.TB, dir string) (map[string]int64, *importertest.Count, error) {
	names, w := map[string]int64{}, importertest.NewCount()
	err := readEvents(t, dir, w, func(s *stream) { names[s.event.name]++ })
	return names, w, err
}

// A told event is one line of babeltrace2.
type told struct {
	name string
	time int64
	// the first integer of the payload, where that is an integer
	value   int64
	integer bool
}

var (
	toldName  = regexp.MustCompile(`(?:^|, )name = ([^ ,]+)(?:, | \{|$)`)
	toldTime  = regexp.MustCompile(`^timestamp = (-?\d+)\.(\d{9})`)
	toldValue = regexp.MustCompile(`event\.fields = \{ \w+ = (-?\d+|0x[0-9A-F]+)[ ,]`)
)

// peer gives the events as babeltrace2 tells them.
func peer(t testing.TB, dir string) (out []told) {
	t.Helper()
	program, err := exec.LookPath("babeltrace2")
	if err != nil {
		t.Skip("babeltrace2 is not installed")
	}
	cmd := exec.Command(program, "--names=all", "--fields=all", "--clock-seconds", dir)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(pipe)
	scan.Buffer(nil, 1<<22)
	for scan.Scan() {
		text := scan.Text()
		e := told{name: "?"}
		if m := toldName.FindStringSubmatch(text); m != nil {
			e.name = m[1]
		}
		if m := toldTime.FindStringSubmatch(text); m != nil {
			e.time, _ = strconv.ParseInt(m[1]+m[2], 10, 64)
		}
		if m := toldValue.FindStringSubmatch(text); m != nil {
			if v, _, ok := number(m[1]); ok {
				e.value, e.integer = v, true
			}
		}
		out = append(out, e)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(dir, err)
	}
	return out
}

// A sum is what can be compared whatever the order of events of one time is.
type sum struct {
	events, integers, value int64
	time                    float64
}

// Names, times and first fields of all events are those that babeltrace2 tells.
func TestEventsAreThoseOfBabeltrace(t *testing.T) {
	for _, set := range []string{
		"public/ctf/lttng-ust-glxgears-function-entry-exit", "public/ctf/mpi-allreduce-8ranks", "public/ctf/mpi-pthread-4ranks-3threads",
		"readers/ctf/intersection/3eventsintersect", "readers/ctf/intersection/3eventsintersectreverse", "readers/ctf/intersection/nointersect",
		"readers/ctf/intersection/onestream", "readers/ctf/multi-domains", "readers/ctf/lttng-tracefile-rotation", "testdata/kernel", "testdata/fields",
	} {
		t.Run(filepath.Base(set), func(t *testing.T) {
			dir := set
			if !strings.HasPrefix(set, "testdata") {
				dir = importertest.Shared(t, set)
			}
			want := map[string]sum{}
			var first int64
			for i, e := range peer(t, dir) {
				if i == 0 {
					first = e.time
				}
				k := want[e.name]
				k.events++
				k.time += float64(e.time - first)
				if e.integer {
					k.integers++
					k.value += e.value
				}
				want[e.name] = k
			}
			got := map[string]sum{}
			if err := readEvents(t, dir, importertest.NewCount(), func(s *stream) {
				k := got[s.event.name]
				k.events++
				k.time += float64(int64(s.time) - first)
				if want[s.event.name].integers > 0 && len(s.d.values) > s.d.contexts {
					k.integers++
					k.value += int64(s.d.values[s.d.contexts].bits)
				}
				got[s.event.name] = k
			}); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) || len(got) == 0 {
				t.Errorf("names %v, want %v", got, want)
			}
			for name, w := range want {
				g := got[name]
				if d := g.time - w.time; d > float64(w.events) || d < -float64(w.events) { // a nanosecond each, where the clock does not tick in those
					t.Errorf("%s: times differ by %g ns over %d events", name, d, w.events)
				}
				if g.time, w.time = 0, 0; g != w {
					t.Errorf("%s: events, integers and their sum %v, want %v", name, g, w)
				}
			}
		})
	}
}

// BenchmarkBeside reads the largest set whole, and lets babeltrace2 print it: the ratio is of processor time. What babeltrace2
// takes to read it without a word is the second ratio.
func BenchmarkBeside(b *testing.B) {
	program, err := exec.LookPath("babeltrace2")
	if err != nil {
		b.Skip("babeltrace2 is not installed")
	}
	dir := importertest.Shared(b, "readers/ctf/lttng-tracefile-rotation")
	s, err := importer.NewSource(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		b.Fatal(err)
	}
	var ours time.Duration
	var theirs [2]time.Duration
	for b.Loop() {
		for i, args := range [][]string{{dir}, {"--component=sink.utils.dummy", dir}} {
			cmd := exec.Command(program, args...)
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			theirs[i] += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		begin := benchtest.CPUTime()
		if err := runs[0].Import(context.Background(), importertest.NewCount()); err != nil {
			b.Fatal(err)
		}
		ours += benchtest.CPUTime() - begin
	}
	b.ReportMetric(float64(theirs[0])/float64(ours), "ratio")
	b.ReportMetric(float64(theirs[1])/float64(ours), "silent-ratio")
	b.ReportMetric(12305*float64(b.N)/ours.Seconds(), "events/s")
}

// fuzzSeed gives the metadata and the first stream of a sample.
func fuzzSeed(f *testing.F, dir string) (meta, events []byte) {
	f.Helper()
	meta, err := os.ReadFile(filepath.Join("testdata", dir, "metadata"))
	if err != nil {
		f.Fatal(err)
	}
	name := "stream"
	if dir == "kernel" {
		name = "chan_0"
	}
	if events, err = os.ReadFile(filepath.Join("testdata", dir, name)); err != nil {
		f.Fatal(err)
	}
	return meta, events
}

// fuzzOne imports a trace of one stream; nothing may panic, hang or fail without a place.
func fuzzOne(t *testing.T, meta, events []byte) {
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"metadata": {Data: meta}, "stream": {Data: events}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	run := importer.Run{Format: Format, Source: s, Files: []string{"metadata", "stream"}}
	err = run.Import(ctx, importertest.NewCount())
	var clear *importer.Error
	if err != nil && !errors.As(err, &clear) {
		t.Errorf("not a clear error: %v", err)
	}
}
