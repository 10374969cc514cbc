package fuchsia

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "made.fxt", Anywhere: true}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "x.fxt", "testdata/made.fxt") }
