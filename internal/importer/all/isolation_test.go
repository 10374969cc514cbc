package all

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// folderOf is the folder that a format lives in: where its claim is.
func folderOf(f *importer.Format) string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(f.Claim).Pointer()).FileLine(0)
	return filepath.Base(filepath.Dir(file))
}

// sources are endings of what samples are made from: no format knows them.
var sources = []string{".textproto", ".py", ".c"}

// Every reader's own samples are claimed by its format alone: in any clone, with no data
// beside it.
func TestEverySampleIsClaimedByItsFormatAlone(t *testing.T) {
	own := map[string][]*importer.Format{}
	for _, f := range Formats {
		own[folderOf(f)] = append(own[folderOf(f)], f)
	}
	folders, err := filepath.Glob("../*/testdata")
	if err != nil || len(folders) < 15 {
		t.Fatalf("%d folders of samples, %v", len(folders), err)
	}
	all := 0
	for _, folder := range folders {
		name := filepath.Base(filepath.Dir(folder))
		if own[name] == nil {
			continue // what formats share, without a format of its own
		}
		for _, sample := range samplesIn(t, folder) {
			all++
			t.Run(filepath.ToSlash(strings.TrimPrefix(sample, "..")), func(t *testing.T) {
				s, err := importer.NewSource(sample)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				claimed := false
				for _, f := range Formats {
					runs := f.Claim(s)
					if slices.Contains(own[name], f) {
						claimed = claimed || len(runs) > 0
					} else if len(runs) > 0 && f.Name != "sqlite" && f.Name != "parquet" { // which take what no other does
						t.Errorf("%s claims %v", f.Name, runs[0].Files)
					}
				}
				if claimed == slices.Contains(sources, filepath.Ext(sample)) {
					t.Errorf("claimed by its own format: %v", claimed)
				}
			})
		}
	}
	if all < 60 {
		t.Errorf("only %d samples", all)
	}
}

// samplesIn lists what a folder of samples holds, whole directories as one.
func samplesIn(t *testing.T, folder string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if name == "fuzz" || name == "README.md" || strings.HasSuffix(name, ".golden") {
			continue
		}
		out = append(out, filepath.Join(folder, name))
	}
	return out
}
