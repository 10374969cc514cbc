// Package proposal finds layouts and groupings of ranks in the records of a run: names of hosts, traffic
// between ranks, coordinates.
package proposal

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/hostname"
	"github.com/parallax-hpc/parallax/internal/analysis/rankgrid"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A structure holds the facts about ranks in the records of a run.
type structure struct {
	*trace.Ranks
	grid  *rankgrid.Grid // nil: no traffic, or too little
	hosts *hostname.Levels
	host  []int // of each rank, numbered in order of rank
	per   []int // ranks of each host
}

func analyse(r *trace.Ranks) *structure {
	s := &structure{Ranks: r}
	if len(r.Traffic) > 0 {
		s.grid = rankgrid.Find(r.Count, r.Traffic)
	}
	if len(r.Hosts) != r.Count || r.Count == 0 {
		return s
	}
	number := map[string]int{}
	var names []string
	s.host = make([]int, r.Count)
	for rank, name := range r.Hosts {
		k, ok := number[name]
		if !ok {
			k = len(names)
			number[name], names, s.per = k, append(names, name), append(s.per, 0)
		}
		s.host[rank] = k
		s.per[k]++
	}
	s.hosts = hostname.Find(names)
	return s
}

// gridded reports whether traffic has a grid of several sides that holds all ranks.
func (s *structure) gridded() bool { return s.grid.Fits() && s.grid.Ranks == s.Count }

// hostKeys are the keys of each rank's host, on the first levels.
func (s *structure) hostKeys(levels int) [][]string {
	out := make([][]string, s.Count)
	for rank, h := range s.host {
		out[rank] = s.hosts.Keys[h][:levels]
	}
	return out
}

// number gives each list of names a number, in order of appearance.
func number(keys [][]string) (of []int32, groups int) {
	seen := map[string]int32{}
	of = make([]int32, len(keys))
	for i, k := range keys {
		key := strings.Join(k, "\x00")
		n, ok := seen[key]
		if !ok {
			n = int32(len(seen))
			seen[key] = n
		}
		of[i] = n
	}
	return of, len(seen)
}
