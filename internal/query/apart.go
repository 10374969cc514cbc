package query

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/table"
)

// Bounds limit the resources of the process of a query.
type Bounds struct {
	Memory int64 // bytes, without pages of mapped files
	Disk   int64 // bytes of temporary files
}

// A Place is where a run is stored: a directory or an address.
type Place struct{ Name, Source, Store string }

// A Job is a question about runs that another process can open.
type Job struct {
	Holder string `json:"-"` // shares are by holder
	Runs   []Place
	SQL    string
	Params []Param
	Limits Limits
	Bounds Bounds
}

// A Param is the value of a parameter, of one of the types, or null.
type Param struct {
	Name    string // "": by its place
	Integer *int64
	Number  *float64
	Text    *string
}

// NewParams returns values as the engine takes them on their way to another process.
func NewParams(values []any) (out []Param) {
	for _, v := range values {
		var p Param
		if named, ok := v.(sql.NamedArg); ok {
			p.Name, v = named.Name, named.Value
		}
		switch x := v.(type) {
		case int64:
			p.Integer = &x
		case float64:
			p.Number = &x
		case string:
			p.Text = &x
		}
		out = append(out, p)
	}
	return out
}

// value returns the parameter as the engine takes it.
func (p *Param) value() (v any) {
	switch {
	case p.Integer != nil:
		v = *p.Integer
	case p.Number != nil:
		v = *p.Number
	case p.Text != nil:
		v = *p.Text
	}
	if p.Name != "" {
		return sql.Named(p.Name, v)
	}
	return v
}

// Apart answers queries in processes of their own. The engine has functions that cannot be interrupted, and takes
// memory in leaps; a process can be ended at any time. On Linux the resident memory and the temporary files of the
// process are watched from here, and the process is ended at its bounds; elsewhere it watches itself.
type Apart struct {
	// Command starts the program that calls Work.
	Command func() *exec.Cmd
	Bounds  Bounds

	turns   *turns
	outside memory.Outside
}

const (
	atOnce      = 4
	leastMemory = 64 << 20
	leastDisk   = 256 << 20
	// overtime is how long a query may take past its time before its process is ended.
	overtime = 2 * time.Second
)

// NewApart shares an eighth of a budget of memory to each of four queries at once, and twice the budget of temporary
// files.
func NewApart(command func() *exec.Cmd, budget int64) *Apart {
	return &Apart{Command: command, turns: newTurns(atOnce),
		Bounds: Bounds{Memory: max(leastMemory, budget/8), Disk: max(leastDisk, 2*budget)}}
}

// Query starts a query when it is the holder's turn. Errors in the text are reported at once.
func (a *Apart) Query(ctx context.Context, job Job) (*Rows, error) {
	if err := onlyAsks(job.SQL); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	leave, err := a.turns.enter(ctx, job.Holder)
	if err != nil {
		return nil, err
	}
	job.Bounds = a.Bounds
	p, err := a.start(ctx, &job, leave)
	if err != nil {
		leave()
		return nil, fmt.Errorf("query: %w", err)
	}
	var head heading
	if err = p.message(&head); err == nil && head.Error == "" {
		r := &Rows{apart: p}
		for i, c := range head.Columns {
			c.Kind, c.guess = head.Kinds[i], head.Guesses[i]
			r.Columns = append(r.Columns, c)
		}
		return r, nil
	}
	if err == nil {
		err = errors.New(head.Error)
	} else {
		err = p.explain(err)
	}
	p.close()
	return nil, err
}

// A process is one query under way.
type process struct {
	command *exec.Cmd
	bounds  Bounds
	input   io.Closer // open as long as the client waits for rows
	out     *bufio.Reader
	said    *firstWords
	ctx     context.Context
	cancel  context.CancelCauseFunc
	watched chan struct{}
	leave   func()
	closed  sync.Once
	end     ending
	columns int
}

func (a *Apart) start(ctx context.Context, job *Job, leave func()) (*process, error) {
	c := a.Command()
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{command: c, bounds: job.Bounds, input: in, out: bufio.NewReaderSize(out, 1<<16), said: &firstWords{},
		watched: make(chan struct{}), leave: leave}
	c.Stderr = p.said
	c.Env = append(c.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", job.Bounds.Memory*3/4), "GOGC=50",
		fmt.Sprintf("GOMAXPROCS=%d", max(1, parallel.Workers()/2))) // others ask too
	if err := c.Start(); err != nil {
		return nil, err
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	go p.watch(&a.outside, job.Limits.Time)
	if err := json.NewEncoder(in).Encode(job); err != nil {
		err = p.explain(err)
		p.close()
		return nil, err
	}
	return p, nil
}

// watch ends the process with its context, past its time, or at its bounds.
func (p *process) watch(outside *memory.Outside, most time.Duration) {
	defer close(p.watched)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var late <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most + overtime)
		defer timer.Stop()
		late = timer.C
	}
	var held int64
	defer func() { outside.Add(-held) }()
	for {
		select {
		case <-p.ctx.Done():
		case <-late:
			p.cancel(fmt.Errorf("it took longer than %s and was ended", most))
		case <-tick.C:
			u := usageOf(p.command.Process.Pid)
			outside.Add(u.memory - held)
			held = u.memory
			switch {
			case u.memory > p.bounds.Memory:
				p.cancel(&memory.Exceeded{Most: p.bounds.Memory})
			case u.disk > p.bounds.Disk:
				p.cancel(errDisk(p.bounds.Disk))
			}
		}
		if p.ctx.Err() != nil {
			_ = p.command.Process.Kill()
			return
		}
	}
}

func errDisk(most int64) error {
	return fmt.Errorf("its temporary files have more than %d MiB; sort or group fewer rows", most>>20)
}

// A heading comes before the rows, an ending after them.
type (
	heading struct {
		Columns []Column
		Kinds   []table.Kind
		Guesses []table.Kind
		Error   string
	}
	ending struct {
		More  bool
		Read  int64
		Error string
	}
)

// message reads a value of JSON behind its length.
func (p *process) message(v any) error {
	n, err := binary.ReadUvarint(p.out)
	if err != nil {
		return err
	}
	if n > 16<<20 {
		return io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(p.out, b); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return err
	}
	if h, ok := v.(*heading); ok {
		p.columns = len(h.Columns)
	}
	return nil
}

func (p *process) next() ([]any, error) {
	kind, err := p.out.ReadByte()
	if err != nil {
		return nil, p.explain(err)
	}
	if kind == rowsEnd {
		if err := p.message(&p.end); err != nil {
			return nil, p.explain(err)
		}
		if p.end.Error != "" {
			return nil, errors.New(p.end.Error)
		}
		return nil, nil
	}
	cells := make([]any, p.columns)
	for i := range cells {
		if cells[i], err = readCell(p.out); err != nil {
			return nil, p.explain(err)
		}
	}
	return cells, nil
}

// explain returns the cause why a process broke off.
func (p *process) explain(err error) error {
	if cause := context.Cause(p.ctx); cause != nil {
		return fmt.Errorf("query: %w", cause)
	}
	p.input.Close()
	_ = p.command.Wait() // all it said is there
	said := p.said.String()
	switch {
	case strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory"):
		return fmt.Errorf("query: %w", &memory.Exceeded{Most: p.bounds.Memory})
	case strings.Contains(said, "SIGXFSZ") || strings.Contains(said, "file too large"):
		return fmt.Errorf("query: %w", errDisk(p.bounds.Disk))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if first == "" {
		first = err.Error()
	}
	return fmt.Errorf("query: its process ended early: %s", first)
}

func (p *process) close() {
	p.closed.Do(func() {
		p.cancel(errors.New("the query was closed"))
		<-p.watched
		p.input.Close()
		_, _ = io.Copy(io.Discard, p.out)
		_ = p.command.Wait()
		p.leave()
	})
}

// FirstWords keeps the first bytes that a process says.
type firstWords struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *firstWords) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(p[:min(len(p), max(0, 4096-t.b.Len()))])
	return len(p), nil
}

func (t *firstWords) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// Itself returns a command that starts this program again, with a variable that makes it call Work.
func Itself() *exec.Cmd {
	name, err := os.Executable()
	if err != nil {
		name = os.Args[0]
	}
	c := exec.Command(name)
	c.Env = append(os.Environ(), WorkerVariable+"=1")
	return c
}

// WorkerVariable in the environment makes the program the process of one query.
const WorkerVariable = "PARALLAX_QUERY_WORKER"
