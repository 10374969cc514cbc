package paje

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// A Paje trace may rightly end after any line.
func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "kinds.trace", Anywhere: true, Lines: true},
		{Path: "wrong.trace", Anywhere: true, Lines: true},
		{Path: "parts", Anywhere: true, Lines: true},
		{Path: "starpu.trace.gz", Anywhere: true, Lines: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.trace", "testdata/kinds.trace", "testdata/wrong.trace", "testdata/parts", "testdata/starpu.trace.gz")
}
