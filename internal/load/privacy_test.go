package load_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

const tiny = `{"traceEvents":[{"ph":"X","name":"w","pid":1,"tid":1,"ts":0,"dur":5}]}`

func loader(t *testing.T, cache string) *load.Loader {
	t.Helper()
	c, err := load.OpenCache(cache)
	if err != nil {
		t.Fatal(err)
	}
	return &load.Loader{Formats: formats.Formats, Summaries: all.Summaries, Digests: all.Digests, Cache: c, Align: "none"}
}

func TestAStoreIsAsPrivateAsItsSource(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("modes are of Unix")
	}
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	l := loader(t, cache)
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache: %v, %v", info.Mode(), err)
	}
	for _, c := range []struct {
		name       string
		mode, want os.FileMode
	}{{"mine", 0o600, 0o700}, {"group", 0o640, 0o750}, {"all", 0o644, 0o755}} {
		source := filepath.Join(dir, c.name+".json")
		if err := os.WriteFile(source, []byte(tiny), c.mode); err != nil {
			t.Fatal(err)
		}
		os.Chmod(source, c.mode)
		r, err := l.One(context.Background(), []string{source})
		if err != nil {
			t.Fatal(err)
		}
		r.Store.Close()
		list, _ := filepath.Glob(filepath.Join(cache, c.name+"*.plx"))
		if len(list) != 1 {
			t.Fatalf("stores %v", list)
		}
		if info, err := os.Stat(list[0]); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("the store of a source of mode %v has %v, want %v", c.mode, info.Mode().Perm(), c.want)
		}
	}
}

func TestRoomIsAskedForThatIsNeededAndDeadWritersMakeSome(t *testing.T) {
	dir := t.TempDir()
	l := loader(t, filepath.Join(dir, "cache"))
	dead := filepath.Join(l.Cache.Dir, ".x.plx.part-1")
	os.MkdirAll(filepath.Join(dead, "temporary"), 0o700)
	os.WriteFile(filepath.Join(dead, "temporary", "lock"), nil, 0o600) // of a process that is gone: nobody holds it
	if err := l.Cache.MakeRoom(l.Cache.Dir, 1); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a dead writer left stays")
	}
	if err := l.Cache.MakeRoom(l.Cache.Dir, 1<<60); err == nil || !strings.Contains(err.Error(), "free") {
		t.Errorf("more than any disk has: %v", err)
	}
	source := filepath.Join(dir, "a.json")
	os.WriteFile(source, []byte(tiny), 0o600)
	found, done, err := l.Find([]string{source})
	defer done()
	if err != nil {
		t.Fatal(err)
	}
	if room := found[0].Room(); room > 2*int64(len(tiny)) {
		t.Errorf("%d bytes are asked for a text of %d", room, len(tiny))
	}
	many, done, err := l.Find([]string{importertest.Shared(t, "otf2-hpl32")})
	defer done()
	if err != nil {
		t.Fatal(err)
	}
	if room, size := many[0].Room(), many[0].Packed(); room < size*3/2 || room > size*8/5 || room > many[0].PartRoom() {
		t.Errorf("%d bytes are asked for an archive of %d, and %d for a part of it", room, size, many[0].PartRoom())
	}
}

func TestAStoreIsNotUsedAfterItsSourceChanged(t *testing.T) {
	dir := t.TempDir()
	l := loader(t, filepath.Join(dir, "cache"))
	source, store := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.plx")
	os.WriteFile(source, []byte(tiny), 0o600)
	found, done, err := l.Find([]string{source})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Write(context.Background(), found[0], store); err != nil {
		t.Fatal(err)
	}
	done()
	age(t, filepath.Join(store, "manifest.json"))
	if r, err := l.One(context.Background(), []string{store}); err != nil {
		t.Errorf("the source as it was is read again: %v", err)
	} else {
		r.Store.Close()
	}
	os.WriteFile(source, []byte(strings.Replace(tiny, `"w"`, `"other"`, 1)), 0o600)
	later := time.Now().AddDate(1, 0, 0)
	os.Chtimes(source, later, later)
	if _, err := l.One(context.Background(), []string{store}); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("a source that changed: %v", err)
	}
}

// age makes a store one of another version.
func age(t *testing.T, manifest string) {
	t.Helper()
	b, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var outer struct{ Manifest json.RawMessage }
	if err := json.Unmarshal(b, &outer); err != nil {
		t.Fatal(err)
	}
	inner := regexp.MustCompile(`"version":\d+`).ReplaceAll(outer.Manifest, []byte(`"version":0`))
	sum := crc32.Checksum(inner, crc32.MakeTable(crc32.Castagnoli))
	if err := os.WriteFile(manifest, fmt.Appendf(nil, `{"crc32c": "%08x", "manifest": %s}`, sum, inner), 0o644); err != nil {
		t.Fatal(err)
	}
}
