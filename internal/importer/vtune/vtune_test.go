package vtune

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "top-down.csv", Anywhere: true}, {Path: "tabs.csv", Anywhere: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.csv", "testdata/top-down.csv", "testdata/tabs.csv")
}
