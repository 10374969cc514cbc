package query_test

import (
	"io"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// BenchmarkRowsToArrow takes a million intervals from the store to the stream that notebooks read.
func BenchmarkRowsToArrow(b *testing.B) {
	d := database(viewtest.Local(b, func(w trace.Writer) { viewtest.WriteSteps(w, 64, 1_000_000) }))
	for name, text := range map[string]string{
		"five": `select location, begin, "end", exclusive, region from intervals`,
		"all":  "select * from intervals",
	} {
		b.Run(name, func(b *testing.B) {
			rows, used := int64(0), benchtest.CPUTime()
			for b.Loop() {
				s, err := d.Stream(b.Context(), text, query.Limits{Time: time.Hour})
				if err != nil {
					b.Fatal(err)
				}
				rows = s.Rows
				if err := export.WriteArrow(io.Discard, s.Columns, export.ArrowDictionaries, allCores(s)); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
			b.ReportMetric((benchtest.CPUTime()-used).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func allCores(s *query.Stream) func(func(*table.Batch) (*export.ArrowBatches, error),
	func(*export.ArrowBatches) error) error {
	return func(encode func(*table.Batch) (*export.ArrowBatches, error), write func(*export.ArrowBatches) error) error {
		return query.Encode(s, encode, write)
	}
}
