package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What is unpacked to be read is removed when it was read.
func TestUnpackedArchivesDoNotStay(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	const text = `[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1}]`
	if err := w.WriteHeader(&tar.Header{Name: "run/a.json", Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Close()
	z.Close()
	source := filepath.Join(t.TempDir(), "run.tar.gz")
	if err := os.WriteFile(source, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	for _, args := range [][]string{
		{"info", source}, {"info", source}, // imported, and from the cache
		{"view", "profile", source, "-o", filepath.Join(t.TempDir(), "x.csv")},
		{"import", source, "-o", filepath.Join(t.TempDir(), "x.plx")},
	} {
		if status, _, stderr := parallax(t, args...); status != 0 {
			t.Fatal(stderr)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v leaves %v, %v", args[:1], left, err)
		}
	}
}
