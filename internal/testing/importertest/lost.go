package importertest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A harm damages a file at a place.
type harm struct {
	name string
	do   func(data []byte, at int, random *rand.Rand) []byte
}

// harms are typical damages by disks, transfers and people.
var harms = []harm{
	{"cut", func(data []byte, at int, _ *rand.Rand) []byte { return data[:at] }},
	{"flipped", func(data []byte, at int, random *rand.Rand) []byte {
		out := bytes.Clone(data)
		out[at] ^= 1 << random.IntN(8)
		return out
	}},
	{"zeroed", func(data []byte, at int, _ *rand.Rand) []byte {
		out := bytes.Clone(data)
		clear(out[at:min(at+64, len(out))])
		return out
	}},
	{"swapped", func(data []byte, at int, random *rand.Rand) []byte {
		out := bytes.Clone(data)
		const n = 32
		if len(out) < 2*n {
			return out
		}
		a, b := min(at, len(out)-n), random.IntN(len(out)-n+1)
		copy(out[a:], data[b:b+n])
		copy(out[b:], data[a:a+n])
		return out
	}},
	{"doubled", func(data []byte, at int, _ *rand.Rand) []byte {
		return slices.Insert(bytes.Clone(data), at, data[at:min(at+64, len(data))]...)
	}},
	{"removed", func(data []byte, at int, _ *rand.Rand) []byte {
		return slices.Delete(bytes.Clone(data), at, min(at+40, len(data)))
	}},
}

// harmsAPlace is how often each harm is done to a sample.
const harmsAPlace = 24

// lost damages files in seeded places and compares counts: if fewer records come out than of the whole, the report
// must hold more than that of the whole. That is checked for detectable damage: cuts of files that may not end
// anywhere, zeros in a text, and all damage if a format guards its records (Case.Guarded). Other changes may make
// another sound record; there an import only has to end with a clear error.
func lost(t *testing.T, f *importer.Format, c Case, files fstest.MapFS) {
	files = unpackAll(t, files)
	whole, err := countOf(f, files)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	names := slices.Sorted(maps.Keys(files))
	for _, h := range harms {
		if h.name == "cut" && c.Anywhere && !c.Lines {
			continue
		}
		for range harmsAPlace {
			name := names[random.IntN(len(names))]
			data := files[name].Data
			if len(data) == 0 {
				continue
			}
			at := random.IntN(len(data))
			if h.name == "cut" && c.Anywhere && (at == 0 || data[at-1] == '\n') {
				continue
			}
			damaged := maps.Clone(files)
			damaged[name] = &fstest.MapFile{Data: h.do(data, at, random)}
			got, err := countOf(f, damaged)
			if err != nil {
				if wrong := unclear(err); wrong != "" {
					t.Errorf("%s %s at byte %d: %s", name, h.name, at, wrong)
				}
				continue
			}
			told := c.Guarded || h.name == "cut" || h.name == "zeroed" && f.Text
			if less := whole.fewer(got); told && less != "" && !got.says(whole) {
				t.Errorf("%s %s at byte %d: %s, and nothing is said", name, h.name, at, less)
			}
		}
	}
}

// Silent damages one file of a sample in seeded places and returns where fewer records came out than of the whole,
// without an error and without more in the report.
func Silent(t *testing.T, f *importer.Format, path, file, by string, places int) (silent []string) {
	t.Helper()
	files := load(t, filepath.FromSlash(path))
	whole, err := countOf(f, files)
	if err != nil {
		t.Fatal(err)
	}
	h := harms[slices.IndexFunc(harms, func(h harm) bool { return h.name == by })]
	random := rand.New(rand.NewPCG(8, 9))
	data := files[file].Data
	for range places {
		at := random.IntN(len(data))
		damaged := maps.Clone(files)
		damaged[file] = &fstest.MapFile{Data: h.do(data, at, random)}
		got, err := countOf(f, damaged)
		if err != nil {
			continue
		}
		if less := whole.fewer(got); less != "" && !got.says(whole) {
			silent = append(silent, fmt.Sprintf("%s %s at byte %d: %s", file, by, at, less))
		}
	}
	return silent
}

// countOf imports files into a writer that counts.
func countOf(f *importer.Format, files fstest.MapFS) (w *Count, err error) {
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	w = NewCount()
	runs, err := importer.Detect([]*importer.Format{f}, s) // which also reports files that are not claimed any more
	if err != nil {
		runs = importer.ClaimAs(f, s)
	}
	for _, run := range runs {
		if err := run.Import(ctx, w); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// fewer names the kind of record of which got has less.
func (c *Count) fewer(got *Count) string {
	for _, x := range []struct {
		what       string
		whole, now int64
	}{
		{"intervals", c.Enters + c.Intervals, got.Enters + got.Intervals},
		{"instants", c.Instants, got.Instants},
		{"samples", c.Samples, got.Samples},
		{"links", sum(c.Links[:]), sum(got.Links[:])},
		{"rows of a profile", c.ProfileRows, got.ProfileRows},
	} {
		if x.now < x.whole {
			return fmt.Sprintf("%d of %d %s", x.now, x.whole, x.what)
		}
	}
	return ""
}

func sum(list []int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

// says reports whether the report counts something that the one of the whole does not.
func (c *Count) says(whole *Count) bool {
	for what, n := range c.Reported {
		if n > whole.Reported[what] {
			return true
		}
	}
	return false
}
