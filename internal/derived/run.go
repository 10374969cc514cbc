package derived

import (
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/sourcefile"
	"github.com/parallax-hpc/parallax/internal/store"
)

// A Run is an open run under a name.
type Run struct {
	Name   string
	Source string
	Files  []string // that it was read from, as the user would find them
	Store  store.Reader
	Cache  *Cache // results in memory; may be nil
	// Keys are facts that runs are grouped and ordered by, as the user gave them: commit, machine.
	Keys map[string]string
	// Sources finds the files of the program's source; nil: none is shown.
	Sources *sourcefile.Finder
}

// sizeKeys are the keys and properties that tell how many ranks a run had. They come before
// the ranks in its records, of which a source may hold a part.
var sizeKeys = []string{"size", "ranks", "mpi.world.size", "jobsize", "nprocs", "ntasks"}

// Ranks returns the number of ranks a run had: as a key or a property says it, or as its records do.
// 0: neither tells. A key that is no number is an error.
func (run *Run) Ranks() (float64, error) {
	info := run.Store.Info()
	for _, name := range sizeKeys {
		v, own := run.Keys[name]
		if !own {
			v = info.Properties[name]
		}
		if v == "" {
			continue
		}
		n, err := strconv.ParseFloat(v, 64)
		if err == nil && n >= 1 {
			return n, nil
		}
		if own {
			return 0, fmt.Errorf("--key %s: run %s has %q, want a number of ranks", name, run.Name, v)
		}
	}
	return float64(info.Ranks), nil
}
