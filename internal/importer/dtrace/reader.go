package dtrace

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	dtraceHead  = regexp.MustCompile(`^CPU +ID +FUNCTION:NAME`)
	dtraceFrame = regexp.MustCompile("^\\s+[\\w.+\\-]+`.+\\+0x[0-9a-f]+$")
	openMap     = regexp.MustCompile(`^@(\w*)\[\s*$`)
	closeMap    = regexp.MustCompile(`^(.*)\]: (-?\d+)\s*$`)
	offset      = regexp.MustCompile(`\+(?:0x[0-9a-f]+|\d+)$`)
	address     = regexp.MustCompile(`^[0-9a-f]{4,16} (.*)$`)
)

func (c *converter) dtrace(n int, line []byte) {
	text := strings.TrimSpace(string(line))
	count, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "" && len(c.frames) > 0:
		c.skip(n, "stacks without a count")
		c.frames = c.frames[:0]
	case text == "":
	case err == nil && len(c.frames) > 0:
		c.count("samples", c.process(""), count)
	case strings.Contains(text, "`") || strings.HasPrefix(text, "0x"):
		c.frame(text)
	case !dtraceHead.MatchString(text) && !strings.Contains(text, ":"):
		c.skip(n, "lines that are no frame of a stack")
	}
}

func (c *converter) bpftrace(n int, line []byte) {
	text := strings.TrimSpace(string(line))
	switch m := openMap.FindStringSubmatch(text); {
	case m != nil:
		c.open, c.within, c.frames = true, "@"+m[1], c.frames[:0]
		return
	case !c.open:
		if strings.HasPrefix(text, "@") || strings.HasPrefix(text, "[") {
			c.skip(n, "maps without a stack, and histograms")
		}
		return
	case text == "" || text == ",": // between two stacks
		return
	}
	m := closeMap.FindStringSubmatch(text)
	if m == nil {
		c.frame(text)
		return
	}
	c.open = false
	count, _ := strconv.ParseFloat(m[2], 64)
	c.count(c.within, c.process(strings.TrimPrefix(m[1], ",")), count)
}
