package finish

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Texts were numbered as they came, from several goroutines of a reader at once. Now that facts are in their order,
// strings get the numbers of their first use: the same source gives the same bytes. If the writer had to forget
// strings, some are stored twice, at random: those stay as they are.

// orderTexts gives strings their final numbers.
func (f *finisher) orderTexts(context.Context) error {
	if f.Texts.Count() == 0 || f.Texts.Forgot() {
		return nil
	}
	number := make([]uint32, f.Texts.Count()) // by the number so far, plus one; 0: not met yet
	used := make([]uint32, 0, len(number))
	for _, table := range []string{"interval_fact", "instant_fact"} {
		if err := f.numberTexts(table, nil, number, &used); err != nil {
			return err
		}
	}
	return f.moveTexts(used, int(f.Texts.Count()))
}

// numberTexts writes the new numbers of strings into a table of facts; same has the string that stands for each, if it
// is not nil. O(facts).
func (f *finisher) numberTexts(table string, same, number []uint32, used *[]uint32) (err error) {
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
			if same != nil {
				old = uint64(same[old])
			}
			if number[old] == 0 {
				*used = append(*used, uint32(old))
				number[old] = uint32(len(*used))
			}
			if id := uint64(number[old] - 1); id != bits[i] {
				bits[i] = id // pages that stay as they are need not be written again
			}
		}
		return nil
	})
}

// moveTexts puts strings in the order of their new numbers; unused ones are dropped.
func (f *finisher) moveTexts(used []uint32, count int) error {
	inOrder := len(used) == count
	for i := 0; inOrder && i < len(used); i++ {
		inOrder = used[i] == uint32(i)
	}
	if inOrder {
		return nil
	}
	if err := f.moveTextBytes(used); err != nil {
		return err
	}
	return os.Rename(filepath.Join(f.Temp, "text"), filepath.Join(f.Dir, "text.bytes.u8"))
}

// moveTextBytes writes the bytes of strings in another order next to the old ones, and their offsets in place of these.
func (f *finisher) moveTextBytes(used []uint32) (err error) {
	offsets, err := os.ReadFile(filepath.Join(f.Dir, "text.offset.u64"))
	if err != nil {
		return err
	}
	old, err := spool.MapWhole(filepath.Join(f.Dir, "text.bytes.u8"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	file, err := os.Create(filepath.Join(f.Temp, "text"))
	if err != nil {
		return err
	}
	at := spool.ViewOf[uint64](offsets)
	starts, end := make([]uint64, 1, len(used)+1), uint64(0)
	w := bufio.NewWriterSize(file, 1<<16)
	err = disk.Guard(func() error {
		for _, id := range used {
			n, err := w.Write(old.Bytes[at[id]:at[id+1]])
			if err != nil {
				return err
			}
			end += uint64(n)
			starts = append(starts, end)
		}
		return w.Flush()
	})
	return cmp.Or(err, file.Close(),
		os.WriteFile(filepath.Join(f.Dir, "text.offset.u64"), spool.BytesOf(starts), 0o644))
}
