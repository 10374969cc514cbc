package ftrace

import (
	"regexp"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/sched"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A record is a line.
type record struct {
	task   sched.Task
	tgid   int64 // -1: not printed
	cpu    int64
	time   trace.Time
	event  string
	fields []byte
	// byTask says that the task did it; false: an interrupt did while the task ran, or that is not known.
	byTask bool
}

var eventLine = regexp.MustCompile(`^\s*(.*\S)\s*-(\d+)\s+(?:\(\s*(-+|\d+)\)\s+)?\[(\d+)\]\s+(?:(\S{4,6})\s+)?` +
	`(\d+)\.(\d+):\s+([\w.:/-]+):(?:\s+(.*))?$`)

// interrupt is the place of a flag: "." stands for the task itself, letters for interrupts and for work that the kernel
// puts off until after one, such as timers.
const interrupt = 2

func parse(line []byte) (r record, ok bool) {
	m := eventLine.FindSubmatch(line)
	if m == nil {
		return r, false
	}
	number := func(b []byte) int64 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	seconds := number(m[6])
	ns := number([]byte((string(m[7]) + "000000000")[:9]))
	r = record{task: sched.Task{ID: number(m[2]), Name: string(m[1])}, tgid: number(m[3]), cpu: number(m[4]),
		time: trace.Time(seconds*1e9 + ns), event: string(m[8]), fields: m[9],
		byTask: len(m[5]) > interrupt && m[5][interrupt] == '.'}
	return r, seconds >= 0 && seconds < 1<<33 && r.task.ID >= 0
}
