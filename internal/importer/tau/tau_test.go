package tau

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
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

// User events name where they were raised. That is no call path where no timer has one: the profile
// stays flat, and the event keeps its whole name.
func TestUserEventsMakeNoCallPaths(t *testing.T) {
	const entry = "\"main\" 1 1 40 100 0 GROUP=\"TAU_USER\"\n\"MPI_Bcast()\" 4 0 60 60 0 GROUP=\"MPI\"\n"
	const call = "\"main => MPI_Bcast()\" 4 0 60 60 0 GROUP=\"MPI|TAU_CALLPATH\"\n"
	const event = "2 userevents\n# eventname numevents max min mean sumsqr\n\"Message size for broadcast\" 4 8 8 8 256\n\"Message size for broadcast : main => MPI_Bcast()\" 4 8 8 8 256\n"
	for text, want := range map[string][2]int{
		"2 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n" + entry + "0 aggregates\n" + event:        {0, 2},
		"3 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n" + entry + call + "0 aggregates\n" + event: {2, 1},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "profile.0.0.0"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r := importertest.Import(t, Format, dir)
		paths, metrics := 0, 0
		for _, p := range r.CallPaths() {
			if !p.Flat {
				paths++
			}
		}
		for _, m := range r.Metrics() {
			if strings.HasPrefix(m.Name, "Message size") {
				metrics++
			}
		}
		if got := [2]int{paths, metrics}; got != want {
			t.Errorf("%d call paths and %d events, want %v, of\n%s", paths, metrics, want, text)
		}
	}
}

// Zeros between documents are of the program that merged them; elsewhere they are of a block that was never written.
func TestZerosWithinAProfileAreReported(t *testing.T) {
	for _, where := range importertest.Silent(t, Format, "testdata/made/snapshots.xml", "snapshots.xml", "zeroed", 200) {
		t.Error(where)
	}
}
