// Package forgetest changes stores on disk and gives them the checksums of their new bytes, as an attacker
// would.
package forgetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// File changes a file of a store.
func File(tb testing.TB, path, name string, change func([]byte)) {
	tb.Helper()
	file := filepath.Join(path, name)
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	change(b)
	if err := os.WriteFile(file, b, 0o644); err != nil {
		tb.Fatal(err)
	}
	Manifest(tb, path, func(m *disk.Manifest) {
		e := entry(m, name)
		values := e.Values
		if *e, err = disk.DescribeFile(path, name); err != nil {
			tb.Fatal(err)
		}
		e.Values = values
	})
}

// Manifest changes the manifest of a store.
func Manifest(tb testing.TB, path string, change func(*disk.Manifest)) {
	tb.Helper()
	m, err := disk.ReadManifest(path)
	if err != nil {
		tb.Fatal(err)
	}
	change(m)
	if err := m.Write(path); err != nil {
		tb.Fatal(err)
	}
}

func entry(m *disk.Manifest, name string) *disk.FileEntry {
	return &m.Files[slices.IndexFunc(m.Files, func(e disk.FileEntry) bool { return e.Name == name })]
}

// Plain writes a packed column of a small table without packing, which stores may have too.
func Plain(tb testing.TB, path, name string) {
	tb.Helper()
	for _, t := range disk.Schema {
		k := slices.IndexFunc(t.Columns, func(c disk.Column) bool { return c.File() == name })
		if k >= 0 && t.Core && t.Columns[k].Packed {
			Manifest(tb, path, func(m *disk.Manifest) { unpack(tb, path, entry(m, name), &t.Columns[k]) })
		}
	}
}

func unpack(tb testing.TB, path string, e *disk.FileEntry, c *disk.Column) {
	tb.Helper()
	file := filepath.Join(path, e.Name)
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	check, err := disk.NewPacked(*e, b, c, new(memory.Outside))
	if err != nil {
		tb.Fatal(err)
	}
	values := check.Packed().All()
	if err := errors.Join(check.Packed().Values().Close(), os.WriteFile(file, values, 0o644)); err != nil {
		tb.Fatal(err)
	}
	if *e, err = disk.DescribeFile(path, e.Name); err != nil {
		tb.Fatal(err)
	}
}

// A Store is one that is forged many times, in one place each time.
type Store struct {
	path   string
	sound  map[string][]byte
	names  []string
	random *rand.Rand
	times  int
}

// NewStore takes the store at path, whose small columns it unpacks: then forged values are those that are read.
func NewStore(tb testing.TB, path string, seed uint64) *Store {
	tb.Helper()
	s := &Store{path: path, sound: map[string][]byte{}, random: rand.New(rand.NewPCG(seed, 12))}
	for _, t := range disk.Schema {
		for _, c := range t.Columns {
			if info, err := os.Stat(filepath.Join(path, c.File())); err == nil && info.Size() > 0 {
				Plain(tb, path, c.File())
			}
		}
	}
	m, err := disk.ReadManifest(path)
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range append([]string{disk.ManifestName}, namesOf(m)...) {
		if s.sound[name], err = os.ReadFile(filepath.Join(path, name)); err != nil {
			tb.Fatal(err)
		}
		if name != disk.ManifestName {
			s.names = append(s.names, name)
		}
	}
	return s
}

func namesOf(m *disk.Manifest) (names []string) {
	for _, e := range m.Files {
		if e.Size > 0 {
			names = append(names, e.Name)
		}
	}
	return names
}

// Forge restores the store and changes it in one place. It returns the place.
func (s *Store) Forge(tb testing.TB) (place string) {
	tb.Helper()
	for name, b := range s.sound {
		if err := os.WriteFile(filepath.Join(s.path, name), b, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if s.times++; s.times%10 == 0 {
		return s.manifest(tb)
	}
	name, v := s.names[s.random.IntN(len(s.names))], s.value()
	at := s.random.IntN(len(s.sound[name]))
	if s.random.IntN(4) > 0 {
		at &^= 7 // most values begin there
	}
	File(tb, s.path, name, func(b []byte) {
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], v)
		copy(b[at:], bytes[:])
	})
	return fmt.Sprintf("%s at byte %d: %#x", name, at, v)
}

// value returns an extreme mostly: those are what sizes and ends are forged to.
func (s *Store) value() uint64 {
	switch s.random.IntN(4) {
	case 0:
		return 1<<63 - 1
	case 1:
		return 1 << s.random.IntN(64)
	case 2:
		return -uint64(s.random.IntN(256))
	}
	return s.random.Uint64()
}

func (s *Store) manifest(tb testing.TB) (place string) {
	tb.Helper()
	v := s.value()
	Manifest(tb, s.path, func(m *disk.Manifest) {
		switch s.times / 10 % 4 {
		case 0:
			m.Info.End, place = trace.Time(v), "end"
		case 1:
			m.Info.Depth, place = int(v), "depth"
		case 2:
			m.Report = append(m.Report, trace.ReportEntry{Kind: trace.ReportKind(v), Count: int64(v)})
			place = "report"
		case 3:
			f := &m.Files[s.random.IntN(len(m.Files))]
			f.Values, place = int64(v), "values of "+f.Name
		}
	})
	return fmt.Sprintf("%s in the manifest: %#x", place, v)
}

// Grow gives a table so many rows of zeros, which take next to nothing packed.
func Grow(tb testing.TB, path, table string, rows int64) {
	tb.Helper()
	for _, t := range disk.Schema {
		if t.Name != table {
			continue
		}
		Manifest(tb, path, func(m *disk.Manifest) {
			for i := range t.Columns {
				grow(tb, path, entry(m, t.Columns[i].File()), &t.Columns[i], rows)
			}
		})
	}
}

func grow(tb testing.TB, path string, e *disk.FileEntry, c *disk.Column, rows int64) {
	tb.Helper()
	if c.Kind == disk.Offsets || c.Kind == disk.WithAll {
		rows++
	}
	values, size := int64(0), rows*c.Width()
	if c.Packed { // a directory alone: frames without any byte have only zeros
		per := max(c.Per, 1)
		values, size = rows*per, ((rows+pack.Frame-1)/pack.Frame*per+2)/2*8
	}
	file := filepath.Join(path, e.Name)
	err := errors.Join(os.WriteFile(file, nil, 0o644), os.Truncate(file, size))
	if err == nil {
		*e, err = disk.DescribeFile(path, e.Name)
	}
	if err != nil {
		tb.Fatal(err)
	}
	e.Values = values
}
