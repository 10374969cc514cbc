package rocprof

import "github.com/parallax-hpc/parallax/internal/trace"

// A process is the description of one process in a results file.
type process struct {
	host    string
	pid     int64
	command string
	agents  map[int64]agent
	kernels map[int64]string
	strings names
}

// An agent is a CPU or a GPU.
type agent struct {
	gpu   bool
	index int64 // among agents of its type
	name  string
}

// names are the words for operations, by kind of record and number, and for markers.
type names struct {
	kinds   []kind
	markers map[int64]string // by correlation id
}

type kind struct {
	name       string
	operations []string
}

// operation is the name of an operation.
func (n *names) operation(kind, operation int64) string {
	if kind < 0 || kind >= int64(len(n.kinds)) {
		return ""
	}
	k := &n.kinds[kind]
	if operation < 0 || operation >= int64(len(k.operations)) {
		return k.name
	}
	return k.operations[operation]
}

// A dispatch is a kernel that ran.
type dispatch struct {
	call
	agent, queue, stream, kernel int64
	private, group               int64
	block, grid                  [3]int64
}

// A call holds the fields that all records with a time share.
type call struct {
	kind, operation int64
	thread          int64
	correlation     int64
	begin, end      int64
}

// A transfer is a copy between agents.
type transfer struct {
	call
	from, to int64
	bytes    int64
	stream   int64
}

// An allocation is memory taken or given back.
type allocation struct {
	call
	agent, address, bytes int64
	free                  bool
}

func (c *call) times() (begin, end trace.Time) { return trace.Time(c.begin), trace.Time(c.end) }
