package darshan

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "dxt.darshan", Cuts: 80}, {Path: "shared.darshan", Cuts: 80}, {Path: "made.darshan", Cuts: 80}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.darshan", "testdata/dxt.darshan", "testdata/made.darshan")
}

// A profile sums what rows say, by the name of their metric.
type profile struct {
	*importertest.Count
	names map[trace.MetricID]string
	sums  map[string]float64
}

func (p *profile) Metric(m trace.Metric) trace.MetricID {
	id := p.Count.Metric(m)
	p.names[id] = m.Name
	return id
}

func (p *profile) Profile(r trace.ProfileRow) {
	p.Count.Profile(r)
	p.sums[p.names[r.Metric]] += r.Exclusive
}

// Sums that a decoder of a few lines in another language gives, which shares nothing with this one. One time of
// the first log is negative as recorded: it is counted, not summed.
func TestSumsAreThoseOfTheLogs(t *testing.T) {
	for _, c := range []struct {
		file                        string
		records, odd, segments      int64
		read, written, microseconds int64
	}{
		{"readers/darshan/sample.darshan", 131, 1, 0, 0, 2*2199023259968 + 3309, 200855819536},
		{"readers/darshan/sample-dxt-simple.darshan", 64, 0, 3, 0, 4040 + 4000, 789794},
		{"readers/darshan/sample-badost.darshan", 2051, 0, 0, 1654784, 549755813888 + 1989, 70014990339},
	} {
		s, err := importer.NewSource(importertest.Shared(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := importer.Detect([]*importer.Format{Format}, s)
		if err != nil {
			t.Fatal(err)
		}
		w := &profile{importertest.NewCount(), map[trace.MetricID]string{}, map[string]float64{}}
		if err := runs[0].Import(context.Background(), w); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(w.Reported["skipped records whose counters of access sizes, strides, alignment and variance are left out"], w.Reported["skipped times that cannot be"], w.Intervals,
			int64(w.sums["bytes read"]), int64(w.sums["bytes written"]), int64(w.sums["time"]/1e3+0.5))
		if want := fmt.Sprint(c.records, c.odd, c.segments, c.read, c.written, c.microseconds); got != want {
			t.Errorf("%s: records, odd times, segments, bytes read and written, µs %s, want %s", c.file, got, want)
		}
		s.Close()
	}
}

// The values that Darshan's own test of the first segments states.
func TestSegmentsAreThoseOfDarshan(t *testing.T) {
	golden, err := os.ReadFile("testdata/dxt.darshan.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  103378843..103387713 \"POSIX write\" file=/tmp/ompi.sn176.28751/jf.29186/1/test.out_cid-0-3400.sm length=40 offset=0\n",
		"  103689146..105343394 \"MPI-IO write\" file=/yellow/usr/projects/eap/users/treddy/simple_dxt_mpi_io_darshan/test.out length=4000 offset=0\n",
	} {
		if !bytes.Contains(golden, []byte(line)) {
			t.Errorf("no %s", line)
		}
	}
}

// An unknown version is refused with what to do.
func TestOldLogsAreRefused(t *testing.T) {
	b, err := os.ReadFile("testdata/made.darshan")
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "2.05")
	_, err = openLog(bytes.NewReader(b), int64(len(b)), "x")
	if want := `x: version "2.05" of the log format is not known; logs of version 3 are read; darshan-convert of Darshan 3 makes them from older ones`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
