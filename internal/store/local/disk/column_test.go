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

// What is written over a file is described as it would be by looking at it.
func TestOverwriteDescribesWhatIsThere(t *testing.T) {
	for _, n := range []int{1, 100, 40 << 10} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x"), make([]byte, 20<<10), 0o644); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i * 7)
		}
		got, err := Overwrite(dir, "x", b)
		if err != nil {
			t.Fatal(err)
		}
		want, err := DescribeFile(dir, "x")
		if err != nil || got != want || got.Size != int64(n) {
			t.Errorf("%d bytes: %+v, looked at %+v, %v", n, got, want, err)
		}
	}
}
