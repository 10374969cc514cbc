package speedscope

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "evented.json"}, {Path: "sampled.json"}, {Path: "lines.json"}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.json", "testdata/evented.json", "testdata/sampled.json")
}
