package view_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An empty time range is told with both of its ends, also where only one was given.
func TestAnEmptyTimeRangeNamesBothEnds(t *testing.T) {
	r := runOf(t, [2]trace.Time{0, 1_000_000_000})
	for want, s := range map[string]view.Spec{"from 20s to the end is empty": {From: "20s"}, "from the begin to 0s is empty": {To: "0s"}, "from 3s to 2s is empty": {From: "3s", To: "2s"}} {
		if _, err := s.Resolve(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

// What repeats other records is left out, and nothing is lost by it.
func TestOnlyWhatIsSkippedIsLost(t *testing.T) {
	m := storetest.NewMemory()
	m.Report(trace.MissingEvents, "records without a time", 12, "")
	m.Report(trace.Redundant, "flow records that repeat what a correlation id links", 89_300, "")
	m.Report(trace.Repaired, "ends", 3, "")
	info, err := view.InfoOf(context.Background(), m.Reader())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range info.Report {
		if e.Lost != (e.Count == 12) || e.Count != 3 && e.Kind != "skipped" {
			t.Errorf("%+v", e)
		}
	}
	if len(info.Report) != 3 {
		t.Errorf("report: %+v", info.Report)
	}
}
