package view_test

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Regions of one name are one line, which says the role of the one that takes most
// time, in whatever order they were defined.
func TestRegionsOfOneNameAreToldAsTheLargestOfThem(t *testing.T) {
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
	want := view.RegionInfo{Name: "wait", Category: "mpi", Role: "communication", Calls: 3, Inclusive: 95, Exclusive: 95}
	if len(info.RegionTable) != 1 || info.RegionTable[0] != want {
		t.Errorf("the table is %+v, want %+v", info.RegionTable, want)
	}
}
