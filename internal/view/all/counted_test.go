package all

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// countedProfile is samples of eight threads, without a period; the same samples lie aside over time.
func countedProfile() store.Reader {
	m := storetest.NewMemory()
	main, work, send := m.Region(trace.Region{Name: "main", Role: trace.RoleCompute}), m.Region(trace.Region{Name: "work", Role: trace.RoleCompute}), m.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication})
	top := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: main})
	below, sent := m.CallPath(trace.CallPath{Parent: top, Region: work}), m.CallPath(trace.CallPath{Parent: top, Region: send})
	samples := m.Metric(trace.Metric{Name: "samples", Integer: true, Default: true})
	process := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "java"})
	for i := range 8 {
		at := m.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: fmt.Sprint("thread ", i), Rank: trace.NoRank, Order: int64(i)})
		n := 120 + float64(i%3)
		if i == 5 {
			n = 900
		}
		m.Profile(trace.ProfileRow{Location: at, Path: top, Metric: samples, Inclusive: n + 50, Exclusive: 10})
		m.Profile(trace.ProfileRow{Location: at, Path: below, Metric: samples, Inclusive: n, Exclusive: n})
		m.Profile(trace.ProfileRow{Location: at, Path: sent, Metric: samples, Inclusive: 40, Exclusive: 40})
		s := m.Stream(m.Location(trace.Location{Parent: at, Kind: trace.KindSamples, Name: "samples", Rank: trace.NoRank}), trace.StreamOptions{})
		s.Interval(0, 5_000_000_000, main)
		s.Close()
	}
	return m.Reader()
}

var aTime = regexp.MustCompile(`\d (ns|µs|ms|s)\b|"unit":"ns"`)

// Values of a profile have the unit of its metric in every view: in pictures, notes, tables and JSON.
func TestValuesOfACountingProfileAreCounts(t *testing.T) {
	r, shown := countedProfile(), 0
	for _, v := range Views {
		if !v.Needs.Profile || v.Needs.Missing(r) != "" {
			continue
		}
		values, err := view.NewValues(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := &view.Request{Runs: []view.Run{{Name: "run", Store: r}}, Values: values, Size: scene.Size{Width: 900, Height: 600}}
		if q.Selection, err = (view.Spec{}).Resolve(r); err != nil {
			t.Fatal(err)
		}
		result, err := v.Compute(context.Background(), q)
		var empty *view.EmptyError
		if errors.As(err, &empty) || err != nil && strings.Contains(err.Error(), "two runs") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		shown++
		for where, said := range saidBy(t, result, q.Size) {
			if x := aTime.FindStringIndex(said); x != nil {
				t.Errorf("%s: its %s has a time: …%s…", v.Name, where, said[max(0, x[0]-60):min(len(said), x[1]+20)])
			}
		}
	}
	if shown < 8 {
		t.Errorf("only %d views show the profile", shown)
	}
}

// saidBy is all that a result says in words and units. Times of a finding's selection are no values of the profile.
func saidBy(t *testing.T, r view.Result, size scene.Size) map[string]string {
	data, err := json.Marshal(r.Data())
	if err != nil {
		t.Fatal(err)
	}
	s := r.Scene(size)
	texts := append([]string{s.Description}, s.Notes...)
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Text); ok {
				texts = append(texts, x.Text...)
			}
		}
	}
	for _, e := range s.Legend {
		texts = append(texts, e.Label, e.RampLow, e.RampHigh)
	}
	var columns []string
	for _, c := range r.Table().Columns {
		if c.Name != "begin" && c.Name != "end" {
			columns = append(columns, fmt.Sprintf("%s %q", c.Name, fmt.Sprintf(`"unit":"%s"`, c.Unit)))
		}
	}
	return map[string]string{"data": string(data), "picture": strings.Join(texts, "\n"), "notes": strings.Join(r.Notes(), "\n"), "table": strings.ReplaceAll(strings.Join(columns, "\n"), `\`, "")}
}

// Findings of such a profile say how many samples are lost, and of what.
func TestFindingsOfAProfileThatCountsAreInItsUnit(t *testing.T) {
	r := countedProfile()
	values, err := view.NewValues(findings.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &view.Request{Runs: []view.Run{{Name: "run", Store: r}}, Values: values, Size: scene.Size{Width: 900, Height: 600}}
	if q.Selection, err = (view.Spec{}).Resolve(r); err != nil {
		t.Fatal(err)
	}
	result, err := findings.View.Compute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	list := result.Data().(findings.Data).Findings
	if len(list) == 0 || list[0].Unit != "samples" || !strings.Contains(list[0].Text, "910 samples") {
		t.Errorf("findings: %+v", list)
	}
	info, err := view.InfoOf(context.Background(), r)
	if err != nil || info.RegionMetric.Name != "samples" || info.RegionTable[0].Unit != "count" {
		t.Errorf("info: %+v, %v", info.RegionMetric, err)
	}
}
