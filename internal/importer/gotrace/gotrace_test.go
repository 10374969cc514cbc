package gotrace

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "tree.trace", Most: 12, Guarded: true},
		{Path: "tasks-go121.trace", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.trace", "testdata/tree.trace", "testdata/tasks-go121.trace")
}
