package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everything gives all that a store says: its files byte by byte, and what the tables show.
func everything(t *testing.T, store string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := filepath.WalkDir(store, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		part, err := os.ReadFile(name)
		b.Write(part)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"info", store, "--json"}, {"query", store, "select * from locations"}, {"query", store, "select * from regions"}, {"query", store, "select * from attributes"}} {
		status, out, stderr := parallax(t, args...)
		if status != 0 {
			t.Fatal(stderr)
		}
		b.WriteString(out)
	}
	return b.Bytes()
}

func TestAnAnonymisedRunHasNoNameOfTheSource(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "secretfile.json")
	text := `{"secretproperty":"secretvalue","traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"secrethost"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"secretthread"}},
{"ph":"X","name":"secretfunction","cat":"secretcategory","pid":1,"tid":2,"ts":1,"dur":9,"args":{"secretkey":"/home/secretuser/secretpath","size":7}},
{"ph":"X","name":"MPI_Send","cat":"mpi","pid":1,"tid":2,"ts":3,"dur":2},
{"ph":"i","name":"secretinstant","pid":1,"tid":2,"ts":4,"s":"t"},
{"ph":"C","name":"secretcounter","pid":1,"ts":5,"args":{"secretseries":3}}]}`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "sent.plx")
	if status, _, stderr := parallax(t, "anonymise", source, "-o", out); status != 0 {
		t.Fatal(stderr)
	}
	if left := regexp.MustCompile(`secret\w*|MPI_Send`).FindAllString(string(everything(t, out)), -1); left != nil {
		t.Errorf("left: %q", left)
	}
	kept := filepath.Join(dir, "kept.plx")
	if status, _, stderr := parallax(t, "anonymise", source, "-o", kept, "--keep", "public,counters"); status != 0 {
		t.Fatal(stderr)
	}
	said := string(everything(t, kept))
	if !strings.Contains(said, "MPI_Send") || !strings.Contains(said, "secretcounter") || strings.Contains(said, "secretfunction") {
		t.Error("--keep public,counters keeps MPI_Send and counters, and no function")
	}
}

// Steps keep their numbers where their names stay.
func TestPublicNamesOfStepsKeepTheirNumbers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "sent.plx")
	if status, _, stderr := parallax(t, "anonymise", "../../docs/tutorials/data/starved.json.gz", "-o", out, "--keep", "public"); status != 0 {
		t.Fatal(stderr)
	}
	_, names, _ := parallax(t, "query", out, "select distinct value from attributes where key = 'raw name' order by 1")
	if !strings.Contains(names, "ProfilerStep#") || strings.Contains(names, "ProfilerStep#…") {
		t.Errorf("raw names: %s", names)
	}
}

// knownWord are words of formats and of this program, which tell nothing of a user.
var knownWord = regexp.MustCompile(`^(compute|communication|synchronization|annotation|overhead|machine|process|thread|stream|device|group|groups|service|processor|processors|goroutine|goroutines|kernel|state|states|range|runtime|trace|error|samples|time|bytes|counter|chrome|otf2|gotrace|jaeger|null|false|true|anonymised|correlation|internal|server|client|label|phase|user|location|locations|region|regions|attribute|interval|intervals|process_id|threads)$`)

// Recorded runs: no name of theirs is left, and what can be counted stays.
func TestAnonymisedRunsKeepTheirShapeAndNoName(t *testing.T) {
	for _, source := range []string{"starved.json.gz", "hpl32.tar.zst", "ride.json", "tally/one.trace"} {
		source = filepath.Join("../../docs/tutorials/data", source)
		out := filepath.Join(t.TempDir(), "sent.plx")
		if status, _, stderr := parallax(t, "anonymise", source, "-o", out, "--key", "k"); status != 0 {
			t.Fatal(stderr)
		}
		all := string(everything(t, out))
		status, names, stderr := parallax(t, "query", source, "select name from locations union select name from regions union select file from regions where file is not null union select name from counters")
		if status != 0 {
			t.Fatal(stderr)
		}
		words := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_.:/]{4,}`).FindAllString(names, -1)
		if len(words) < 4 {
			t.Fatalf("%s: %d words: %q", source, len(words), names)
		}
		for _, w := range words {
			if !knownWord.MatchString(w) && strings.Contains(all, w) {
				t.Errorf("%s: %q is left", source, w)
			}
		}
		a, b := infoOf(t, source), infoOf(t, out)
		for _, k := range []string{"end", "intervals", "links", "locations", "rows", "ranks", "regions", "instants", "samples", "depth"} {
			if a[k] != b[k] {
				t.Errorf("%s: %s was %v and is %v", source, k, a[k], b[k])
			}
		}
		if x, y := rolesOf(a), rolesOf(b); x != y {
			t.Errorf("%s: time by roles was %s and is %s", source, x, y)
		}
	}
}

// Rows of a store are copied: only words differ, and they are those that its source would get.
func TestAStoreIsAnonymisedWithoutItsSource(t *testing.T) {
	dir := t.TempDir()
	for _, source := range []string{"starved.json.gz", "ride.json", "tally/one.trace", "compile.pprof"} {
		source = filepath.Join("../../docs/tutorials/data", source)
		store, direct, again := filepath.Join(dir, "own.plx"), filepath.Join(dir, "direct.plx"), filepath.Join(dir, "again.plx")
		for _, args := range [][]string{{"import", source, "-o", store}, {"anonymise", source, "-o", direct, "--key", "k"}, {"anonymise", store, "-o", again, "--key", "k"}, {"verify", again}} {
			if status, _, stderr := parallax(t, args...); status != 0 {
				t.Fatalf("%q: %s", args, stderr)
			}
		}
		for query, like := range map[string]string{
			"select id, parent, rank, level, last, intervals, aside from locations":                                store,
			"select location, begin, end, depth, exclusive from intervals limit 2000":                              store,
			"select from_location, from_time, to_location, to_time, size from links order by 2, 4, 1, 3 limit 500": store,
			"select name, category, role, file, line from regions order by 1, 2, 4, 5":                             direct,
			"select distinct key, value from attributes where of = 'interval' and number is null order by 1, 2":    direct,
		} {
			status, x, stderr := parallax(t, "query", like, query)
			if status != 0 {
				t.Fatal(stderr)
			}
			if _, y, _ := parallax(t, "query", again, query); x != y {
				t.Errorf("%s: %s: %s", source, query, firstDifference(x, y))
			}
		}
		all := string(everything(t, again))
		_, names, _ := parallax(t, "query", store, "select name from locations union select name from regions union select file from regions where file is not null union select name from counters")
		for _, w := range regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_.:/]{8,}`).FindAllString(names, -1) {
			if !knownWord.MatchString(w) && strings.Contains(all, w) {
				t.Errorf("%s: %q is left", source, w)
			}
		}
	}
}

func infoOf(t *testing.T, source string) map[string]any {
	t.Helper()
	_, out, stderr := parallax(t, "info", source, "--json")
	var info map[string]any
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err, stderr)
	}
	return info
}

func rolesOf(info map[string]any) string {
	sums := map[string]float64{}
	for _, r := range info["region_table"].([]any) {
		m := r.(map[string]any)
		sums[m["role"].(string)] += m["exclusive"].(float64)
	}
	b, _ := json.Marshal(sums)
	return string(b)
}

func TestTheSameKeyGivesTheSameWords(t *testing.T) {
	dir := t.TempDir()
	var said [3]string
	for i, key := range []string{"a", "a", "b"} {
		out := filepath.Join(dir, string(rune('0'+i))+".plx")
		if status, _, stderr := parallax(t, "anonymise", "demo:fig4", "-o", out, "--key", key); status != 0 {
			t.Fatal(stderr)
		}
		_, said[i], _ = parallax(t, "query", out, "select name from regions order by name")
	}
	if said[0] != said[1] || said[0] == said[2] {
		t.Errorf("%q, %q, %q", said[0], said[1], said[2])
	}
}
