package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A column without values has no file, whoever wrote one before.
func TestColumnWithoutValuesHasNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.b.u32")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := NewColumn[uint32](dir, "a.b.u32")
	if err := errors.Join(c.Put(nil, 0), c.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	c = NewColumn[uint32](dir, "a.b.u32")
	if err := errors.Join(c.Put([]uint32{2}, 1), c.Put([]uint32{1}, 0), c.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "\x01\x00\x00\x00\x02\x00\x00\x00" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}
