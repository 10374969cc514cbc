package parquetfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
)

// samples are files of both readers that use this one.
func samples(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range []string{"nsight/testdata/few-parquet/StringIds.parquet", "tables/testdata/few/coordinates.parquet", "tables/testdata/few/report.parquet"} {
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = data
	}
	return out
}

// read goes through all rows of all columns; rows is what came.
func read(t *testing.T, data []byte) (rows int64, damage parquetfile.Damage, err error) {
	f, err := parquetfile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, damage, err
	}
	r := f.NewReader(f.Columns...)
	defer r.Close()
	for {
		more, err := r.Next(t.Context())
		if err != nil || !more {
			return rows, r.Damage, err
		}
		rows += int64(r.Rows)
	}
}

func TestEveryRowIsRead(t *testing.T) {
	for name, data := range samples(t) {
		f, err := parquetfile.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if rows, damage, err := read(t, data); err != nil || rows == 0 || rows != f.Rows() || damage.Groups > 0 {
			t.Errorf("%s: %d of %d rows, %+v, %v", name, rows, f.Rows(), damage, err)
		}
	}
}

// FuzzFile: no bytes make it panic, hang or give more rows than it says.
func FuzzFile(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { _, _, _ = read(t, data) })
}
