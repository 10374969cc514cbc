// Package recognised detects formats that are not read: by how they begin, so that
// they are refused by name and with advice instead of as unknown input.
//
// A format leaves this package when it gets a reader of its own.
package recognised

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Formats are all of them; each claims only files that it is sure of.
var Formats = append([]*importer.Format{
	refused("nsight-report", "an Nsight Systems report (.nsys-rep, .qdrep)",
		"run `nsys export --type sqlite FILE` and open the .sqlite that it writes",
		each(isReport(".nsys-rep", ".qdrep", ".qdstrm"))),
	refused("nsight-compute", "an Nsight Compute report (.ncu-rep)",
		"it has counters of single kernels, no times of a run: run `nsys profile -o run PROGRAM` and `nsys export "+
			"--type sqlite run.nsys-rep` and open run.sqlite", each(isReport(".ncu-rep"))),
	refused("nvprof", "a profile of nvprof (SQLite)",
		"convert it to Chrome trace events, for instance with nvprof2json", each(isNVProf)),
	refused("rpd", "a trace of rocmProfileData (.rpd, SQLite)",
		"convert it with its rpd2tracing.py, whose Chrome trace events are read", each(isRPD)),
	refused("otf1", "an OTF archive of version 1",
		"record with Score-P, which writes OTF2", claimOTF1),
	refused("uftrace", "a folder of uftrace",
		"run `uftrace dump --chrome -d DIR > run.json` and open that", claimUftrace),
	refused("tempo-block", "a block of Grafana Tempo (Parquet)",
		"run `tempo-cli query api trace-id HOST ID > trace.json` and open that", claimTempo),
	refused("sleepy", "a capture of Very Sleepy", "export it as CSV or callgrind from Very Sleepy and open that",
		claimSleepy),
	refused("fxt", "a log of FxT (StarPU's prof_file)",
		"run `starpu_fxt_tool -i FILE` and open the paje.trace that it writes", each(isFxT)),
	refused("inner-archive", "an archive beside others in an archive (zip or tar)",
		"unpack the outer one, for instance with `unzip FILE`, and open the inner one", each(isInnerArchive)),
}, texts(begins...)...)

func refused(name, title, advice string, claim func(importer.Source) []importer.Run) *importer.Format {
	return &importer.Format{Name: name, Title: title, Advice: advice, Claim: claim}
}

// each claims every file that is one on its own.
func each(is func(file string, head []byte) bool) func(importer.Source) []importer.Run {
	return func(s importer.Source) []importer.Run {
		var runs []importer.Run
		for _, f := range s.Files {
			if is(f.Path, s.Head(f.Path)) {
				runs = append(runs, importer.Run{Files: []string{f.Path}})
			}
		}
		return runs
	}
}

// group claims, for every anchor, the files that belong to it.
func group(s importer.Source, anchor func(file string, head []byte) bool,
	belongs func(anchor, file string) bool) []importer.Run {
	var runs []importer.Run
	taken := map[string]bool{}
	for _, f := range s.Files {
		if taken[f.Path] || !anchor(f.Path, s.Head(f.Path)) {
			continue
		}
		r := importer.Run{Files: []string{f.Path}}
		taken[f.Path] = true
		for _, other := range s.Files {
			if !taken[other.Path] && belongs(f.Path, other.Path) {
				taken[other.Path] = true
				r.Files = append(r.Files, other.Path)
			}
		}
		runs = append(runs, r)
	}
	return runs
}

// --- SQLite

func isSQLite(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// The schema of a database is text in its first pages.
func isNVProf(_ string, head []byte) bool {
	return isSQLite(head) && bytes.Contains(head, []byte("CUPTI_ACTIVITY_KIND")) &&
		!bytes.Contains(head, []byte("StringIds"))
}

// isRPD: an older tool with tables of the same prefix.
func isRPD(_ string, head []byte) bool {
	return isSQLite(head) && bytes.Contains(head, []byte("rocpd_")) && !bytes.Contains(head, []byte("rocpd_info_"))
}

// isReport goes by the ending, since how Nsight's reports begin is not published,
// and by being no text.
func isReport(endings ...string) func(string, []byte) bool {
	return func(file string, head []byte) bool {
		return slices.Contains(endings, path.Ext(file)) && bytes.IndexByte(head, 0) >= 0
	}
}

// --- OTF, version 1

func claimOTF1(s importer.Source) []importer.Run {
	known := map[string]bool{}
	for _, f := range s.Files {
		known[f.Path] = true
	}
	anchor := func(file string, head []byte) bool {
		name, ok := strings.CutSuffix(file, ".otf")
		return ok && bytes.IndexByte(head, 0) < 0 && (known[name+".0.def"] || known[name+".0.def.z"])
	}
	return group(s, anchor, func(a, file string) bool { return strings.HasPrefix(file, strings.TrimSuffix(a, "otf")) })
}

// --- folders

// claimUftrace takes the folder of an info file that is uftrace's.
func claimUftrace(s importer.Source) []importer.Run {
	anchor := func(file string, head []byte) bool {
		return path.Base(file) == "info" && bytes.HasPrefix(head, []byte("Ftrace!"))
	}
	return group(s, anchor, func(a, file string) bool { return path.Dir(a) == path.Dir(file) })
}

// claimTempo takes the folder of a block, which says its version next to the data.
func claimTempo(s importer.Source) []importer.Run {
	anchor := func(file string, head []byte) bool {
		return path.Base(file) == "meta.json" && bytes.Contains(head, []byte(`"vParquet`))
	}
	return group(s, anchor, func(a, file string) bool { return path.Dir(a) == path.Dir(file) })
}

// claimSleepy takes the tables of a capture, which is a zip archive.
func claimSleepy(s importer.Source) []importer.Run {
	known := map[string]bool{}
	for _, f := range s.Files {
		known[f.Path] = true
	}
	anchor := func(file string, _ []byte) bool {
		return path.Base(file) == "Symbols.txt" && known[path.Join(path.Dir(file), "Callstacks.txt")]
	}
	return group(s, anchor, func(a, file string) bool { return path.Dir(a) == path.Dir(file) })
}

// isFxT goes by the name that StarPU gives, and by being no text.
func isFxT(file string, head []byte) bool {
	return strings.HasPrefix(path.Base(file), "prof_file_") && bytes.IndexByte(head, 0) >= 0
}

// isInnerArchive recognises an archive among other files; an archive alone is a source itself. A Cube profile is a tar
// too.
func isInnerArchive(file string, head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) ||
		len(head) > 262 && string(head[257:262]) == "ustar" && path.Ext(file) != ".cubex"
}
