package invocation

import (
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Lane holds the calls of one lane of a location: rows that nest, by begin.
// 24 bytes a call where every row is one.
type Lane struct {
	Location trace.LocationID
	Lane     int32

	first  int // row of the first row added
	rows   int // added
	row    []int32
	begin  []trace.Time
	end    []trace.Time
	region []trace.RegionID
	parent []int32 // place in this lane of the call around, -1
	// stand is, for each row, the place of the call that it is or that lies around
	// it, -1 for none. Both row and stand are nil while every row is a call.
	stand []int32
	place []int32 // in the tree
	calls int     // once they are in the tree
}

// Len is the number of calls.
func (l *Lane) Len() int { return len(l.begin) }

// Grow makes room for n more rows.
func (l *Lane) Grow(n int) {
	l.begin, l.end = slices.Grow(l.begin, n), slices.Grow(l.end, n)
	l.region, l.parent = slices.Grow(l.region, n), slices.Grow(l.parent, n)
}

// Add adds the next row. parent is the row around it, -1 for none. A row that is
// no call, such as a scheduler's state, passes its children to the call around it.
func (l *Lane) Add(row int, begin, end trace.Time, region trace.RegionID, parent int32, isCall bool) {
	if l.rows == 0 {
		l.first = row
	}
	up := l.at(parent)
	if !isCall && l.stand == nil {
		l.split()
	}
	l.rows++
	if l.stand != nil {
		stand := up
		if isCall {
			stand = int32(len(l.begin))
			l.row = append(l.row, int32(row))
		}
		l.stand = append(l.stand, stand)
	}
	if !isCall {
		return
	}
	l.begin, l.end = append(l.begin, begin), append(l.end, end)
	l.region, l.parent = append(l.region, region), append(l.parent, up)
}

// split begins to tell rows from calls.
func (l *Lane) split() {
	l.row, l.stand = make([]int32, l.rows), make([]int32, l.rows)
	for i := range l.rows {
		l.row[i], l.stand[i] = int32(l.first+i), int32(i)
	}
}

// at returns the place of the call that a row is or that lies around it, -1 for none.
func (l *Lane) at(row int32) int32 {
	i := int(row) - l.first
	if row < 0 || i < 0 || i >= l.rows {
		return -1
	}
	if l.stand != nil {
		return l.stand[i]
	}
	return int32(i)
}

// rowAt is the row of the call at a place.
func (l *Lane) rowAt(i int) int32 {
	if l.row != nil {
		return l.row[i]
	}
	return int32(l.first + i)
}

// from is the place of the first call that begins at t or later.
func (l *Lane) from(t trace.Time) int {
	return sort.Search(len(l.begin), func(i int) bool { return l.begin[i] >= t })
}
