package importer

import (
	"errors"
	"io"
	"os"
)

// RandomAccess opens a file whose bytes can be read in any order, with its size. A packed one is
// unpacked to the temporary directory first. The caller calls done.
func RandomAccess(run Run, name string) (r io.ReaderAt, size int64, done func(), err error) {
	raw, err := run.OpenRaw(name)
	if err != nil {
		return nil, 0, nil, err
	}
	if at, ok := raw.(io.ReaderAt); ok {
		var head [64]byte
		n, _ := at.ReadAt(head[:], 0)
		if info, err := raw.Stat(); err == nil && packingOf(head[:n]) == nil {
			return at, info.Size(), func() { raw.Close() }, nil
		}
	}
	raw.Close()
	in, err := run.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	defer in.Close()
	tmp, err := os.CreateTemp("", "parallax-unpacked-")
	if err != nil {
		return nil, 0, nil, err
	}
	done = func() { tmp.Close(); os.Remove(tmp.Name()) }
	size, err = io.Copy(tmp, in)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		done()
		return nil, 0, nil, err
	}
	return tmp, size, done, nil
}
