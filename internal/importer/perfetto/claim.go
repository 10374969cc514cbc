package perfetto

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A head is the findings from the beginning of a file.
type head struct {
	path    string
	rank    int
	process string // id of the first process that is described
	own     int64  // the trace's own clock, ns, at the first snapshot
	day     int64  // the time of day then, ns; 0 if it is unknown
	named   bool   // rank is from the file's name
}

// claim takes files of packets. Files whose names differ in the number of a rank only, that were recorded at one time
// and are of different processes, are one run.
func claim(s importer.Source) (runs []importer.Run) {
	groups := map[string][]head{}
	var order []string
	for _, f := range s.Files {
		if !isTrace(s.Head(f.Path)) {
			continue
		}
		key := numbers.ReplaceAllString(f.Path, "0")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], readHead(f.Path, s.Head(f.Path)))
	}
	for _, key := range order {
		for _, parts := range jobsOf(groups[key]) {
			r := importer.Run{}
			if dir := path.Dir(parts[0].Name); dir != "." && len(parts) > 1 {
				r.Name = path.Base(dir)
			}
			for _, p := range parts {
				r.Files = append(r.Files, p.Files...)
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// jobsOf splits files whose names are alike but for numbers into runs.
func jobsOf(group []head) (jobs [][]importer.Part) {
	if !number(group) {
		if folders := byFolder(group); len(folders) > 1 && len(folders) < len(group) {
			for _, folder := range folders {
				jobs = append(jobs, jobsOf(folder)...)
			}
			return jobs
		}
	}
	slices.SortFunc(group, func(a, b head) int { return cmp.Compare(a.rank, b.rank) })
	parts := make([]importer.Part, len(group))
	for i, h := range group {
		parts[i] = importer.Part{Files: []string{h.path}, Name: h.path, Rank: h.rank, Process: h.process, Begin: h.day}
	}
	for _, job := range importer.Jobs(parts) {
		stated := !slices.ContainsFunc(job,
			func(p importer.Part) bool { return rankIn(path.Base(p.Name)) == trace.NoRank })
		if job[0].Rank != trace.NoRank && importer.StartTogether(job) && (stated || importer.DistinctProcesses(job)) {
			jobs = append(jobs, job)
			continue
		}
		for _, p := range job {
			jobs = append(jobs, []importer.Part{p})
		}
	}
	return jobs
}

// byFolder splits files by their directories.
func byFolder(group []head) (folders [][]head) {
	at := map[string]int{}
	for _, h := range group {
		dir := path.Dir(h.path)
		i, ok := at[dir]
		if !ok {
			i = len(folders)
			at[dir] = i
			folders = append(folders, nil)
		}
		folders[i] = append(folders[i], h)
	}
	return folders
}

// isTrace reports whether a file begins with packets: fields of the right types,
// of which one at least says its time, its sequence, or that it is compressed.
func isTrace(b []byte) bool {
	sure := false
	for n := 0; len(b) > 0 && n < 50; n++ {
		if b[0] != 1<<3|byte(protowire.BytesType) {
			return sure && b[0] == 0 // padding at the end
		}
		size, k := protowire.ConsumeVarint(b[1:])
		if k < 0 {
			return sure
		}
		body := b[1+k:]
		whole := size <= uint64(len(body))
		if whole {
			body = body[:size]
		}
		good, telling := isPacket(body, whole)
		if !good {
			return false
		}
		sure = sure || telling
		if !whole {
			break
		}
		b = b[1+k+int(size):]
	}
	return sure
}

// isPacket looks at the fields of one packet, which may be cut.
func isPacket(b []byte, whole bool) (good, telling bool) {
	if whole && len(b) == 0 {
		return true, false
	}
	m := protobuf.Open(b)
	for m.Next() {
		switch m.Number {
		case packetSequence, packetTime:
			if m.Kind != protowire.VarintType {
				return false, false
			}
			telling = true
		case packetUser, packetFlags, packetCleared, packetDropped, packetClock, packetPid, packetFirst, packetMachine:
			if m.Kind != protowire.VarintType {
				return false, false
			}
		case packetCompressed, packetZstdCompressed:
			telling = m.Kind == protowire.BytesType && len(m.Bytes) > 2 && (m.Bytes[0] == 0x78 || m.Bytes[0] == 0x28)
			if !telling {
				return false, false
			}
		default:
			if m.Kind != protowire.BytesType || m.Number > 2000 {
				return false, false
			}
		}
	}
	if !whole { // the last field breaks off, of whatever kind
		return m.Number <= 2000, telling
	}
	return !m.Broken, telling
}

// readHead finds the first snapshot of clocks that has the time of day, and the first process.
func readHead(file string, b []byte) head {
	h := head{path: file, rank: trace.NoRank}
	c := newClocks()
	for len(b) > 1 && b[0] == 1<<3|byte(protowire.BytesType) && (h.day == 0 || h.process == "") {
		body, n := protowire.ConsumeBytes(b[1:])
		if n < 0 {
			break
		}
		var p packet
		if !p.decode(body) {
			b = b[1+n:]
			continue
		}
		if h.day == 0 && p.snapshots != nil && c.snapshot(p.sequence, p.snapshots) && c.start != 0 {
			h.day, h.own = c.start, c.startAt
		}
		if h.process == "" && p.kind == packetTrack {
			h.process = processIn(p.payload)
		}
		b = b[1+n:]
	}
	return h
}

// processIn is the process id in the description of a track; "": it is none of a process.
func processIn(track []byte) string {
	t, _ := trackDescriptors.Of(track)
	p, _ := processDescriptors.Of(t.process)
	if t.process == nil || p.pid == 0 {
		return ""
	}
	return strconv.FormatInt(int64(p.pid), 10)
}

var numbers = regexp.MustCompile(`\d+`)

// number finds the ranks of files whose names are alike but for numbers: from the word rank, else from the one number
// in which they differ, if these numbers are like ranks: from 0 or 1 on, without large gaps. Without them no file has
// one.
func number(group []head) bool {
	all := true
	for i := range group {
		group[i].rank = rankIn(path.Base(group[i].path))
		all = all && group[i].rank != trace.NoRank
	}
	found := all || onlyNumber(group)
	for i := range group {
		if group[i].named = found; !found {
			group[i].rank = trace.NoRank
		}
	}
	return found
}

func onlyNumber(group []head) bool {
	varying := -1
	first := numbers.FindAllString(group[0].path, -1)
	least, most := 1<<30, 0
	for i := range group {
		fields := numbers.FindAllString(group[i].path, -1)
		for k := range fields {
			if fields[k] != first[k] && varying != k {
				if varying >= 0 {
					return false
				}
				varying = k
			}
		}
	}
	if varying < 0 {
		return false
	}
	for i := range group {
		n, err := strconv.Atoi(strings.TrimLeft(numbers.FindAllString(group[i].path, -1)[varying], "0"))
		if err != nil {
			n = 0
		}
		group[i].rank = n
		least, most = min(least, n), max(most, n)
	}
	return least <= 1 && most <= 10*len(group)
}
