package disk

import (
	"encoding/json"
	"fmt"
)

// A VersionError says that a store is whole, but of another version of the format:
// its sources must be imported again.
type VersionError struct {
	Version int
	Sources []string // its source files
}

func (e *VersionError) Error() string {
	switch {
	case e.Version > Version:
		return fmt.Sprintf("the store has version %d of the format, newer than this program's %d; use a newer "+
			"parallax or import the source again", e.Version, Version)
	case e.Version < Version:
		return fmt.Sprintf("the store has version %d of the format, older than this program's %d; import the source "+
			"again", e.Version, Version)
	}
	return fmt.Sprintf("the store was written by another build of version %d; import the source again", Version)
}

// checkVersion looks at the fields that every version of a manifest has, before others are read by the rules of this
// version.
func checkVersion(manifest []byte) error {
	var m struct {
		Format  string
		Version int
		Info    struct{ Sources []string }
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return fmt.Errorf("%s: %w: %w", ManifestName, ErrDamaged, err)
	}
	if m.Format != FormatName {
		return fmt.Errorf("%s: format is %q, want %q", ManifestName, m.Format, FormatName)
	}
	if m.Version != Version {
		return &VersionError{m.Version, m.Info.Sources}
	}
	return nil
}

// checkTables makes sure that the manifest lists every file of the schema: a store of
// a build before a table was added is not damaged.
func (m *Manifest) checkTables() error {
	for _, t := range Schema {
		for i := range t.Columns {
			if _, ok := m.File(t.Columns[i].File()); !ok {
				return &VersionError{m.Version, m.Info.Sources}
			}
		}
	}
	return nil
}
