package tau

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "cpi", ByName: true, Cuts: 60},
		{Path: "made/multi", ByName: true, Cuts: 120},
		{Path: "made/two.ppk"},
		{Path: "made/snapshots.xml"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "profile.0.0.0", "testdata/made", "testdata/cpi")
}
