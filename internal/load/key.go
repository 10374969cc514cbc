package load

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/importer"
)

// readerVersion goes up whenever a reader gives another trace for the same
// bytes, so that stores kept from before are imported anew.
const readerVersion = 18

// demoVersion goes up whenever a demo gives another trace.
const demoVersion = 2

// FindDemo finds a demo by its name, with the options that may follow it.
func FindDemo(name string) (*demo.Demo, demo.Options, error) {
	d, ok := demo.Find(name)
	if !ok {
		e := &UsageError{Text: fmt.Sprintf("no demo %q; `parallax demo --list` lists them, and ?balanced, "+
			"?locations=N, ?intervals=N, ?seed=N, and of training ?fault=NAME may follow a name", name), Typed: name}
		for _, d := range demo.Demos {
			e.Known = append(e.Known, d.Name)
		}
		return nil, demo.Options{}, e
	}
	return d, d.Options, nil
}

func demoKey(d *demo.Demo, o demo.Options) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "demo %d %d %s %+v", readerVersion, demoVersion, d.Name, o))
	return hex.EncodeToString(sum[:])
}

// runKey names a run by its sources: format and reader, and each file's path, size, time and both ends, or with whole
// all of its bytes; and whether names stay as they are.
func runKey(run importer.Run, roots []string, whole, rawNames bool) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%s\n", readerVersion, run.Format.Name, run.Options.Align)
	if rawNames {
		fmt.Fprintf(h, "raw names\n")
	}
	if run.Clocks != "" {
		fmt.Fprintf(h, "%s\n", run.Clocks)
	}
	for _, r := range roots {
		abs, err := filepath.Abs(r)
		if err != nil {
			abs = r
		}
		fmt.Fprintf(h, "%s\n", abs)
	}
	for _, path := range run.Files {
		f, err := run.OpenRaw(path)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", run.Label(path), err)
		}
		err = hashFile(h, path, f, whole)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("read %s: %w", run.Label(path), err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

const endBytes = 64 << 10

func hashFile(h io.Writer, path string, f fs.File, whole bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%s\n%d\n", path, info.Size())
	if whole {
		_, err = io.Copy(h, f)
		return err
	}
	fmt.Fprintf(h, "%d\n", info.ModTime().UnixNano())
	if _, err = io.CopyN(h, f, endBytes); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || info.Size() <= endBytes {
		return nil
	}
	tail := make([]byte, min(endBytes, info.Size()-endBytes))
	n, err := at.ReadAt(tail, info.Size()-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = h.Write(tail[:n])
	return err
}
