package importer

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Part is the files of one process, with the facts that their heads state.
type Part struct {
	Files   []string
	Name    string // path that tells runs apart; usually that of the first file
	Rank    int    // -1: not stated
	Process string // host and process id; "": not stated
	Begin   int64  // ns on a clock that all parts share; 0: not stated
}

// Jobs splits parts into runs. A run has each rank once, and each process once if ranks are not stated: a part that
// states the same rank as another belongs to another run. File names without the rank tell the runs apart; if
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

// byName groups parts by their names without the rank. It is one group if a name does not hold its rank.
func byName(parts []Part) [][]Part {
	groups := map[string]int{}
	var out [][]Part
	for _, p := range parts {
		key, ok := withoutRank(p.Name, p.Rank)
		if !ok {
			return [][]Part{parts}
		}
		at, known := groups[key]
		if !known {
			at = len(out)
			groups[key] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], p)
	}
	return out
}

var (
	wordAndNumber = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rank|worker|node|proc)[-_. =]?(\d+)`)
	anyNumber     = regexp.MustCompile(`\d+`)
)

// withoutRank removes the number of the rank from a path: the number after the word rank or worker, else the last
// number of the file's name that equals it.
func withoutRank(file string, rank int) (string, bool) {
	base := path.Base(file)
	places := wordAndNumber.FindAllStringSubmatchIndex(base, -1)
	for i := range places {
		places[i] = places[i][2:4]
	}
	if len(places) == 0 {
		places = anyNumber.FindAllStringIndex(base, -1)
	}
	for _, at := range slices.Backward(places) {
		if n, err := strconv.Atoi(base[at[0]:at[1]]); err == nil && n == rank {
			return path.Join(path.Dir(file), base[:at[0]]+"#"+base[at[1]:]), true
		}
	}
	return "", false
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
