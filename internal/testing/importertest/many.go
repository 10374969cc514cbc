package importertest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// DamageMany damages a sample in so many seeded ways and returns how many imports were refused. None may panic, hang
// or fail without a position.
func DamageMany(t *testing.T, f *importer.Format, path string, times int, seed uint64) (refused int) {
	t.Helper()
	files := unpackAll(t, load(t, filepath.FromSlash(path)))
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(n string) bool { return len(files[n].Data) == 0 })
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range times {
		if len(names) == 0 {
			return refused
		}
		name, h := names[random.IntN(len(names))], harms[i%len(harms)]
		data := files[name].Data
		at := random.IntN(len(data))
		damaged := maps.Clone(files)
		damaged[name] = &fstest.MapFile{Data: h.do(data, at, random)}
		if _, err := countOf(f, damaged); err != nil {
			refused++
			if wrong := unclear(err); wrong != "" {
				t.Errorf("%s: %s %s at byte %d: %s", path, name, h.name, at, fmt.Sprint(wrong))
			}
		}
	}
	return refused
}
