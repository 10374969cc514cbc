package pajecsv

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// order is the order in which the files of a run are read: files that others refer to come first.
var order = []kind{entities, tasks, dump, records, graph}

func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	files := map[kind][]string{}
	starpu := false
	for _, f := range run.Files {
		head := run.Source.Head(f)
		k := sniff(head)
		if k == other {
			k = dump // damaged, or named by the user
		}
		files[k] = append(files[k], f)
		starpu = starpu || isStarPU(head)
	}
	decimals := 9
	if starpu {
		decimals = 6
		w.Report(trace.Guessed, "times taken as milliseconds, which StarPU writes where Paje has seconds", 1,
			run.Label(run.Files[0]))
	}
	c := newConverter(w, decimals)
	c.listed = len(files[entities]) > 0
	lines := int64(0)
	for _, f := range files[dump] {
		if err := c.readContainers(ctx, run, f); err != nil {
			return err
		}
	}
	for _, k := range order {
		for _, f := range files[k] {
			n, err := c.file(ctx, run, f, k)
			if err != nil {
				return err
			}
			lines += n
			c.tally.Report(w, run.Label(f), "line", reasons[:])
		}
	}
	if lines == 0 {
		return importer.Malformed(run.Label(run.Files[0]), "line 1", "none of pj_dump's lines is in it")
	}
	c.links()
	c.tally.Report(w, run.Label(run.Files[0]), "line", reasons[:])
	return c.finish()
}

// readContainers reads the containers in the output of pj_dump, which come among the records that refer to them.
func (c *converter) readContainers(ctx context.Context, run importer.Run, name string) error {
	run.Progress = nil // this reading is not the import
	r, err := run.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 256<<10)
	var fields []string
	for line := int64(1); ; line++ {
		if line&1023 == 1 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := in.ReadSlice('\n')
		if bytes.HasPrefix(text, []byte("Container,")) && err != bufio.ErrBufferFull {
			fields = split(strings.TrimRight(string(text), "\r\n"), fields)
			if len(fields) >= 7 {
				c.listed = true
				c.create(fields[1], strings.Join(fields[6:], ", "), fields[2], line)
				begin, ok := parseTime(fields[3], c.decimals)
				end, ended := parseTime(fields[4], c.decimals)
				if ok && ended && begin <= end { // it lives though nothing happens in it
					trace.Cover(c.w, begin, end)
				}
			}
		}
		for err == bufio.ErrBufferFull { // no container has such a name
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			return nil // said when the records are read
		}
	}
}

// isStarPU recognises StarPU's types of states.
func isStarPU(head []byte) bool {
	for _, name := range []string{" Worker State,", " Thread State,", " Communication Thread State,",
		" Memory Node State,", " User Thread State,"} {
		if bytes.Contains(head, []byte(name)) {
			return true
		}
	}
	return false
}

// longest is how long a line may be.
const longest = 1 << 20

// file reads one file line by line, and returns how many lines had a meaning.
func (c *converter) file(ctx context.Context, run importer.Run, name string, k kind) (meant int64, err error) {
	r, err := run.Open(name)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 256<<10)
	var cols *columns
	var fields []string
	for line := int64(1); ; line++ {
		if line&1023 == 1 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		text, long, err := readLine(in)
		if long {
			c.tally.Add(longLine, line)
		} else if text = strings.TrimRight(text, "\r\n"); strings.TrimSpace(text) != "" {
			fields = split(text, fields)
			if k != dump && cols == nil {
				cols = newColumns(fields)
			} else if c.line(k, cols, fields, line) {
				meant++
			}
		}
		if err == io.EOF {
			return meant, nil
		}
		if err != nil {
			if meant == 0 {
				return 0, err
			}
			c.w.Report(reasons[damaged].Kind, reasons[damaged].What, 1, err.Error())
			return meant, nil
		}
	}
}

// line takes a line of a file of some kind. It reports whether it counted as one.
func (c *converter) line(k kind, cols *columns, fields []string, line int64) bool {
	before := c.tally.Count(unknownNature)
	switch k {
	case entities:
		if len(fields) < len(cols.names) {
			c.tally.Add(shortLine, line)
		} else if cols.get(fields, "Nature") == "Container" {
			c.create(cols.get(fields, "Parent"), strings.Clone(cols.get(fields, "Name")), cols.get(fields, "Type"),
				line)
		}
	case tasks:
		c.taskLine(cols, fields, line)
	case graph:
		c.edge(cols, fields, line)
	default:
		c.record(cols, fields, line)
	}
	return c.tally.Count(unknownNature) == before
}
