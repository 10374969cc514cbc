// Package cube imports profiles in the format of Cube 4 (.cubex), as Score-P,
// Scalasca and TAU write them.
//
// A file is a tar of anchor.xml, which defines everything, and for each metric N an
// N.index (which call nodes have values) and an N.data (the values, call node by
// call node, a column for each location), plain or in blocks of zlib. The format is
// described in docs/cube_file_format.md of extra-p/pycubexr, except for the
// following.
//
// The numbers in an index are places in an enumeration of the call tree, not ids
// of call nodes. Metrics that are stored exclusive count in preorder; those stored
// inclusive count all children of a node before going down into the first of
// them. On flat trees the two agree, on nested ones they do not.
//
//	machine, node, process, thread    locations, also under their newer names
//	region; paradigm                  region; category
//	call node                         call path, its parameters as part of the name
//	metric, metric tree               metric with its parent
//	visits                            calls of each row
//	exclusive or inclusive values     both, one computed from the other
//	tau_atomic, histogram             condensed distributions
//	cart                              topology, with names and periodic dimensions
//	attr                              property
//
// Seconds become nanoseconds. Minima and maxima are combined as such going up the
// tree; a rate is divided after its parts are combined; a complex number counts by
// its size and a vector by its sum. Derived metrics are computed where their
// expression is arithmetic of metrics, else listed in the report. Values that are
// functions (SCALE_FUNC) are left out and counted, and so are the programs of a
// remapping.spec. Minima, maxima and ratios say so (trace.Join), so that no view adds
// them up over locations.
package cube

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format reads Cube profiles.
var Format = &importer.Format{
	Name:   "cube",
	Title:  "Cube profiles (.cubex of Score-P, Scalasca, TAU)",
	Claim:  claim,
	Import: importRun,
}

const (
	anchorName    = "anchor.xml"
	remappingName = "remapping.spec" // programs of further metrics
)

// claim takes every tar that begins with a member of a Cube profile, and every
// profile that lies unpacked in a directory.
func claim(s importer.Source) []importer.Run {
	var runs []importer.Run
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if isCubex(head) {
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		} else if path.Base(f.Path) == anchorName && isAnchor(head) {
			run := importer.Run{Files: []string{f.Path}}
			for _, other := range s.Files {
				if path.Dir(other.Path) == path.Dir(f.Path) && isMember(path.Base(other.Path)) && other.Path != f.Path {
					run.Files = append(run.Files, other.Path)
				}
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// isCubex looks at the first header of a tar.
func isCubex(head []byte) bool {
	if len(head) < tarBlock || string(head[257:262]) != "ustar" {
		return false
	}
	h, ok := parseHeader(head[:tarBlock])
	return ok && isMember(h.name)
}

// isMember recognises the names of a profile's parts.
func isMember(name string) bool {
	if name == anchorName || name == remappingName {
		return true
	}
	number, ok := strings.CutSuffix(name, ".data")
	if !ok {
		number, ok = strings.CutSuffix(name, ".index")
	}
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func isAnchor(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 4096)], []byte("<cube "))
}

func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	box, err := openBox(run, w)
	if err != nil {
		return err
	}
	defer box.close()
	a, err := readAnchor(box)
	if err != nil {
		return err
	}
	c := newConverter(run, w, box, a)
	c.define()
	return c.values(ctx)
}
