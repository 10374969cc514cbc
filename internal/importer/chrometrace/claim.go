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

// claim finds the runs of a source. A file of plain Chrome events is a run of its own. The Kineto files of a directory
// that state different ranks are one run, and so are those of several directories that state the same number of
// ranks and share none. The DFTracer files of a directory are one run if each is of another process.
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
		if group[0].dialect == kineto {
			jobs = append(jobs, jobsOf(s, group)...)
			continue
		}
		for _, parts := range importer.Jobs(processesOf(group)) {
			jobs = append(jobs, newJob(0, parts))
		}
	}
	known := map[string]facts{}
	for _, group := range groups {
		for _, f := range group {
			known[f.path] = f
		}
	}
	for _, j := range mergeJobs(jobs) {
		var files []facts
		for _, path := range j.files {
			files = append(files, known[path])
		}
		runs = append(runs, together(files))
	}
	slices.SortFunc(runs, func(a, b importer.Run) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return runs
}

// farthest bounds the search for records in a file that begins as Chrome's do: DevTools
// writes the sources of a page's scripts first.
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

// A job is the files of one run.
type job struct {
	world int // number of ranks, 0 if not stated
	files []string
	ranks map[int]bool // -1 if a file states none
}

// processesOf makes a part of each file of DFTracer, which writes one per process.
func processesOf(files []facts) (parts []importer.Part) {
	for i := range files {
		f := &files[i]
		p := importer.Part{Files: []string{f.path}, Name: f.path, Rank: -1, Begin: f.begin}
		if f.host != "" && f.pid != "" {
			p.Process = f.host + "\x00" + f.pid
		}
		parts = append(parts, p)
	}
	return parts
}

// jobsOf splits the Kineto files of one directory into jobs: by the number of ranks that they state, and a rank or
// process that comes again is of another job. Files that do not state the number of ranks belong to the only job, if
// there is just one. Files that state no rank are one job only if they communicate and begin at one time.
func jobsOf(s importer.Source, group []facts) (jobs []job) {
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
	for _, world := range slices.Sorted(maps.Keys(byWorld)) {
		var ranked, silent []importer.Part
		for _, p := range partsOf(byWorld[world]) {
			if p.Rank >= 0 {
				ranked = append(ranked, p)
			} else {
				silent = append(silent, p)
			}
		}
		if len(silent) > 1 && len(ranked) == 0 && areOneJob(s, silent) {
			jobs = append(jobs, newJob(world, silent))
			continue
		}
		for _, p := range silent {
			jobs = append(jobs, newJob(world, []importer.Part{p}))
		}
		if len(ranked) > 0 {
			for _, parts := range importer.Jobs(ranked) {
				jobs = append(jobs, newJob(world, parts))
			}
		}
	}
	return jobs
}

func newJob(world int, parts []importer.Part) job {
	j := job{world: world, ranks: map[int]bool{}}
	for _, p := range parts {
		j.files = append(j.files, p.Files...)
		j.ranks[p.Rank] = true
	}
	return j
}

// partsOf makes a part of each process. Windows of one worker, which PyTorch's handler names after it and the time,
// are one part if they have the same process id.
func partsOf(files []facts) (parts []importer.Part) {
	workers := map[string]int{}
	based := !slices.ContainsFunc(files, func(f facts) bool { return !f.hasBase })
	bare := !slices.ContainsFunc(files, func(f facts) bool { return f.hasBase })
	for i := range files {
		f := &files[i]
		p := importer.Part{Files: []string{f.path}, Name: f.path, Rank: f.rank}
		if p.Rank < 0 {
			p.Rank = rankWord(f.path)
		}
		if based || bare {
			p.Begin = f.begin + f.base
		}
		if f.process != "" {
			p.Process = f.host + "\x00" + f.process
		}
		if worker := windowOf(f.path); worker != "" {
			p.Name = worker
			key := worker + "\x00" + f.process
			if at, ok := workers[key]; ok {
				parts[at].Files = append(parts[at].Files, f.path)
				continue
			}
			workers[key] = len(parts)
		}
		parts = append(parts, p)
	}
	return parts
}

// areOneJob reports whether files that state no rank are the ranks of one job: their names are numbered or are those of
// PyTorch's handler, the first communicates, and they are of different processes that begin at one time.
func areOneJob(s importer.Source, parts []importer.Part) bool {
	var files []facts
	handled := true
	for _, p := range parts {
		files = append(files, facts{path: p.Files[0]})
		_, _, worker := workerName(p.Files[0])
		handled = handled && worker
	}
	if !handled {
		if _, numbered := onlyNumbers(files); !numbered {
			return false
		}
	}
	return importer.StartTogether(parts) && importer.DistinctProcesses(parts) && communicates(s, parts[0].Files[0])
}

// communicationWords are in the names of the records of any job of several ranks.
var communicationWords = [][]byte{[]byte("nccl"), []byte("rccl"), []byte("c10d"), []byte("gloo:"),
	[]byte("record_param_comms")}

// communicates looks for communication in a file, in bounded memory.
func communicates(s importer.Source, path string) bool {
	r, err := s.Read(path)
	if err != nil {
		return false
	}
	defer r.Close()
	const longest = 32 // bytes kept between two reads: more than a word has
	buf := make([]byte, longest+256<<10)
	kept := 0
	for left := farthest; left > 0; {
		n, err := io.ReadFull(r, buf[kept:])
		text := buf[:kept+n]
		if slices.ContainsFunc(communicationWords, func(w []byte) bool { return bytes.Contains(text, w) }) {
			return true
		}
		if err != nil {
			return false
		}
		left -= n
		kept = copy(buf, text[len(text)-longest:])
	}
	return false
}

// mergeJobs joins jobs of different directories that are parts of one: as many
// ranks in all, and none in both.
func mergeJobs(jobs []job) []job {
	var merged []job
	for _, j := range jobs {
		at := slices.IndexFunc(merged,
			func(m job) bool { return j.world > 1 && m.world == j.world && disjoint(m.ranks, j.ranks) })
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

// room estimates the disk space of an import, as a multiple of its files. Most of it is the store, 0.1 to 0.45 times.
// If one thread has most of the events, it is their sort files and plain rows, 58 bytes each, and so depends on the
// length of an event.
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
