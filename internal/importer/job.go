package importer

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Part is the files of one process, with the facts that their heads state.
type Part struct {
	Files   []string
	Name    string // path that distinguishes runs; usually that of the first file
	Rank    int    // -1: not stated
	Process string // host and process id; "": not stated
	Begin   int64  // ns on a clock that all parts share; 0: not stated
}

// Jobs splits parts into runs. A run has each rank once, and each process once if ranks are not stated: a part that
// states the same rank as another belongs to another run. File names without the rank distinguish the runs; if
// they do not hold it, the order in time does.
func Jobs(parts []Part) (jobs [][]Part) {
	if !repeat(parts) {
		return [][]Part{parts}
	}
	for _, group := range byName(parts) {
		if repeat(group) {
			jobs = append(jobs, inTime(group)...)
		} else {
			jobs = append(jobs, group)
		}
	}
	return jobs
}

// identity is unique within a run: the rank, else the process; "" if neither is stated.
func (p *Part) identity() string {
	if p.Rank >= 0 {
		return strconv.Itoa(p.Rank)
	}
	return p.Process
}

// repeat reports whether two parts state the same identity.
func repeat(parts []Part) bool {
	seen := map[string]bool{}
	for i := range parts {
		id := parts[i].identity()
		if id != "" && seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// byName groups parts by their names without the rank. Where a name does not hold it, it may count ranks from another
// number than 0: the number after the word rank or worker is left out if all groups have the same ranks then. Otherwise
// it is one group.
func byName(parts []Part) [][]Part {
	if groups := groupedBy(parts, withoutRank); groups != nil {
		return groups
	}
	if groups := groupedBy(parts, withoutNumber); groups != nil && alike(groups) {
		return groups
	}
	return [][]Part{parts}
}

// alike reports whether groups have the same identities, each once.
func alike(groups [][]Part) bool {
	var first map[string]bool
	for _, group := range groups {
		own := map[string]bool{}
		for i := range group {
			own[group[i].identity()] = true
		}
		if first == nil {
			first = own
		}
		if len(own) != len(group) || !maps.Equal(own, first) {
			return false
		}
	}
	return true
}

// groupedBy groups parts by a key in the order of their first ones; nil if a part has no key.
func groupedBy(parts []Part, keyOf func(Part) (string, bool)) (groups [][]Part) {
	places := map[string]int{}
	for _, p := range parts {
		key, ok := keyOf(p)
		if !ok {
			return nil
		}
		at, known := places[key]
		if !known {
			at = len(groups)
			places[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], p)
	}
	return groups
}

var (
	wordAndNumber = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rank|worker|node|proc)[-_. =]?(\d+)`)
	anyNumber     = regexp.MustCompile(`\d+`)
)

// rankNumbers returns the places of the numbers after the word rank or worker in a file's name.
func rankNumbers(base string) (places [][]int) {
	for _, at := range wordAndNumber.FindAllStringSubmatchIndex(base, -1) {
		places = append(places, at[2:4])
	}
	return places
}

// withoutRank removes the number of the rank from a part's path: the number after the word rank or worker, else the
// last number of the file's name that equals it.
func withoutRank(p Part) (string, bool) {
	base := path.Base(p.Name)
	places := rankNumbers(base)
	if len(places) == 0 {
		places = anyNumber.FindAllStringIndex(base, -1)
	}
	for _, at := range slices.Backward(places) {
		if n, err := strconv.Atoi(base[at[0]:at[1]]); err == nil && n == p.Rank {
			return path.Join(path.Dir(p.Name), base[:at[0]]+"#"+base[at[1]:]), true
		}
	}
	return "", false
}

// withoutNumber removes the number after the last word rank or worker from a part's path, whatever its value.
func withoutNumber(p Part) (string, bool) {
	base := path.Base(p.Name)
	places := rankNumbers(base)
	if len(places) == 0 {
		return "", false
	}
	at := places[len(places)-1]
	return path.Join(path.Dir(p.Name), base[:at[0]]+"#"+base[at[1]:]), true
}

// inTime orders parts by their begins, or by name if one is not stated, and begins a new run at each identity that
// the current one already has.
func inTime(parts []Part) (jobs [][]Part) {
	parts = slices.Clone(parts)
	timed := !slices.ContainsFunc(parts, func(p Part) bool { return p.Begin == 0 })
	slices.SortStableFunc(parts, func(a, b Part) int {
		order := 0
		if timed {
			order = cmp.Compare(a.Begin, b.Begin)
		}
		return cmp.Or(order, trace.CompareNatural(a.Name, b.Name))
	})
	seen := map[string]bool{}
	for _, p := range parts {
		id := p.identity()
		if len(jobs) == 0 || id != "" && seen[id] {
			jobs = append(jobs, nil)
			clear(seen)
		}
		seen[id] = true
		jobs[len(jobs)-1] = append(jobs[len(jobs)-1], p)
	}
	return jobs
}

// sameStart bounds how far apart the processes of one job begin.
const sameStart = 10 * 60 * int64(1e9)

// StartTogether reports whether parts begin at one time, as far as they state it.
func StartTogether(parts []Part) bool {
	least, most := int64(0), int64(0)
	for _, p := range parts {
		if p.Begin == 0 {
			continue
		}
		if least == 0 || p.Begin < least {
			least = p.Begin
		}
		most = max(most, p.Begin)
	}
	return most-least <= sameStart
}

// DistinctProcesses reports whether no two parts state the same process.
func DistinctProcesses(parts []Part) bool {
	seen := map[string]bool{}
	for _, p := range parts {
		if p.Process != "" && seen[p.Process] {
			return false
		}
		seen[p.Process] = true
	}
	return true
}
