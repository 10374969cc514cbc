package chrometrace

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// claim finds the runs of a source. A file of plain Chrome events is a run of its
// own. The Kineto files of a directory that tell their rank are one run, and so
// are those of several directories that speak of the same number of ranks and
// share none. The DFTracer files of a directory are one run.
func claim(s importer.Source) []importer.Run {
	var runs []importer.Run
	groups := map[string][]facts{}
	for _, file := range s.Files {
		f := probe(file.Path, s.Head(file.Path))
		if f.mayCome {
			f.trace = comesLater(s, file.Path)
		}
		switch {
		case !f.trace:
		case f.dialect == chrome:
			runs = append(runs, importer.Run{Files: []string{f.path}})
		default:
			key := string('0'+rune(f.dialect)) + path.Dir(f.path)
			groups[key] = append(groups[key], f)
		}
	}
	var jobs []job
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		group := groups[key]
		if group[0].dialect == dftracer {
			runs = append(runs, together(group))
			continue
		}
		whole, alone := jobsOf(group)
		jobs = append(jobs, whole...)
		for _, f := range alone {
			runs = append(runs, importer.Run{Files: []string{f.path}})
		}
	}
	for _, j := range mergeJobs(jobs) {
		runs = append(runs, together(j.files))
	}
	slices.SortFunc(runs, func(a, b importer.Run) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return runs
}

// farthest is how far into a file records are looked for, where what comes before them is
// Chrome's: DevTools writes the sources of a page's scripts first.
const farthest = 64 << 20

// comesLater looks for a record past the head of a file, in bounded memory.
func comesLater(s importer.Source, path string) bool {
	r, err := s.Read(path)
	if err != nil {
		return false
	}
	defer r.Close()
	var f facts
	var rec record
	scan := newScanner(io.LimitReader(r, farthest))
	defer scan.close()
	for n := 0; n < mostProbed && !f.trace && scan.next(&rec); n++ {
		f.look(&rec)
	}
	return f.trace
}

// A job is the files of one run of Kineto's.
type job struct {
	world int
	files []facts
	ranks map[int]bool // -1 where a file tells none
}

// jobsOf splits the Kineto files of one directory into jobs by the number of
// ranks they speak of; files that do not say it belong to the only job, if there
// is just one. Files that tell no rank in any way stand alone, except those that
// PyTorch's own handler named.
func jobsOf(group []facts) (jobs []job, alone []facts) {
	byWorld := map[int][]facts{}
	for _, f := range group {
		byWorld[f.world] = append(byWorld[f.world], f)
	}
	if len(byWorld) == 2 && byWorld[0] != nil {
		for world := range byWorld {
			if world != 0 {
				byWorld[world] = append(byWorld[world], byWorld[0]...)
			}
		}
		delete(byWorld, 0)
	}
	for world, files := range byWorld {
		rank, _ := ranks(files)
		j := job{world: world, ranks: map[int]bool{}}
		for i, f := range files {
			_, _, worker := workerName(f.path)
			if rank[i] < 0 && !worker {
				alone = append(alone, f)
				continue
			}
			j.files = append(j.files, f)
			j.ranks[rank[i]] = true
		}
		if len(j.files) > 0 {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(a.world, b.world) })
	return jobs, alone
}

// mergeJobs joins jobs of different directories that are parts of one: as many
// ranks in all, and none in both.
func mergeJobs(jobs []job) []job {
	var merged []job
	for _, j := range jobs {
		at := slices.IndexFunc(merged, func(m job) bool { return j.world > 1 && m.world == j.world && disjoint(m.ranks, j.ranks) })
		if at < 0 {
			merged = append(merged, j)
			continue
		}
		merged[at].files = append(merged[at].files, j.files...)
		maps.Copy(merged[at].ranks, j.ranks)
	}
	return merged
}

// disjoint reports whether b has no rank of a, and both know all of theirs.
func disjoint(a, b map[int]bool) bool {
	for r := range b {
		if a[r] {
			return false
		}
	}
	return !a[-1] && !b[-1]
}

// together makes one run of files, in order of rank.
func together(files []facts) importer.Run {
	rank, _ := ranks(files)
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(files[a].path, files[b].path))
	})
	var r importer.Run
	for _, i := range order {
		r.Files = append(r.Files, files[i].path)
	}
	if dir := path.Dir(files[0].path); len(files) > 1 && dir != "." {
		r.Name = path.Base(dir)
	}
	return r
}

// room is what an import has on the disk, times its files. Most of it is the store, 0.1 to 0.45 times; where one thread has most of the events it is
// what they are sorted in and their plain rows, 58 bytes each, so that it depends on how long an event is.
func room(run importer.Run, files []importer.File) float64 {
	shortest := 0.0
	for _, f := range files[:min(len(files), roomFiles)] {
		head := run.Source.Head(f.Path)
		first, n := bytes.Index(head, phase), bytes.Count(head, phase)
		if n < 2 {
			return 1
		}
		if length := float64(bytes.LastIndex(head, phase)-first) / float64(n-1); shortest == 0 || length < shortest {
			shortest = length
		}
	}
	return min(max(0.5, eventRoom/max(shortest, 1)), 1)
}

var phase = []byte(`"ph"`)

const (
	roomFiles = 4  // whose events are looked at
	eventRoom = 64 // bytes of an event at the most
)
