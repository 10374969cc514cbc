package projections

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A program is the content of the .sts file.
type program struct {
	version  float64
	chares   map[int]chare
	entries  map[int]entry
	events   map[int]string
	stats    map[int]string
	counters []string
}

type chare struct {
	name string
	dims int // of an array of chares; below 1: none
}

type entry struct {
	name  string
	chare int
}

// readSts reads the names. Lines of other kinds say how many there are of something, or of the machine.
func readSts(in io.Reader, label string, w trace.Writer) (*program, error) {
	p := &program{chares: map[int]chare{}, entries: map[int]entry{}, events: map[int]string{}, stats: map[int]string{}}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		f := words(scan.Text())
		if len(f) < 2 {
			continue
		}
		number := func(i int) int {
			if i >= len(f) {
				return -1
			}
			v, err := strconv.Atoi(f[i])
			if err != nil {
				return -1
			}
			return v
		}
		switch f[0] {
		case "VERSION":
			p.version, _ = strconv.ParseFloat(f[1], 64)
			w.Property("projections version", f[1])
		case "MACHINE", "USERNAME", "HOSTNAME", "COMMANDLINE", "TIMESTAMP", "CHARMVERSION", "SMPMODE":
			w.Property(strings.ToLower(f[0]), strings.Join(f[1:], " "))
		case "CHARE":
			if len(f) >= 3 {
				c := chare{f[2], -1}
				if len(f) > 3 {
					c.dims = number(3)
				}
				p.chares[number(1)] = c
			}
		case "ENTRY":
			// ENTRY CHARE id name chare message; before quotes, names could hold blanks
			if len(f) >= 5 {
				last := len(f) - 2
				p.entries[number(2)] = entry{strings.Join(f[3:last], " "), number(last)}
			}
		case "EVENT":
			p.events[number(1)] = strings.Join(f[2:], " ")
		case "STAT":
			p.stats[number(1)] = strings.Join(f[2:], " ")
		case "PAPI_EVENT":
			p.counters = append(p.counters, strings.Join(f[2:], " "))
		}
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	if len(p.entries) == 0 {
		return nil, importer.Malformed(label, "", "names no entry method")
	}
	return p, nil
}

// words splits a line at blanks; quoted words keep theirs.
func words(line string) (out []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " \t") {
		if line[0] == '"' {
			if end := strings.IndexByte(line[1:], '"'); end >= 0 {
				out, line = append(out, line[1:end+1]), line[end+2:]
				continue
			}
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			return append(out, line)
		}
		out, line = append(out, line[:end]), line[end:]
	}
	return out
}

// entryName is "Chare::entry", without the arguments of the entry.
func (p *program) entryName(id int) string {
	e, ok := p.entries[id]
	if !ok {
		return "entry " + strconv.Itoa(id)
	}
	name, _, _ := strings.Cut(e.name, "(")
	if c := p.chares[e.chare]; c.name != "" {
		return c.name + "::" + name
	}
	return name
}
