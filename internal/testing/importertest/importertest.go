// Package importertest holds the one suite that every format runs, and the
// tools to write tests of a format.
//
//	Run      golden dumps; values of lines that add up; detection without the file's name; the same twice;
//	         files cut and bytes flipped anywhere give a counted repair or one
//	         clear error, never a panic or a hang; a context ends an import; a
//	         count that falls by damage that is known is in the report
//	Damage   the same to real samples, which may be large
//	Fuzz     the body of a format's FuzzReader; FuzzBeside where it has several files
//	Import   one import into the reference store
//	Count    a writer that only counts, for facts and benchmarks
//	Shared   sample data that is kept next to the repository
//
// It defines the flag -update, so a test package that uses it needs none of its own.
package importertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A Case is a small sample in testdata with a golden dump next to it.
type Case struct {
	// Path of a file or directory below testdata. The golden is Path + ".golden".
	Path string
	// Most records of a kind that the dump holds for a location; 0 for all.
	Most int
	// Anywhere is set if a file of the format may rightly end after any record, so that a cut cannot be distinguished
	// from the end.
	Anywhere bool
	// Lines is set if every line of the format has an end, so that a cut within one can be told.
	Lines bool
	// Guarded is set if a record that was changed anywhere can be detected, by checksums, lengths or numbers that
	// all must fit, so that none is lost in silence.
	Guarded bool
	// ByName is set if the names of the files are part of the format, as in profile.0.0.0, so that it cannot be
	// detected without them.
	ByName bool
	// Cuts is in how many places files are cut and changed; 0 for 200.
	Cuts int
}

// patience bounds the time of one import of a small sample: a longer one hangs. It is generous, since machines that
// test are busy.
const patience = time.Minute

// Run puts a format through the suite.
func Run(t *testing.T, f *importer.Format, cases []Case) {
	for _, c := range cases {
		t.Run(c.Path, func(t *testing.T) {
			files := load(t, filepath.Join("testdata", filepath.FromSlash(c.Path)))
			t.Run("golden", func(t *testing.T) { golden(t, f, c, files) })
			t.Run("twice", func(t *testing.T) { twice(t, f, c, files) })
			if len(files) == 1 && !c.ByName {
				t.Run("nameless", func(t *testing.T) { nameless(t, f, files) })
			}
			t.Run("cancelled", func(t *testing.T) { cancelled(t, f, files) })
			t.Run("cut", func(t *testing.T) { cut(t, f, c, files) })
			t.Run("lost", func(t *testing.T) { lost(t, f, c, files) })
			t.Run("changed", func(t *testing.T) { changed(t, f, c, files) })
		})
	}
}

// load reads a file or directory into memory.
func load(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(name, p)
		if rel == "." {
			rel = filepath.Base(name)
		}
		files[filepath.ToSlash(rel)] = &fstest.MapFile{Data: data}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// claimed returns the one run that the format sees in the files.
func claimed(f *importer.Format, files fstest.MapFS) (importer.Run, error) {
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		return importer.Run{}, err
	}
	runs, err := importer.Detect([]*importer.Format{f}, s)
	if err != nil {
		return importer.Run{}, err
	}
	return runs[0], nil
}

// Import reads a source into the reference store and returns a reader of it.
func Import(t testing.TB, f *importer.Format, paths ...string) store.Reader {
	t.Helper()
	s, err := importer.NewSource(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{f}, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := read(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read imports a run into the reference store. A panic becomes an error, and so does an import that does not end.
func read(run importer.Run) (r store.Reader, err error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	m := storetest.NewMemory()
	if err := run.Import(ctx, m); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %v", errHang, err)
		}
		return nil, err
	}
	return m.Reader(), nil
}

var (
	errPanic = errors.New("panic")
	errHang  = errors.New("the import does not end")
)

func golden(t *testing.T, f *importer.Format, c Case, files fstest.MapFS) {
	run, err := claimed(f, files)
	if err != nil {
		t.Fatal(err)
	}
	r, err := read(run)
	if err != nil {
		t.Fatal(err)
	}
	linesAddUp(t, r)
	name := filepath.Join("testdata", filepath.FromSlash(c.Path)+".golden")
	got := dump(r, c)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if d := tracetest.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

func dump(r store.Reader, c Case) string {
	if c.Most > 0 {
		return tracetest.DumpSome(r, c.Most)
	}
	return tracetest.Dump(r)
}

func twice(t *testing.T, f *importer.Format, c Case, files fstest.MapFS) {
	var dumps [2]string
	for i := range dumps {
		run, err := claimed(f, files)
		if err != nil {
			t.Fatal(err)
		}
		r, err := read(run)
		if err != nil {
			t.Fatal(err)
		}
		dumps[i] = dump(r, c)
	}
	if d := tracetest.Diff(dumps[0], dumps[1]); d != "" {
		t.Errorf("the second import differs from the first, %s", d)
	}
	if len(files) > 1 { // several at once, and they may take turns as they like
		run, err := claimed(f, files)
		if err != nil {
			t.Fatal(err)
		}
		SameBytes(t, run, 3)
	}
}

// nameless asks for detection by content: the name of the file is no hint.
func nameless(t *testing.T, f *importer.Format, files fstest.MapFS) {
	renamed := fstest.MapFS{}
	for _, file := range files {
		renamed["x"] = file
	}
	if _, err := claimed(f, renamed); err != nil {
		t.Errorf("not detected without its name: %v", err)
	}
}

func cancelled(t *testing.T, f *importer.Format, files fstest.MapFS) {
	run, err := claimed(f, files)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run.Import(ctx, NewCount()); !errors.Is(err, context.Canceled) {
		t.Errorf("an import that is cancelled gives %v", err)
	}
}

// unclear describes the flaw of an error that a user gets to see; "": it has none.
func unclear(err error) string {
	var e *importer.Error
	var many *importer.Ambiguous
	var unknown *importer.Unknown
	switch {
	case errors.Is(err, errPanic) || errors.Is(err, errHang):
		return err.Error()
	case errors.As(err, &many) || errors.As(err, &unknown):
		return ""
	case !errors.As(err, &e):
		return fmt.Sprintf("error is a %T, not an *importer.Error: %v", err, err)
	case e.File == "" || e.Cause == "" || e.Kind == nil:
		return fmt.Sprintf("error does not say file, cause and kind: %+v", *e)
	}
	return ""
}

// saysMore reports whether the import report of r counts something that the one
// of whole does not, or less often.
func saysMore(r, whole store.Reader) bool {
	before := Report(whole.Info().Report)
	for what, n := range Report(r.Info().Report) {
		if n > before[what] {
			return true
		}
	}
	return false
}

// Shared finds sample data that is kept next to the repository, and skips the test if it is absent, as in a user's
// clone.
func Shared(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	p := filepath.Join(dir, "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		tb.Skipf("sample data %s is not beside the repository", path.Clean(name))
	}
	return p
}

// Report returns the counts of a report by their words, for tests that look for some.
func Report(entries []trace.ReportEntry) map[string]int64 {
	m := map[string]int64{}
	for _, e := range entries {
		m[strings.TrimSpace(e.Kind.String()+" "+e.What)] += e.Count
	}
	return m
}
