// Package rows goes through the mapped tables of a store, lane by lane.
//
// All code here relies on lanes that are contiguous and nest perfectly: Lane finds rows by time, Walker returns the
// innermost interval, Merge joins the lanes of a location. A Table yields lanes, alone or on all cores.
package rows

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Table is the columns of a store, mapped, with the rows of each lane and the lanes of each location. While a store
// is being finished only some columns are there.
type Table struct {
	life   sync.RWMutex // read by queries, written by close
	closed bool

	C       disk.Columns
	Maps    []*spool.Mapping
	Workers int
	End     trace.Time // the trace is [0, end)
	Regions []trace.Region
	Roles   []trace.Role
	Aside   []trace.LocationID
	Holders []uint32 // locations with intervals before each, n+1

	Checks  disk.Checks    // nil while a store is made
	Sure    *disk.RowCheck // of table interval; likewise
	Held    memory.Outside // bytes of packed columns that are unpacked, but for rows
	RowHeld memory.Outside // likewise, of table interval
	Fetched *disk.Fetcher  // of a remote store, else nil
	// Checks of the tables that are read for every lane.
	OfSum, OfCheckpoint, OfLevel, OfNode, OfGroup *disk.TableCheck

	RowMaps []*spool.Mapping // of table interval, while a store is finished
	Packed  []*spool.Mapping // likewise, where its rows are packed already
	paced   atomic.Int64
	// spreads are rows in temporary files; spreading is held by who changes them or gives their pages back.
	spreads   atomic.Pointer[[]*spread]
	spreading sync.Mutex
	scratch   sync.Pool // of *disk.RowSlices
	peeks     sync.Pool // of *Frames
}

// Len returns the number of locations.
func (r *Table) Len() int { return len(r.C.LocationLast) }

// Close unmaps the files once no query is under way; after is called before others
// can see that.
func (r *Table) Close(after func() error) error {
	r.life.Lock()
	defer r.life.Unlock()
	r.closed = true
	var err error
	for _, m := range r.Maps {
		err = errors.Join(err, m.Close())
	}
	r.Maps, r.C = nil, disk.Columns{}
	r.Held.Clear()
	r.RowHeld.Clear()
	r.Fetched.Closed()
	if after != nil {
		err = errors.Join(err, after())
	}
	return err
}

func RolesOf(regions []trace.Region) []trace.Role {
	roles := make([]trace.Role, len(regions))
	for i := range regions {
		roles[i] = regions[i].Role
	}
	return roles
}

// RowJobs cuts all locations into ranges of about as many rows each.
func (r *Table) RowJobs(size uint64) [][2]trace.LocationID {
	var jobs [][2]trace.LocationID
	n := len(r.C.LocationLane) - 1
	first := 0
	for id := range n {
		a, b := r.C.LaneRow[r.C.LocationLane[first]], r.C.LaneRow[r.C.LocationLane[id+1]]
		if b-a >= size || id-first >= 1<<14 || id == n-1 {
			jobs = append(jobs, [2]trace.LocationID{trace.LocationID(first), trace.LocationID(id + 1)})
			first = id + 1
		}
	}
	return jobs
}

// Subtree returns the locations [first, end) of a location and all below; the number
// after the last location stands for all together.
func (r *Table) Subtree(id trace.LocationID) (first, end trace.LocationID) {
	if n := trace.LocationID(len(r.C.LocationLast)); id == n {
		return 0, n
	}
	return id, r.C.LocationLast[id] + 1
}

// OneTop reports whether one location is above all others.
func (r *Table) OneTop() bool {
	last := r.C.LocationLast
	return len(last) > 0 && int(last[0]) == len(last)-1
}

// RowsBelow returns the number of rows of a location and all below.
func (r *Table) RowsBelow(id trace.LocationID) uint64 {
	c := &r.C
	first, end := r.Subtree(id)
	return c.LaneRow[c.LocationLane[end]] - c.LaneRow[c.LocationLane[first]]
}
