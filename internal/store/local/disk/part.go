package disk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/partial"
)

// A PartManifest describes a part of a run: a directory part-K within the directory of the run. It is the last file
// written.
type PartManifest struct {
	Format  string `json:"format"` // always partFormat
	Version int    `json:"version"`
	Part    int    `json:"part"` // from 1
	Parts   int    `json:"parts"`
	// Stamp is the same for all parts of one run.
	Stamp   string   `json:"stamp"`
	Sources []string `json:"sources"`
	// Kernels are the names and versions of summaries and digests that were derived.
	Kernels []string    `json:"kernels"`
	Files   []FileEntry `json:"files"`
	// Stage is how far a part is that was read by itself; "" stands for a part whose importer read all of the source.
	Stage Stage `json:"stage,omitempty"`
	// Align and Infer are those of the import, where Stage is not empty.
	Align string `json:"align,omitempty"`
	Infer bool   `json:"infer,omitempty"`
	// Rest is the manifest of the run without the entries that are derived from all parts; only of part 1.
	Rest *Manifest `json:"rest,omitempty"`
}

// A SourceFile is a file of a source.
type SourceFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// A Stage of a part whose importer reads only its own files: the source was read; the halves of links of which the part
// has both were joined; its rows and their index were made; links whose ends are not named were packed; some files of
// the store were put together. Each has a directory.
type Stage string

const (
	Read    Stage = "part"
	Matched Stage = "matched"
	Made    Stage = "made"
	Linked  Stage = "linked"
	Joined  Stage = "files"
)

// Stages are all of them.
var Stages = []Stage{Read, Matched, Made, Linked, Joined}

// DirName returns the directory of a part at a stage.
func (s Stage) DirName(part int) string { return string(s) + "-" + strconv.Itoa(part) }

const (
	partFormat   = "parallax part"
	partManifest = "part.json"
)

// PartName returns the directory of a part.
func PartName(part int) string { return "part-" + strconv.Itoa(part) }

// Write puts the manifest into dir.
func (m *PartManifest) Write(dir string) error {
	m.Format, m.Version = partFormat, Version
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, partManifest))
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	// A part at a stage is passing: nobody waits for the disk. What a crash of the machine leaves of it fails its
	// checks, and is made again.
	passing := m.Stage != ""
	if !passing {
		err = errors.Join(err, f.Sync())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", partManifest, err)
	}
	if passing {
		return nil
	}
	return partial.SyncDir(dir)
}

// IsPart reports whether a directory is a part.
func IsPart(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, partManifest))
	return err == nil
}

// HasParts reports whether a directory holds parts of a run that are not joined.
func HasParts(dir string) bool {
	if _, err := os.Lstat(ManifestPath(dir)); err == nil {
		return false
	}
	list, err := filepath.Glob(filepath.Join(dir, "part-*", partManifest))
	return err == nil && len(list) > 0
}

// A MissingParts is a run of which parts are still to come.
type MissingParts struct {
	Dir     string
	Missing []int
	Parts   int
}

func (e *MissingParts) Error() string {
	what, list := "part", make([]string, 0, len(e.Missing))
	if len(e.Missing) > 1 {
		what = "parts"
	}
	for _, k := range e.Missing {
		if len(list) == 8 {
			list = append(list, "...")
			break
		}
		list = append(list, strconv.Itoa(k))
	}
	return fmt.Sprintf("%s: %s %s of %d missing; `parallax import SOURCE --shard %d/%d -o %s` makes it", e.Dir, what,
		strings.Join(list, ", "), e.Parts,
		e.Missing[0], e.Parts, filepath.Join(e.Dir, PartName(e.Missing[0])))
}

// ReadParts reads the manifests of all parts of a run, and makes sure that they are all there and of one import.
func ReadParts(dir string) ([]*PartManifest, error) {
	files, err := filepath.Glob(filepath.Join(dir, "part-*", partManifest))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("%s holds no parts of a run", dir))
	}
	var all []*PartManifest
	for _, file := range files {
		m, err := ReadPart(file)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *PartManifest) int { return a.Part - b.Part })
	first := all[0]
	for _, m := range all[1:] {
		a, b := filepath.Join(dir, PartName(first.Part)), filepath.Join(dir, PartName(m.Part))
		switch {
		case m.Parts != first.Parts:
			return nil,
				fmt.Errorf("%s is one of %d parts and %s one of %d; remove those of the other import", a, first.Parts,
					b, m.Parts)
		case !slices.Equal(m.Kernels, first.Kernels) || m.Stage != first.Stage:
			return nil,
				fmt.Errorf("%s and %s were written by different versions of parallax; import one of them again", a, b)
		case m.Align != first.Align || m.Infer != first.Infer:
			return nil, fmt.Errorf("%s was imported with --align %s and %s with --align %s; import one of them again",
				a, first.Align, b, m.Align)
		case m.Stamp != first.Stamp && m.Stage != "":
			return nil, differentSources(a, b, first, m)
		case m.Stamp != first.Stamp:
			return nil,
				fmt.Errorf("%s (from %s) and %s (from %s) are not of the same source; import one of them again", a,
					strings.Join(first.Sources, " "), b, strings.Join(m.Sources, " "))
		}
	}
	var missing []int
	for k := 1; k <= first.Parts; k++ {
		if !slices.ContainsFunc(all, func(m *PartManifest) bool { return m.Part == k }) {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		return nil, &MissingParts{dir, missing, first.Parts}
	}
	return all, nil
}

// PartManifestOf returns the file of the manifest in the directory of a part.
func PartManifestOf(dir string) string { return filepath.Join(dir, partManifest) }

// differentSources says how the sources of parts differ.
func differentSources(a, b string, first, other *PartManifest) error {
	what := "their definitions differ"
	x, y := listing(a), listing(b)
	for i := 0; i < len(x) || i < len(y); i++ {
		switch {
		case i >= len(y) || i < len(x) && x[i].Name < y[i].Name:
			what = fmt.Sprintf("%s was there for %s and not for %s", x[i].Name, a, b)
		case i >= len(x) || y[i].Name < x[i].Name:
			what = fmt.Sprintf("%s was there for %s and not for %s", y[i].Name, b, a)
		case x[i].Size != y[i].Size:
			what = fmt.Sprintf("%s had %d bytes for %s and %d for %s", x[i].Name, x[i].Size, a, y[i].Size, b)
		default:
			continue
		}
		break
	}
	return fmt.Errorf("%s (from %s) and %s (from %s) are not of the same source: %s; import one of them again", a,
		strings.Join(first.Sources, " "), b, strings.Join(other.Sources, " "), what)
}

// ListingFile has the files of the source of a part that was read by itself, in the order of their names.
const ListingFile = "listing"

func listing(dir string) (list []SourceFile) {
	if b, err := os.ReadFile(filepath.Join(dir, ListingFile)); err == nil {
		_ = json.Unmarshal(b, &list) // without it the error says less
	}
	return list
}

// ReadPart reads the manifest of a part.
func ReadPart(file string) (*PartManifest, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := new(PartManifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", file, ErrDamaged, err)
	}
	dir := filepath.Dir(file)
	switch {
	case m.Format != partFormat || m.Part < 1 || m.Part > m.Parts ||
		m.Stage == "" && (m.Part == 1) != (m.Rest != nil):
		return nil, fmt.Errorf("%s: %w", file, ErrDamaged)
	case m.Version != Version:
		return nil,
			fmt.Errorf("%s is of version %d of the store, this program writes %d; import it again with the same "+
				"parallax as the others", dir, m.Version, Version)
	case filepath.Base(dir) != cmp.Or(m.Stage, Read).DirName(m.Part):
		return nil, fmt.Errorf("%s holds part %d; name it %s", dir, m.Part, cmp.Or(m.Stage, Read).DirName(m.Part))
	}
	return m, nil
}

// Has reports whether a part has a file.
func (m *PartManifest) Has(name string) bool {
	return slices.ContainsFunc(m.Files, func(e FileEntry) bool { return e.Name == name })
}

// SizeOf returns the bytes of a file.
func (m *PartManifest) SizeOf(name string) int64 {
	if i := slices.IndexFunc(m.Files, func(e FileEntry) bool { return e.Name == name }); i >= 0 {
		return m.Files[i].Size
	}
	return 0
}

// CheckFile makes sure that a file of a part is as it was written.
func (m *PartManifest) CheckFile(dir, name string) error {
	i := slices.IndexFunc(m.Files, func(e FileEntry) bool { return e.Name == name })
	if i < 0 {
		return fmt.Errorf("%s: no file %s: %w", dir, name, ErrDamaged)
	}
	if m.Files[i].Size == 0 {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != m.Files[i].Size {
		return fmt.Errorf("%s: %d bytes, want %d: %w", f.Name(), info.Size(), m.Files[i].Size, ErrDamaged)
	}
	sum, _, err := fileChecksum(f, info.Size())
	if err == nil && Word8(sum) != m.Files[i].CRC32C {
		err = fmt.Errorf("%s: checksum is %s, want %s: %w", f.Name(), Word8(sum), m.Files[i].CRC32C, ErrDamaged)
	}
	return err
}
