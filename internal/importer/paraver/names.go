package paraver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// names are the definitions of .pcf and .row.
type names struct {
	states  map[int64]string
	colours map[int64]string
	events  map[int64]*eventNames
	rows    map[string][]string // by level: NODE, TASK, THREAD, CPU, …
}

// eventNames are the name of a type and of its values. A table of values may serve
// several types.
type eventNames struct {
	name   string
	values map[int64]string // nil: numbers
}

// defaultStates are the names that Paraver uses where a .pcf has none.
var defaultStates = []string{
	"Idle", "Running", "Not created", "Waiting a message", "Blocking Send", "Synchronization", "Test/Probe",
	"Scheduling and Fork/Join", "Wait/WaitAll",
	"Blocked", "Immediate Send", "Immediate Receive", "I/O", "Group Communication", "Tracing Disabled", "Others",
	"Send Receive", "Memory transfer",
	"Profiling", "On-line analysis", "Remote memory access", "Atomic memory operation", "Memory ordering operation",
	"Distributed locking", "Overhead",
	"One-sided op", "Startup latency", "Waiting links", "Data copy", "RTT", "Allocating memory", "Freeing memory",
}

func newNames() *names {
	return &names{states: map[int64]string{}, colours: map[int64]string{}, events: map[int64]*eventNames{},
		rows: map[string][]string{}}
}

// state returns the name of a state.
func (n *names) state(id int64) string {
	if name, ok := n.states[id]; ok {
		return name
	}
	if id >= 0 && id < int64(len(defaultStates)) {
		return defaultStates[id]
	}
	return fmt.Sprint("state ", id)
}

// row returns the name of the k-th row of a level, counted from 0; empty for none.
func (n *names) row(level string, k int) string {
	if rows := n.rows[level]; k < len(rows) {
		return rows[k]
	}
	return ""
}

const (
	maxNames   = 1 << 22 // values, types and rows in all
	longestRow = 1 << 16
)

// lines yields the lines of a file, without blanks around them.
func lines(ctx context.Context, run importer.Run, file string, f func(line string) bool) error {
	r, err := run.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, longestRow)
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := in.ReadSlice('\n')
		if text := strings.TrimSpace(string(line)); text != "" && !f(text) {
			return nil
		}
		for err == bufio.ErrBufferFull { // the rest of a line that is far too long
			_, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readPCF reads the names of states, types and values.
func (n *names) readPCF(ctx context.Context, run importer.Run, file string) error {
	section, count := "", 0
	var group []*eventNames
	var values map[int64]string
	return lines(ctx, run, file, func(line string) bool {
		if line[0] == '#' {
			return true
		}
		if isSection(line) {
			if section = line; line == "EVENT_TYPE" {
				group = nil
			} else if line == "VALUES" {
				values = map[int64]string{}
				for _, e := range group {
					e.values = values
				}
			}
			return true
		}
		number, rest := cutNumber(line)
		if rest == line {
			return true
		}
		count++
		switch section {
		case "STATES":
			n.states[number] = rest
		case "STATES_COLOR":
			if c := colour(rest); c != "" {
				n.colours[number] = c
			}
		case "EVENT_TYPE": // colour, type, name
			if id, name := cutNumber(rest); name != rest {
				e := &eventNames{name: name}
				n.events[id] = e
				group = append(group, e)
			}
		case "VALUES":
			values[number] = rest
		}
		return count < maxNames
	})
}

// isSection recognises the headings of a .pcf: words in capitals.
func isSection(line string) bool {
	for i := range len(line) {
		if c := line[i]; (c < 'A' || c > 'Z') && c != '_' {
			return false
		}
	}
	return len(line) > 3
}

// cutNumber cuts the number off that a line begins with; rest is the whole line if there is none.
func cutNumber(line string) (n int64, rest string) {
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		end = len(line)
	}
	n, err := strconv.ParseInt(line[:end], 10, 64)
	if err != nil {
		return 0, line
	}
	return n, strings.TrimSpace(line[end:])
}

// colour turns {r,g,b} into #rrggbb.
func colour(text string) string {
	parts := strings.Split(strings.Trim(text, "{} "), ",")
	if len(parts) != 3 {
		return ""
	}
	var c [3]uint64
	for i, p := range parts {
		var err error
		if c[i], err = strconv.ParseUint(strings.TrimSpace(p), 10, 8); err != nil {
			return ""
		}
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}

// readRow reads the names of rows: "LEVEL THREAD SIZE 8", then eight lines.
func (n *names) readRow(ctx context.Context, run importer.Run, file string) error {
	level, count := "", 0
	return lines(ctx, run, file, func(line string) bool {
		if words := strings.Fields(line); len(words) == 4 && words[0] == "LEVEL" && words[2] == "SIZE" {
			level = words[1]
			return true
		}
		if level != "" {
			n.rows[level] = append(n.rows[level], line)
			count++
		}
		return count < maxNames
	})
}
