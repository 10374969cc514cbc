package importertest

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
)

// Beside imports a run that has so many intervals, again and again, and runs bare in alternation: the ratio is how
// many times less processor time the import takes. It returns the seconds of an import.
func Beside(b *testing.B, run importer.Run, intervals int64, bare func() error) (seconds float64) {
	b.Helper()
	var other, whole float64
	for b.Loop() {
		begin := benchtest.CPUTime()
		if err := bare(); err != nil {
			b.Fatal(err)
		}
		middle := benchtest.CPUTime()
		w := NewCount()
		if err := run.Import(context.Background(), w); err != nil || w.Intervals != intervals {
			b.Fatal(err, w.Intervals)
		}
		other += (middle - begin).Seconds()
		whole += (benchtest.CPUTime() - middle).Seconds()
	}
	b.ReportMetric(other/whole, "ratio")
	return whole / float64(b.N)
}
