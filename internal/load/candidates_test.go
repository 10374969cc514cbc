package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// picky is a format that claims every file and takes those that hold its word.
func picky(name, word string) *importer.Format {
	return &importer.Format{Name: name, Title: "files of " + name, Claim: importer.EachFile(func([]byte) bool { return true }),
		Import: importer.OneFile(func(_ context.Context, _ importer.Run, in io.Reader, label string, w trace.Writer) error {
			b, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: name, Rank: trace.NoRank})
			if !strings.Contains(string(b), word) {
				return importer.Malformed(label, "", "lacks %s", word)
			}
			s := w.Stream(at, trace.StreamOptions{})
			s.Interval(0, 10, w.Region(trace.Region{Name: name}))
			return s.Close()
		})}
}

// Several formats claim a file: the first that can read it does, and the report says why others did not.
func TestCandidatesAreTriedInOrder(t *testing.T) {
	dir := t.TempDir()
	l := &Loader{Formats: []*importer.Format{picky("first", "one"), picky("second", "two"), picky("third", "three")}, Align: "none"}
	for text, want := range map[string]struct{ location, report string }{
		"one two": {"first", ""}, "two three": {"second", "read as second, since it begins as first but is not (lacks one)"},
		"three": {"third", "lacks two"}, "four": {"", "lacks one; nor is it files of second (lacks two); nor is it files of third (lacks three)"},
	} {
		file := filepath.Join(dir, "x")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, done, err := l.Find([]string{file})
		if err != nil || len(found) != 1 {
			t.Fatalf("%d runs: %v", len(found), err)
		}
		defer done()
		path := filepath.Join(dir, "store-"+strings.ReplaceAll(text, " ", "-"))
		err = l.Write(t.Context(), found[0], path)
		if want.location == "" {
			var e *importer.Error
			if !errors.As(err, &e) || !strings.Contains(e.Cause, want.report) {
				t.Errorf("%q: %v, want %q", text, err, want.report)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		r, err := local.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if names := r.Locations().Name; len(names) != 1 || names[0] != want.location || !strings.Contains(fmt.Sprint(r.Info().Report), want.report) {
			t.Errorf("%q: read as %v, reported %v; want %+v", text, names, r.Info().Report, want)
		}
		r.Close()
	}
}
