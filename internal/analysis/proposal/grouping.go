package proposal

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/rankgrid"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Groupings returns the groupings that a run suggests for its ranks, after that of its own tree: one for
// each level of the host names, one for each axis of the grid that the traffic has, and blocks of ranks if all of
// these explain little. tree are the groups of each rank there, by level and rank, and values the quantities in
// which ranks differ, by variable and rank. A grouping without a score, of one group or of one per rank, is left out;
// the tree has the best score of its levels, and 0 without any.
func Groupings(r *trace.Ranks, tree [][]int32, values [][]float64) []trace.RankGrouping {
	s := analyse(r)
	own := trace.RankGrouping{Name: "tree"}
	scored := false
	for _, of := range tree {
		if score, ok := entropy.GroupScore(values, of); ok && (!scored || score > own.Score) {
			own.Score, scored = score, true
		}
	}
	out := []trace.RankGrouping{own}
	for _, g := range append(s.byHosts(), s.byAxes()...) {
		of, _ := number(g.Groups)
		if score, ok := entropy.GroupScore(values, of); ok {
			g.Score = score
			out = append(out, g)
		}
	}
	for _, g := range out {
		if g.Score >= littleExplained {
			return out
		}
	}
	if g, ok := s.byBlocks(values); ok {
		out = append(out, g)
	}
	return out
}

const (
	// littleExplained is the score below which a grouping leaves most differences within its groups.
	littleExplained = 0.5
	// sameScore is by how much scores differ that count as equal.
	sameScore = 0.02
	// fewBlocks is the least number of blocks, and of ranks of one: with fewer, order explains by chance.
	fewBlocks = 4
)

// byBlocks are blocks of consecutive ranks, such as those of the cores that share a cache. Their size divides the
// number of ranks: it is the one that explains most, or of equals the largest. false: none explains much.
func (s *structure) byBlocks(values [][]float64) (g trace.RankGrouping, ok bool) {
	size := 0
	for d := s.Count / fewBlocks; d >= fewBlocks; d-- {
		if s.Count%d != 0 {
			continue
		}
		of := make([]int32, s.Count)
		for rank := range of {
			of[rank] = int32(rank / d)
		}
		if score, is := entropy.GroupScore(values, of); is && score >= littleExplained && score > g.Score+sameScore {
			g.Score, size = score, d
		}
	}
	if size == 0 {
		return g, false
	}
	g.Name = fmt.Sprintf("blocks of %d ranks", size)
	for rank := range s.Count {
		first := rank / size * size
		g.Groups = append(g.Groups, []string{fmt.Sprintf("ranks %d-%d", first, first+size-1)})
	}
	return g, true
}

func firstLevels(list [][]string, levels int) [][]string {
	out := make([][]string, len(list))
	for i, names := range list {
		out[i] = names[:min(levels, len(names))]
	}
	return out
}

// byHosts are groupings by the levels of host names.
func (s *structure) byHosts() (out []trace.RankGrouping) {
	if s.hosts == nil {
		return nil
	}
	levels := len(s.hosts.Kinds)
	labels := s.hostLabels()
	for j := 1; j <= levels; j++ {
		name := "hosts, 1 level"
		if j > 1 {
			name = fmt.Sprintf("hosts, %d levels", j)
		}
		g := trace.RankGrouping{Name: name, Groups: make([][]string, s.Count)}
		for rank, h := range s.host {
			g.Groups[rank] = labels[h][:j]
		}
		out = append(out, g)
	}
	return out
}

// hostLabels names the groups of each host, level by level: a word as it is; a number as
// the beginning that its hosts have in common.
func (s *structure) hostLabels() [][]string {
	keys := s.hosts.Keys
	name := make([]string, len(keys))
	for rank, h := range s.host {
		name[h] = s.Hosts[rank]
	}
	out := make([][]string, len(keys))
	for level, kind := range s.hosts.Kinds {
		of, groups := number(firstLevels(keys, level+1))
		common, members := make([]string, groups), make([]int, groups)
		for h, g := range of {
			if members[g]++; members[g] == 1 {
				common[g] = name[h]
			} else {
				common[g] = commonPrefix(common[g], name[h])
			}
		}
		taken := map[string]int32{}
		for h, g := range of {
			label := strings.Trim(keys[h][level], " -_.")
			if kind == "number" {
				label = common[g]
				if members[g] > 1 {
					label += "*"
				}
			}
			if label == "" {
				label = "others"
			}
			if other, ok := taken[label]; ok && other != g {
				label += " (" + keys[h][level] + ")"
			}
			taken[label] = g
			out[h] = append(out[h], label)
		}
	}
	return out
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// byAxes are groupings by the place on each axis of the grid.
func (s *structure) byAxes() (out []trace.RankGrouping) {
	if !s.gridded() {
		return nil
	}
	dims := s.grid.Dims
	for axis := range dims {
		what, one := fmt.Sprintf("places on axis %d", axis+1), fmt.Sprintf("axis %d at", axis+1)
		if len(dims) == 2 {
			what, one = []string{"columns", "rows"}[axis], []string{"column", "row"}[axis]
		}
		g := trace.RankGrouping{Name: what + " of the " + Sides(dims) + " rank grid"}
		for rank := range s.Count {
			g.Groups = append(g.Groups, []string{fmt.Sprintf("%s %d", one, rankgrid.Place(rank, dims)[axis])})
		}
		out = append(out, g)
	}
	return out
}

// Sides writes the sides of a grid.
func Sides(dims []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", " × "), "[]")
}
