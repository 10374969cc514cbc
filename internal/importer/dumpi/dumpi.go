// Package dumpi reads SST DUMPI traces: PREFIX-NNNN.bin, one a rank, with PREFIX.meta.
//
// The format: a .bin file is big-endian. Its last 64 bytes say where everything lies: the header (version, host, place
// in the machine's mesh), the body, the footer (how often each function was called), labels of counters, addresses of
// functions and sizes of data types. The body is records without lengths: the number of an MPI function, a mask, the
// thread, the call's two ends on the CPU's and on the wall's clock, counters, then the arguments of that function. So
// every function's arguments must be known (calls.go). Described by the source of sst-dumpi:
// common/{io,iodefs,dumpiio}.
//
// Terms: a rank is a process, threads other than the first are below it. A call is an interval on the wall's clock,
// with its CPU time as an attribute. Sends and receives are joined into messages, receives at the call that completes
// them. Counters are samples at both ends of each call, functions of the program are intervals. Places in the mesh are
// a topology.
//
// Kept aside, and counted: messages in communicators whose members the calls do not tell, and calls that the footer
// counts and the body lacks.
package dumpi

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is DUMPI traces.
var Format = &importer.Format{Name: "dumpi", Title: "DUMPI traces (SST)", Claim: claim, Import: read}

// claim takes all ranks of a prefix with their .meta file.
func claim(s importer.Source) (runs []importer.Run) {
	runs = importer.Together(s, func(file string, head []byte) (string, bool) {
		prefix, _ := rankOf(file)
		return prefix, isTrace(head)
	})
	byPrefix := map[string]int{}
	for i := range runs {
		prefix, _ := rankOf(runs[i].Files[0])
		runs[i].Name, byPrefix[prefix] = path.Base(prefix), i
		slices.SortFunc(runs[i].Files, func(a, b string) int {
			_, m := rankOf(a)
			_, n := rankOf(b)
			return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b))
		})
	}
	for _, f := range s.Files {
		if i, ok := byPrefix[strings.TrimSuffix(f.Path, ".meta")]; ok && isMeta(s.Head(f.Path)) {
			runs[i].Files = append(runs[i].Files, f.Path)
		}
	}
	return runs
}

// magic begins a file, and its index at the end.
const magic = "\xff\xaa\xddDUMPI"

func isTrace(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

func isMeta(head []byte) bool {
	return bytes.Contains(head, []byte("numprocs=")) && bytes.Contains(head, []byte("fileprefix="))
}

// rankOf takes "run-0003.bin" apart; a rank of -1 if there is none.
func rankOf(file string) (prefix string, rank int) {
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".bin")
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name, -1
	}
	n, err := strconv.ParseUint(name[i+1:], 10, 24)
	if err != nil {
		return name, -1
	}
	return name[:i], int(n)
}
