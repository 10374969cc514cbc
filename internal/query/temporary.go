package query

import "os"

// A temporary file has no name where the system allows that, so that it goes with the process.
type temporary struct {
	*os.File
	named bool
}

func newTemporary() (*temporary, error) {
	f, err := os.CreateTemp("", "parallax-query-")
	if err != nil {
		return nil, err
	}
	return &temporary{f, os.Remove(f.Name()) != nil}, nil
}

func (t *temporary) close() {
	t.Close()
	if t.named {
		os.Remove(t.Name())
	}
}
