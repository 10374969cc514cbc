package viewtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// BenchSizes are the numbers of intervals that latencies are measured at:
// PARALLAX_BENCH_SIZES, such as 1e6,1e7,1e8, or the one of BenchRows.
func BenchSizes(tb testing.TB) (sizes []int) {
	list := os.Getenv("PARALLAX_BENCH_SIZES")
	if list == "" {
		return []int{BenchRows(tb)}
	}
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			tb.Fatal(err)
		}
		sizes = append(sizes, int(n))
	}
	return sizes
}

// RandomWindow is a window of a tenth of the run to all of it.
func RandomWindow(rng *rand.Rand, r store.Reader) view.Spec {
	end := int64(r.Info().End)
	length := end/10 + rng.Int64N(end-end/10)
	begin := rng.Int64N(end - length + 1)
	return view.Spec{From: fmt.Sprint(begin), To: fmt.Sprint(begin + length)}
}

// Took returns the duration of f in milliseconds.
func Took(f func()) float64 {
	begin := time.Now()
	f()
	return float64(time.Since(begin).Microseconds()) / 1e3
}

// ReportLatencies reports the median and the 95th percentile of times in milliseconds.
func ReportLatencies(b *testing.B, what string, times []float64) {
	b.ReportMetric(Quantile(times, 0.5), "ms/"+what+"-p50")
	b.ReportMetric(Quantile(times, 0.95), "ms/"+what+"-p95")
}

// Quantile sorts v and returns one of its values.
func Quantile(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[min(int(q*float64(len(v))), len(v)-1)]
}
