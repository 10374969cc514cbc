package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Only returns the selected locations that --only takes too; nil for all.
func (q *Request) Only() ([]trace.LocationID, error) {
	selected, tree := q.Selection.Locations, q.Store().Locations()
	patterns := q.Values.Patterns("only")
	if len(patterns) == 0 {
		return selected, nil
	}
	ids, err := MatchLocations(tree, patterns)
	if err != nil {
		return nil, errors.New(strings.Replace(err.Error(), "--locations", "--only", 1))
	}
	if selected == nil {
		return ids, nil
	}
	return slices.DeleteFunc(ids, func(id trace.LocationID) bool {
		i, found := slices.BinarySearch(selected, id)
		return !found && (i == 0 || tree.Last[selected[i-1]] < id)
	}), nil
}

// MatchLocations returns the topmost locations whose path or name matches one of the
// patterns, in order; nil for no pattern. "#7" is the location with id 7, "#7,12-40" are
// many by their ids, "rank:5" or "rank:0-3" are ranks, "kind:processor" all locations of
// a kind: in a Go trace, its processors. O(locations), and O(locations) more for each
// pattern that is no list of ids.
func MatchLocations(t *store.Tree, patterns []string) ([]trace.LocationID, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	hit := make([]bool, t.Len())
	var paths []string // made for the first pattern on names
	for _, p := range patterns {
		n, err := 0, error(nil)
		ids, listed := parseIDs(p)
		text, ranked := strings.CutPrefix(p, "rank:")
		kind, ofKind := strings.CutPrefix(p, "kind:")
		switch {
		case listed:
			n = markIDs(hit, ids)
		case ranked:
			n, err = markRanks(t, hit, text)
		case ofKind:
			if n = markKind(t, hit, trace.Kind(kind)); n == 0 {
				return nil,
					fmt.Errorf("--locations %q: there is none of this kind; the run has %s", ShortPattern(p),
						kindsOf(t))
			}
		default:
			if paths == nil {
				paths = pathsOf(t)
			}
			n, err = markNames(t, hit, paths, p)
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil,
				fmt.Errorf("--locations %q matches none of %d locations; `parallax info` lists them", ShortPattern(p),
					t.Len())
		}
	}
	out := []trace.LocationID{}
	for id := 0; id < len(hit); id++ {
		if hit[id] {
			out = append(out, trace.LocationID(id))
			id = int(t.Last[id])
		}
	}
	return out, nil
}

// SplitPatterns splits patterns of locations with commas between them; a list of ids
// is one pattern.
func SplitPatterns(text string) (patterns []string) {
	inList := false
	for item := range strings.SplitSeq(text, ",") {
		_, isID := parseIDs("#" + strings.TrimPrefix(item, "#"))
		if isID && inList {
			patterns[len(patterns)-1] += "," + item
			continue
		}
		inList = isID && strings.HasPrefix(item, "#")
		patterns = append(patterns, item)
	}
	return patterns
}

// ShortPattern keeps a long list of ids out of a sentence.
func ShortPattern(p string) string {
	if len(p) <= 80 {
		return p
	}
	return p[:40] + "…" + p[len(p)-20:]
}

// An idRange is from first to last, both included.
type idRange struct{ first, last uint64 }

// parseIDs reads "#" and ids or ranges of them with commas between, each with or without
// a "#" of its own. A text that is not such a list may be a name.
func parseIDs(p string) (ids []idRange, ok bool) {
	if !strings.HasPrefix(p, "#") {
		return nil, false
	}
	for item := range strings.SplitSeq(p, ",") {
		first, last, isRange := strings.Cut(strings.TrimPrefix(item, "#"), "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 32)
		b, err2 := strconv.ParseUint(last, 10, 32)
		if err1 != nil || err2 != nil || a > b {
			return nil, false
		}
		ids = append(ids, idRange{a, b})
	}
	return ids, true
}

// markIDs marks ids that there are, each once however ranges overlap; none if one of
// them does not exist. A range may end beyond the last.
func markIDs(hit []bool, ids []idRange) (n int) {
	slices.SortFunc(ids,
		func(a, b idRange) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last)) })
	next := uint64(0)
	for _, r := range ids {
		if r.first >= uint64(len(hit)) {
			return 0
		}
		r.last = min(r.last, uint64(len(hit)-1))
		for id := max(r.first, next); id <= r.last; id++ {
			hit[id] = true
		}
		next = max(next, r.last+1)
		n++
	}
	return n
}

func markRanks(t *store.Tree, hit []bool, text string) (n int, err error) {
	lo, hi, isRange := strings.Cut(text, "-")
	if !isRange {
		hi = lo
	}
	a, err1 := strconv.Atoi(lo)
	b, err2 := strconv.Atoi(hi)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("pattern %q: want rank:N or rank:N-M", "rank:"+text)
	}
	for id, rank := range t.Rank {
		if int(rank) >= a && int(rank) <= b {
			hit[id] = true
			n++
		}
	}
	return n, nil
}

func markKind(t *store.Tree, hit []bool, kind trace.Kind) (n int) {
	for id, k := range t.Kind {
		if k == kind {
			hit[id] = true
			n++
		}
	}
	return n
}

// kindsOf lists the kinds of a tree's locations.
func kindsOf(t *store.Tree) string {
	var out []string
	for _, k := range t.Kind {
		if k != "" && !slices.Contains(out, string(k)) {
			out = append(out, string(k))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func markNames(t *store.Tree, hit []bool, paths []string, p string) (n int, err error) {
	match, err := ParsePattern(p)
	if err != nil {
		return 0, err
	}
	for id := range hit {
		if match(t.Name[id]) || match(paths[id]) {
			hit[id] = true
			n++
		}
	}
	return n, nil
}

// pathsOf joins the names from the top, with slashes between.
func pathsOf(t *store.Tree) []string {
	paths := make([]string, t.Len())
	for id := range paths {
		if paths[id] = t.Name[id]; t.Parent[id] != trace.NoLocation {
			paths[id] = paths[t.Parent[id]] + "/" + t.Name[id]
		}
	}
	return paths
}
