package proposal

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/hostname"
)

// separators end the parts of host names.
const separators = " -_."

// nameNested names the blocks of a nested layout by what differs below the group around them: "r1". The first
// block of a group, as text is read, has the group's name before its own: "dfly-g06 r0".
func (s *structure) nameNested(blocks []Block, places [][]int, levels int) []Block {
	labels := s.levelNames(levels)
	before := func(a, b int) bool {
		p, q := places[blocks[a].Rank], places[blocks[b].Rank]
		return p[1] > q[1] || p[1] == q[1] && p[0] < q[0]
	}
	names := make([][]string, len(blocks))
	for level := range levels - 1 {
		first := map[string]int{} // block of each group
		for b := range blocks {
			group := strings.Join(s.hosts.Keys[s.host[blocks[b].Rank]][:level+1], "\x00")
			if other, ok := first[group]; !ok || before(b, other) {
				first[group] = b
			}
		}
		for _, b := range first {
			names[b] = append(names[b], labels[s.host[blocks[b].Rank]][level])
		}
	}
	for b := range blocks {
		blocks[b].Name = strings.Join(append(names[b], labels[s.host[blocks[b].Rank]][levels-1]), " ")
	}
	return blocks
}

// levelNames names the groups of each host, level by level: a word as it is; a number with the word before it, as
// far as the level above does not have them.
func (s *structure) levelNames(levels int) [][]string {
	keys := s.hosts.Keys
	name := make([]string, len(keys))
	for rank, h := range s.host {
		name[h] = hostname.Host(s.Hosts[rank])
	}
	out, above := make([][]string, len(keys)), make([]string, len(keys))
	for level, kind := range s.hosts.Kinds[:levels] {
		of, groups := number(firstLevels(keys, level+1))
		common := make([]string, groups)
		seen := make([]bool, groups)
		for h, g := range of {
			if !seen[g] {
				common[g], seen[g] = name[h], true
			}
			common[g] = commonPrefix(common[g], name[h])
		}
		within := endInNumber(common, name, of)
		for h, g := range of {
			if kind != "number" {
				out[h] = append(out[h], orOthers(strings.Trim(keys[h][level], separators)))
				continue
			}
			own := common[g][:strings.LastIndexAny(common[g], "0123456789")+1]
			label := strings.Trim(strings.TrimPrefix(own, above[h]), separators)
			if own == "" || own == above[h] || within[g] {
				label = keys[h][level] // the number itself: its digits are not the end of what is common
			}
			out[h], above[h] = append(out[h], orOthers(label)), own
		}
	}
	return out
}

// endInNumber reports, by group, whether the common beginning of its names ends within a number.
func endInNumber(common, name []string, of []int32) []bool {
	digitAt := func(text string, at int) bool { return 0 <= at && at < len(text) && '0' <= text[at] && text[at] <= '9' }
	out := make([]bool, len(common))
	for h, g := range of {
		at := len(common[g])
		out[g] = out[g] || digitAt(name[h], at-1) && digitAt(name[h], at)
	}
	return out
}

func orOthers(label string) string {
	if label == "" {
		return "others"
	}
	return label
}
