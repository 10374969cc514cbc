package importertest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
)

// mostMemory bounds the allocations of the import of a small damaged file, beside some for each of its bytes: a
// length that was misread must not be believed.
const (
	mostMemory  = 256 << 20
	memoryAByte = 4 << 10
)

// cut ends one file after the other early, in evenly spread places. The import must report it: by an error, or by
// counting more than for the whole file, unless nothing was lost.
func cut(t *testing.T, f *importer.Format, c Case, files fstest.MapFS) {
	files = unpackAll(t, files)
	run, err := claimed(f, files)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := read(run)
	if err != nil {
		t.Fatal(err)
	}
	want := tracetest.Dump(whole)
	for _, p := range places(c, files) {
		damaged := maps.Clone(files)
		damaged[p.file] = &fstest.MapFile{Data: files[p.file].Data[:p.at]}
		r, err := readDamaged(t, f, damaged)
		if err != nil {
			if wrong := unclear(err); wrong != "" {
				t.Errorf("%s cut at byte %d: %s", p.file, p.at, wrong)
			}
			continue
		}
		if !c.Anywhere && !saysMore(r, whole) && tracetest.Dump(r) != want {
			t.Errorf("%s cut at byte %d: something is lost and nothing is said\n%s", p.file, p.at,
				tracetest.Diff(want, tracetest.Dump(r)))
		}
	}
}

// changed flips bits, sets bytes, and takes or adds some, at random places (the
// same in every run).
func changed(t *testing.T, f *importer.Format, c Case, files fstest.MapFS) {
	files = unpackAll(t, files)
	random := rand.New(rand.NewPCG(1, 2))
	for _, p := range places(c, files) {
		data := bytes.Clone(files[p.file].Data)
		if len(data) == 0 {
			continue
		}
		at := random.IntN(len(data))
		switch random.IntN(4) {
		case 0:
			data[at] ^= 1 << random.IntN(8)
		case 1:
			data[at] = byte(random.IntN(256))
		case 2:
			data = slices.Delete(data, at, min(len(data), at+1+random.IntN(16)))
		case 3:
			data = slices.Insert(data, at, data[:random.IntN(min(16, len(data)))+1]...)
		}
		damaged := maps.Clone(files)
		damaged[p.file] = &fstest.MapFile{Data: data}
		if _, err := readDamaged(t, f, damaged); err != nil {
			if wrong := unclear(err); wrong != "" {
				t.Errorf("%s changed at byte %d: %s", p.file, at, wrong)
			}
		}
	}
}

// readDamaged imports files that the format may not even know again; a user can
// still name it.
func readDamaged(t *testing.T, f *importer.Format, files fstest.MapFS) (store.Reader, error) {
	t.Helper()
	run, err := claimed(f, files)
	if err != nil {
		s, e := importer.NewSourceFS("sample", files)
		if e != nil {
			return nil, err
		}
		runs := importer.ClaimAs(f, s)
		if len(runs) != 1 {
			return nil, err
		}
		run = runs[0]
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := read(run)
	runtime.ReadMemStats(&after)
	most := int64(mostMemory)
	for _, file := range files {
		most += memoryAByte * int64(len(file.Data))
	}
	if used := int64(after.TotalAlloc - before.TotalAlloc); used > most {
		t.Errorf("the import allocates %d bytes", used)
	}
	return r, err
}

// A damagePlace is a file and the position to damage.
type damagePlace struct {
	file string
	at   int
}

// places spreads the places of damage over all files, by their sizes; the first
// and last bytes of each are among them.
func places(c Case, files fstest.MapFS) []damagePlace {
	n := c.Cuts
	if n == 0 {
		n = 200
	}
	total := 0
	for _, f := range files {
		total += len(f.Data)
	}
	var all []damagePlace
	for _, name := range slices.Sorted(maps.Keys(files)) {
		size := len(files[name].Data)
		share := max(3, n*size/max(total, 1))
		for i := range share {
			all = append(all, damagePlace{name, i * size / share})
		}
		if size > 0 {
			all = append(all, damagePlace{name, size - 1})
		}
	}
	return all
}

// unpackAll replaces packed files by their content, so that damage meets the
// format and not the packing.
func unpackAll(t *testing.T, files fstest.MapFS) fstest.MapFS {
	t.Helper()
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		t.Fatal(err)
	}
	plain := fstest.MapFS{}
	for name := range files {
		r, err := importer.Run{Source: s}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			data = files[name].Data // damaged packing is the sample's point
		}
		plain[name] = &fstest.MapFile{Data: data}
	}
	return plain
}

// Fuzz is the body of a format's FuzzReader: samples are the seeds, and no input
// may make the reader panic, hang, or fail without a clear error.
func Fuzz(f *testing.F, format *importer.Format, name string, samples ...string) {
	for _, s := range samples {
		for _, file := range load(f, s) {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := importer.NewSourceFS("sample", fstest.MapFS{name: {Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		for _, run := range importer.ClaimAs(format, s) {
			if err := run.Import(ctx, NewCount()); err != nil {
				if wrong := unclear(err); wrong != "" {
					t.Error(wrong)
				}
			}
		}
	})
}

// FuzzBeside is Fuzz for a format of several files: one of those named is changed, the others stay sound.
func FuzzBeside(f *testing.F, format *importer.Format, folder string, names ...string) {
	all := load(f, folder)
	fuzzOne(f, format, all, all, names)
}

// FuzzAmong is FuzzBeside with only some of the others, for a format whose sound files would take most of the time.
func FuzzAmong(f *testing.F, format *importer.Format, folder string, beside []string, names ...string) {
	all, some := load(f, folder), fstest.MapFS{}
	for _, name := range beside {
		if some[name] = all[name]; some[name] == nil {
			f.Fatalf("%s has no %s", folder, name)
		}
	}
	fuzzOne(f, format, all, some, names)
}

// fuzzOne changes one of the files named, whose seeds are those of all, and puts it next to the sound ones.
func fuzzOne(f *testing.F, format *importer.Format, all, sound fstest.MapFS, names []string) {
	for i, name := range names {
		if all[name] == nil {
			f.Fatalf("there is no %s", name)
		}
		f.Add(uint8(i), all[name].Data)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		files := maps.Clone(sound)
		files[names[int(which)%len(names)]] = &fstest.MapFile{Data: data}
		s, err := importer.NewSourceFS("sample", files)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		for _, run := range importer.ClaimAs(format, s) {
			if err := run.Import(ctx, NewCount()); err != nil {
				if wrong := unclear(err); wrong != "" {
					t.Error(wrong)
				}
			}
		}
	})
}
