package all_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// viewOf computes a view of a run, whole.
func viewOf(t *testing.T, s store.Reader, name string) view.Result {
	t.Helper()
	for _, v := range all.Views {
		if v.Name != name {
			continue
		}
		values, err := view.NewValues(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := &view.Request{Runs: []view.Run{{Name: "run", Store: s}}, Values: values, Size: scene.Size{Width: 1200, Height: 600}}
		if q.Selection, err = (view.Spec{}).Resolve(s); err != nil {
			t.Fatal(err)
		}
		result, err := view.Ask(context.Background(), v, q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return result
	}
	t.Fatalf("no view %s", name)
	return nil
}

// dataOf reads the JSON of a result.
func dataOf(t *testing.T, r view.Result, into any) {
	t.Helper()
	text, err := json.Marshal(r.Data())
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Two ranks, 1,000 ns long: 1,800 ns are recorded, 1,500 of them in communication.
const lateStart = `
region main role=compute
region MPI_Allreduce role=communication
region MPI_Bcast role=communication
location process "rank 0" rank=0
  0..1000 main
    100..700 MPI_Allreduce
    700..900 MPI_Bcast
location process "rank 1" rank=1
  200..1000 main
    250..850 MPI_Allreduce
    850..950 MPI_Bcast
`

// A share of time has one base: the profile, its picture, the call tree and a finding say the same of a region.
func TestSharesOfTimeHaveOneBase(t *testing.T) {
	s := storetest.Text(t, lateStart)
	const want = 1200.0 / 2000
	var profile struct {
		Total, Whole float64
		Share_of     string
		Rows         []struct {
			Region                   string
			Share, Share_of_recorded float64
		}
	}
	result := viewOf(t, s, "profile")
	dataOf(t, result, &profile)
	if row := profile.Rows[0]; row.Region != "MPI_Allreduce" || row.Share != want || row.Share_of_recorded != 1200.0/1800 || profile.Share_of != "all time" || profile.Whole != 2000 || profile.Total != 1800 {
		t.Errorf("profile: %+v", profile)
	}
	texts := words(result.Scene(scene.Size{Width: 1200, Height: 600}))
	for _, text := range []string{"% of all time", "60.0 %"} {
		if !strings.Contains(texts, text) {
			t.Errorf("the picture of the profile does not say %q: %s", text, texts)
		}
	}
	table := viewOf(t, s, "calltree").Table()
	share, name := -1, -1
	for i, c := range table.Columns {
		switch c.Name {
		case "share":
			share = i
			if c.Title != "% of all time" {
				t.Errorf("the head of the call tree's shares is %q", c.Title)
			}
		case "region":
			name = i
		}
	}
	for _, row := range table.Rows {
		if row[name] == "MPI_Allreduce" && math.Abs(row[share].(float64)-want) > 1e-12 {
			t.Errorf("call tree: %v", row)
		}
	}
	var found struct {
		Findings []struct{ Kind, Text, Share_of string }
	}
	dataOf(t, viewOf(t, s, "findings"), &found)
	said := false
	for _, f := range found.Findings {
		if f.Share_of != "all time" {
			t.Errorf("%s is of %q", f.Kind, f.Share_of)
		}
		said = said || strings.Contains(f.Text, "of all time") && strings.Contains(f.Text, "MPI_Allreduce")
	}
	if !said {
		t.Errorf("no finding tells communication of all time: %+v", found.Findings)
	}
}

// words are the texts of a picture.
func words(s *scene.Scene) string {
	var out []string
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if text, ok := m.(*scene.Text); ok {
				out = append(out, text.Text...)
			}
		}
	}
	return strings.Join(out, "\n")
}
