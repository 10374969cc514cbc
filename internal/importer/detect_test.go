package importer

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// format makes a format that claims each file that begins with word as a run, or
// all of them as one.
func format(name, word string, together, readable bool) *Format {
	f := &Format{Name: name, Title: "a trace of " + name, Advice: "convert it"}
	f.Claim = func(s Source) []Run {
		var runs []Run
		for _, file := range s.Files {
			if !bytes.HasPrefix(s.Head(file.Path), []byte(word)) {
				continue
			}
			if together && len(runs) > 0 {
				runs[0].Files = append(runs[0].Files, file.Path)
			} else {
				runs = append(runs, Run{Files: []string{file.Path}})
			}
		}
		return runs
	}
	if readable {
		f.Import = func(context.Context, Run, trace.Writer) error { return nil }
	}
	return f
}

func TestDetect(t *testing.T) {
	formats := []*Format{
		format("parts", "PART", true, true),
		format("single", "SINGLE", false, true),
		format("greedy", "", false, false), // claims everything, asked late
	}
	sure := formats[:2]
	refuse := []*Format{formats[0], format("other", "OTHER", false, false)}
	for _, c := range []struct {
		name    string
		formats []*Format
		files   map[string]string
		runs    []string // format and files of each
		left    []string
		err     string // part of the message; empty for none
	}{
		{"one file", sure, map[string]string{"a": "SINGLE"}, []string{"single a"}, nil, ""},
		{"parts of one run", sure, map[string]string{"a": "PART", "b": "PART"}, []string{"parts a b"}, nil, ""},
		{"a readme beside it is named", sure, map[string]string{"a": "PART", "readme": "hello"}, []string{"parts a"}, []string{"readme"}, ""},
		{"two runs", sure, map[string]string{"a": "SINGLE", "b": "SINGLE"}, []string{"single a", "single b"}, nil, "holds 2 runs, not one\n  single  src/a\n  single  src/b"},
		{"two formats", sure, map[string]string{"a": "SINGLE", "b": "PART"}, []string{"parts b", "single a"}, nil, "holds 2 runs"},
		{"the first format that claims a file has it", formats, map[string]string{"a": "PART"}, []string{"parts a"}, nil, ""},
		{"recognised only", refuse, map[string]string{"a": "OTHER"}, []string{"other a"}, nil, "src/a: this is a trace of other, which is recognised but not read; convert it"},
		{"recognised beside readable", refuse, map[string]string{"a": "OTHER", "b": "PART"}, []string{"parts b"}, []string{"a"}, ""},
		{"several recognised", refuse, map[string]string{"a": "OTHER", "b": "OTHER"}, []string{"other a", "other b"}, nil, "src: 2 of its files are recognised and none is read; the first, src/a, is a trace of other; convert it"},
		{"unknown text", sure, map[string]string{"a": "%PDF-1.7 and so on"}, nil, nil, `src: no reader knows this input, which begins with "%PDF-1.7 and so on"; ` + "`parallax formats` lists the 2 formats that were tried"},
		{"unknown bytes", sure, map[string]string{"a": "\x7fELF\x02\x01"}, nil, nil, "begins with the bytes 7f 45 4c 46 02 01"},
		{"unknown files", sure, map[string]string{"a": "x", "b": "y"}, nil, nil, "any of these 2 files; the first, a, begins with \"x\""},
		{"zeros", sure, map[string]string{"a": strings.Repeat("\x00", 600)}, nil, nil, "src: its first 600 bytes are zero, as of a file that was never written; copy it again"},
		{"empty file", sure, map[string]string{"a": ""}, nil, nil, "is empty; copy or record it again"},
		{"no files", sure, nil, nil, nil, "holds no files to read; run `parallax open`"},
		{"lz4", sure, map[string]string{"a": "\x04\x22\x4d\x18rest"}, nil, nil, "packed with lz4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for n, s := range c.files {
				fsys[n] = &fstest.MapFile{Data: []byte(s)}
			}
			s, err := NewSourceFS("src", fsys)
			if err != nil {
				t.Fatal(err)
			}
			runs, err := Detect(c.formats, s)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error is %v, want %q", err, c.err)
			}
			var got []string
			for _, r := range runs {
				got = append(got, r.Format.Name+" "+strings.Join(r.Files, " "))
			}
			if !slices.Equal(got, c.runs) {
				t.Errorf("runs %q, want %q", got, c.runs)
			}
			if len(runs) == 1 && !slices.Equal(runs[0].Unclaimed, c.left) {
				t.Errorf("unclaimed %q, want %q", runs[0].Unclaimed, c.left)
			}
		})
	}
}

func TestAnAmbiguousSourceCarriesItsRuns(t *testing.T) {
	s, _ := NewSourceFS("src", fstest.MapFS{"a": {Data: []byte("SINGLE")}, "b": {Data: []byte("SINGLE")}, "c": {Data: []byte("?")}})
	_, err := Detect([]*Format{format("single", "SINGLE", false, true)}, s)
	var many *Ambiguous
	if !errors.As(err, &many) || len(many.Runs) != 2 || !slices.Equal(many.Unclaimed, []string{"c"}) {
		t.Fatalf("error is %#v", err)
	}
	if many.Runs[1].Format == nil || many.Runs[1].Name != "b" {
		t.Errorf("second run is %+v", many.Runs[1])
	}
}

func TestFilesBesideATraceAreNamedInTheReport(t *testing.T) {
	s, _ := NewSourceFS("src", fstest.MapFS{"a": {Data: []byte("SINGLE")}, "b": {Data: []byte("?")}, "c": {Data: []byte("\x04\x22\x4d\x18rest")}})
	runs, err := Detect([]*Format{format("single", "SINGLE", false, true)}, s)
	if err != nil {
		t.Fatal(err)
	}
	w := &reports{}
	if err := runs[0].Import(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	want := "no reader claims: src/b; cannot be read (packed with lz4, which cannot be unpacked here): src/c; "
	if got := w.String(); got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}

// reports is a writer that keeps the report only.
type reports struct {
	trace.Writer
	strings.Builder
}

func (r *reports) Report(_ trace.ReportKind, what string, _ int64, example string) {
	r.WriteString(strings.TrimPrefix(what, "files beside the trace that ") + ": " + example + "; ")
}

func TestANamedFormatTakesAllFilesWhereItClaimsNone(t *testing.T) {
	s, _ := NewSourceFS("src", fstest.MapFS{"a": {Data: []byte("x")}, "b": {Data: []byte("y")}})
	runs := ClaimAs(format("single", "SINGLE", false, true), s)
	if len(runs) != 1 || !slices.Equal(runs[0].Files, []string{"a", "b"}) {
		t.Errorf("runs %+v", runs)
	}
}
