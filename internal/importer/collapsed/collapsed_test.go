package collapsed

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "plain.txt", Anywhere: true},
		{Path: "threads.txt", Anywhere: true},
		{Path: "austin.txt", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.txt", "testdata/plain.txt", "testdata/threads.txt", "testdata/austin.txt")
}

func TestOnlyStacksAreClaimed(t *testing.T) {
	for text, want := range map[string]bool{
		"a;b;c 1\n":                       true,
		"a 1\na;b 2\n":                    true,
		"a;b;c 1":                         false, // may be cut
		"a 1\nb 2\n":                      false, // words and numbers
		"a;b;c\n":                         false,
		"\"f\";1;2 3\n":                   false, // a table
		"a;b 1\nprose; with a number x\n": false,
		"\n\n":                            false,
		"":                                false,
	} {
		if got := isCollapsed([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Austin's root frames are a process and a thread, its counts microseconds.
func TestAustin(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/austin.txt")
	var total float64
	err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			total += p.Exclusive
		}
		return nil
	})
	if err != nil || total != 700_000 || r.Locations().Len() != 5 || len(r.Regions()) != 4 {
		t.Errorf("%v ns, %d locations, %d regions; want 700000, 5, 4: %v", total, r.Locations().Len(), len(r.Regions()), err)
	}
}
