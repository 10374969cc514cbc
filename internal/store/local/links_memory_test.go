package local

import (
	"runtime/debug"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// What an import maps does not grow with its links: their columns are 41 bytes each for what adds them up, and there may be 10^8.
func TestMemoryOfAnImportDoesNotGrowWithItsLinks(t *testing.T) {
	if benchtest.PeakMemory() == 0 {
		t.Skip("this system does not tell how much memory is resident")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // what tests before this one left is not to be measured
	peak := func(links int) int64 {
		debug.FreeOSMemory()
		benchtest.ResetPeak()
		before := benchtest.PeakMemory()
		build(t, Options{Memory: 8 << 20, Workers: 2}, func(w trace.Writer) { writeMessages(w, links) })
		return benchtest.PeakMemory() - before
	}
	const few, many = 1 << 18, 3 << 20
	a, b := peak(few), peak(many)
	if grown := b - a; grown > (many-few)*41/2 {
		t.Errorf("%d links take %d MB of memory, and %d take %d", few, a>>20, many, b>>20)
	}
}

// writeMessages sends messages round a ring.
func writeMessages(w trace.Writer, n int) {
	const ranks = 64
	region := w.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication})
	var ids []trace.LocationID
	for i := range ranks {
		id := thread(w, i)
		s := w.Stream(id, trace.StreamOptions{})
		s.Enter(0, region)
		s.Leave(trace.Time(n), region)
		_ = s.Close()
		ids = append(ids, id)
	}
	for i := range n {
		t := trace.Time(i - i%ranks)
		w.Link(trace.Link{
			Kind: trace.LinkMessage, Size: 8, Count: 1, Communicator: trace.NoCommunicator,
			From: trace.End{Location: ids[i%ranks], Time: t, Number: 1}, To: trace.End{Location: ids[(i+1)%ranks], Time: t + 3, Number: 1},
		})
	}
}
