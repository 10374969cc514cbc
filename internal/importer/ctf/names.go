package ctf

import (
	"bufio"
	"bytes"
	"io"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// mostNames bounds the bytes read from a list of symbols.
const mostNames = 64 << 20

// isSymbols reports whether a file is a list of symbols as nm writes it: an address, a letter, a name.
func isSymbols(head []byte) bool {
	lines := bytes.SplitN(head, []byte("\n"), 4)
	if len(lines) < 2 {
		return false
	}
	for _, l := range lines[:len(lines)-1] {
		if _, _, _, ok := symbol(l); !ok {
			return false
		}
	}
	return true
}

// symbol reads a line of such a list. Symbols without an address are those of other files.
func symbol(line []byte) (address uint64, kind byte, name []byte, ok bool) {
	f := bytes.Fields(line)
	switch {
	case len(f) == 2 && len(f[0]) == 1 && line[0] == ' ':
		return 0, f[0][0], nil, true
	case len(f) < 3 || len(f[1]) != 1 || len(f[0]) != 8 && len(f[0]) != 16:
		return 0, 0, nil, false
	}
	address, err := strconv.ParseUint(string(f[0]), 16, 64)
	return address, f[1][0], bytes.Join(f[2:], []byte(" ")), err == nil
}

// readSymbols reads the names of functions that lie next to a trace.
func readSymbols(run importer.Run, file string, into map[uint64]string) error {
	in, err := run.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	scan := bufio.NewScanner(io.LimitReader(in, mostNames))
	scan.Buffer(nil, 1<<16)
	for scan.Scan() {
		address, kind, name, ok := symbol(scan.Bytes())
		if ok && len(name) > 0 && bytes.IndexByte([]byte("tTwWiu"), kind) >= 0 && into[address] == "" {
			into[address] = string(bytes.ToValidUTF8(name, []byte("\uFFFD")))
		}
	}
	return nil // a line that is too long ends the list, and names are a courtesy
}
