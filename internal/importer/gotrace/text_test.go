package gotrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// records are the numbers of the records of format 1.22, in the order of the runtime.
var records = func() map[string]byte {
	m := map[string]byte{}
	for i, name := range strings.Fields(`None EventBatch Stacks Stack Strings String CPUSamples CPUSample Frequency ProcsChange ProcStart ProcStop
		ProcSteal ProcStatus GoCreate GoCreateSyscall GoStart GoDestroy GoDestroySyscall GoStop GoBlock GoUnblock GoSyscallBegin GoSyscallEnd
		GoSyscallEndBlocked GoStatus STWBegin STWEnd GCActive GCBegin GCEnd GCSweepActive GCSweepBegin GCSweepEnd GCMarkAssistActive
		GCMarkAssistBegin GCMarkAssistEnd HeapAlloc HeapGoal GoLabel UserTaskBegin UserTaskEnd UserRegionBegin UserRegionEnd UserLog`) {
		m[name] = byte(i)
	}
	return m
}()

// assemble turns the text form of a trace, in which Go keeps its samples, into the
// binary one: a record a line, its arguments in order, and below it the data of
// strings and the frames of stacks. The size of a batch is counted anew: texts may
// have been shortened since it was written.
func assemble(t *testing.T, text string) []byte {
	t.Helper()
	if _, inside, ok := strings.Cut(text, "-- trace --\n"); ok {
		text = inside
	}
	var out, batch bytes.Buffer
	endBatch := func() {
		if batch.Len() > 0 {
			out.Write(binary.AppendUvarint(nil, uint64(batch.Len())))
			batch.WriteTo(&out)
		}
	}
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		to := &batch
		switch {
		case name == "Trace":
			header := make([]byte, 16)
			copy(header, "go 1."+strings.TrimPrefix(rest, "Go1.")+" trace")
			out.Write(header)
			continue
		case strings.HasPrefix(name, "data="):
			data, err := strconv.Unquote(strings.TrimPrefix(strings.TrimSpace(line), "data="))
			if err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
			batch.Write(binary.AppendUvarint(nil, uint64(len(data))))
			batch.WriteString(data)
			continue
		case strings.HasPrefix(name, "pc="):
			rest = strings.TrimSpace(line)
		default:
			id, ok := records[name]
			if !ok {
				t.Fatalf("line %d: unknown record %q", n+1, name)
			}
			if name == "EventBatch" {
				endBatch()
				to = &out
			}
			to.WriteByte(id)
		}
		for _, arg := range strings.Fields(rest) {
			key, value, _ := strings.Cut(arg, "=")
			if to == &out && key == "size" {
				continue
			}
			v, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
			to.Write(binary.AppendUvarint(nil, v))
		}
	}
	endBatch()
	return out.Bytes()
}

// The samples of Go that exist as text only: what their lines say is what is read.
func TestTracesInTextForm(t *testing.T) {
	for _, sample := range []string{"cmd-trace-go122/go122.test", "gc-stress-go122/go122-gc-stress.test"} {
		t.Run(sample, func(t *testing.T) {
			text, err := os.ReadFile(importertest.Shared(t, "public/go-trace/"+sample))
			if err != nil {
				t.Fatal(err)
			}
			lines := map[string]int64{}
			for line := range strings.SplitSeq(string(text), "\n") {
				name, _, _ := strings.Cut(line, " ")
				lines[name]++
			}
			file := filepath.Join(t.TempDir(), "x.trace")
			if err := os.WriteFile(file, assemble(t, string(text)), 0o644); err != nil {
				t.Fatal(err)
			}
			r := importertest.Import(t, Format, file)
			links := map[trace.LinkKind]int64{}
			err = r.Links(t.Context(), store.Window{End: r.Info().End + 1}, func(l *store.LinkColumns) error {
				for _, k := range l.Kind {
					links[k]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var heap int64
			for id, c := range r.Counters() {
				if c.Name == "memory/classes/heap/objects" {
					err := r.Samples(t.Context(), []trace.CounterID{trace.CounterID(id)}, 0, r.Info().End+1, func(s *store.SampleColumns) error {
						heap += int64(len(s.Time))
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			_, spawned := runningByP(t, file) // creations by goroutines; timers create some too
			if spawned < lines["GoCreate"]-1 {
				t.Errorf("%d creations, the text has %d", spawned, lines["GoCreate"])
			}
			got := fmt.Sprint("spawned ", links[trace.LinkSpawn], ", heap values ", heap, ", labels ", r.Info().Instants)
			want := fmt.Sprint("spawned ", spawned, ", heap values ", lines["HeapAlloc"], ", labels ", lines["GoLabel"])
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if len(r.Info().Report) > 0 {
				t.Errorf("reported: %v", r.Info().Report)
			}
		})
	}
}
