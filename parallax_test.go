package parallax_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "parallax")
	if err != nil {
		panic(err)
	}
	os.Setenv("PARALLAX_CACHE", dir) // that of the user stays as it is
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// sample is the trace of a real program: spans of an instrumented service.
const sample = "internal/importer/jaeger/testdata/testTrace.json"

func open(t *testing.T, sources ...string) *parallax.Run {
	t.Helper()
	run, err := parallax.Open(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

func TestARealRunAnswersQueries(t *testing.T) {
	run := open(t, sample)
	i := run.Info()
	if i.Format != "jaeger" || i.Intervals == 0 || i.Length <= 0 || i.Source != sample {
		t.Errorf("info %+v", i)
	}
	rows, err := run.Query(t.Context(), "select count(*), sum(duration), max(region), null from intervals")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var n, nothing int64
	var sum float64
	var last string
	if !rows.Next() || rows.Scan(&n, &sum, &last, &nothing) != nil || n != i.Intervals || sum <= 0 || last == "" || nothing != 0 {
		t.Errorf("%d intervals of %d, %g ns, %q", n, i.Intervals, sum, last)
	}
	if err := rows.Scan(&n); err == nil {
		t.Error("one variable takes four columns")
	}
	if err := rows.Scan(&last, &sum, &n, &nothing); err == nil {
		t.Error("a text goes into a number")
	}
	v, err := run.View(t.Context(), "criticalpath", parallax.Request{})
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Length int64 }
	if data, err := v.Data(); err != nil || json.Unmarshal(data, &d) != nil || d.Length <= 0 {
		t.Errorf("data %s, %v", data, err)
	}
	for kind, begin := range map[string]string{"svg": "<svg", "png": "\x89PNG", "pdf": "%PDF", "json": "{", "csv": "region"} {
		var b bytes.Buffer
		if err := v.Write(&b, kind, "dark"); err != nil || !strings.HasPrefix(b.String(), begin) {
			t.Errorf("%s: %.20q, %v", kind, b.String(), err)
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	run := open(t, "demo:stencil")
	for what, f := range map[string]func() error{
		"want auto, none": func() error { _, err := parallax.Options{Align: "stars"}.Open(t.Context(), "demo:stencil"); return err },
		"no format":       func() error { _, err := parallax.Options{Format: "x"}.Open(t.Context(), "demo:stencil"); return err },
		"no source given": func() error { _, err := parallax.Open(t.Context()); return err },
		"no demo":         func() error { _, err := parallax.Open(t.Context(), "demo:nothing"); return err },
		"not one run":     func() error { _, err := parallax.Open(t.Context(), "demo:stencil", "demo:training"); return err },
		"no such file":    func() error { _, err := parallax.Open(t.Context(), filepath.Join(t.TempDir(), "x")); return err },
		"only reads":      func() error { _, err := run.Query(t.Context(), "drop table intervals"); return err },
		"no view":         func() error { _, err := run.View(t.Context(), "colours", parallax.Request{}); return err },
		"has no option": func() error {
			_, err := run.View(t.Context(), "timeline", parallax.Request{Options: map[string][]string{"x": {"1"}}})
			return err
		},
		"needs spans": func() error { _, err := run.View(t.Context(), "criticalpath", parallax.Request{}); return err },
		"shows one run": func() error {
			_, err := run.View(t.Context(), "commmatrix", parallax.Request{Against: []*parallax.Run{run}})
			return err
		},
		"is none of": func() error {
			v, _ := run.View(t.Context(), "profile", parallax.Request{})
			return v.Write(&bytes.Buffer{}, "gif", "")
		},
		"light or dark": func() error {
			v, _ := run.View(t.Context(), "profile", parallax.Request{})
			return v.Write(&bytes.Buffer{}, "svg", "red")
		},
		"context canceled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := run.Query(ctx, "select count(*) from intervals")
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
	if _, err := run.View(t.Context(), "profile", parallax.Request{To: "1us", Regions: []string{"rebuild_table"}}); !errors.Is(err, parallax.ErrEmpty) {
		t.Errorf("nothing there: %v", err)
	}
}

func TestEveryViewIsListed(t *testing.T) {
	all := parallax.Views()
	if len(all) < 20 {
		t.Fatalf("%d views", len(all))
	}
	for _, v := range all {
		if v.Name == "" || v.Title == "" || v.Summary == "" {
			t.Errorf("%+v", v)
		}
	}
}

// command is a field of an answer that names the source.
var command = regexp.MustCompile(`"show":"(\\.|[^"\\])*",?`)

// Exported tables are the run once more: every view says the same of both.
func TestExportedTablesOpenAsTheRunTheyWere(t *testing.T) {
	for _, source := range []string{
		"demo:stencil?locations=16&intervals=8000", "internal/importer/otf2/testdata/ping-pong-2ranks", "internal/importer/chrometrace/testdata/kineto/amd-mi250.json.gz",
		sample, "internal/importer/cube/testdata/kripke.cubex", "internal/importer/nsight/testdata/saxpy-rank0.sqlite",
	} {
		run := open(t, source)
		dir := filepath.Join(t.TempDir(), run.Info().Name) // the name of a run is part of some answers
		if err := run.Export(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		back := open(t, dir)
		shown := 0
		for _, v := range parallax.Views() {
			want, err := run.View(t.Context(), v.Name, parallax.Request{})
			got, errBack := back.View(t.Context(), v.Name, parallax.Request{})
			if err != nil || errBack != nil {
				if err == nil || errBack == nil || err.Error() != errBack.Error() {
					t.Errorf("%s, %s: %v, of the tables %v", source, v.Name, err, errBack)
				}
				continue
			}
			a, err := want.Data()
			b, errBack := got.Data()
			a, b = command.ReplaceAll(a, nil), command.ReplaceAll(b, nil)
			if err != nil || errBack != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s differs in the tables: %.200s, %.200s, %v, %v", source, v.Name, a, b, err, errBack)
			}
			shown++
		}
		if shown < 5 {
			t.Errorf("%s: only %d views", source, shown)
		}
	}
}
