package findings_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/view/findings"
	"github.com/parallax-hpc/parallax/internal/view/viewtest"
)

// gpuFindings are the findings of a GPU job kept beside the repository.
func gpuFindings(t *testing.T, elem ...string) []finding.Finding {
	t.Helper()
	dir := viewtest.Shared(t, append([]string{"data"}, elem[:len(elem)-1]...)...)
	found, err := filepath.Glob(filepath.Join(dir, elem[len(elem)-1]))
	if err != nil || len(found) != 1 {
		t.Skipf("%v: %d files", elem, len(found))
	}
	r := viewtest.Import(t, append(append([]string{"data"}, elem[:len(elem)-1]...), filepath.Base(found[0]))...)
	c := viewtest.Case{}
	return c.Compute(t, findings.View, r).Data().(findings.Data).Findings
}

func TestGPUJobsAreToldWhatTheyAreBoundBy(t *testing.T) {
	for _, c := range []struct {
		elem []string
		kind finding.Kind
		text string
	}{
		{[]string{"ml", "h200", "starved.json.gz"}, finding.InputBound, `highly input-bound.* 59\.\d %.*121 ms.*dataloader\.next`},
		{[]string{"ml", "h200", "eager-small.json.gz"}, finding.LaunchBound, `launch-bound.* 95\.\d %.*less time than its launch`},
		{[]string{"faults", "launch-bound-1rank"}, finding.LaunchBound, `compute for 16\.\d %`},
		{[]string{"faults", "loader-all"}, finding.InputBound, `2\.50 ms of 5\.72 ms a step; GPUs compute for 52\.\d %`},
		{[]string{"ml", "resnet50-workers0", "*143089861*"}, finding.InputBound, `33\.4 %.*59\.3 ms of 178 ms`},
		{[]string{"ml", "tracelens", "mi300-resnet-act-checkpoint.json.gz"}, finding.ExposedCommunication, `22\.6 % runs under computation`},
		{[]string{"kineto-ddp-8rank"}, finding.Straggler, `^Rank 5 `},
	} {
		list := gpuFindings(t, c.elem...)
		if len(list) == 0 || list[0].Kind != c.kind || !regexp.MustCompile(c.text).MatchString(list[0].Text) {
			t.Errorf("%v: %+v", c.elem, list)
			continue
		}
		if c.kind != finding.Straggler && (list[0].View != "steps" || list[0].Share < 0.1) {
			t.Errorf("%v: shown by %s, share %v", c.elem, list[0].View, list[0].Share)
		}
	}
}

func TestTheSlowStepIsNamedWithItsCause(t *testing.T) {
	for _, f := range gpuFindings(t, "ml", "h200", "starved.json.gz") {
		if f.Kind == finding.SlowStep {
			if !strings.Contains(f.Text, "ProfilerStep#3") || !strings.Contains(f.Text, "data loading") {
				t.Error(f.Text)
			}
			return
		}
	}
	t.Error("step 3 takes 2.4 times as long as the others")
}

func TestABusyGPUIsLeftInPeace(t *testing.T) {
	if list := gpuFindings(t, "ml", "tracelens", "vllm-decode-graph.json.gz"); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}
