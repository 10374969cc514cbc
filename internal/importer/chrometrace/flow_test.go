package chrometrace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A flow that joins two processes, or calls itself a message, is one; what joins threads of a process is a flow.
func TestFlowsBetweenProcessesAreMessages(t *testing.T) {
	text := `[
{"ph":"X","pid":0,"tid":0,"ts":0,"dur":10,"name":"MPI_Send"},
{"ph":"X","pid":1,"tid":0,"ts":5,"dur":10,"name":"MPI_Recv"},
{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"work"},
{"ph":"s","pid":0,"tid":0,"ts":1,"id":1,"name":"x","cat":"c","args":{"bytes":4096}},
{"ph":"f","bp":"e","pid":1,"tid":0,"ts":14,"id":1,"name":"x","cat":"c"},
{"ph":"s","pid":1,"tid":0,"ts":6,"id":2,"name":"x","cat":"c"},
{"ph":"f","bp":"e","pid":1,"tid":1,"ts":14,"id":2,"name":"x","cat":"c"},
{"ph":"s","pid":1,"tid":0,"ts":7,"id":3,"name":"MPI message","cat":"MPI"},
{"ph":"f","bp":"e","pid":1,"tid":1,"ts":14,"id":3,"name":"MPI message","cat":"MPI"}]`
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := count(t, path)
	if m, f := w.Links[trace.LinkMessage], w.Links[trace.LinkFlow]; m != 2 || f != 1 {
		t.Errorf("%d messages and %d flows, want 2 and 1", m, f)
	}
}
