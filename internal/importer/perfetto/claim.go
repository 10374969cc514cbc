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
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A head is what the beginning of a file tells.
type head struct {
	path  string
	rank  int
	own   int64 // the trace's own clock, ns, at the first snapshot
	day   int64 // the time of day then, ns; 0 where it is not told
	named bool  // rank is from the file's name
}

// claim takes files of packets. Files of one directory whose names differ in the
// number of a rank only, and that were recorded at one time, are one run.
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
		group := groups[key]
		if len(group) == 1 || !number(group) || !together(group) {
			for _, h := range group {
				runs = append(runs, importer.Run{Files: []string{h.path}})
			}
			continue
		}
		slices.SortFunc(group, func(a, b head) int { return cmp.Compare(a.rank, b.rank) })
		r := importer.Run{}
		if dir := path.Dir(group[0].path); dir != "." {
			r.Name = path.Base(dir)
		}
		for _, h := range group {
			r.Files = append(r.Files, h.path)
		}
		runs = append(runs, r)
	}
	return runs
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
	m := open(b)
	for m.next() {
		switch m.number {
		case packetSequence, packetTime:
			if m.kind != protowire.VarintType {
				return false, false
			}
			telling = true
		case packetUser, packetFlags, packetCleared, packetDropped, packetClock, packetPid, packetFirst, packetMachine:
			if m.kind != protowire.VarintType {
				return false, false
			}
		case packetCompressed, packetZstdCompressed:
			telling = m.kind == protowire.BytesType && len(m.bytes) > 2 && (m.bytes[0] == 0x78 || m.bytes[0] == 0x28)
			if !telling {
				return false, false
			}
		default:
			if m.kind != protowire.BytesType || m.number > 2000 {
				return false, false
			}
		}
	}
	if !whole { // what breaks off is the last field, of whatever kind
		return m.number <= 2000, telling
	}
	return !m.broken, telling
}

// readHead finds the first snapshot of clocks that tells the time of day.
func readHead(file string, b []byte) head {
	h := head{path: file, rank: trace.NoRank}
	c := newClocks()
	for len(b) > 1 && b[0] == 1<<3|byte(protowire.BytesType) && h.day == 0 {
		body, n := protowire.ConsumeBytes(b[1:])
		if n < 0 {
			break
		}
		var p packet
		if p.decode(body) && p.snapshots != nil && c.snapshot(p.sequence, p.snapshots) && c.start != 0 {
			h.day, h.own = c.start, c.startAt
		}
		b = b[1+n:]
	}
	return h
}

var numbers = regexp.MustCompile(`\d+`)

// number finds the ranks of files whose names are alike but for numbers: from the
// word rank, else from the one number in which they differ, if these numbers are
// like ranks: from 0 or 1 on, without large gaps.
func number(group []head) bool {
	all := true
	for i := range group {
		group[i].rank = rankIn(path.Base(group[i].path))
		all = all && group[i].rank != trace.NoRank
	}
	if !all && !onlyNumber(group) {
		return false
	}
	seen := map[int]bool{}
	for i := range group {
		if group[i].named = true; seen[group[i].rank] {
			return false
		}
		seen[group[i].rank] = true
	}
	return true
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

// sameTime is how far apart the ranks of one run may start.
const sameTime = int64(10 * 60 * 1e9)

// together reports whether files were recorded at one time, as far as they tell.
func together(group []head) bool {
	for _, h := range group[1:] {
		if h.day != 0 && group[0].day != 0 && (h.day-group[0].day > sameTime || group[0].day-h.day > sameTime) {
			return false
		}
	}
	return true
}
