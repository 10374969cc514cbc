package cube

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "values.cubex", Cuts: 150},
		{Path: "made/old.cubex"},
		{Path: "kripke.cubex", Most: 12, Cuts: 40},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "profile.cubex", "testdata/made/old.cubex")
}
