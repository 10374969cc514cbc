package store

// A Keeper is a Reader that keeps small things which others derived from it, such as a
// fingerprint, with its data: they go away with it. What cannot be kept, because the
// store is read-only or elsewhere, is derived again.
type Keeper interface {
	// Kept gives what was kept under a name, a plain word.
	Kept(name string) ([]byte, bool)
	// Keep puts it there, in place of what was there.
	Keep(name string, data []byte) error
}
