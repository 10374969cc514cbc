package disk

import (
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// UnpackLinks unpacks links [lo, hi) of a block of table link in memory of the caller's, which is made once. There may
// be more links than memory holds, and most are read once: they are not kept. A caller that goes on reads all links
// before until.
func (t *TableCheck) UnpackLinks(into *store.LinkColumns, lo, hi, until uint64) {
	n := int(hi - lo)
	if cap(into.Kind) < n {
		*into = store.LinkColumns{
			Kind: make([]trace.LinkKind, LinkBlock), FromLocation: make([]trace.LocationID, LinkBlock),
			FromTime: make([]trace.Time, LinkBlock),
			FromLane: make([]int32, LinkBlock), FromRow: make([]int32, LinkBlock),
			ToLocation: make([]trace.LocationID, LinkBlock),
			ToTime:     make([]trace.Time, LinkBlock), ToLane: make([]int32, LinkBlock),
			ToRow: make([]int32, LinkBlock),
			Size:  make([]int64, LinkBlock),
			Tag:   make([]int64, LinkBlock), Communicator: make([]trace.CommunicatorID, LinkBlock),
			Count: make([]int64, LinkBlock), Untimed: make([]bool, LinkBlock),
		}
	}
	CutLinks(into, n)
	t.UnpackAll(lo, hi, until, [][]byte{
		spool.BytesOf(into.Kind), spool.BytesOf(into.FromLocation), spool.BytesOf(into.FromTime),
		spool.BytesOf(into.FromLane), spool.BytesOf(into.FromRow),
		spool.BytesOf(into.ToLocation), spool.BytesOf(into.ToTime), spool.BytesOf(into.ToLane),
		spool.BytesOf(into.ToRow),
		spool.BytesOf(into.Size), spool.BytesOf(into.Tag), spool.BytesOf(into.Communicator), spool.BytesOf(into.Count),
	})
}

// CutLinks makes columns n long.
func CutLinks(c *store.LinkColumns, n int) {
	*c = store.LinkColumns{
		Kind: c.Kind[:n], FromLocation: c.FromLocation[:n], FromTime: c.FromTime[:n], FromLane: c.FromLane[:n],
		FromRow:    c.FromRow[:n],
		ToLocation: c.ToLocation[:n], ToTime: c.ToTime[:n], ToLane: c.ToLane[:n], ToRow: c.ToRow[:n],
		Size: c.Size[:n], Tag: c.Tag[:n], Communicator: c.Communicator[:n], Count: c.Count[:n], Untimed: c.Untimed[:n],
	}
}

// MoveLink puts link i in place of link to.
func MoveLink(c *store.LinkColumns, to, i int) {
	c.Kind[to], c.FromLocation[to], c.ToLocation[to] = c.Kind[i], c.FromLocation[i], c.ToLocation[i]
	c.FromTime[to], c.ToTime[to] = c.FromTime[i], c.ToTime[i]
	c.FromLane[to], c.FromRow[to], c.ToLane[to], c.ToRow[to] = c.FromLane[i], c.FromRow[i], c.ToLane[i], c.ToRow[i]
	c.Size[to], c.Tag[to], c.Communicator[to], c.Count[to] = c.Size[i], c.Tag[i], c.Communicator[i], c.Count[i]
}
