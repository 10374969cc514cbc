package derived

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"io"
	"reflect"

	"github.com/parallax-hpc/parallax/internal/store"
)

// A result lies next to its store as a head and its value in gob. The head says of which version and of which content
// of the store it is, and has a checksum of the value.
//
//	8 bytes  "plxderiv"
//	8 bytes  version, little endian
//	8 bytes  store.Reader.Generation
//	4 bytes  CRC-32C of the value
const (
	magic     = "plxderiv"
	headBytes = 28
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errOther   = errors.New("the result is of another version or another run, or damaged")

	errTooLarge = errors.New("the result is too large to be kept")
)

func (d Derived[T]) head(r store.Reader, value []byte) []byte {
	b := append(make([]byte, 0, headBytes), magic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Version))
	b = binary.LittleEndian.AppendUint64(b, r.Generation())
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(value, castagnoli))
}

// write keeps a result. One that cannot be kept is made again.
func (d Derived[T]) write(r store.Reader, x T) {
	k := d.keeper(r)
	if k == nil {
		return
	}
	if b, err := d.encode(r, x); err == nil {
		_ = k.Keep(d.Name, b)
	}
}

// encode returns a result as it lies next to a store.
func (d Derived[T]) encode(r store.Reader, x T) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, headBytes))
	if err := gob.NewEncoder(b).Encode(x); err != nil {
		return nil, err
	}
	if b.Len() > store.MostKept {
		return nil, errTooLarge
	}
	copy(b.Bytes(), d.head(r, b.Bytes()[headBytes:]))
	return b.Bytes(), nil
}

// Outline returns the encoded outline of a run with this result.
func (d Derived[T]) Outline(ctx context.Context, run *Run) ([]byte, error) {
	x, err := d.Of(ctx, run)
	if err != nil {
		return nil, err
	}
	b, err := d.encode(run.Store, x)
	if err != nil {
		return nil, err
	}
	return store.OutlineOf(run.Store, map[string][]byte{d.Name: b})
}

// Declare numbers the types of a result. Encoding writes these numbers, which count all types of the process in the
// order in which they are met: results that are prepared side by side would meet theirs in any order.
func (d Derived[T]) Declare() {
	defer func() { _ = recover() }() // a result without content may refuse to be encoded: its types are met by then
	t := reflect.TypeFor[T]()
	x := reflect.New(t).Elem()
	if t.Kind() == reflect.Pointer {
		x = reflect.New(t.Elem())
	}
	_ = gob.NewEncoder(io.Discard).EncodeValue(x)
}

// read returns a result that is whole, of this version and of this run.
func (d Derived[T]) read(r store.Reader) (x T, err error) {
	k := d.keeper(r)
	if k == nil {
		return x, errNotKept
	}
	b, ok := k.Kept(d.Name)
	if !ok {
		return x, errNotKept
	}
	if len(b) < headBytes || !bytes.Equal(b[:headBytes], d.head(r, b[headBytes:])) {
		return x, errOther
	}
	if err := gob.NewDecoder(bytes.NewReader(b[headBytes:])).Decode(&x); err != nil {
		return x, err
	}
	if d.Restore != nil {
		err = d.Restore(x, r)
	}
	return x, err
}
