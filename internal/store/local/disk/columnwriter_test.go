package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// testColumn is a column of 64-bit values in a file of its own.
var testColumn = column{table: "test", name: "value", typ: "i64", Packed: true}

// valuesOf returns n values that do not pack into nothing.
func valuesOf(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	return out
}

// readAll returns the values of a packed column as FrameFile decodes them.
func readAll(t *testing.T, dir string, n int) (out []uint64) {
	t.Helper()
	f, err := OpenFrames(filepath.Join(dir, testColumn.File()), int64(n), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]uint64, pack.Frame)
	for i := range f.Len() {
		out = append(out, f.Decode(i, buf)...)
	}
	return out
}

// A column has the same bytes whether it fits into the buffer or not, whether it is made in its place or beside it, and however its
// frames are handed over. It reads back as it was written.
func TestColumnIsTheSameHoweverItIsWritten(t *testing.T) {
	for _, n := range []int{1, pack.Frame, pack.Frame + 1, 3 * pack.Frame, columnBuffer} {
		values := valuesOf(n)
		var want []byte
		for _, step := range []int{pack.Frame, 5 * pack.Frame, n + pack.Frame} {
			for _, beside := range []bool{false, true} {
				dir, temp := t.TempDir(), ""
				path := filepath.Join(dir, testColumn.File())
				if beside {
					temp = t.TempDir()
					if err := os.WriteFile(path, make([]byte, 20<<10), 0o644); err != nil { // what was there goes
						t.Fatal(err)
					}
				}
				w := NewColumnWriter(dir, testColumn.File(), temp)
				var err error
				for at := 0; at < n; at += step / pack.Frame * pack.Frame {
					b, words := testColumn.PackFrames(nil, nil, spool.BytesOf(values), uint64(at), uint64(min(at+step/pack.Frame*pack.Frame, n)))
					err = errors.Join(err, w.Append(b, words))
				}
				if err = w.Close(err); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if string(got) != string(want) || len(got)%8 != 0 {
					t.Errorf("%d values, %d at a time, beside %v: other bytes (%d, %d)", n, step, beside, len(got), len(want))
				}
				if back := readAll(t, dir, n); fmt.Sprint(back) != fmt.Sprint(values) {
					t.Errorf("%d values do not read back", n)
				}
				if left, _ := os.ReadDir(temp); beside && len(left) > 0 {
					t.Errorf("%d temporary files are left", len(left))
				}
			}
		}
	}
}

// A column without frames has no file; after an error nothing is put in place of the old one.
func TestColumnThatIsNotWhole(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, testColumn.File())
	if err := os.WriteFile(path, []byte("plain"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := NewColumnWriter(dir, testColumn.File(), temp)
	b, words := testColumn.PackFrames(nil, nil, spool.BytesOf(valuesOf(columnBuffer)), 0, columnBuffer)
	if err := w.Append(b, words); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no disk")
	if err := w.Close(failed); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "plain" {
		t.Errorf("the old file holds %d bytes", len(b))
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	if err := NewColumnWriter(dir, testColumn.File(), temp).Close(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a column without values has a file: %v", err)
	}
}

// Rewrite changes the chosen frames and copies the others; a directory that does not fit is damage.
func TestRewriteChangesChosenFrames(t *testing.T) {
	dir := t.TempDir()
	n := 3*pack.Frame + 7
	values := valuesOf(n)
	w := NewColumnWriter(dir, testColumn.File(), "")
	if err := w.Close(w.Append(testColumn.PackFrames(nil, nil, spool.BytesOf(values), 0, uint64(n)))); err != nil {
		t.Fatal(err)
	}
	err := testColumn.Rewrite(dir, dir, int64(n), func(g uint64) bool { return g == 1 || g == 3 }, func(g uint64, v []uint64) {
		v[len(v)-1] = g
	})
	if err != nil {
		t.Fatal(err)
	}
	values[2*pack.Frame-1], values[n-1] = 1, 3
	if got := readAll(t, dir, n); fmt.Sprint(got) != fmt.Sprint(values) {
		t.Error("other values than those that were changed")
	}
	if _, err := OpenFrames(filepath.Join(dir, testColumn.File()), int64(n+pack.Frame), 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("a directory that is too short: %v", err)
	}
}
