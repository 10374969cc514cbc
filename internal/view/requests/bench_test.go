package requests_test

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/requests"
)

// writeRequests writes requests of a hundred spans each through ten services, as spans are imported: parents by id.
func writeRequests(w trace.Writer, spans int) {
	const services, each = 10, 100
	var at [services]trace.LocationID
	var out [services]trace.Stream
	var count [services]uint32
	var names [services]trace.RegionID
	for i := range services {
		at[i] = w.Location(trace.Location{Parent: trace.NoLocation, Kind: "service", Name: fmt.Sprint("service ", i), Rank: trace.NoRank})
		names[i] = w.Region(trace.Region{Name: fmt.Sprint("operation ", i), Category: "server", Role: trace.RoleCompute})
		out[i] = w.Stream(at[i], trace.StreamOptions{Unordered: true, ByParent: true})
	}
	id, span := w.Attribute("trace"), w.Attribute("span")
	for r := range max(spans/each, 1) {
		var ends [each]trace.End
		for k := range each {
			s := 0
			if k > 0 {
				s = 1 + (k*7+r)%(services-1)
			}
			begin := trace.Time(r)*1_000_000 + trace.Time(k)*5_000
			length := trace.Time(4_000 + (r*31+k*17)%900)
			if k == 0 {
				length = each * 5_000
			}
			out[s].Interval(begin, begin+length, names[s])
			out[s].Attribute(id, trace.Text(fmt.Sprint("request ", r)))
			out[s].Attribute(span, trace.Integer(int64(k)))
			count[s]++
			ends[k] = trace.End{Location: at[s], Time: begin, Region: names[s], Number: count[s]}
			if k > 0 {
				w.Link(trace.Link{Kind: trace.LinkSpawn, From: ends[0], To: ends[k], Size: -1, Communicator: trace.NoCommunicator})
			}
		}
	}
	for _, s := range out {
		_ = s.Close()
	}
}

func BenchmarkRequests(b *testing.B) {
	for _, n := range viewtest.BenchSizes(b) {
		r := viewtest.Local(b, func(w trace.Writer) { writeRequests(w, n) })
		c := viewtest.Case{Size: scene.Size{Width: 1280, Height: 720}}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var times []float64
			for b.Loop() {
				times = append(times, viewtest.Took(func() { c.Compute(b, requests.View, r).Scene(c.Size) }))
			}
			viewtest.ReportLatencies(b, "frame", times)
			b.ReportMetric(float64(r.Info().Intervals), "intervals")
		})
	}
}
