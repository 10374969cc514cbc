package chrometrace

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// dimensions of parallel training, in the order in which frameworks lay ranks out: replicas of the data, stages of a
// pipeline, parts of a tensor, experts, parts of a sequence.
var dimensions = []string{"dp", "pp", "tp", "ep", "cp"}

var coordinatePattern = regexp.MustCompile(`(?i)(?:^|[^a-z])(dp|pp|tp|ep|cp)[ _-]?rank[ _:=#-]?(\d{1,6})(?:[^0-9]|$)`)

// coordinates finds "PP rank 2, TP rank 0" in a name: the place of each dimension, nil if it names none.
func coordinates(name string) map[string]int {
	var out map[string]int
	for rest := name; ; {
		m := coordinatePattern.FindStringSubmatchIndex(rest)
		if m == nil {
			return out
		}
		n, _ := strconv.Atoi(rest[m[4]:m[5]])
		if out == nil {
			out = map[string]int{}
		}
		out[strings.ToLower(rest[m[2]:m[3]])] = n
		rest = rest[m[5]:]
	}
}

// arrange gives locations whose names tell coordinates these as attributes, and lays the first of each place out on a
// grid. If threads are stages and no name has a replica, processes numbered from 0 on are taken for replicas: a
// guess, and counted.
func (c *rowTree) arrange() {
	type placed struct {
		location trace.LocationID
		at       map[string]int
	}
	var list []placed
	used, replicas := map[string]bool{}, true
	pids := map[string]bool{}
	whole := map[string]bool{} // pids that are a place
	for _, pid := range slices.Sorted(maps.Keys(c.processes)) {
		if m := c.pids[pid]; m != nil && c.ranked(pid) {
			if at := coordinates(m.name); at != nil {
				for d := range at {
					used[d] = true
				}
				list, replicas = append(list, placed{c.processes[pid].location, at}), false
				whole[pid] = true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.places)) {
		p := c.places[key]
		at := coordinates(p.name)
		if at == nil || p.cpu == nil || whole[p.pid] {
			continue
		}
		if m := c.pids[p.pid]; m != nil {
			for d, n := range coordinates(m.name) {
				at[d] = n
			}
		}
		_, told := at["dp"]
		replicas = replicas && !told
		pids[p.pid] = true
		for d := range at {
			used[d] = true
		}
		list = append(list, placed{p.cpu.location, at})
	}
	if replicas = replicas && used["pp"] && len(pids) > 1 && countsUp(pids); replicas {
		used["dp"] = true
		c.tally.AddN(guessedReplicas, int64(len(pids)), nowhere)
		i := 0
		for _, key := range slices.Sorted(maps.Keys(c.places)) {
			if p := c.places[key]; p.cpu != nil && coordinates(p.name) != nil {
				list[i].at["dp"], _ = strconv.Atoi(p.pid)
				i++
			}
		}
	}
	if len(list) == 0 {
		return
	}
	grid := trace.Topology{Name: "parallel"}
	for _, d := range dimensions {
		if used[d] {
			grid.DimNames, grid.Dims, grid.Periodic = append(grid.DimNames, d), append(grid.Dims, 1),
				append(grid.Periodic, false)
		}
	}
	taken := map[string]bool{}
	for _, x := range list {
		l := trace.Location{Rank: trace.NoRank}
		at := make([]int, len(grid.Dims))
		for i, d := range grid.DimNames {
			if n, ok := x.at[d]; ok {
				at[i] = n
				l.Attributes = append(l.Attributes, trace.Attribute{Key: d, Value: trace.Integer(int64(n))})
			}
			grid.Dims[i] = max(grid.Dims[i], at[i]+1)
		}
		c.w.Describe(x.location, l)
		key := ""
		for _, n := range at {
			key += strconv.Itoa(n) + " "
		}
		if !taken[key] {
			taken[key] = true
			grid.Coordinates = append(grid.Coordinates, trace.Coordinate{Location: x.location, At: at})
		}
	}
	c.w.Topology(grid)
}

// countsUp reports whether ids are 0, 1, 2 and so on.
func countsUp(ids map[string]bool) bool {
	for i := range len(ids) {
		if !ids[strconv.Itoa(i)] {
			return false
		}
	}
	return true
}
