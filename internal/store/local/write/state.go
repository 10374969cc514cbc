package write

import (
	"fmt"
	"os"

	"github.com/parallax-hpc/parallax/internal/match"
)

// SaveState writes the fields of the value at v to a file.
func SaveState(path string, v any) error {
	b, err := match.Fields(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// LoadState reads them.
func LoadState(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if match.SetFields(v, b) != nil {
		return fmt.Errorf("%s is damaged; remove its directory and import that part again", path)
	}
	return nil
}
