package otf2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// A damaged copy has one file changed or taken away.
type damagedCopy struct {
	what string
	file string
	data []byte // nil: the file is missing
}

// copies damages an archive in n places, spread over its files by their size.
func copies(files fstest.MapFS, n int) (list []damagedCopy) {
	random := rand.New(rand.NewPCG(7, 8))
	var names []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if ext := path.Ext(name); ext == ".evt" || ext == ".def" || ext == ".otf2" {
			names = append(names, name)
			total += len(files[name].Data)
		}
	}
	for i := range n {
		at := random.IntN(total)
		name := ""
		for _, name = range names {
			if at < len(files[name].Data) {
				break
			}
			at -= len(files[name].Data)
		}
		if i%10 == 0 { // small files too
			name = names[random.IntN(len(names))]
			at = random.IntN(len(files[name].Data))
		}
		data := bytes.Clone(files[name].Data)
		c := damagedCopy{file: name}
		switch i % 5 {
		case 0, 1:
			c.what, c.data = fmt.Sprint("cut at ", at), data[:at]
		case 2:
			data[at] ^= 1 << random.IntN(8)
			c.what, c.data = fmt.Sprint("a bit flipped at ", at), data
		case 3:
			for k := at; k < min(len(data), at+1+random.IntN(64)); k++ {
				data[k] = byte(random.IntN(256))
			}
			c.what, c.data = fmt.Sprint("bytes changed at ", at), data
		case 4:
			c.what, c.data = fmt.Sprint("padding at ", at), slices.Insert(data, at, make([]byte, 1+random.IntN(40))...)
			if i%20 == 4 && path.Ext(name) == ".evt" {
				c.what, c.data = "missing", nil
			}
		}
		list = append(list, c)
	}
	return list
}

// loaded reads a set into memory, so that copies are cheap.
func loaded(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, p)
		files[p] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Damaged copies of every set are imported as far as they are sound: what the
// other files hold is there, what is missing is said, and nothing panics or hangs.
func TestDamagedCopiesOfEverySet(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every set sixty times")
	}
	for _, name := range append(append([]string{}, made...), public...) {
		t.Run(path.Base(name), func(t *testing.T) {
			files := loaded(t, importertest.Shared(t, name))
			whole, err := countDamaged(files)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range copies(files, 60) {
				damaged := maps.Clone(files)
				delete(damaged, c.file)
				if c.data != nil {
					damaged[c.file] = &fstest.MapFile{Data: c.data}
				}
				checkDamaged(t, c, whole, damaged)
			}
		})
	}
}

func checkDamaged(t *testing.T, c damagedCopy, whole *importertest.Count, damaged fstest.MapFS) {
	t.Helper()
	got, err := countDamaged(damaged)
	var known *importer.Error
	var unknown *importer.Unknown
	switch {
	case errors.As(err, &unknown) || errors.As(err, &known) && known.File != "" && known.Cause != "":
		if path.Ext(c.file) == ".evt" {
			t.Errorf("%s %s: the whole import fails: %v", c.file, c.what, err)
		}
		return
	case err != nil:
		t.Errorf("%s %s: %v", c.file, c.what, err)
		return
	}
	lost := whole.Enters - got.Enters
	if lost < 0 {
		lost = 0
	}
	if c.data != nil && path.Ext(c.file) == ".evt" && !strings.HasPrefix(c.what, "cut") && lost > 200 {
		t.Errorf("%s %s: %d of %d calls are lost, though few bytes are damaged", c.file, c.what, lost, whole.Enters)
	}
	if (strings.HasPrefix(c.what, "cut") || c.what == "missing") && !reportsMore(got, whole) {
		t.Errorf("%s %s: nothing is said", c.file, c.what)
	}
}

func reportsMore(got, whole *importertest.Count) bool {
	for what, n := range got.Reported {
		if n > whole.Reported[what] {
			return true
		}
	}
	return false
}

// countDamaged imports files that may not be known again.
func countDamaged(files fstest.MapFS) (c *importertest.Count, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		return nil, err
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	c = importertest.NewCount()
	return c, runs[0].Import(ctx, c)
}
