package all

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// TestAProfileIsNotAdvisedALongerTime: a view of a profile that has nothing to show,
// such as a metric that is 0 everywhere, says what can be chosen there.
func TestAProfileIsNotAdvisedALongerTime(t *testing.T) {
	m := storetest.NewMemory()
	loc := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p0"})
	region := m.Region(trace.Region{Name: "main", Role: trace.RoleCompute})
	path := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: region})
	metric := m.Metric(trace.Metric{Name: "bytes_put", Unit: "bytes"})
	m.Profile(trace.ProfileRow{Location: loc, Path: path, Metric: metric})
	r := m.Reader()
	asked := 0
	for _, v := range Views {
		if !v.Needs.Profile {
			continue
		}
		values, err := view.NewValues(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Values: values, Size: scene.Size{Width: 400, Height: 300}})
		var empty *view.EmptyError
		if errors.As(err, &empty) {
			asked++
			if strings.Contains(empty.Hint+empty.What, "longer time") {
				t.Errorf("%s: %s; %s", v.Name, empty.What, empty.Hint)
			}
		}
	}
	if asked < 2 {
		t.Errorf("only %d views had nothing to show", asked)
	}
}

// TestWordsOfOptionsAreTaken: what help offers for --by and --group is not refused.
func TestWordsOfOptionsAreTaken(t *testing.T) {
	for _, v := range Views {
		for _, o := range v.Options {
			if o.Name != "by" && o.Name != "group" {
				continue
			}
			if strings.Contains(o.Help, "parallax views") {
				t.Errorf("%s: --%s is not explained", v.Name, o.Name)
			}
		}
	}
}

// TestAMetricThatIsZeroEverywhereSuggestsAnother: another metric helps where the one that is asked for
// is 0 everywhere; other callers, call paths or a longer time do not.
func TestAMetricThatIsZeroEverywhereSuggestsAnother(t *testing.T) {
	m := storetest.NewMemory()
	main := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: m.Region(trace.Region{Name: "main", Role: trace.RoleCompute})})
	send := m.CallPath(trace.CallPath{Parent: main, Region: m.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication})})
	time := m.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true})
	m.Metric(trace.Metric{Name: "bytes_put", Unit: "bytes"}) // zeros are not kept
	for rank := range 4 {
		loc := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("p", rank), Rank: rank})
		for _, path := range []trace.CallPathID{main, send} {
			m.Profile(trace.ProfileRow{Location: loc, Path: path, Metric: time, Calls: 1, Inclusive: 10, Exclusive: 5})
		}
	}
	r := m.Reader()
	var told []string
	for _, v := range Views {
		values, err := view.NewValues(v, map[string][]string{"metric": {"bytes_put"}})
		if err != nil || v.Needs.Missing(r) != "" || v.Name == "contrast" { // contrast has several metrics and finds nothing that differs
			continue
		}
		_, err = v.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Values: values, Size: scene.Size{Width: 400, Height: 300}})
		var empty *view.EmptyError
		if !errors.As(err, &empty) {
			continue
		}
		told = append(told, v.Name)
		if !strings.Contains(empty.Hint, "another metric") {
			t.Errorf("%s: %s; %s", v.Name, empty.What, empty.Hint)
		}
	}
	if len(told) < 4 {
		t.Errorf("only %q say that there is nothing", told)
	}
}
