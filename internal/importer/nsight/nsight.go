// Package nsight reads exports of Nsight Systems: `nsys export --type sqlite`, `parquetdir` or `jsonlines`.
//
// The format: an SQLite database, a table for each kind of record, described by NVIDIA's pages on the exporter's
// schema; or the same tables as a directory of Parquet files; or an object a line, the messages of the report itself
// (jsonlines.go), which become rows of the same tables. Which tables and columns there are depends on the recorded
// data and on the tool's version (META_DATA_EXPORT, before schema 3 EXPORT_META_DATA), so the reader looks up the
// columns of each table. Names are numbers into StringIds; a thread is one number of host, virtual machine, process
// and thread.
//
// Terms: a process of PROCESSES is a process under its host, its threads and its GPUs
// with their streams are its children, as in a trace of Kineto; ranks are those of
// MPI_RANKS, else of the files' names. Kernels, copies and memsets are intervals on
// streams; calls of CUDA, the operating system, MPI and libraries, and NVTX ranges are
// intervals on threads. A call and the work it launched are linked by their correlation
// id. NVTX ranges that PyTorch writes (`aten::add, op_id = 7`) are regions without their
// numbers, which become attributes. GPU metrics and memory in use are counters. Each CPU
// has a processor row with the threads that ran on it. Several files whose names differ
// in one number are the ranks of one run; the start of the session places them on one
// clock.
//
// Kept aside, and counted: call chains of CPU samples, diagnostic messages, and tables
// without a time or a place.
package nsight

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
)

// Format is Nsight Systems' exports.
var Format = &importer.Format{Name: "nsight", Title: "Nsight Systems exports (SQLite, Parquet, JSON lines)",
	Claim: claim, Import: read}

// claim takes databases with Nsight's tables. Files whose names differ in the number of a rank are one run; so are
// those that differ in another number, if their sessions started at one time.
func claim(s importer.Source) (runs []importer.Run) {
	shapes := map[string][]string{}
	var order []string
	for _, f := range s.Files {
		if head := s.Head(f.Path); !isNsight(head) && !isLines(head) {
			continue
		}
		shape := digits.ReplaceAllString(path.Base(f.Path), "0")
		key := path.Dir(f.Path) + "/" + shape
		if shapes[key] == nil {
			order = append(order, key)
		}
		shapes[key] = append(shapes[key], f.Path)
	}
	runs = claimParquet(s)
	for _, key := range order {
		files := shapes[key]
		if _, ok := ranks(files); ok && len(files) > 1 &&
			(rankWord.MatchString(path.Base(files[0])) || startTogether(s, files)) {
			run := importer.Run{Files: byRank(files)}
			if dir := path.Dir(files[0]); dir != "." {
				run.Name = path.Base(dir)
			}
			runs = append(runs, run)
			continue
		}
		for _, f := range files {
			runs = append(runs, importer.Run{Files: []string{f}})
		}
	}
	return runs
}

// The schema of a database is text in its first pages.
func isNsight(head []byte) bool {
	return bytes.HasPrefix(head, []byte(sqlitefile.Magic)) && bytes.Contains(head, []byte("StringIds")) &&
		(bytes.Contains(head, []byte("TARGET_INFO")) || bytes.Contains(head, []byte("CUPTI_ACTIVITY_KIND_")))
}

// startTogether reports whether the sessions of files started at one time, as far as they state it. Two that started in
// the same nanosecond are copies of one.
func startTogether(s importer.Source, files []string) bool {
	parts := make([]importer.Part, len(files))
	seen := map[int64]bool{}
	for i, f := range files {
		begin := sessionStart(s, f)
		if begin != 0 && seen[begin] {
			return false
		}
		seen[begin] = true
		parts[i].Begin = begin
	}
	return importer.StartTogether(parts)
}

// sessionStart is the start of the session in a database that is not packed, ns since 1970; 0: it is not stated.
func sessionStart(s importer.Source, name string) (start int64) {
	raw, err := s.FS.Open(name)
	if err != nil {
		return 0
	}
	defer raw.Close()
	at, random := raw.(io.ReaderAt)
	info, err := raw.Stat()
	if !random || err != nil {
		return 0
	}
	db, err := sqlitefile.Open(at, info.Size())
	if err != nil {
		return 0
	}
	f := &file{}
	f.take(db)
	t := f.table("TARGET_INFO_SESSION_START_TIME")
	if t == nil {
		return 0
	}
	_, _ = db.Scan(context.Background(), t.Table, []string{"utcEpochNs"}, func(r *sqlitefile.Row) error {
		start, _ = r.Int(0)
		return nil
	})
	return start
}

// claimParquet takes directories of Parquet files one of which names things and another tells of them.
func claimParquet(s importer.Source) (runs []importer.Run) {
	folders := map[string][]string{}
	var order []string
	for _, f := range s.Files {
		if !bytes.HasPrefix(s.Head(f.Path), []byte(parquetfile.Magic)) {
			continue
		}
		dir := path.Dir(f.Path)
		if folders[dir] == nil {
			order = append(order, dir)
		}
		folders[dir] = append(folders[dir], f.Path)
	}
	for _, dir := range order {
		names, told := false, false
		for _, f := range folders[dir] {
			base := path.Base(f)
			names = names || strings.EqualFold(base, "StringIds.parquet")
			told = told || strings.HasPrefix(base, "CUPTI_") || strings.HasPrefix(base, "TARGET_INFO") ||
				strings.HasPrefix(base, "NVTX_")
		}
		if !names || !told {
			continue
		}
		run := importer.Run{Files: folders[dir]}
		if dir != "." {
			run.Name = path.Base(dir)
		}
		runs = append(runs, run)
	}
	return runs
}

// isParquet reports whether a run is a directory of tables.
func isParquet(run importer.Run) bool {
	return bytes.HasPrefix(run.Source.Head(run.Files[0]), []byte(parquetfile.Magic))
}

var (
	digits   = regexp.MustCompile(`\d+`)
	rankWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rank|node|proc)[-_. =]?(\d{1,7})(?:[^0-9]|$)`)
)

// ranks gives a rank to each file by its name: the number after the word rank, else the
// one number in which the names differ, if these numbers are like ranks.
func ranks(files []string) (map[string]int, bool) {
	out := map[string]int{}
	seen := map[int]bool{}
	for _, f := range files {
		m := rankWord.FindStringSubmatch(path.Base(f))
		if m == nil {
			break
		}
		n, _ := strconv.Atoi(m[1])
		out[f], seen[n] = n, true
	}
	if len(seen) == len(files) {
		return out, true
	}
	if len(files) < 2 {
		return nil, false
	}
	fields := make([][]string, len(files))
	varying := -1
	for i, f := range files {
		fields[i] = digits.FindAllString(path.Base(f), -1)
		for k := range fields[i] {
			if len(fields[i]) != len(fields[0]) {
				return nil, false
			}
			if fields[i][k] != fields[0][k] && k != varying {
				if varying >= 0 {
					return nil, false
				}
				varying = k
			}
		}
	}
	clear(seen)
	least, most := 1<<31, 0
	for i, f := range files {
		if varying < 0 {
			return nil, false
		}
		n, err := strconv.Atoi(fields[i][varying])
		if err != nil || seen[n] {
			return nil, false
		}
		out[f], seen[n] = n, true
		least, most = min(least, n), max(most, n)
	}
	return out, least <= 1 && most <= 10*len(files)
}

func byRank(files []string) []string {
	rank, _ := ranks(files)
	files = slices.Clone(files)
	slices.SortFunc(files,
		func(a, b string) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a, b)) })
	return files
}
