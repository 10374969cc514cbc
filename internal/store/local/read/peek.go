package read

import (
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
)

var _ store.Peeker = (*Reader)(nil)

// Peeks implements store.Peeker.
func (r *Reader) Peeks() bool { return r.Fetched == nil }

// Peek implements store.Peeker.
func (r *Reader) Peek(f func(store.Peek) error) error {
	return r.Table.Peek(func(x *rows.Frames) error { return f(x) })
}
