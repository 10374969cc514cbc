package rename

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// digits renames strings of sixteen digits, which facts hold themselves. They become strings like others, unless they
// stay as they are.
type digits struct {
	stream trace.Stream
	taker  *taker
	ids    map[string]uint64 // strings that were added; some are forgotten, and added twice
	add    func(string) uint64
}

// mostIDs bounds the remembered ids.
const mostIDs = 1 << 18

// rewrite writes the kinds and values of a table of facts again.
func (d *digits) rewrite(ctx context.Context, from, to, table string) error {
	kinds, err := open(from, table+".kind.u8")
	if err != nil {
		return err
	}
	defer kinds.Close()
	values, err := open(from, table+".bits.u64")
	if err != nil {
		return err
	}
	defer values.Close()
	newKinds, err := os.Create(filepath.Join(to, table+".kind.u8"))
	if err != nil {
		return err
	}
	defer newKinds.Close()
	newValues, err := os.Create(filepath.Join(to, table+".bits.u64"))
	if err != nil {
		return err
	}
	defer newValues.Close()
	inKind, inBits := bufio.NewReaderSize(kinds, 1<<16), bufio.NewReaderSize(values, 1<<16)
	outKind, outBits := bufio.NewWriterSize(newKinds, 1<<16), bufio.NewWriterSize(newValues, 1<<16)
	var word [8]byte
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind, err := inKind.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if _, short := io.ReadFull(inBits, word[:]); err != nil || short != nil {
			return fmt.Errorf("read %s: %w: %w", table, cmp.Or(err, short), disk.ErrDamaged)
		}
		bits := binary.LittleEndian.Uint64(word[:])
		if trace.ValueKind(kind) == disk.Hexadecimal {
			kind, bits = d.rename(bits)
		}
		outKind.WriteByte(kind) // errors are kept until Flush
		binary.LittleEndian.PutUint64(word[:], bits)
		outBits.Write(word[:])
	}
	return cmp.Or(outKind.Flush(), outBits.Flush())
}

func (d *digits) rename(bits uint64) (kind uint8, value uint64) {
	d.stream.Attribute(0, trace.Hexadecimal(bits))
	if n, ok := d.taker.value.Hexadecimal(); ok {
		return uint8(disk.Hexadecimal), n
	}
	s := d.taker.value.String()
	id, ok := d.ids[s]
	if !ok {
		if len(d.ids) >= mostIDs {
			clear(d.ids)
		}
		id = d.add(s)
		d.ids[s] = id
	}
	return uint8(trace.ValueText), id
}
