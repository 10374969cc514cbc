package buildlog

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "small.ninja_log", Anywhere: true}, {Path: "build.rawjson", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/small.ninja_log", "testdata/build.rawjson")
}
