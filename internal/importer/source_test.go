package importer

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files is a small tree to be kept in many ways.
var files = map[string]string{"a/rank0.json": "[1]", "a/rank1.json": strings.Repeat("x", 5000), "b.txt": ""}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.Bytes()
}

func zstdPacked(s string) []byte {
	z, _ := zstd.NewWriter(nil)
	defer z.Close()
	return z.EncodeAll([]byte(s), nil)
}

func xzPacked(s string) []byte {
	var b bytes.Buffer
	z, _ := xz.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.Bytes()
}

// bzip2Hello is "hello\n", packed; the standard library cannot write bzip2.
var bzip2Hello = []byte("BZh91AY&SY\xc1\xc0\x80\xe2\x00\x00\x01A\x00\x00\x10\x02D\xa0\x000\xcd\x00\xc3F)\x97\x17rE8P\x90\xc1\xc0\x80\xe2")

func tarOf(t *testing.T, members map[string]string, links ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	names := slices.Sorted(func(yield func(string) bool) {
		for n := range members {
			if !yield(n) {
				return
			}
		}
	})
	for _, n := range names {
		if err := w.WriteHeader(&tar.Header{Name: "./" + n, Size: int64(len(members[n])), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, members[n])
	}
	for _, n := range links {
		w.WriteHeader(&tar.Header{Name: n, Linkname: "elsewhere", Typeflag: tar.TypeSymlink})
	}
	w.Close()
	return b.Bytes()
}

func zipOf(t *testing.T, members map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for n, s := range members {
		f, err := w.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, s)
	}
	w.Close()
	return b.Bytes()
}

func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// content reads all files of a source through Run.Open.
func content(t *testing.T, s Source) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, f := range s.Files {
		r, err := Run{Source: s}.Open(f.Path)
		if err != nil {
			t.Fatalf("open %s: %v", f.Path, err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("read %s: %v", f.Path, err)
		}
		got[f.Path] = string(data)
		if err := r.Close(); err != nil {
			t.Errorf("close %s: %v", f.Path, err)
		}
	}
	return got
}

func TestASourceIsTheSameHoweverItIsKept(t *testing.T) {
	for _, kept := range []string{"directory", "tar", "tar.gz", "tar.zst", "zip"} {
		t.Run(kept, func(t *testing.T) {
			dir := t.TempDir()
			var name string
			switch kept {
			case "directory":
				name = dir
				for n, s := range files {
					write(t, dir, n, []byte(s))
				}
			case "tar":
				name = write(t, dir, "run", tarOf(t, files, "link"))
			case "tar.gz":
				name = write(t, dir, "run", gzipped(string(tarOf(t, files, "link"))))
			case "tar.zst":
				name = write(t, dir, "run", zstdPacked(string(tarOf(t, files, "link"))))
			case "zip":
				name = write(t, dir, "run", zipOf(t, files))
			}
			s, err := NewSource(name)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got := content(t, s)
			if fmt.Sprint(got) != fmt.Sprint(files) {
				t.Errorf("content is %v", got)
			}
			if got, want := s.Label("a/rank0.json"), filepath.Join(name, "a/rank0.json"); got != want {
				t.Errorf("label is %q, want %q", got, want)
			}
			one, err := NewSource(s.Label("a/rank0.json"))
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			if got := content(t, one); len(got) != 1 || len(one.Skipped) != 0 {
				t.Errorf("the file named by its label alone is %v, skipped %v", got, one.Skipped)
			}
			if _, err := NewSource(filepath.Join(name, "none")); !errors.Is(err, ErrNotFound) {
				t.Errorf("what is not there: %v", err)
			}
			if strings.HasPrefix(kept, "tar") && (len(s.Skipped) != 1 || s.Skipped[0].Path != "link") {
				t.Errorf("skipped %v, want the link", s.Skipped)
			}
		})
	}
}

func TestAPackedTarLeavesNothingBehind(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	name := write(t, t.TempDir(), "run.tgz", gzipped(string(tarOf(t, files))))
	s, err := NewSource(name)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Fatalf("%d temporary directories while open, want 1", len(left))
	}
	s.Close()
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An archive that is alone in another is opened as it, three deep at most; a Cube profile in a zip is a file.
func TestAnArchiveWithinAnArchiveIsOpened(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	zipOf := func(name string, data []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create(name)
		_, _ = w.Write(data)
		_ = z.Close()
		return b.Bytes()
	}
	trace := map[string]string{"run/trace.json": "the trace"}
	deep := zipOf("trace.json", []byte("the trace"))
	for range 5 {
		deep = zipOf("inner.zip", deep)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"tar in zip":    {zipOf("run.tar", tarOf(t, trace)), "run/trace.json"},
		"tgz in zip":    {zipOf("run.tgz", gzipped(string(tarOf(t, trace)))), "run/trace.json"},
		"zip in zip":    {zipOf("run.zip", zipOf("run/trace.json", []byte("the trace"))), "run/trace.json"},
		"zip in tar":    {tarOf(t, map[string]string{"run.zip": string(zipOf("run/trace.json", []byte("the trace")))}), "run/trace.json"},
		"six deep":      {deep, "inner.zip"},
		"cubex in zip":  {zipOf("p.cubex", tarOf(t, map[string]string{"anchor.xml": "<cube/>"})), "p.cubex"},
		"damaged inner": {zipOf("run.zip", []byte("PK\x03\x04 and no more")), "run.zip"},
	} {
		s, err := NewSource(write(t, t.TempDir(), "outer", c.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Files) != 1 || s.Files[0].Path != c.want || !strings.HasSuffix(s.Label(c.want), "outer/"+c.want) {
			t.Errorf("%s: files %v, want %s; label %s", name, s.Files, c.want, s.Label(c.want))
		}
		if text := string(s.Head(c.want)); c.want == "run/trace.json" && text != "the trace" {
			t.Errorf("%s holds %q", name, text)
		}
		s.Close()
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMembersOfATarStayBelowTheRoot(t *testing.T) {
	for name, want := range map[string]string{"../../etc/passwd": "etc/passwd", "/abs": "abs", "./x/../y": "y", "..": ""} {
		if got := memberName(name); got != want {
			t.Errorf("memberName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAPackedTarHasALimit(t *testing.T) {
	_, err := unpackTar(bytes.NewReader(tarOf(t, map[string]string{"big": strings.Repeat("x", 1000)})), t.TempDir(), 999)
	if err == nil || !strings.Contains(err.Error(), "packed size") {
		t.Errorf("error is %v", err)
	}
}

func TestATarThatEndsEarlyGivesWhatCameBefore(t *testing.T) {
	whole := tarOf(t, files)
	cut := whole[:1024+512+1000] // inside a/rank1.json
	for _, packed := range []bool{false, true} {
		data := cut
		if packed {
			data = gzipped(string(cut))
		}
		s, err := NewSource(write(t, t.TempDir(), "run", data))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if len(s.Files) == 0 || s.Files[0].Path != "a/rank0.json" || len(s.Skipped) == 0 {
			t.Errorf("packed %v: files %v, skipped %v", packed, s.Files, s.Skipped)
		}
	}
}

func TestACubeProfileIsAFileNotAnArchive(t *testing.T) {
	s, err := NewSource(write(t, t.TempDir(), "profile.cubex", tarOf(t, map[string]string{"anchor.xml": "<cube/>", "1.data": ""})))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Files) != 1 || s.Files[0].Path != "profile.cubex" {
		t.Errorf("files are %v", s.Files)
	}
}

func TestSeveralPathsAreOneTree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "n0/rank0.json", []byte("0"))
	write(t, dir, "n1/rank0.json", []byte("1"))
	write(t, dir, "n1/other.json", []byte("2"))
	archive := write(t, dir, "more.tar", tarOf(t, map[string]string{"rank9.json": "9"}))
	s, err := NewSource(filepath.Join(dir, "n0/rank0.json"), filepath.Join(dir, "n1/rank0.json"), archive, archive)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := map[string]string{"n0/rank0.json": "0", "n1/rank0.json": "1", "more.tar/rank9.json": "9"}
	if got := content(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("content is %v", got)
	}
	if got, want := s.Label("n1/rank0.json"), filepath.Join(dir, "n1/rank0.json"); got != want {
		t.Errorf("label is %q, want %q", got, want)
	}
}

func TestAFileIsUnpackedWhateverItsName(t *testing.T) {
	long := strings.Repeat("0123456789", 1<<18) // several chunks
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"plain":                        {[]byte("hello\n"), "hello\n"},
		"gzip":                         {gzipped("hello\n"), "hello\n"},
		"xz":                           {xzPacked(long), long},
		"UTF-8 with a byte order mark": {[]byte("\ufeffhello\n"), "hello\n"},
		"the same in gzip":             {gzipped("\ufeffhello\n"), "hello\n"},
		"two members":                  {append(gzipped("hel"), gzipped("lo\n")...), "hello\n"},
		"zstd":                         {zstdPacked("hello\n"), "hello\n"},
		"bzip2":                        {bzip2Hello, "hello\n"},
		"empty":                        {nil, ""},
		"long gzip":                    {gzipped(long), long},
		"BZh is a word":                {[]byte("BZh9 is not a magic number alone"), "BZh9 is not a magic number alone"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewSource(write(t, t.TempDir(), "x.json", c.data))
			if err != nil {
				t.Fatal(err)
			}
			p := &Progress{}
			r, err := Run{Source: s, Progress: p}.Open("x.json")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != c.want {
				t.Errorf("read %d bytes, error %v, want %d", len(got), err, len(c.want))
			}
			r.Close()
			if p.Done() != int64(len(c.data)) {
				t.Errorf("progress %d, want the %d packed bytes", p.Done(), len(c.data))
			}
			if head := s.Head("x.json"); !strings.HasPrefix(c.want, string(head)) || len(head) != min(len(c.want), longestHead) {
				t.Errorf("head has %d bytes", len(head))
			}
		})
	}
}

func TestDamagedPackingGivesItsContentThenAnError(t *testing.T) {
	long := strings.Repeat("0123456789\n", 100000)
	whole := gzipped(long)
	for name, c := range map[string]struct {
		data []byte
		say  string
		all  bool
	}{
		"cut":                 {whole[:len(whole)/2], "ends early", false},
		"bytes after it":      {append(gzipped(long), "\n\n\n\n\n\n\n\n\n\n\n"...), "bytes follow", true},
		"only the magic":      {[]byte("\x1f\x8b\x08"), "", false},
		"zstd, cut":           {zstdPacked(long)[:60], "", false},
		"xz, cut":             {xzPacked(long)[:200], "ends early", false},
		"lz4 is not unpacked": {[]byte("\x04\x22\x4d\x18..........."), "packed with lz4", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := NewSource(write(t, t.TempDir(), "x", c.data))
			r, err := Run{Source: s}.Open("x")
			var got []byte
			if err == nil {
				got, err = io.ReadAll(r)
				r.Close()
			}
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.say) {
				t.Fatalf("error is %v, want an *Error with %q", err, c.say)
			}
			if !strings.HasPrefix(long, string(got)) || c.all && string(got) != long {
				t.Errorf("got %d bytes of %d", len(got), len(long))
			}
		})
	}
}

func TestClosingEarlyEndsTheGoroutine(t *testing.T) { // goleak checks at the end
	s, _ := NewSource(write(t, t.TempDir(), "x", gzipped(strings.Repeat("x", 50<<20))))
	r, err := Run{Source: s}.Open("x")
	if err != nil {
		t.Fatal(err)
	}
	r.Read(make([]byte, 10))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	r.Close()
}

func TestAnyFileSystemIsASource(t *testing.T) {
	s, err := NewSourceFS("demo", fstest.MapFS{"d/x": {Data: []byte("hi")}, "d/dev": {Mode: fs.ModeDevice}})
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got["d/x"] != "hi" || len(s.Skipped) != 1 || s.Label("d/x") != "demo/d/x" {
		t.Errorf("content %v, skipped %v", got, s.Skipped)
	}
}

func TestHeadsOfManyFilesStayWithinABound(t *testing.T) {
	for files, want := range map[int]int{1: 64 << 10, 512: 64 << 10, 2048: 16 << 10, 10000: 13421, 1 << 20: 1 << 10} {
		if got := newHeadCache(make([]File, files)).size; got != want {
			t.Errorf("%d files: heads of %d bytes, want %d", files, got, want)
		}
	}
}

// Every entry of a zip is a file or is said to be left alone, whatever its name.
func TestEveryEntryOfAZipIsAccountedFor(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, n := range []string{"./a.json", "/b.json", "d//c.json", `dir\e.json`, "d/../f.json", "same.json", "same.json", "sub/", ".hidden"} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: n, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(n, "/") {
			io.WriteString(f, "content of "+n)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(write(t, t.TempDir(), "odd.zip", b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	for _, f := range s.Files {
		r, err := (Run{Source: s}).Open(f.Path)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil || !strings.HasPrefix(string(text), "content of ") || int64(len(text)) != f.Size {
			t.Errorf("%s holds %q, %v", f.Path, text, err)
		}
		got = append(got, f.Path)
	}
	if want := []string{"a.json", "b.json", "d/c.json", "dir/e.json", "f.json", "same.json"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if len(s.Skipped) != 2 {
		t.Errorf("left alone: %v", s.Skipped)
	}
}

// A tar that holds a file twice has the newer one, and says so.
func TestADuplicateFileInATarIsReported(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, text := range []string{"old", "newer"} {
		if err := w.WriteHeader(&tar.Header{Name: "a.json", Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	w.Close()
	for name, data := range map[string][]byte{"x.tar": b.Bytes(), "x.tar.gz": gzipped(b.String())} {
		s, err := NewSource(write(t, t.TempDir(), name, data))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Files) != 1 || s.Files[0].Size != 5 || len(s.Skipped) != 1 {
			t.Errorf("%s: %v, left alone %v", name, s.Files, s.Skipped)
		}
		s.Close()
	}
}

// Room for an import is asked for before anything is read: how large a packed file is is told from its beginning and its end.
func TestUnpackedSizesAreEstimatedFromTheBeginning(t *testing.T) {
	var text strings.Builder
	for i := 0; text.Len() < 12<<20; i++ {
		if i > 50_000 {
			fmt.Fprintf(&text, "%x ", i*i*2654435761) // packs less well than what comes before
		}
		fmt.Fprintf(&text, "line %d\n", i)
	}
	dir, size := t.TempDir(), int64(text.Len())
	packed := gzipped(text.String())
	var z bytes.Buffer
	w, _ := zstd.NewWriter(&z)
	_, _ = w.Write([]byte(text.String()))
	_ = w.Close()
	for name, x := range map[string]struct {
		data        []byte
		least, most int64
	}{
		"plain.json":       {[]byte(text.String()), size, size},
		"small.json.gz":    {gzipped("some bytes, and some bytes"), 26, 60},
		"large.json.gz":    {packed, size, size},
		"pieces.json.gz":   {append(slices.Clone(packed), gzipped("the rest")...), size * 2 / 3, size * 3},
		"large.json.zst":   {z.Bytes(), size * 2 / 3, size * 3},
		"damaged.json.gz":  {append([]byte("\x1f\x8b\x08"), make([]byte, 50)...), 53, 53},
		"packed by chance": {packed, size, size},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), x.data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := NewSource(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Unpacked(s.Files[0]); n < x.least || n > x.most {
			t.Errorf("%s: %d bytes unpacked, want %d to %d", name, n, x.least, x.most)
		}
		_ = s.Close()
	}
}

// A claim may ask for heads in any order, more than once, and for files that the source does not list.
func TestHeadsAreThoseOfTheirFilesInAnyOrder(t *testing.T) {
	files := fstest.MapFS{"hidden": {Data: []byte("hidden")}}
	for _, n := range []string{"a", "b", "c", "d"} {
		files[n] = &fstest.MapFile{Data: []byte("content of " + n)}
	}
	s, err := NewSourceFS("src", files)
	if err != nil {
		t.Fatal(err)
	}
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return f.Path == "hidden" })
	s = s.ready()
	s.at = new(atomic.Int64)
	for _, path := range []string{"a", "b", "b", "d", "a", "hidden", "missing", "b", "c", "a", "d"} {
		want := ""
		if f := files[path]; f != nil {
			want = string(f.Data)
		}
		if got := string(s.Head(path)); got != want {
			t.Errorf("the head of %s is %q, want %q", path, got, want)
		}
	}
}
