package finish

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Texts were numbered as they came, from several goroutines of a reader at once. Now that facts lie in their order, texts get
// the numbers of their first use: the same source gives the same bytes. Where the writer had to forget texts, some are there
// twice, and which ones is chance: those stay as they are.

// A numberer gives texts their numbers.
type numberer struct{ *finisher }

// orderTexts gives texts their final numbers.
func (f numberer) orderTexts(context.Context) error {
	if f.Texts.Count() == 0 || f.Texts.Forgot() {
		return nil
	}
	number := make([]uint32, f.Texts.Count()) // by the number so far, plus one; 0: not met yet
	used := make([]uint32, 0, len(number))
	for _, table := range []string{"interval_fact", "instant_fact"} {
		if err := f.numberTexts(table, number, &used); err != nil {
			return err
		}
	}
	return f.moveTexts(used)
}

// numberTexts writes the new numbers of texts into a table of facts. O(facts).
func (f numberer) numberTexts(table string, number []uint32, used *[]uint32) (err error) {
	kinds, err := spool.MapWhole(filepath.Join(f.Dir, table+".kind.u8"))
	if err != nil {
		return err
	}
	defer kinds.Close()
	if len(kinds.Bytes) == 0 {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(f.Dir, table+".bits.u64"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	m, err := spool.MapOpen(file, int64(len(kinds.Bytes))*8, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return disk.Guard(func() error {
		bits := spool.ViewOf[uint64](m.Bytes)
		for i, k := range kinds.Bytes {
			if k != uint8(trace.ValueText) {
				continue
			}
			old := bits[i]
			if number[old] == 0 {
				*used = append(*used, uint32(old))
				number[old] = uint32(len(*used))
			}
			if id := uint64(number[old] - 1); id != old {
				bits[i] = id // pages that stay as they are need not be written again
			}
		}
		return nil
	})
}

// moveTexts puts texts in the order of their new numbers; those that nobody uses go.
func (f numberer) moveTexts(used []uint32) error {
	inOrder := len(used) == int(f.Texts.Count())
	for i := 0; inOrder && i < len(used); i++ {
		inOrder = used[i] == uint32(i)
	}
	if inOrder {
		return nil
	}
	offsets, err := os.ReadFile(filepath.Join(f.Dir, "text.offset.u64"))
	if err != nil {
		return err
	}
	bytes, err := os.ReadFile(filepath.Join(f.Dir, "text.bytes.u8")) // as much as the writer remembers at most
	if err != nil {
		return err
	}
	at := spool.ViewOf[uint64](offsets)
	starts, moved := make([]uint64, 1, len(used)+1), make([]byte, 0, len(bytes))
	for _, old := range used {
		moved = append(moved, bytes[at[old]:at[old+1]]...)
		starts = append(starts, uint64(len(moved)))
	}
	return cmp.Or(os.WriteFile(filepath.Join(f.Dir, "text.bytes.u8"), moved, 0o644), os.WriteFile(filepath.Join(f.Dir, "text.offset.u64"), spool.BytesOf(starts), 0o644))
}
