package importer_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// FuzzArchive: no archive or packed file makes a source panic or hang, leave its room,
// or leave anything behind.
func FuzzArchive(f *testing.F) {
	for _, names := range [][]string{{"a.json", "d/b.json"}, {"../a", "/b", "./c", "d//e", "d\\f", "a", "a"}} {
		var t, z, g bytes.Buffer
		tw, zw := tar.NewWriter(&t), zip.NewWriter(&z)
		for _, n := range names {
			tw.WriteHeader(&tar.Header{Name: n, Size: 9, Mode: 0o600, Typeflag: tar.TypeReg})
			tw.Write([]byte(`{"a":[1]}`))
			if w, err := zw.Create(n); err == nil {
				w.Write([]byte(`{"a":[1]}`))
			}
		}
		tw.WriteHeader(&tar.Header{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink})
		tw.Close()
		zw.Close()
		gw := gzip.NewWriter(&g)
		gw.Write(t.Bytes())
		gw.Close()
		f.Add(uint8(0), t.Bytes())
		f.Add(uint8(1), z.Bytes())
		f.Add(uint8(2), g.Bytes())
		f.Add(uint8(3), g.Bytes())
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		dir, temp := t.TempDir(), t.TempDir()
		t.Setenv("TMPDIR", temp)
		path := filepath.Join(dir, []string{"x.tar", "x.zip", "x.tar.gz", "x.json.gz"}[kind%4])
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := importer.NewSource(path)
		if err != nil {
			return
		}
		for _, x := range s.Files {
			if r, err := (importer.Run{Source: s}).Open(x.Path); err == nil {
				io.Copy(io.Discard, io.LimitReader(r, 8<<20))
				r.Close()
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%s stays", left[0].Name())
		}
	})
}
