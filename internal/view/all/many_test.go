package all

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// 400 locations that work for 100 years have more time together than a number of 64 bits holds: no view shows a time that
// ran over, which would be negative.
func TestNoViewRunsOverWhereManyLocationsRunLong(t *testing.T) {
	const locations, span = 400, trace.Time(100 * 365 * 24 * 3600 * 1e9)
	r := viewtest.Local(t, func(w trace.Writer) {
		work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		send := w.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication})
		for i := range locations {
			id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "rank " + strconv.Itoa(i), Rank: i})
			s := w.Stream(id, trace.StreamOptions{})
			s.Interval(0, span, work)
			s.Interval(span/4, span/2, send)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	info, err := view.InfoOf(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.RegionTable[0].Inclusive, trace.SumProduct(locations, span).Float64(); got != want {
		t.Errorf("%s is inclusive %g, want %g", info.RegionTable[0].Name, got, want)
	}
	negative := regexp.MustCompile(`[^\w"]-\d{7,}`)
	seen := 0
	for _, v := range Views {
		values, err := view.NewValues(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		selection, err := view.Spec{}.Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		result, err := v.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Selection: selection, Values: values, Size: scene.Size{Width: 400, Height: 300}})
		var empty *view.EmptyError
		if errors.As(err, &empty) || err != nil && strings.Contains(err.Error(), "needs") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		seen++
		b, err := json.Marshal(result.Data())
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		if at := negative.FindIndex(b); at != nil && v.Name != "moments" { // whose third is rightly so
			t.Errorf("%s: … %s …", v.Name, b[max(at[0]-60, 0):min(at[1]+20, len(b))])
		}
		if v.Name == "calltree" {
			if !bytes.Contains(b, []byte("1261440000000000000000")) && !bytes.Contains(b, []byte("1.26144e+21")) {
				t.Errorf("%s does not tell the sum of 1.26144e21 ns: %s", v.Name, b[:min(len(b), 400)])
			}
		}
		result.Scene(scene.Size{Width: 400, Height: 300})
	}
	if seen < 15 {
		t.Errorf("only %d views had something to show", seen)
	}
}
