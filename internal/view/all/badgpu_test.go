package all

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// badJob is a job of one GPU as a broken profiler may write it.
func badJob() []byte {
	var b strings.Builder
	b.WriteString(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": 7}], "distributedInfo": {"rank": "none"}, "traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}`)
	n := 0
	add := func(format string, args ...any) { n++; fmt.Fprintf(&b, ",\n"+format, args...) }
	for s := range 4 {
		at := 1000 * s
		add(`{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 1, "tid": 1, "ts": %d, "dur": 900}`, s, at)
		for i, dims := range []string{`[[2,3],[3,4]]`, `7`, `"[[2,3"`, `{"a": [1]}`, `[[[[]]]]`, `null`, `[["x",1e99],[-5,9223372036854775808]]`} {
			id := 100*s + i + 1
			add(`{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": %d, "dur": 40, "args": {"External id": %d, "Input Dims": %s, "Input type": %s, "Concrete Inputs": %s}}`, at+50*i, id, dims, dims, dims)
			add(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": %d, "dur": 5, "args": {"correlation": %d}}`, at+50*i+3, id)
			// Work without a correlation, with one that nobody has, with a text, before its launch, that ends before it begins.
			correlation := []string{fmt.Sprint(id), `""`, `-3`, `"abc"`, `999999`, `null`, `1e300`}[i]
			add(`{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %d, "dur": %d, "args": {"correlation": %s, "stream": 7, "device": 0, "graph id": %s, "graph node id": "n", "blocks per SM": "many", "est. achieved occupancy %%": -1, "grid": %s}}`,
				at+60*i-3*(i%2), 40-30*(i%3), correlation, dims, dims)
			add(`{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": %d, "args": {"Addr": %s, "Bytes": %s, "Device Type": 1, "Device Id": %s, "Total Allocated": %s}}`,
				at+50*i+1, []string{"5", "-5", `"x"`, "null", "1e300", "5", "[]"}[i], []string{"10", "-10", `"x"`, "null", "-1e300", "9223372036854775807", "[]"}[i], []string{"0", "-1", `"x"`, "null", "9", "0", "[]"}[i], []string{"10", "-9", `"x"`, "null", "1", "9223372036854775807", "[]"}[i])
		}
		add(`{"ph": "X", "cat": "kernel", "name": "late", "pid": 0, "tid": 7, "ts": %d, "dur": -50, "args": {"correlation": 1, "stream": 8}}`, at+500)
		add(`{"ph": "X", "cat": "kernel", "name": "early", "pid": 0, "tid": 8, "ts": -%d, "dur": 10, "args": {"correlation": 2}}`, at+500)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// Shapes that are no lists, correlations that are missing or mean nothing, times below zero and work that ends before it begins: every view
// answers with all its pictures, what cannot be used is counted, and the time of the GPU still adds up.
func TestABrokenGPUJobIsCountedAndDrawn(t *testing.T) {
	r := viewtest.ImportBytes(t, "bad.json", badJob())
	report := fmt.Sprintf("%+v", r.Info().Report)
	for _, want := range []string{"launches of GPU work that are not in the file", "counter values that are not numbers"} {
		if !strings.Contains(report, want) {
			t.Errorf("not counted: %s in %s", want, report)
		}
	}
	seen := map[string]bool{}
	for _, v := range Views {
		variants := []map[string][]string{nil}
		for _, o := range v.Options {
			if o.Name == "picture" || o.Name == "by" && o.Kind == "choice" {
				for _, c := range o.Choices {
					variants = append(variants, map[string][]string{o.Name: {c}})
				}
			}
		}
		if v.Name == "timeline" {
			variants = append(variants, map[string][]string{"critical": {"true"}, "counters": {"*"}})
		}
		for _, set := range variants {
			values, err := view.NewValues(v, set)
			if err != nil {
				t.Fatal(err)
			}
			selection, err := view.Spec{}.Resolve(r)
			if err != nil {
				t.Fatal(err)
			}
			result, err := v.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Selection: selection, Values: values, Size: scene.Size{Width: 400, Height: 300}})
			var empty *view.EmptyError
			if err != nil {
				if !errors.As(err, &empty) && !strings.Contains(err.Error(), "needs") {
					t.Logf("%s %v: %v", v.Name, set, err)
				}
				continue
			}
			result.Scene(scene.Size{Width: 400, Height: 300})
			out, err := json.Marshal(result.Data())
			if err != nil {
				t.Errorf("%s %v: %v", v.Name, set, err)
			}
			seen[v.Name] = true
			if v.Name == "steps" && set == nil {
				adds(t, out)
			}
		}
	}
	for _, name := range []string{"steps", "operators", "criticalpath", "timeline", "findings"} {
		if !seen[name] {
			t.Errorf("%s gave nothing", name)
		}
	}
}

func adds(t *testing.T, data []byte) {
	t.Helper()
	var d struct {
		GPUs []struct {
			Span, Computation, Idle                          int64
			ExposedCommunication, ExposedCopy, Communication int64
			Causes                                           map[string]int64 `json:"idle_by_cause"`
			Unlinked                                         struct{ Count int }
		}
	}
	if err := json.Unmarshal(data, &d); err != nil || len(d.GPUs) == 0 {
		t.Fatal(err, len(d.GPUs))
	}
	for _, g := range d.GPUs {
		sum := int64(0)
		for _, c := range g.Causes {
			sum += c
		}
		if g.Span != g.Computation+g.Idle || sum != g.Idle || g.Unlinked.Count == 0 {
			t.Errorf("%+v", g)
		}
	}
}
