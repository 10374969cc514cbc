package utilization

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// fewestPeers is how many locations of one name make a group of their own.
const fewestPeers = 4

// Peers numbers the groups of rows that are compared with each other: locations
// of one kind and name ("stream 7" of each rank), or whose names differ by numbers
// alone; else of one kind. Among very many rows the kind must do.
func (f *Rows) Peers() []int32 {
	out := make([]int32, len(f.IDs))
	numbers := map[string]int32{}
	number := func(key string) int32 {
		n, ok := numbers[key]
		if !ok {
			n = int32(len(numbers))
			numbers[key] = n
		}
		return n
	}
	if len(f.IDs) > ManyRows {
		kind, last := "", int32(-1)
		for i, id := range f.IDs {
			if of := string(f.Tree.Kind[id]); last < 0 || of != kind {
				kind, last = of, number(of)
			}
			out[i] = last
		}
		return out
	}
	counts := map[string]int{}
	keys := func(id trace.LocationID) [3]string {
		kind := string(f.Tree.Kind[id])
		return [3]string{kind + "\x00=" + f.Tree.Name[id], kind + "\x00~" + strings.Map(dropDigit, f.Tree.Name[id]),
			kind}
	}
	for _, id := range f.IDs {
		for _, key := range keys(id) {
			counts[key]++
		}
	}
	for i, id := range f.IDs {
		ks := keys(id)
		key := ks[2]
		for _, narrow := range ks[:2] {
			if counts[narrow] >= fewestPeers {
				key = narrow
				break
			}
		}
		out[i] = number(key)
	}
	return out
}

func dropDigit(c rune) rune {
	if c >= '0' && c <= '9' {
		return -1
	}
	return c
}
