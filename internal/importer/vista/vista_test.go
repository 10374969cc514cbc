package vista

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "quicksort.vista", Anywhere: true},
		{Path: "damaged.vista", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "trace.vista", "testdata") }
