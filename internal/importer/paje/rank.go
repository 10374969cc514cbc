package paje

import (
	"regexp"
	"strconv"
)

const maxRank = 1<<31 - 1

// rankNames find the rank in names such as "rank-12", "MPI Rank 3", EZTrace's "P#3"
// and StarPU's "3_program".
var rankNames = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(?:mpi[ _-]?)?rank[ _#:-]?(\d{1,9})(?:[^0-9]|$)`),
	regexp.MustCompile(`^P#(\d{1,9})$`),
	regexp.MustCompile(`^(\d{1,9})_program$`),
}

// rankOf looks for the rank in the name of a container, else in its alias; -1 for none.
func rankOf(names ...string) int {
	for _, name := range names {
		for _, p := range rankNames {
			if m := p.FindStringSubmatch(name); m != nil {
				n, _ := strconv.Atoi(m[1])
				return n
			}
		}
	}
	return -1
}

// ranks are those that locations have: a bit each where they are low, as they are.
type ranks struct {
	low  []uint64
	high map[int]bool
}

// lowRanks take 2 MiB at most.
const lowRanks = 1 << 24

func (r *ranks) has(n int) bool {
	if n >= lowRanks {
		return r.high[n]
	}
	return n/64 < len(r.low) && r.low[n/64]>>(n%64)&1 == 1
}

func (r *ranks) add(n int) {
	if n >= lowRanks {
		if r.high == nil {
			r.high = map[int]bool{}
		}
		r.high[n] = true
		return
	}
	if i := n / 64; i >= len(r.low) {
		r.low = append(r.low, make([]uint64, i+1-len(r.low))...)
	}
	r.low[n/64] |= 1 << (n % 64)
}
