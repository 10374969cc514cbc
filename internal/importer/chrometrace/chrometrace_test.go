package chrometrace

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFormat(t *testing.T) {
	cases := []importertest.Case{
		{Path: "made/phases.json"},
		{Path: "made/epoch-nanoseconds.json"},
		{Path: "made/lines.json", Anywhere: true},
		{Path: "made/unescaped.json"},
		{Path: "made/two-ranks", ByName: true},
		{Path: "made/ranks-in-one.json"},
		{Path: "made/dftracer", ByName: true, Anywhere: true},
		{Path: "catapult/nestable_async.json"},
		{Path: "kineto/backward_thread.json"},
		{Path: "v8/chromium.json.gz", Most: 12, Cuts: 40},
		{Path: "kineto/amd-mi250.json.gz", Most: 5, Cuts: 40},
		{Path: "kineto/cuda-event-sync.json.gz", Most: 5, Cuts: 40},
	}
	for _, quirk := range []string{
		"bex-interaction", "end-event-with-empty-stack", "event-reordering-name-match", "invalid-x-nesting", "mismatched-name",
		"multiprocess", "not-enough-end-events", "out-of-order-unbalanced-name", "simple-object", "simple-partial",
		"simple-partial-trailing-comma", "simple-with-samples", "too-many-end-events", "x-events-matching-end", "zero-duration-events",
	} {
		partial := strings.HasPrefix(quirk, "simple-partial")
		cases = append(cases, importertest.Case{Path: "speedscope/" + quirk + ".json", Cuts: 60, Anywhere: partial})
	}
	importertest.Run(t, Format, cases)
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "trace.json", "testdata/made", "testdata/speedscope", "testdata/catapult", "testdata/kineto/backward_thread.json")
}
