package callsums

import (
	"cmp"
	"strings"

	"github.com/parallax-hpc/parallax/internal/words"
)

// An Order is what sums are ordered by.
type Order string

// Orders of sums.
const (
	Differs Order = "differs"
	Calls   Order = "calls"
	Total   Order = "total"
	Longest Order = "longest"
	Name    Order = "name"
)

// ParseOrder reads --order.
func ParseOrder(text string, allowed ...Order) (Order, error) {
	var names []string
	for _, o := range allowed {
		if string(o) == text {
			return o, nil
		}
		names = append(names, string(o))
	}
	return "", words.NotOneOf("--order", text, names...)
}

// A Place is where a sum comes among others.
type Place struct {
	Numbers
	First bool // before all others
	Keep  bool // asked for by name
	Tells bool // it says something of its locations by itself, see runfacts.Tells
	Name  string
}

// Compare orders two places. Where there is one owner alone, none differs and the total counts.
func (o Order) Compare(x, y *Place, alone bool) int {
	return cmp.Or(first(x.First, y.First), first(x.Keep, y.Keep), o.compareTells(x, y),
		cmp.Compare(o.value(y, alone), o.value(x, alone)), o.compareCuts(x, y), strings.Compare(x.Name, y.Name))
}

func (o Order) value(x *Place, alone bool) float64 {
	switch {
	case o == Calls:
		return x.Calls
	case o == Total || o == Differs && alone:
		return x.Total
	case o == Differs:
		return x.Moved
	case o == Longest:
		return x.Longest
	}
	return 0
}

func (o Order) compareTells(x, y *Place) int {
	if o != Differs {
		return 0
	}
	return first(x.Tells, y.Tells)
}

func (o Order) compareCuts(x, y *Place) int {
	if o == Name {
		return 0
	}
	return cmp.Compare(y.CutTime, x.CutTime)
}

// first compares two conditions: where one alone holds, that comes first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
