package view_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Regions of one name are one line, which says the role of the one that takes most
// time, in whatever order they were defined.
func TestRegionsOfOneNameHaveTheRoleOfTheLargest(t *testing.T) {
	m := storetest.NewMemory()
	small := m.Region(trace.Region{Name: "wait", Category: "gui", Role: trace.RoleCompute})
	large := m.Region(trace.Region{Name: "wait", Category: "mpi", Role: trace.RoleCommunication})
	least := m.Region(trace.Region{Name: "wait", Category: "disk", Role: trace.RoleIO})
	s := m.Stream(m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0}), trace.StreamOptions{})
	s.Interval(0, 10, small)
	s.Interval(10, 90, large)
	s.Interval(90, 95, least)
	s.Close()
	info, err := view.InfoOf(context.Background(), m.Reader())
	if err != nil {
		t.Fatal(err)
	}
	calls := 3.0
	want := view.RegionInfo{Name: "wait", Category: "mpi", Role: "communication", Calls: &calls, Inclusive: 95, Exclusive: 95, Unit: "ns"}
	if len(info.RegionTable) != 1 || !reflect.DeepEqual(info.RegionTable[0], want) {
		t.Errorf("the table is %+v, want %+v", info.RegionTable, want)
	}
}

// Bytes are not time: every metric is told in its own unit, and the table of regions
// says which unit its numbers have.
func TestEveryMetricHasItsOwnUnit(t *testing.T) {
	m := storetest.NewMemory()
	region := m.Region(trace.Region{Name: "write"})
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
	path := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: region})
	for _, x := range []struct {
		metric trace.Metric
		value  float64
	}{
		{trace.Metric{Name: "alloc_space", Unit: "bytes", Default: true}, 4718592},
		{trace.Metric{Name: "time", Unit: "ns"}, 2e9},
		{trace.Metric{Name: "PAPI_TOT_INS"}, 3.2e9},
		{trace.Metric{Name: "samples", Unit: "samples"}, 12},
		{trace.Metric{Name: "max_time", Unit: "ns", Join: trace.JoinMax}, 7},
	} {
		m.Profile(trace.ProfileRow{Location: at, Path: path, Metric: m.Metric(x.metric), Calls: 1, Inclusive: x.value, Exclusive: x.value})
	}
	info, err := view.InfoOf(context.Background(), m.Reader())
	if err != nil {
		t.Fatal(err)
	}
	if r := info.RegionTable[0]; r.Unit != "bytes" || info.RegionMetric.Name != "alloc_space" || view.FormatIn(r.Exclusive, r.Unit) != "4.50 MiB" {
		t.Errorf("the table is of %+v: %+v", info.RegionMetric, r)
	}
	for k, want := range []string{"4.50 MiB", "2.00 s", "3.20 G", "12 samples"} {
		if got := info.Metrics[k].Format(*info.Metrics[k].Total); got != want {
			t.Errorf("%s is written %q, want %q", info.Metrics[k].Name, got, want)
		}
	}
	if x := info.Metrics[4]; x.Total != nil {
		t.Errorf("maxima were added up: %v", *x.Total)
	}
}

// Samples over time beside a profile do not make a trace of it: what adds up is the profile.
func TestAProfileWithSamplesBesideItIsAProfile(t *testing.T) {
	m := storetest.NewMemory()
	region := m.Region(trace.Region{Name: "f"})
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: "t", Rank: 0})
	path := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: region})
	m.Profile(trace.ProfileRow{Location: at, Path: path, Metric: m.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true}), Inclusive: 70, Exclusive: 70})
	s := m.Stream(m.Location(trace.Location{Parent: at, Kind: trace.KindSamples, Name: "samples", Rank: trace.NoRank}), trace.StreamOptions{})
	s.Interval(0, 100, region)
	s.Close()
	r := m.Reader()
	info, err := view.InfoOf(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Info().Timed() || len(info.RegionTable) != 1 || info.RegionTable[0].Exclusive != 70 {
		t.Errorf("timed %v, table %+v", r.Info().Timed(), info.RegionTable)
	}
}

// Samples do not count calls: these are unknown, not 0, and cannot be a metric.
func TestCallsOfSamplesAreUnknown(t *testing.T) {
	m := storetest.NewMemory()
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
	path := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: m.Region(trace.Region{Name: "solve"})})
	m.Profile(trace.ProfileRow{Location: at, Path: path, Metric: m.Metric(trace.Metric{Name: "cpu", Unit: "ns"}), Inclusive: 5, Exclusive: 5})
	info, err := view.InfoOf(context.Background(), m.Reader())
	if err != nil {
		t.Fatal(err)
	}
	if calls := info.RegionTable[0].Calls; calls != nil {
		t.Errorf("a function in samples has %v calls, want none known", *calls)
	}
	if _, err := runfacts.ChooseMetric(m.Reader(), "calls"); err == nil {
		t.Error("calls of samples are a metric")
	}
}
