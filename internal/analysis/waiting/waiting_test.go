package waiting

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestUnitWaitsCountOverlappingStaysOnce(t *testing.T) {
	l := NewUnitWaits([]Stay{{Begin: 10, End: 20}, {Begin: 15, End: 30}, {Begin: 16, End: 18}, {Begin: 40, End: 50}})
	waits := func(t trace.Time) bool { return t >= 10 && t < 30 || t >= 40 && t < 50 }
	sum := trace.Time(0)
	for at := trace.Time(0); at < 60; at++ {
		if got := l.Waited(at); got != sum {
			t.Fatalf("before %d it waited %d, want %d", at, got, sum)
		}
		if _, ok := l.At(at); ok != waits(at) && at != 30 && at != 50 { // ends belong to the stay
			t.Fatalf("at %d: %v", at, ok)
		}
		if waits(at) {
			sum++
		}
	}
}

func TestCollectivesAreKnownByName(t *testing.T) {
	comm := func(name string) *trace.Region { return &trace.Region{Name: name, Role: trace.RoleCommunication} }
	for name, want := range map[string]bool{
		"MPI_Allreduce": true, "PMPI_Barrier": true, "MPI_Bcast": true, "gloo:all_reduce": true, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": true,
		"MPI_Send": false, "MPI_Waitall": false, "MPI_Recv": false, "kernel(all_reduce_args)": false,
	} {
		if got := IsCollective(comm(name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if IsCollective(&trace.Region{Name: "reduce_tiles", Role: trace.RoleCompute}) {
		t.Error("work counts as a collective")
	}
}

// Three units meet twice. Unit 2 works longest before the first; before the second
// unit 1 does, and unit 0 arrives just after it only because it waited elsewhere.
func TestCollectivesNameTheLastRankAndTheCause(t *testing.T) {
	waits := []*UnitWaits{
		NewUnitWaits([]Stay{{Begin: 10, End: 32}, {Begin: 40, End: 79}, {Begin: 81, End: 90}}), // 40..79 waits for something else
		NewUnitWaits([]Stay{{Begin: 20, End: 32}, {Begin: 80, End: 90}}),
		NewUnitWaits([]Stay{{Begin: 30, End: 32}, {Begin: 50, End: 90}}),
	}
	calls := []Call{{Unit: 0, Begin: 10, End: 32}, {Unit: 0, Begin: 81, End: 90}, {Unit: 1, Begin: 20, End: 32}, {Unit: 1, Begin: 80, End: 90}, {Unit: 2, Begin: 30, End: 32}, {Unit: 2, Begin: 50, End: 90}}
	for _, indexed := range []bool{true, false} {
		list, broken := Meetings(calls, waits, indexed)
		if len(list) != 2 || broken != 0 {
			t.Fatalf("indexed %v: %d meetings, %v broken", indexed, len(list), broken)
		}
		a, b := list[0], list[1]
		if a.LastUnit != 2 || a.Cause != 2 || a.Waited != 20+10 || a.Transfer != 3*2 {
			t.Errorf("the first: %+v", a)
		}
		if b.LastUnit != 0 || b.Cause != 1 || b.Waited != 1+31 || b.Transfer != 3*9 {
			t.Errorf("the second: %+v", b)
		}
	}
}

func TestCollectivesWithoutOverlapAreCountedAsBroken(t *testing.T) {
	waits := []*UnitWaits{NewUnitWaits(nil), NewUnitWaits(nil)}
	calls := []Call{{Unit: 0, Begin: 0, End: 1}, {Unit: 0, Begin: 10, End: 11}, {Unit: 1, Begin: 5, End: 6}, {Unit: 1, Begin: 20, End: 21}}
	if _, broken := Meetings(calls, waits, true); broken != 1 {
		t.Errorf("%v are broken, want all", broken)
	}
}

// A chain: unit 0 works 50 and sends to 1, which waits from 20 on and passes its
// lateness on to 2 by a message sent at 60. Unit 0 is to blame for what 1 waits, and
// unit 1 for nothing.
func TestPropagatedDelayIsNotTheSendersOwn(t *testing.T) {
	waits := []*UnitWaits{NewUnitWaits(nil), NewUnitWaits([]Stay{{Begin: 20, End: 52, Region: 1}}), NewUnitWaits([]Stay{{Begin: 30, End: 63, Region: 1}})}
	list := Messages([]Message{{From: 0, To: 1, Sent: 50, Received: 52}, {From: 1, To: 2, Sent: 60, Received: 63}}, waits, make([][]trace.Time, 3), true)
	if len(list) != 2 {
		t.Fatalf("%d waits", len(list))
	}
	if l := list[0]; l.Cause != 0 || l.Waiter != 1 || l.Skew != 30 || l.Own != 30 || l.Transfer != 2 {
		t.Errorf("the first: %+v", l)
	}
	if l := list[1]; l.Cause != 1 || l.Waiter != 2 || l.Skew != 30 || l.Own != 0 || l.Transfer != 3 { // 28 of its own against 30
		t.Errorf("the second: %+v", l)
	}
}

func TestTheLastOfSeveralMessagesInACallEndsTheWait(t *testing.T) {
	waits := []*UnitWaits{NewUnitWaits(nil), NewUnitWaits(nil), NewUnitWaits([]Stay{{Begin: 10, End: 40}})}
	list := Messages([]Message{{From: 0, To: 2, Sent: 20, Received: 22}, {From: 1, To: 2, Sent: 38, Received: 40}}, waits, make([][]trace.Time, 3), true)
	if len(list) != 1 || list[0].Cause != 1 || list[0].Skew != 28 {
		t.Errorf("%+v", list)
	}
}

func TestASenderWaitsForALateReceiver(t *testing.T) {
	waits := []*UnitWaits{NewUnitWaits([]Stay{{Begin: 10, End: 33, Region: 2}}), NewUnitWaits([]Stay{{Begin: 30, End: 34, Region: 3}})}
	list := Messages([]Message{{From: 0, To: 1, Sent: 11, Received: 34}}, waits, make([][]trace.Time, 2), true)
	if len(list) != 1 || !list[0].Receiver || list[0].Cause != 1 || list[0].Waiter != 0 || list[0].Skew != 20 || list[0].Own != 20 || list[0].Region != 2 {
		t.Errorf("%+v", list)
	}
}

func TestAnalyseReadsStaysFromColumns(t *testing.T) {
	regions := []trace.Region{{Name: "work", Role: trace.RoleCompute}, {Name: "MPI_Barrier", Role: trace.RoleCommunication}}
	p := &input{regions: regions, unit: []int32{0, 1}, units: 2, indexed: true, scan: func(f func(*trace.Columns) error) error {
		for id, begin := range []trace.Time{10, 40} {
			// A barrier with something of its own inside, in two batches.
			a := &trace.Columns{Location: trace.LocationID(id), Begin: []trace.Time{0, begin}, Duration: []trace.Time{50, 50 - begin}, Region: []trace.RegionID{0, 1}}
			b := &trace.Columns{Location: trace.LocationID(id), First: 2, Begin: []trace.Time{begin + 2}, Duration: []trace.Time{3}, Region: []trace.RegionID{1}, Open: []trace.OpenInterval{{Row: 0, Begin: 0, End: 50}, {Row: 1, Begin: begin, End: 50, Region: 1}}}
			if err := f(a); err != nil {
				return err
			}
			if err := f(b); err != nil {
				return err
			}
		}
		return nil
	}}
	r, err := p.analyse()
	if err != nil || len(r.Meetings) != 1 || r.Meetings[0].Waited != 30 || r.Meetings[0].Cause != 1 || r.Broken != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
}
