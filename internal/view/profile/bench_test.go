package profile_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/profile"
)

// writeProfiles writes flat profiles of many ranks on nodes of 64, each with all regions.
func writeProfiles(w trace.Writer, ranks, regions int) {
	metric := w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
	paths := make([]trace.CallPathID, regions)
	for i := range paths {
		name := fmt.Sprint("region ", i)
		if i%4 == 0 {
			name = fmt.Sprint("MPI_Call", i)
		}
		paths[i] = w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: name}), Flat: true})
	}
	x := uint64(1)
	for rank := range ranks {
		node := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: fmt.Sprint("node ", rank/64), Rank: trace.NoRank, Order: int64(rank / 64)})
		at := w.Location(trace.Location{Parent: node, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
		for i, p := range paths {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			v := float64(x%1000+1) * float64(regions-i)
			w.Profile(trace.ProfileRow{Location: at, Path: p, Metric: metric, Calls: float64(x%7 + 1), Inclusive: v, Exclusive: v})
		}
	}
}

// BenchmarkRankProfiles imports 1,000 ranks of 200 regions into a store on disk and
// draws its profile; PARALLAX_BENCH_RANKS asks for more. It prints nanoseconds a row.
func BenchmarkRankProfiles(b *testing.B) {
	ranks := 1000
	if s := os.Getenv("PARALLAX_BENCH_RANKS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		ranks = n
	}
	const regions = 200
	rows := float64(ranks * regions)
	for b.Loop() {
		begin := time.Now()
		r := viewtest.Local(b, func(w trace.Writer) { writeProfiles(w, ranks, regions) })
		imported := time.Since(begin)
		begin = time.Now()
		c := viewtest.Case{}
		if _, err := profile.View.Compute(context.Background(), c.Request(b, profile.View, r)); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(imported.Seconds(), "s-import")
		b.ReportMetric(imported.Seconds()*1e9/rows, "ns-import/row")
		b.ReportMetric(time.Since(begin).Seconds()*1e9/rows, "ns-view/row")
		begin = time.Now()
		if _, err := view.InfoOf(context.Background(), r); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds()*1e9/rows, "ns-info/row")
	}
}
