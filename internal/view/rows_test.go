package view

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

type boxed struct {
	Low *float64 `json:"low" unit:"metric"`
}

type twinRow struct {
	Location *trace.LocationID `json:"location" about:"location"`
	Region   trace.RegionID    `json:"-" about:"region"`
	Name     string            `json:"name" unit:""`
	Calls    float64           `json:"calls" unit:"count" write:"whole"`
	boxed
	Sure  bool               `json:"sure" unit:"" write:"yes,no"`
	Hint  string             `json:"hint"`
	Last  trace.Time         `json:"last,omitempty" table:"last seen" unit:"ns"`
	Roles map[string]float64 `json:"roles" spread:"roles"`
	Runs  []int              `json:"runs" spread:"runs"`
}

func TestATableHasTheColumnsThatTagsDeclare(t *testing.T) {
	low, at := 1.5, trace.LocationID(7)
	rows := []twinRow{
		{Location: &at, Region: 3, Name: "a", Calls: 4, boxed: boxed{&low}, Sure: true, Last: 9, Roles: map[string]float64{"io": 0.5}, Runs: []int{1, 2}},
		{Region: 4, Name: "b", Calls: 0.25, Runs: []int{3}},
	}
	got := TableOf(rows, map[string]string{"metric": "bytes"}, map[string][]Column{"roles": {{Name: "compute", Unit: "share"}, {Name: "io", Unit: "share"}}, "runs": {{Name: "run 1"}, {Name: "run 2"}}})
	want := &Table{
		Columns: []Column{{Name: "name", Unit: ""}, {Name: "calls", Unit: "count"}, {Name: "low", Unit: "bytes"}, {Name: "sure", Unit: ""}, {Name: "last seen", Unit: "ns"}, {Name: "compute", Unit: "share"}, {Name: "io", Unit: "share"}, {Name: "run 1", Unit: ""}, {Name: "run 2", Unit: ""}},
		Rows: [][]any{
			{"a", int64(4), 1.5, "yes", int64(9), nil, 0.5, int64(1), int64(2)},
			{"b", 0.25, nil, "no", int64(0), nil, nil, int64(3), nil},
		},
		Locations: []trace.LocationID{7, trace.NoLocation}, Regions: []trace.RegionID{3, 4},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if empty := TableOf([]twinRow{}, nil, nil); empty.Rows == nil || empty.Locations == nil || len(empty.Columns) == 0 {
		t.Errorf("of no rows: %+v", empty)
	}
}

// A holder has three things, of which it holds the names.
type holder struct{ detailed int }

func (*holder) Data() any                          { return nil }
func (*holder) Table() *Table                      { return nil }
func (*holder) Notes() []string                    { return nil }
func (*holder) Scene(size scene.Size) *scene.Scene { return scene.New(size, "", "") }
func (*holder) Fact(it scene.Item) (f Fact, _ bool) {
	f.Title, f.More = "thing", true
	return f, it.A != 1
}
func (r *holder) Detail(_ scene.Item, f *Fact) error {
	r.detailed++
	f.Say("weight", "3 kg", "")
	return nil
}

func TestFactsTravelWithTheSceneAndSayWhereThereIsMore(t *testing.T) {
	r, s := &holder{}, scene.New(scene.Size{Width: 10, Height: 10}, "", "")
	aims := &scene.Rect{}
	for i := range 3 {
		aims.AddAim(float32(i), 0, 1, 10, s.Item(1, i))
	}
	s.AddLayer("items", -1, aims)
	var held map[int]*Fact
	if err := json.Unmarshal(HeldFacts(r, s, 1000), &held); err != nil {
		t.Fatal(err)
	}
	if len(held) != 3 || held[1] != nil || !held[2].More || len(held[2].Lines) != 0 || r.detailed != 0 {
		t.Errorf("held %+v, asked for details %d times", held, r.detailed)
	}
	if f, ok, _ := PickAt(r, s, 2.5, 5); !ok || f.More || len(f.Lines) != 1 {
		t.Errorf("all there is to know: %+v", f)
	}
	if _, ok, _ := PickAt(r, s, 1.5, 5); ok {
		t.Error("an item without a fact has one")
	}
	held = nil
	if err := json.Unmarshal(HeldFacts(r, s, 60), &held); err != nil || len(held) != 2 {
		t.Errorf("%d facts in 60 bytes: %v", len(held), err)
	}
}
