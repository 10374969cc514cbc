package paraver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A header is the first line.
type header struct {
	date         string
	length       trace.Time
	scale        trace.Time // nanoseconds in the unit of times
	cpus         []int      // of each node
	applications [][]task
	communicator int // lines that follow, as far as it says
}

// A task is how many threads it has, and on which node; 0 if that is unknown.
type task struct{ threads, node int }

// parseHeader reads
//
//	#Paraver (date):length[_unit]:nodes(cpus,…):applications:tasks(threads:node,…)[,communicators]…
//
// The date holds a colon. Nodes may be 0. Applications are joined by colons or, by
// some tools, by commas.
func parseHeader(line string) (*header, error) {
	rest, ok := strings.CutPrefix(line, "#Paraver (")
	if !ok {
		return nil, fmt.Errorf("it does not begin with #Paraver (")
	}
	h := &header{}
	if h.date, rest, ok = strings.Cut(rest, "):"); !ok {
		return nil, fmt.Errorf("the date does not end")
	}
	length, rest, ok := strings.Cut(rest, ":")
	if !ok || !h.setLength(length) {
		return nil, fmt.Errorf("the length %q is not understood", clip(length))
	}
	p := &headerParser{text: rest}
	h.readNodes(p)
	applications := p.number()
	for i := 0; p.err == nil && i < applications; i++ {
		p.skip(":,")
		h.applications = append(h.applications, p.tasks(h))
	}
	if p.err == nil && p.accept(',') && p.at < len(p.text) {
		h.communicator = p.number()
	}
	return h, p.err
}

// units are the endings of the length; none is microseconds.
var units = map[string]trace.Time{"": 1000, "ns": 1, "us": 1000, "ms": 1e6, "s": 1e9}

func (h *header) setLength(text string) bool {
	number, unit, _ := strings.Cut(text, "_")
	scale, known := units[unit]
	n, err := strconv.ParseInt(number, 10, 64)
	if !known || err != nil || n < 0 || n > farthest/int64(scale) {
		return false
	}
	h.scale, h.length = scale, trace.Time(n)*scale
	return true
}

// farthest is the last time that is believed: 146 years in nanoseconds.
const farthest = 1 << 62

// readNodes reads "nodes(cpus,cpus):" or "0:".
func (h *header) readNodes(p *headerParser) {
	nodes := p.number()
	if p.accept('(') {
		for p.err == nil && !p.accept(')') {
			h.cpus = append(h.cpus, p.number())
			p.accept(',')
		}
	}
	if len(h.cpus) != nodes && p.err == nil && (nodes != 0 || len(h.cpus) > 0) {
		p.fail("it names %d nodes and lists %d", nodes, len(h.cpus))
	}
	p.expect(':')
}

// A headerParser walks over the header. Its first error stays.
type headerParser struct {
	text string
	at   int
	err  error
}

func (p *headerParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s (character %d of its lists)", fmt.Sprintf(format, args...), p.at+1)
	}
}

func (p *headerParser) accept(c byte) bool {
	if p.err == nil && p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *headerParser) expect(c byte) {
	if !p.accept(c) {
		p.fail("%q is missing", c)
	}
}

// skip passes over one of some characters.
func (p *headerParser) skip(any string) {
	if p.at < len(p.text) && strings.IndexByte(any, p.text[p.at]) >= 0 {
		p.at++
	}
}

// number reads up to nine digits.
func (p *headerParser) number() int {
	from, n := p.at, 0
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' && p.at-from < 9 {
		n = n*10 + int(p.text[p.at]-'0')
		p.at++
	}
	if p.at == from {
		p.fail("a number is missing")
	}
	return n
}

// tasks reads "tasks(threads:node,threads:node)".
func (p *headerParser) tasks(h *header) []task {
	count := p.number()
	p.expect('(')
	var list []task
	for p.err == nil && !p.accept(')') {
		t := task{threads: p.number()}
		if p.accept(':') {
			t.node = p.number()
		}
		if t.node > len(h.cpus) {
			t.node = 0
		}
		list = append(list, t)
		p.accept(',')
	}
	if p.err == nil && len(list) != count {
		p.fail("an application of %d tasks lists %d", count, len(list))
	}
	return list
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
