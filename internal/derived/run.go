package derived

import "github.com/parallax-hpc/parallax/internal/store"

// A Run is an open run under a name.
type Run struct {
	Name   string
	Source string
	Files  []string // that it was read from, as the user would find them
	Store  store.Reader
	Cache  *Cache // results in memory; may be nil
	// Keys are facts that runs are grouped and ordered by, as the user gave them: commit, machine.
	Keys map[string]string
}
