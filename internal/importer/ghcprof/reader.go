package ghcprof

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// --- text

type text struct {
	*profile
	total, bytes float64
	table        bool
	exact        bool // ticks and bytes are printed
}

var (
	totalTime  = regexp.MustCompile(`total time +=.*\((\d+) ticks @ (\d+) us`)
	totalBytes = regexp.MustCompile(`total alloc = +([\d,]+) bytes`)
	treeHead   = regexp.MustCompile(
		`^COST CENTRE +MODULE .*no\. +entries +%time +%alloc +%time +%alloc( +ticks +bytes)?`,
	)
)

func (t *text) line(n int, line []byte) {
	s := string(line)
	if m := totalTime.FindStringSubmatch(s); m != nil {
		t.total, _ = strconv.ParseFloat(m[1], 64)
		us, _ := strconv.ParseFloat(m[2], 64)
		t.tick = us * 1000
		return
	}
	if m := totalBytes.FindStringSubmatch(s); m != nil {
		t.bytes, _ = strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		return
	}
	if m := treeHead.FindStringSubmatch(s); m != nil {
		t.table, t.exact = true, m[1] != ""
		return
	}
	if t.table && strings.TrimSpace(s) != "" && !t.row(s) {
		t.w.Report(trace.MissingValues, "lines that are no cost centre", 1, "line "+strconv.Itoa(n))
	}
}

// row reads name, module, source, number, entries, own and inherited per cent; ticks and bytes with -P.
func (t *text) row(s string) bool {
	depth := len(s) - len(strings.TrimLeft(s, " "))
	f := strings.Fields(s)
	numbers := 6
	if t.exact {
		numbers = 8
	}
	if len(f) < 2+numbers {
		return false
	}
	words, tail := f[:len(f)-numbers], f[len(f)-numbers:]
	var v [8]float64
	for i, x := range tail {
		var err error
		if v[i], err = strconv.ParseFloat(x, 64); err != nil {
			return false
		}
	}
	ticks, bytes := v[2]/100*t.total, v[3]/100*t.bytes
	if t.exact {
		ticks, bytes = v[6], v[7]
	}
	t.add(depth, centre{words[0], words[1], strings.Join(words[2:], " ")}, ticks, bytes)
	return true
}

// --- JSON

type node struct {
	ID       int64   `json:"id"`
	Ticks    float64 `json:"ticks"`
	Alloc    float64 `json:"alloc"`
	Children []*node `json:"children"`
}

// largest bounds a file, which is held in memory.
const largest = 1 << 30

func (p *profile) json(ctx context.Context, in io.Reader, label string) error {
	var file struct {
		Interval float64 `json:"tick_interval"` // µs
		Centres  []struct {
			ID     int64  `json:"id"`
			Label  string `json:"label"`
			Module string `json:"module"`
			Source string `json:"src_loc"`
		} `json:"cost_centres"`
		Profile *node `json:"profile"`
	}
	if err := json.NewDecoder(io.LimitReader(in, largest)).Decode(&file); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return importer.Malformed(label, "", "its JSON cannot be read: %v", err)
	}
	p.tick = file.Interval * 1000
	centres := map[int64]centre{}
	for _, c := range file.Centres {
		centres[c.ID] = centre{c.Label, c.Module, c.Source}
	}
	p.tree(file.Profile, 0, centres)
	return ctx.Err()
}

func (p *profile) tree(n *node, depth int, centres map[int64]centre) {
	if n == nil {
		return
	}
	c, ok := centres[n.ID]
	if !ok {
		c.name = "cost centre " + strconv.FormatInt(n.ID, 10)
	}
	p.add(depth, c, n.Ticks, n.Alloc)
	for _, child := range n.Children {
		p.tree(child, depth+1, centres)
	}
}
