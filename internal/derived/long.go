package derived

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A Long is a list in a result that may have an element for each of very many locations: gob writes and reads it in
// parts, on all cores.
type Long[T any] []T

// longPart is the number of elements of a part.
const longPart = 1 << 13

// errLong is the error of bytes that Long did not write.
var errLong = errors.New("the parts of a list are damaged")

// GobEncode writes the number of elements and, of each part, its length in bytes and what gob makes of it.
func (l Long[T]) GobEncode() ([]byte, error) {
	parts := make([][]byte, (len(l)+longPart-1)/longPart)
	failed := make([]error, len(parts))
	_ = parallel.For(context.Background(), len(parts), func(i int) {
		var b bytes.Buffer
		failed[i] = gob.NewEncoder(&b).Encode([]T(l[i*longPart : min((i+1)*longPart, len(l))]))
		parts[i] = b.Bytes()
	})
	size := 2 * binary.MaxVarintLen64
	for _, p := range parts {
		size += binary.MaxVarintLen64 + len(p)
	}
	out := binary.AppendUvarint(make([]byte, 0, size), uint64(len(l)))
	for _, p := range parts {
		out = append(binary.AppendUvarint(out, uint64(len(p))), p...)
	}
	return out, errors.Join(failed...)
}

// GobDecode reads what GobEncode wrote.
func (l *Long[T]) GobDecode(b []byte) error {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b))*longPart {
		return errLong
	}
	b = b[size:]
	parts := make([][]byte, (n+longPart-1)/longPart)
	for i := range parts {
		length, size := binary.Uvarint(b)
		if size <= 0 || length > uint64(len(b)-size) {
			return errLong
		}
		parts[i], b = b[size:size+int(length)], b[size+int(length):]
	}
	if len(b) > 0 {
		return errLong
	}
	lists, failed := make([][]T, len(parts)), make([]error, len(parts))
	_ = parallel.For(context.Background(), len(parts), func(i int) {
		failed[i] = gob.NewDecoder(bytes.NewReader(parts[i])).Decode(&lists[i])
		if failed[i] == nil && len(lists[i]) != min(longPart, int(n)-i*longPart) {
			failed[i] = errLong
		}
	})
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if n == 0 { // as gob reads a list without elements
		*l = nil
		return nil
	}
	out := make([]T, n)
	_ = parallel.For(context.Background(), len(parts), func(i int) { copy(out[i*longPart:], lists[i]) })
	*l = out
	return nil
}
