package all

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// samplesOfReaders are the files of all importers' testdata that are a run of their own: those with a golden beside.
func samplesOfReaders(t *testing.T) (files []string) {
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		file, ok := strings.CutSuffix(p, ".golden")
		if err != nil || !ok || d.IsDir() {
			return err
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() < 4<<20 {
			files = append(files, file)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	return files
}

// formatOf is the name of the format that the one file of a source has; its error where there is none.
func formatOf(name string, data []byte) string {
	s, err := importer.NewSourceFS("sample", fstest.MapFS{name: {Data: data}})
	if err != nil {
		return err.Error()
	}
	runs, err := importer.Detect(Formats, s)
	if len(runs) == 0 {
		return err.Error()
	}
	return runs[0].Format.Name
}

// byEnd are files that are known only by what is behind their first 4 KiB: in json-split the names of columns come last,
// and the names of a database's tables need not be in its first page.
var byEnd = map[string]bool{"cpi-callpath-profile.json": true, "lulesh-annotation-profile.json": true,
	"saxpy-rank0.sqlite": true, "two-gpus.sqlite": true}

// leads are lines that people and shells put before a trace.
var leads = map[string]string{"comments": "# made by hand\n# on a quiet machine\n", "blank lines": "\n  \n", "a command": "$ tool run\n",
	"comments of C": "// made by hand\n", "a warning": "WARNING: the clock is not stable\n"}

// What a reader reads it recognises: also cut, packed, and as Windows writes it.
func TestVariantsAreRecognised(t *testing.T) {
	for _, file := range samplesOfReaders(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		want := formatOf(name, data)
		if f := formatNamed(want); f == nil || f.Import == nil {
			t.Errorf("%s is not recognised: %s", file, want)
			continue
		}
		plain := unpacked(data)
		variants := map[string][]byte{"in gzip": gzipOf(plain), "in zstd": zstdOf(plain), "in xz": xzOf(t, plain)}
		if importer.IsText(plain) && formatNamed(want).Text {
			variants["with a byte order mark"] = append([]byte("\ufeff"), plain...)
			variants["with CRLF"] = bytes.ReplaceAll(bytes.ReplaceAll(plain, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
		}
		if importer.IsText(plain) {
			for what, lead := range leads {
				variants["behind "+what] = append([]byte(lead), plain...)
			}
		}
		for _, size := range []int{4 << 10, 64 << 10} {
			if len(plain) > size && (size > 4<<10 || !byEnd[name]) {
				variants[fmt.Sprintf("cut at %d bytes", size)] = plain[:size]
			}
		}
		for how, b := range variants {
			if got := formatOf(name, b); got != want {
				t.Errorf("%s %s is %.150s, want %s", file, how, got, want)
			}
		}
	}
}

// bzip2 is unpacked as others are; files of text and of bytes, packed by another program.
func TestBzip2IsRecognised(t *testing.T) {
	for name, want := range map[string]string{"kernel.ftrace": "ftrace", "made-v6.nettrace": "nettrace", "ticks.json": "v8-log", "made.fxt": "fuchsia",
		"threads.strace": "strace", "flat.perf.data": "perf"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".bz2"))
		if err != nil {
			t.Fatal(err)
		}
		if got := formatOf(name+".bz2", data); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// The same of every file, where there is a program that packs so.
func TestBzip2OfEverySampleIsRecognised(t *testing.T) {
	program, err := exec.LookPath("bzip2")
	if err != nil {
		t.Skip("bzip2 is not installed, and the standard library only unpacks it (Debian: apt-get install bzip2)")
	}
	for _, file := range samplesOfReaders(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pack := exec.Command(program, "-1")
		pack.Stdin = bytes.NewReader(unpacked(data))
		packed, err := pack.Output()
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if got, want := formatOf(name, packed), formatOf(name, data); got != want {
			t.Errorf("%s in bzip2 is %.150s, want %s", file, got, want)
		}
	}
}

// Lines before a trace are no part of it: it has the same locations, regions and calls, and the report counts them.
func TestLinesBeforeATraceArePassedOver(t *testing.T) {
	for _, file := range []string{"../collapsed/testdata/plain.txt", "../callgrind/testdata/xdebug.out", "../v8log/testdata/isolate.log",
		"../instruments/testdata/time-16.0.txt", "../buildlog/testdata/small.ninja_log", "../otlp/testdata/odd.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const lead = "# made by hand\n\n$ tool run\n"
		_, want, err := importAll(t, fstest.MapFS{"x": {Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		for how, b := range map[string][]byte{"plain": append([]byte(lead), data...), "packed": gzipOf(append([]byte(lead), data...))} {
			_, got, err := importAll(t, fstest.MapFS{"x": {Data: b}})
			if err != nil {
				t.Errorf("%s %s: %v", file, how, err)
				continue
			}
			a, b := got.Info(), want.Info()
			if a.Intervals != b.Intervals || a.Samples != b.Samples || len(got.Regions()) != len(want.Regions()) || a.End != b.End {
				t.Errorf("%s %s: %d intervals, %d samples, %d regions, end %d; want %d, %d, %d, %d", file, how, a.Intervals, a.Samples,
					len(got.Regions()), a.End, b.Intervals, b.Samples, len(want.Regions()), b.End)
			}
			var report []string
			for _, e := range a.Report {
				report = append(report, fmt.Sprintf("%d %s", e.Count, e.Text()))
			}
			own := file == "../collapsed/testdata/plain.txt" || file == "../callgrind/testdata/xdebug.out" // they pass over such lines themselves
			if told := strings.Contains(strings.Join(report, "\n"), "lines before the trace"); !told && !own {
				t.Errorf("%s %s: report %q", file, how, report)
			}
		}
	}
}

// A text that only begins as lines before a trace do is none.
func TestCommentsAloneAreNoTrace(t *testing.T) {
	for _, text := range []string{"# A title\n\nSome words about main;work 12 of them.\n", "#!/bin/sh\n# runs it\nset -e\n", "// package x\npackage x\n",
		strings.Repeat("# nothing\n", 5000)} {
		if got := formatOf("x", []byte(text)); formatNamed(got) != nil {
			t.Errorf("%.30q is %s", text, got)
		}
	}
}

// Archives of one file are that file.
func TestArchivesAreRecognised(t *testing.T) {
	dir := t.TempDir()
	for _, file := range samplesOfReaders(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		want := formatOf(name, data)
		for ending, pack := range map[string]func(string, []byte) []byte{"zip": zipOf, "tar": tarOf} {
			path := filepath.Join(dir, ending)
			if err := os.WriteFile(path, pack(name, data), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := importer.NewSource(path)
			if err != nil {
				t.Errorf("%s in a %s: %v", file, ending, err)
				continue
			}
			runs, err := importer.Detect(Formats, s)
			if len(runs) != 1 || runs[0].Format.Name != want {
				t.Errorf("%s in a %s: %v %v, want %s", file, ending, runs, err, want)
			}
			s.Close()
		}
	}
}

// Folders that are a run, whole, packed, and with the heads of their files alone.
func TestFoldersAreRecognised(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range foldersOfReaders(t) {
		files, heads := fstest.MapFS{}, map[int]fstest.MapFS{4 << 10: {}, 64 << 10: {}}
		windows, packed := fstest.MapFS{}, fstest.MapFS{}
		err := fs.WalkDir(os.DirFS(folder), ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(folder, p))
			files[p] = &fstest.MapFile{Data: data}
			packed[p] = &fstest.MapFile{Data: gzipOf(unpacked(data))}
			windows[p] = files[p]
			if importer.IsText(data) && !bytes.Contains(data, []byte{0}) {
				windows[p] = &fstest.MapFile{Data: bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))}
			}
			for size := range heads {
				heads[size][p] = &fstest.MapFile{Data: data[:min(len(data), size)]}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := formatsOf(importer.NewSourceFS("sample", files))
		if want == "" {
			t.Errorf("%s is not recognised", folder)
		}
		for size, cut := range heads {
			if got := formatsOf(importer.NewSourceFS("sample", cut)); got != want {
				t.Errorf("%s cut at %d bytes is %q, want %q", folder, size, got, want)
			}
		}
		if got := formatsOf(importer.NewSourceFS("sample", windows)); got != want {
			t.Errorf("%s with CRLF is %q, want %q", folder, got, want)
		}
		if got := formatsOf(importer.NewSourceFS("sample", packed)); got != want {
			t.Errorf("%s of packed files is %q, want %q", folder, got, want)
		}
		tarred := archived(t, files, func(w io.Writer) packer { return tarPacker{tar.NewWriter(w)} })
		for ending, data := range map[string][]byte{
			"zip": archived(t, files, func(w io.Writer) packer { return zip.NewWriter(w) }),
			"tar": tarred, "tgz": gzipOf(tarred), "tar.zst": zstdOf(tarred), "tar.xz": xzOf(t, tarred),
		} {
			path := filepath.Join(dir, "sample."+ending)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := formatsOf(importer.NewSource(path)); got != want {
				t.Errorf("%s in a %s is %q, want %q", folder, ending, got, want)
			}
		}
	}
}

// Each format that is read has files or a folder in these tests.
func TestNoFormatIsWithoutVariants(t *testing.T) {
	tried := map[string]bool{}
	for _, file := range samplesOfReaders(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tried[formatOf(filepath.Base(file), data)] = true
	}
	for _, folder := range foldersOfReaders(t) {
		for name := range strings.FieldsSeq(formatsOf(importer.NewSource(folder))) {
			tried[name] = true
		}
	}
	for _, f := range Formats {
		if f.Import != nil && !tried[f.Name] {
			t.Errorf("%s has neither a file nor a folder with a golden", f.Name)
		}
	}
}

// foldersOfReaders are the folders of all importers' testdata that are a run: those with a golden beside.
func foldersOfReaders(t *testing.T) (folders []string) {
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if _, err := os.Stat(p + ".golden"); err == nil {
			folders = append(folders, p)
		}
		return nil
	})
	if err != nil || len(folders) < 20 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	return folders
}

// formatsOf are the names of the formats that runs of a source have.
func formatsOf(s importer.Source, err error) string {
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	var names []string
	runs, _ := importer.Detect(Formats, s)
	for _, r := range runs {
		if r.Format.Import != nil {
			names = append(names, r.Format.Name)
		}
	}
	return strings.Join(names, " ")
}

type packer interface {
	Create(name string) (io.Writer, error)
	Close() error
}

func archived(t *testing.T, files fstest.MapFS, open func(io.Writer) packer) []byte {
	var out bytes.Buffer
	p := open(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if tp, ok := p.(tarPacker); ok {
			_ = tp.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name].Data))})
		}
		w, err := p.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name].Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type tarPacker struct{ *tar.Writer }

func (t tarPacker) Create(string) (io.Writer, error) { return t.Writer, nil }

func formatNamed(name string) *importer.Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func unpacked(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return b
	}
	var out bytes.Buffer
	_, _ = out.ReadFrom(z)
	return out.Bytes()
}

func gzipOf(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func zstdOf(b []byte) []byte {
	z, _ := zstd.NewWriter(nil)
	defer z.Close()
	return z.EncodeAll(b, nil)
}

func xzOf(t *testing.T, b []byte) []byte {
	var out bytes.Buffer
	z, err := xz.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write(b[:min(len(b), 256<<10)]) // it packs slowly, and heads are shorter
	_ = z.Close()
	return out.Bytes()
}

func zipOf(name string, b []byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, _ := z.Create(name)
	_, _ = w.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func tarOf(name string, b []byte) []byte {
	var out bytes.Buffer
	z := tar.NewWriter(&out)
	_ = z.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(b))})
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}
