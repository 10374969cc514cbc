package store

// MostKept bounds a stored result, in bytes: a larger one takes as long to read as to derive, and a foreign file must
// not fill memory. The diagnosis of 131,072 ranks is some 60 MB.
const MostKept = 256 << 20

// A Keeper is a Reader that stores small results derived from it, such as a fingerprint, with its data: they are
// deleted with it. Results that cannot be stored, because the store is read-only or remote, are derived again.
type Keeper interface {
	// Kept returns the bytes stored under a name, a plain word.
	Kept(name string) ([]byte, bool)
	// Keep stores bytes under a name, in place of earlier ones.
	Keep(name string, data []byte) error
}
