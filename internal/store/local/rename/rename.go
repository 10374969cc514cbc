// Package rename writes a store again with other names: definitions go through a trace.Writer that changes them, and
// the rows, which name definitions by number, are copied byte by byte. So no number changes, and a store of any size
// takes as long as copying it.
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
	"slices"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Run writes the store at from, which r has open, to another path; through gets the writer
// that takes the new definitions and gives the one to which the old are told. The new store
// says that it is from source.
func Run(ctx context.Context, r store.Reader, from, to, source string, through func(trace.Writer) trace.Writer) error {
	if err := write.Replaceable(to); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(to))
	partial.RemoveStale(parent)
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(to)+partial.PartMark)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // it has its name by then, or is of no use
	temp := filepath.Join(dir, partial.TempName)
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	lock, err := partial.LockDir(temp)
	if err != nil {
		return err
	}
	defer lock.Close()
	t := &taker{properties: map[string]string{}}
	w := through(t)
	tell(r, w)
	m, err := disk.ReadManifest(from)
	if err != nil {
		return err
	}
	c := columns{strings: newStrings()}
	if err := cmp.Or(c.fill(t).write(dir), texts(ctx, from, dir, w, t)); err != nil {
		return err
	}
	for i := range m.Files {
		e := &m.Files[i]
		switch {
		case slices.Contains(rewritten, e.Name):
			if *e, err = disk.DescribeFile(dir, e.Name); err != nil {
				return fmt.Errorf("check %s: %w", e.Name, err)
			}
		case e.Size > 0:
			if err := copyFile(ctx, filepath.Join(from, e.Name), filepath.Join(dir, e.Name)); err != nil {
				return err
			}
		}
	}
	m.Info.Sources, m.Info.Properties = []string{source}, t.properties
	m.Metrics, m.SourceFiles, m.Report = t.metrics, t.files, t.report
	m.Topologies = m.Topologies[:0]
	for _, x := range t.topologies {
		m.Topologies = append(m.Topologies,
			disk.ManifestTopology{Name: x.Name, Dims: x.Dims, DimNames: x.DimNames, Periodic: x.Periodic})
	}
	lock.Close()
	if err := cmp.Or(os.RemoveAll(temp), m.Write(dir)); err != nil {
		return err
	}
	return write.Replace(dir, to)
}

// tell passes everything that a store defines to w, in the order of the store's numbers.
func tell(r store.Reader, w trace.Writer) {
	t := r.Locations()
	for id := range t.Len() {
		w.Location(trace.Location{Parent: t.Parent[id], Kind: t.Kind[id], Name: t.Name[id], Rank: int(t.Rank[id]),
			Attributes: t.Attributes[id]})
	}
	for _, x := range r.Regions() {
		w.Region(x)
	}
	for _, x := range r.Attributes() {
		w.Attribute(x)
	}
	for _, x := range r.Counters() {
		w.Counter(x)
	}
	for _, x := range r.Communicators() {
		w.Communicator(x)
	}
	for _, x := range r.Metrics() {
		w.Metric(x)
	}
	for _, x := range r.SourceFiles() {
		trace.SourceFile(w, x)
	}
	for _, x := range r.Topologies() {
		w.Topology(x)
	}
	for _, e := range r.Info().Report {
		w.Report(e.Kind, e.What, e.Count, e.Example)
	}
	for k, v := range r.Info().Properties {
		w.Property(k, v)
	}
}

// texts writes the values of attributes again, one at a time: there may be more than memory holds.
func texts(ctx context.Context, from, to string, w trace.Writer, t *taker) error {
	offsets, err := open(from, "text.offset.u64")
	if err != nil {
		return err
	}
	defer offsets.Close()
	bytes, err := open(from, "text.bytes.u8")
	if err != nil {
		return err
	}
	defer bytes.Close()
	newOffsets, err := os.Create(filepath.Join(to, "text.offset.u64"))
	if err != nil {
		return err
	}
	defer newOffsets.Close()
	newBytes, err := os.Create(filepath.Join(to, "text.bytes.u8"))
	if err != nil {
		return err
	}
	defer newBytes.Close()
	in, text := bufio.NewReaderSize(offsets, 1<<16), bufio.NewReaderSize(bytes, 1<<16)
	out, outText := bufio.NewWriterSize(newOffsets, 1<<16), bufio.NewWriterSize(newBytes, 1<<16)
	stream := w.Stream(0, trace.StreamOptions{})
	var word [8]byte
	var last, at, count uint64
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.ReadFull(in, word[:]); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read strings: %w: %w", err, disk.ErrDamaged)
		}
		next := binary.LittleEndian.Uint64(word[:])
		if n > 0 {
			if next < last || next-last > longestText {
				return fmt.Errorf("text.offset.u64, row %d: %w", n, disk.ErrDamaged)
			}
			b := make([]byte, next-last)
			if _, err := io.ReadFull(text, b); err != nil {
				return fmt.Errorf("read strings: %w: %w", err, disk.ErrDamaged)
			}
			stream.Attribute(0, trace.Text(string(b)))
			s := t.value.String()
			outText.WriteString(s) // errors are kept until Flush
			at += uint64(len(s))
			count++
		}
		last = next
		out.Write(binary.LittleEndian.AppendUint64(nil, at))
	}
	d := &digits{stream: stream, taker: t, ids: map[string]uint64{}, add: func(s string) uint64 {
		outText.WriteString(s)
		at += uint64(len(s))
		out.Write(binary.LittleEndian.AppendUint64(nil, at))
		count++
		return count - 1
	}}
	for _, table := range []string{"interval_fact", "instant_fact"} {
		if err := d.rewrite(ctx, from, to, table); err != nil {
			return err
		}
	}
	return cmp.Or(out.Flush(), outText.Flush())
}

// longestText is more than any reader gives: a larger one is damage, not a text.
const longestText = 1 << 28

// open returns a column; one without values has no file.
func open(dir, name string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return io.NopCloser(eof{}), nil
	}
	return f, err
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// copyFile copies in pieces, so that it ends when ctx does.
func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(out, in, 64<<20)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return cmp.Or(err, ctx.Err(), out.Sync(), out.Close())
}
