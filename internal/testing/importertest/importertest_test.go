package importertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reader that does wrong must be noticed, else the suite proves nothing.
func TestTheSuiteNoticesWhatIsWrong(t *testing.T) {
	reader := func(f func(w trace.Writer) error) importer.Run {
		s, err := importer.NewSourceFS("s", fstest.MapFS{"x": {Data: []byte("x")}})
		if err != nil {
			t.Fatal(err)
		}
		return importer.Run{Source: s, Files: []string{"x"}, Format: &importer.Format{
			Import: func(_ context.Context, _ importer.Run, w trace.Writer) error { return f(w) },
		}}
	}
	for name, c := range map[string]struct {
		do   func(trace.Writer) error
		want string // what unclear says; empty: nothing wrong
	}{
		"a panic":             {func(trace.Writer) error { panic("oh") }, "panic: oh"},
		"an error of no kind": {func(trace.Writer) error { return errors.New("oh") }, "not an *importer.Error"},
		"an error without a file": {func(trace.Writer) error {
			return &importer.Error{Cause: "oh", Kind: importer.ErrMalformed}
		}, "does not say file"},
		"a good error":         {func(trace.Writer) error { return importer.Malformed("x", "byte 1", "oh") }, ""},
		"a good error, deeper": {func(trace.Writer) error { return fmt.Errorf("import: %w", importer.Malformed("x", "", "oh")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(reader(c.do))
			if got := unclear(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	said, err := read(reader(func(w trace.Writer) error { w.Report(trace.MissingEvents, "things", 2, ""); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	silent, err := read(reader(func(trace.Writer) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	if !saysMore(said, silent) || saysMore(silent, said) || saysMore(said, said) {
		t.Error("what a report says more than another is not seen")
	}
}
