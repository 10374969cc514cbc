package strace

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A task is a thread or process that makes calls.
type task struct {
	*importer.Row
	process trace.LocationID
	pending *record // an interrupted call
	begin   trace.Time
}

// A converter turns lines into intervals.
type converter struct {
	w       trace.Writer
	label   string
	rows    importer.Rows
	tasks   map[int64]*task
	first   *task           // of lines without a pid, while it has none
	parents map[int64]*task // which made a task that was not met so far, or made it as a thread
	threads map[int64]bool
	last    *task
	lines   joiner
	regions map[string]trace.RegionID

	begun    bool
	relative bool
	now      trace.Time // of the line before
	day      trace.Time

	arguments, result, failed trace.AttributeID
	calls                     int
}

func newConverter(w trace.Writer, label string) *converter {
	return &converter{w: w, label: label, rows: importer.NewRows(w), tasks: map[int64]*task{},
		parents: map[int64]*task{}, threads: map[int64]bool{}, regions: map[string]trace.RegionID{},
		arguments: w.Attribute("arguments"), result: w.Attribute("result"), failed: w.Attribute("error")}
}

var attached = regexp.MustCompile(`strace: Process (\d+) attached$`)

func (c *converter) line(n int, line []byte) {
	line, made := c.lines.line(line)
	if made >= 0 && c.parents[made] == nil && c.last != nil {
		c.parents[made] = c.last
	}
	if isComment(line) {
		return
	}
	place := func() string { return fmt.Sprintf("%s: line %d", c.label, n) }
	r, ok := parse(line)
	if !ok || !r.timed && !c.begun {
		c.w.Report(trace.MissingIntervals, "lines that are no system call", 1, place())
		return
	}
	c.clock(&r)
	t := c.task(r)
	c.last = t
	switch r.kind {
	case signal:
		c.instant(t, r, "signal")
	case exit:
		c.instant(t, r, "exit")
	case unfinished:
		if t.pending == nil || r.result == "" {
			c.unfinished(t)
			begun := r
			begun.arguments = bytes.Clone(r.arguments)
			t.pending, t.begin = &begun, r.time
		}
	case resumed:
		c.resumed(t, r, place)
	default:
		c.interval(t, r, r.time, r.time+max(r.length, 0))
		if r.length < 0 {
			c.w.Report(trace.Guessed, "calls without a length, which strace -T records: shown as empty", 1, place())
		}
	}
}

// relativeBelow distinguishes differences from times since 1970.
const relativeBelow = trace.Time(1e8 * 1e9)

// clock gives a record its time.
func (c *converter) clock(r *record) {
	if !r.timed {
		r.time = c.now
		return
	}
	if !c.begun {
		c.begun, c.relative = true, !r.clock && r.time < relativeBelow
	}
	switch {
	case c.relative:
		r.time += c.now
	case r.clock:
		if r.time += c.day; r.time < c.now-12*3600e9 {
			c.day += 24 * 3600e9
			r.time += 24 * 3600e9
		}
	}
	c.now = max(r.time, 0)
}

// task finds who made a call. The first lines may lack a pid: they are of the task that no other made.
func (c *converter) task(r record) *task {
	if r.pid < 0 {
		switch {
		case c.first != nil:
			return c.first
		case c.last != nil:
			return c.last
		}
		c.first = c.open(-1, nil)
		return c.first
	}
	if t := c.tasks[r.pid]; t != nil {
		return t
	}
	parent := c.parents[r.pid]
	if parent == nil {
		if parent = c.maker(); parent != nil {
			c.threads[r.pid] = true
		}
	}
	if parent == nil && c.first != nil && c.tasks[-1] == c.first {
		t := c.first
		name := strconv.FormatInt(r.pid, 10)
		c.w.Describe(t.process, trace.Location{Name: "process " + name, Rank: trace.NoRank, Order: r.pid})
		c.w.Describe(t.At, trace.Location{Name: "thread " + name, Rank: trace.NoRank, Order: r.pid})
		delete(c.tasks, -1)
		c.tasks[r.pid] = t
		return t
	}
	return c.open(r.pid, parent)
}

// maker returns a task that is within a call that makes a thread: a new thread may run before that call returns. nil:
// there is none, or the thread may be of another process.
func (c *converter) maker() (maker *task) {
	for _, t := range c.tasks {
		switch {
		case t.pending == nil || !makes(t.pending.name):
		case !makesThread(t.pending) || maker != nil && maker.process != t.process:
			return nil
		default:
			maker = t
		}
	}
	return maker
}

func makesThread(r *record) bool { return bytes.Contains(r.arguments, []byte("CLONE_THREAD")) }

func (c *converter) open(pid int64, parent *task) *task {
	t := &task{}
	name := strconv.FormatInt(pid, 10)
	process, thread := "process "+name, "thread "+name
	if pid < 0 {
		process, thread = "process", "thread"
	}
	if parent != nil && c.threads[pid] {
		t.process = parent.process
	} else {
		t.process = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: name,
			Name: process, Rank: trace.NoRank, Order: pid, Attributes: importer.PID(pid)})
	}
	t.Row = c.rows.Open(trace.Location{Parent: t.process, Kind: trace.KindThread, Key: name, Name: thread,
		Rank: trace.NoRank, Order: pid, Attributes: importer.TID(pid)}, trace.StreamOptions{Unordered: true})
	c.tasks[pid] = t
	return t
}

func (c *converter) instant(t *task, r record, category string) {
	t.Stream.Instant(r.time, importer.Once(c.regions, category+" "+r.name, func() trace.RegionID {
		return c.w.Region(trace.Region{Name: r.name, Category: category})
	}))
	t.Stream.Attribute(c.arguments, trace.Text(clipped(r.arguments)))
}

func (c *converter) resumed(t *task, r record, place func() string) {
	begin := r.time
	switch p := t.pending; {
	case p != nil && p.name == r.name:
		begin = t.begin
		r.arguments = append(p.arguments, r.arguments...)
	case r.length >= 0:
		begin -= r.length
	default:
		c.w.Report(trace.Guessed, "calls that are resumed and whose begin is not in the file: shown as empty", 1,
			place())
	}
	t.pending = nil
	end := r.time
	if r.length >= 0 && begin != r.time-r.length {
		end = begin + r.length
	}
	c.interval(t, r, begin, end)
}

// unfinished writes a call whose end is not in the file.
func (c *converter) unfinished(t *task) {
	if t.pending != nil {
		c.calls++
		t.Stream.Enter(t.begin, c.region(t.pending.name))
		t.pending = nil
	}
}

func (c *converter) interval(t *task, r record, begin, end trace.Time) {
	c.calls++
	t.Stream.Interval(begin, end, c.region(r.name))
	if len(r.arguments) > 0 {
		t.Stream.Attribute(c.arguments, trace.Text(clipped(r.arguments)))
	}
	value, rest, _ := strings.Cut(r.result, " ")
	if value != "" && value != "?" {
		t.Stream.Attribute(c.result, trace.Text(value))
	}
	if value == "-1" || strings.HasPrefix(rest, "ERESTART") {
		word, _, _ := strings.Cut(rest, " ")
		t.Stream.Attribute(c.failed, trace.Text(word))
	}
	if child, err := strconv.ParseInt(value, 10, 64); err == nil && child > 0 && makes(r.name) {
		c.child(t, r, child, begin)
	}
}

// child remembers who made a task.
func (c *converter) child(t *task, r record, pid int64, begin trace.Time) {
	if makesThread(&r) && c.tasks[pid] == nil {
		c.threads[pid] = true
	}
	c.parents[pid] = t
	to := c.task(record{pid: pid})
	c.w.Link(trace.Link{Kind: trace.LinkSpawn, From: trace.End{Location: t.At, Time: begin, Region: c.region(r.name)},
		To:   trace.End{Location: to.At, Time: max(begin, r.time), Region: trace.NoRegion},
		Size: -1, Communicator: trace.NoCommunicator})
}

func makes(name string) bool {
	switch name {
	case "clone", "clone3", "fork", "vfork":
		return true
	}
	return false
}

// clipped bounds the kept length of arguments, which hold the data read and written.
func clipped(b []byte) string {
	const most = 160
	b = bytes.TrimSpace(b)
	if len(b) <= most {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:most]), "") + "…"
}

func (c *converter) region(name string) trace.RegionID {
	return importer.Once(c.regions, name, func() trace.RegionID {
		category, role := classOf(name)
		return c.w.Region(trace.Region{Name: name, Category: category, Role: role})
	})
}

func (c *converter) close() error {
	for _, t := range c.tasks {
		c.unfinished(t)
	}
	return c.rows.Close()
}

// classes of calls, by parts of their names; the first that fits counts.
var classes = []struct {
	category string
	role     trace.Role
	names    *regexp.Regexp
}{
	{"wait", trace.RoleSynchronization, regexp.MustCompile(`^(?:futex|flock|semop|semtimedop|msgrcv)`)},
	{"wait", trace.RoleIdle, regexp.MustCompile(`^(?:p?poll|p?select|_newselect|epoll_p?wait|wait|nanosleep|` +
		`clock_nanosleep|pause|rt_sigsuspend|rt_sigtimedwait|io_getevents|accept|restart_syscall)`)},
	{"network", trace.RoleCommunication, regexp.MustCompile(`^(?:socket|connect|bind|listen|send|recv|shutdown|` +
		`getsock|setsock|getpeer)`)},
	{"file", trace.RoleIO,
		regexp.MustCompile(`^(?:p?read|p?write|open|creat|close|l?l?seek|f?l?stat|newfstat|fstat|access|` +
			`faccess|f?sync|fdatasync|getdents|f?truncate|link|unlink|rename|mkdir|rmdir|readlink|fcntl|` +
			`ioctl|dup|pipe|` +
			`sendfile|splice|copy_file|fallocate|statx|statfs|chdir|fchdir|getcwd|fadvise|io_uring|umask|` +
			`chmod|chown)`)},
	{"memory", trace.RoleCompute, regexp.MustCompile(`^(?:brk|m(?:map|unmap|protect|remap|advise|lock)|shm|munlock)`)},
	{"process", trace.RoleCompute,
		regexp.MustCompile(`^(?:clone|v?fork|execve|exit|kill|tkill|tgkill|getpid|gettid|set_tid|` +
			`set_robust|rseq|prctl|arch_prctl|prlimit|sched_|rt_sig|sigaltstack)`)},
}

func classOf(name string) (string, trace.Role) {
	for _, k := range classes {
		if k.names.MatchString(name) {
			return k.category, k.role
		}
	}
	return "other", trace.RoleCompute
}
