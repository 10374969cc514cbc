// Package source holds the recorders for programs that are not written in Go, as text
// to compile or to import: C for MPI and for OpenMP, a C header and a Python module for
// naming regions, also in Fortran. `parallax recorder` writes them out.
//
// All of them write the file that package recorder describes. The parts in c/ are put
// together here, so that a recorder stays one file without dependencies.
package source

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed c/core.c c/threads.c c/mpi.c c/openmp.c c/parallax.h c/parallax.f90 c/parallax_recorder.py
var files embed.FS

// A Recorder is one text that can be written.
type Recorder struct {
	Name  string // as on the command line
	Title string
	File  string // its default name
	parts []string
	// Build explains how to compile it and use it.
	Build string
}

// Recorders lists the recorders.
func Recorders() []Recorder {
	const preload = "LD_PRELOAD=$PWD/libparallax.so "
	return []Recorder{
		{"mpi", "C: all MPI calls of a program, C or Fortran, without changing it", "parallax_mpi.c",
			[]string{"core.c", "mpi.c"},
			"mpicc -O2 -shared -fPIC -o libparallax.so parallax_mpi.c -ldl\nmpirun -n 16 env " + preload + "./program"},
		{"openmp", "C: an OMPT tool: parallel regions, barriers, loops and tasks of OpenMP", "parallax_openmp.c",
			[]string{"core.c", "openmp.c"},
			"clang -O2 -shared -fPIC -o libparallax.so parallax_openmp.c -ldl\n" + preload + "./program"},
		{"mpi+openmp", "C: both together, for hybrid programs", "parallax_hybrid.c",
			[]string{"core.c", "mpi.c", "openmp.c"},
			"OMPI_CC=clang MPICH_CC=clang mpicc -O2 -shared -fPIC -o libparallax.so parallax_hybrid.c -ldl\nmpirun " +
				"-n 4 env " + preload + "./program"},
		{"regions", "C: the regions that a program names itself, and what its threads wait for", "parallax_regions.c",
			[]string{"core.c", "threads.c"},
			"cc -O2 -shared -fPIC -o libparallax.so parallax_regions.c -ldl\n" + preload + "./program"},
		{"header", "C header: name regions of a program; costs nothing without a recorder", "parallax.h",
			[]string{"parallax.h"}, ""},
		{"fortran", "Fortran module: name regions of a program", "parallax.f90", []string{"parallax.f90"},
			"gfortran -O2 -c parallax.f90\ngfortran -O2 -o program program.f90 parallax.o -ldl\n" +
				preload + "./program"},
		{"python", "Python module: name regions of a script, through whichever recorder is loaded",
			"parallax_recorder.py", []string{"parallax_recorder.py"}, ""},
	}
}

// Text is the recorder itself.
func (r Recorder) Text() ([]byte, error) {
	var b strings.Builder
	for _, p := range r.parts {
		part, err := files.ReadFile("c/" + p)
		if err != nil {
			return nil, fmt.Errorf("recorder %s: %w", r.Name, err)
		}
		b.Write(part)
	}
	return []byte(b.String()), nil
}
