package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shardSets are real runs of several files or locations: messages, GPUs, goroutines, spans with parents at other locations, profiles.
var shardSets = []string{
	"otf2-hpl8", "otf2-lammps-imbalanced16", "kineto-ddp-8rank", "paje-pingpong4/pingpong4.trace", "go-sync/sync.trace", "public/zipkin/smartthings/yelp.json", "public/tau-profile/cpi-4ranks",
}

// TestShardsOfARunAreTheWholeImport: every file of the store, and so every view, is the same byte by byte.
func TestShardsOfARunAreTheWholeImport(t *testing.T) {
	sources := []string{"demo:stencil"}
	for _, name := range shardSets {
		if path := filepath.Join("../../../shared/data", name); exists(path) {
			sources = append(sources, path)
		}
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			t.Setenv("PARALLAX_CACHE", t.TempDir())
			dir := t.TempDir()
			whole, joined := filepath.Join(dir, "whole.plx"), filepath.Join(dir, "run.plx")
			if code, _, stderr := parallax(t, "import", source, "-o", whole); code != 0 {
				t.Fatal(stderr)
			}
			for i, k := range []string{"3", "1", "2"} {
				code, out, stderr := parallax(t, "import", source, "--shard", k+"/3", "-o", filepath.Join(joined, "part-"+k))
				if code != 0 {
					t.Fatal(stderr)
				}
				if want := []string{"2 still to come", "1 still to come", "intervals on"}[i]; !strings.Contains(out, want) {
					t.Errorf("part %s says %q, want %q", k, out, want)
				}
			}
			want, got := filesOf(t, whole), filesOf(t, joined)
			for name, b := range want {
				if !bytes.Equal(b, got[name]) {
					t.Errorf("%s differs", name)
				}
				delete(got, name)
			}
			if len(got) > 0 {
				t.Errorf("%d files too many", len(got))
			}
		})
	}
}

// ownSets are runs of formats whose parts read only their own files: with threads, messages, collectives, clocks that are
// fitted, markers, metrics and calls that are never left; with launches and process groups of GPUs; with profiles,
// messages without a time, late arrivals and moments.
func ownSets(t *testing.T) []string {
	t.Helper()
	made := filepath.Join(t.TempDir(), "stencil")
	if code, _, stderr := parallax(t, "gen", "stencil", "--format", "otf2", "--locations", "9", "--intervals", "60000", "-o", made); code != 0 {
		t.Fatal(stderr)
	}
	sources := []string{made, "../../internal/importer/otf2/testdata/records", "../../internal/importer/otf2/testdata/ping-pong-2ranks",
		"../../internal/importer/tautrace/testdata/threads", "../../internal/importer/recorder/testdata/mpi", "../../internal/importer/recorder/testdata/ranks"}
	for _, name := range []string{"otf2-hpl8", "otf2-lammps-imbalanced16", "otf2-xz-pthread", "kineto-ddp-8rank",
		"public/kineto/sampled-ranks-0-1-of-128", "public/tau-profile/cpi-4ranks", "public/tau-profile/adios-xmain-8ranks"} {
		if path := filepath.Join("../../../shared/data", name); exists(path) {
			sources = append(sources, path)
		}
	}
	return sources
}

// TestPartsThatReadTheirOwnFilesAreTheWholeImport: for any number of parts, more than there are files too, in any order.
func TestPartsThatReadTheirOwnFilesAreTheWholeImport(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for i, source := range ownSets(t) {
		for _, options := range [][]string{nil, {"--align", "none"}, {"--align", "messages"}} {
			if i == 0 && options != nil {
				continue
			}
			t.Run(filepath.Base(source)+strings.Join(options, ""), func(t *testing.T) {
				t.Setenv("PARALLAX_CACHE", t.TempDir())
				whole := filepath.Join(t.TempDir(), "whole.plx")
				if code, _, stderr := parallax(t, append([]string{"import", source, "-o", whole}, options...)...); code != 0 {
					t.Fatal(stderr)
				}
				want := filesOf(t, whole)
				for _, n := range []int{1, 3, 16} { // more than there are locations, too
					if options != nil && n != 3 || testing.Short() && n > 3 {
						continue
					}
					joined := filepath.Join(t.TempDir(), "run.plx")
					for _, k := range random.Perm(n) {
						args := append([]string{"import", source, "--shard", fmt.Sprintf("%d/%d", k+1, n), "-o",
							filepath.Join(joined, fmt.Sprintf("part-%d", k+1))}, options...)
						code, out, stderr := parallax(t, args...)
						if code != 0 {
							t.Fatalf("part %d of %d: %s", k+1, n, stderr)
						}
						if strings.Contains(out, "read all of the source") {
							t.Errorf("part %d of %d: %s", k+1, n, out)
						}
					}
					sameAs(t, fmt.Sprint(n, " parts"), want, filesOf(t, joined))
				}
			})
		}
	}
}

// TestPartsDoNotReadTheFilesOfOthers: what is wrong in the last file is of no matter to the first part.
func TestPartsDoNotReadTheFilesOfOthers(t *testing.T) {
	for source, last := range map[string]string{
		"../../internal/importer/tautrace/testdata/threads":      "tautrace.3.0.0.trc",
		"../../internal/importer/recorder/testdata/mpi":          "rank-000002.moments",
		"../../../shared/data/public/tau-profile/cpi-4ranks":     "profile.3.0.0",
		"../../internal/importer/otf2/testdata/ping-pong-2ranks": "",
	} {
		if !exists(source) {
			continue
		}
		t.Run(filepath.Base(source), func(t *testing.T) {
			t.Setenv("PARALLAX_CACHE", t.TempDir())
			damaged := filepath.Join(t.TempDir(), filepath.Base(source))
			if err := os.CopyFS(damaged, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(damaged, last)
			if last == "" {
				events, err := filepath.Glob(filepath.Join(damaged, "*", "*.evt"))
				if err != nil || len(events) == 0 {
					t.Fatal("no events: ", err)
				}
				path = events[len(events)-1]
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range b[len(b)/2:] {
				b[len(b)/2+i] ^= 0x55
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			whole, bad, joined := filepath.Join(t.TempDir(), "whole.plx"), filepath.Join(t.TempDir(), "bad.plx"), filepath.Join(t.TempDir(), "run.plx")
			for _, args := range [][]string{{source, "-o", whole}, {damaged, "--shard", "1/2", "-o", filepath.Join(joined, "part-1")},
				{source, "--shard", "2/2", "-o", filepath.Join(joined, "part-2")}} {
				if code, _, stderr := parallax(t, append([]string{"import"}, args...)...); code != 0 {
					t.Fatal(stderr)
				}
			}
			want := filesOf(t, whole)
			delete(want, "/manifest.json") // names the source of the first part
			got := filesOf(t, joined)
			delete(got, "/manifest.json")
			sameAs(t, "the first part has not read it", want, got)
			if code, _, _ := parallax(t, "import", damaged, "-o", bad); code == 0 {
				same := true
				for name, b := range filesOf(t, bad) {
					same = same && (name == "/manifest.json" || bytes.Equal(b, want[name]))
				}
				if same {
					t.Error("the damage changes nothing, so this test proves nothing")
				}
			}
		})
	}
}

// TestPartsThatReadAllOfTheSourceSaySo: a file of all ranks, and one of any format that has no parts.
func TestPartsThatReadAllOfTheSourceSaySo(t *testing.T) {
	t.Setenv("PARALLAX_CACHE", t.TempDir())
	for source, why := range map[string]string{
		"demo:stencil": "it is generated",
		"../../internal/importer/recorder/testdata/mpi-one.moments": "has one file",
	} {
		code, out, stderr := parallax(t, "import", source, "--shard", "1/2", "-o", filepath.Join(t.TempDir(), "run.plx", "part-1"))
		if code != 0 || !strings.Contains(out, "read all of the source: ") || !strings.Contains(out, why) {
			t.Errorf("%s: exit %d, %q %q, want %q", source, code, out, stderr, why)
		}
	}
}

// TestPartsOfChromeFilesThatAreJoined: files of plain Chrome events are one run if the user says so.
func TestPartsOfChromeFilesThatAreJoined(t *testing.T) {
	t.Setenv("PARALLAX_CACHE", t.TempDir())
	dir := t.TempDir()
	args := []string{"import", "--join"}
	for k := range 5 {
		var b strings.Builder
		fmt.Fprintf(&b, `{"beginningOfTime":%d,"traceEvents":[{"ph":"M","name":"process_name","pid":%d,"args":{"name":"unit %d"}}`, 1000+k, 7+k, k)
		for i := range 200 {
			fmt.Fprintf(&b, `,`+"\n"+`{"ph":"X","name":"step %d","cat":"c","pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{"k%d":"v%d","n":%d}}`,
				(i*k)%17, 7+k, i%3, i*10, 5+i%4, i%5+k, (i+k)%11, i)
			fmt.Fprintf(&b, `,{"ph":"%c","name":"f","cat":"flow","id":%d,"pid":%d,"tid":%d,"ts":%d}`, "sf"[i%2], i/2, 7+k, i%3, i*10+1)
		}
		b.WriteString("]}")
		path := filepath.Join(dir, fmt.Sprintf("unit%c.json", "badce"[k]))
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	whole := filepath.Join(dir, "whole.plx")
	if code, _, stderr := parallax(t, append(args, "-o", whole)...); code != 0 {
		t.Fatal(stderr)
	}
	for _, n := range []int{1, 2, 3, 7} {
		joined := filepath.Join(t.TempDir(), "run.plx")
		for k := range n {
			code, out, stderr := parallax(t, append(args, "--shard", fmt.Sprintf("%d/%d", k+1, n), "-o", filepath.Join(joined, fmt.Sprintf("part-%d", k+1)))...)
			if code != 0 || strings.Contains(out, "read all") {
				t.Fatal(out, stderr)
			}
		}
		sameAs(t, fmt.Sprint(n, " parts"), filesOf(t, whole), filesOf(t, joined))
	}
}

func sameAs(t *testing.T, what string, want, got map[string][]byte) {
	t.Helper()
	for name, b := range want {
		if !bytes.Equal(b, got[name]) {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is too much", what, name)
		}
	}
}

// Importers that wait for each other share the steps after reading.
func TestPartsThatWaitAreJoinedTogether(t *testing.T) {
	t.Setenv("PARALLAX_CACHE", t.TempDir())
	source := ownSets(t)[0]
	whole, joined := filepath.Join(t.TempDir(), "whole.plx"), filepath.Join(t.TempDir(), "run.plx")
	if code, _, stderr := parallax(t, "import", source, "-o", whole); code != 0 {
		t.Fatal(stderr)
	}
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			code, _, stderr := parallax(t, "import", source, "--shard", fmt.Sprintf("%d/4", k+1), "--wait", "5m", "-o",
				filepath.Join(joined, fmt.Sprintf("part-%d", k+1)))
			if code != 0 {
				t.Error(stderr)
			}
		})
	}
	all.Wait()
	sameAs(t, "4 parts at once", filesOf(t, whole), filesOf(t, joined))
}

// What is wrong with a part is said by its name, and nothing becomes a store until it is mended.
func TestPartsOfFilesThatAreNotAlike(t *testing.T) {
	t.Setenv("PARALLAX_CACHE", t.TempDir())
	source := ownSets(t)[0]
	copied := func(change func(dir string)) string {
		dir := filepath.Join(t.TempDir(), "stencil")
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		change(dir)
		return dir
	}
	path := func(dir, name string) string { return filepath.Join(dir, "traces", name) }
	less := copied(func(dir string) { os.Remove(path(dir, "3.evt")) })
	cut := copied(func(dir string) { os.Truncate(path(dir, "3.evt"), 2000) })
	defined := copied(func(dir string) {
		b, err := os.ReadFile(filepath.Join(dir, "traces.def"))
		if err != nil || !bytes.Contains(b, []byte("laplace_tile")) {
			t.Fatal("no definition to change: ", err)
		}
		os.WriteFile(filepath.Join(dir, "traces.def"), bytes.Replace(b, []byte("laplace_tile"), []byte("laplace_tale"), 1), 0o644)
	})
	run := filepath.Join(t.TempDir(), "run.plx")
	part := func(from string, k int, more ...string) (int, string) {
		code, out, stderr := parallax(t, append([]string{"import", from, "--shard", fmt.Sprintf("%d/3", k), "-o",
			filepath.Join(run, fmt.Sprintf("part-%d", k))}, more...)...)
		return code, strings.Join(strings.Fields(out+stderr), " ")
	}
	for _, x := range []struct {
		what string
		from string
		more []string
		want []string
	}{
		{"a file is missing", less, nil, []string{"part-1", "part-2", "not of the same source", "3.evt was there for"}},
		{"a file is cut", cut, nil, []string{"part-2", "3.evt had", "2000"}},
		{"definitions differ", defined, nil, []string{"part-2", "their definitions differ", "import one of them again"}},
		{"another option", source, []string{"--align", "none"}, []string{"part-2", "--align none"}},
	} {
		for k := range 3 {
			from, more := source, []string(nil)
			if k == 1 {
				from, more = x.from, x.more
			}
			code, says := part(from, k+1, more...)
			for _, w := range x.want {
				if k == 2 && (code == 0 || !strings.Contains(says, w)) {
					t.Errorf("%s: exit %d, %q, want %q", x.what, code, says, w)
				}
			}
		}
		if slices.Contains(readNames(t, run), "manifest.json") {
			t.Fatalf("%s: it became a store", x.what)
		}
		os.RemoveAll(run)
	}
	for _, k := range []int{1, 3, 1} {
		part(source, k)
	}
	if code, _, stderr := parallax(t, "info", run); code == 0 || !strings.Contains(stderr, "part 2 of 3 missing") {
		t.Errorf("one is missing: exit %d, %q", code, stderr)
	}
	chunks := filepath.Join(run, "part-3", "chunks")
	b, err := os.ReadFile(chunks)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{"cut off": b[:len(b)-9], "a byte is another": append(append([]byte{}, b[:100]...), append([]byte{b[100] ^ 4}, b[101:]...)...)} {
		os.WriteFile(chunks, bad, 0o644)
		code, says := part(source, 2)
		if code == 0 || !strings.Contains(says, "part-3") || !strings.Contains(says, "import that part again") {
			t.Errorf("records of a part are %s: exit %d, %q", what, code, says)
		}
	}
	if slices.Contains(readNames(t, run), "manifest.json") {
		t.Fatal("damaged parts became a store")
	}
	if code, says := part(source, 3); code != 0 {
		t.Errorf("made again: %s", says)
	}
	whole := filepath.Join(t.TempDir(), "whole.plx")
	if code, _, stderr := parallax(t, "import", source, "-o", whole); code != 0 {
		t.Fatal(stderr)
	}
	sameAs(t, "after all is mended", filesOf(t, whole), filesOf(t, run))
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShardsThatCannotBeJoinedAreErrors(t *testing.T) {
	t.Setenv("PARALLAX_CACHE", t.TempDir())
	run := filepath.Join(t.TempDir(), "run.plx")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "demo:stencil", "--shard", "5/4", "-o", run}, "want K/N"},
		{[]string{"import", "demo:stencil", "--shard", "0/4", "-o", run}, "want K/N"},
		{[]string{"import", "demo:stencil", "--shard", "two", "-o", run}, "want K/N"},
		{[]string{"import", "demo:stencil", "--shard", "1/4", "-o", filepath.Join(run, "part-2")}, "-o RUN.plx/part-1"},
		{[]string{"import", "demo:stencil", "--shard", "2/2", "-o", filepath.Join(run, "part-2")}, ""},
		{[]string{"info", run}, "part 1 of 2 missing; `parallax import SOURCE --shard 1/2 -o " + filepath.Join(run, "part-1")},
		{[]string{"import", "demo:training", "--shard", "1/2", "-o", run}, "are not of the same source"},
	} {
		code, _, stderr := parallax(t, x.args...)
		if stderr = strings.Join(strings.Fields(stderr), " "); (code != 0) != (x.want != "") || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit %d, %q, want %q", strings.Join(x.args, " "), code, stderr, x.want)
		}
	}
	if slices.Contains(readNames(t, run), "manifest.json") {
		t.Error("parts of two sources became a store")
	}
}

func readNames(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
