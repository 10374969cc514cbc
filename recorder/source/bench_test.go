package source_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkOSU runs what the OSU micro-benchmarks do between two ranks, by turns without and with the recorder, and prints what a round trip,
// a message of a window or an all-reduce takes at each size: the least of all rounds.
func BenchmarkOSU(b *testing.B) {
	type what struct {
		name string
		size int
	}
	for _, m := range implementations(b) {
		dir := b.TempDir()
		program := filepath.Join(dir, "osu")
		command(b, dir, m.cc, "-O2", "-o", program, testdata(b, "osu.c"))
		recorder := compile(b, b.TempDir(), "mpi", m.cc, "-O2")
		var order []what
		times := map[what][2]float64{}
		for range 3 {
			for with, library := range []string{"", recorder} {
				out, err := m.start(dir, library, 2, nil, program)
				if err != nil {
					b.Fatal(err, out)
				}
				for line := range strings.Lines(out) {
					var w what
					var ns float64
					if n, _ := fmt.Sscan(line, &w.name, &w.size, &ns); n < 3 {
						continue
					}
					t, seen := times[w]
					if !seen {
						order = append(order, w)
					}
					if t[with] == 0 || ns < t[with] {
						t[with] = ns
					}
					times[w] = t
				}
			}
		}
		for _, w := range order {
			b.Run(fmt.Sprintf("%s/%s/%d", m.name, w.name, w.size), func(b *testing.B) {
				for b.Loop() {
				}
				t := times[w]
				b.ReportMetric(t[0], "ns-without")
				b.ReportMetric(t[1]-t[0], "ns-more")
				b.ReportMetric(100*(t[1]/t[0]-1), "%-more")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
