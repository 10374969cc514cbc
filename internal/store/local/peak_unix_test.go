//go:build unix

package local

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows are packed as they are made, also where links must look for the intervals at their ends: the disk never holds as much as plain rows would take.
func TestPlainRowsDoNotWaitForLinks(t *testing.T) {
	const ranks, each = 16, 20_000
	dir := t.TempDir()
	most := benchtest.WatchDisk(dir, time.Millisecond)
	w, err := Create(filepath.Join(dir, "run.plx"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	region := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
	for k := range ranks {
		s := w.Stream(thread(w, k), trace.StreamOptions{Unordered: true})
		for i := range trace.Time(each) {
			s.Interval(1000*i+trace.Time(rnd.IntN(400)), 1000*i+400+trace.Time(rnd.IntN(500)), region)
		}
		_ = s.Close()
	}
	for range 1000 {
		at := trace.Time(rnd.IntN(1000 * each))
		w.Link(trace.Link{Kind: trace.LinkFlow, Communicator: trace.NoCommunicator,
			From: trace.End{Location: trace.LocationID(rnd.IntN(ranks)), Time: at, Region: trace.NoRegion}, To: trace.End{Location: trace.LocationID(rnd.IntN(ranks)), Time: at + 5, Region: trace.NoRegion}})
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if took, plain := most(), int64(ranks*each*disk.RowBytes); took > plain*3/4 {
		t.Errorf("%d bytes on the disk at the most, of rows that take %d when they are plain", took, plain)
	}
}

// Which row and which attribute facts are of is packed as it comes.
func TestFactsAreNotPlainFirst(t *testing.T) {
	const ranks, each, facts = 16, 20_000, 4
	dir := t.TempDir()
	most := benchtest.WatchDisk(dir, time.Millisecond)
	w, err := Create(filepath.Join(dir, "run.plx"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	region := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
	var attributes []trace.AttributeID
	for _, name := range []string{"a", "b", "c", "d"} {
		attributes = append(attributes, w.Attribute(name))
	}
	for k := range ranks {
		s := w.Stream(thread(w, k), trace.StreamOptions{Unordered: true})
		for i := range trace.Time(each) {
			s.Interval(1000*i, 1000*i+400, region)
			for n, a := range attributes {
				s.Attribute(a, trace.Integer(int64(n)))
			}
		}
		_ = s.Close()
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if took, plain := most(), int64(ranks*each*facts*(8+4+1+8)); took > plain*4/5 {
		t.Errorf("%d bytes on the disk at the most, of facts that take %d when they are plain", took, plain)
	}
}
