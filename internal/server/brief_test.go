package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

var update = flag.Bool("update", false, "rewrite the fixtures that web/src/shell/brief.test.ts reads")

// A brief result has briefs of some items and nothing of the others.
type brief struct{ list []view.Brief }

const none = -1

func (*brief) Data() any                          { return nil }
func (*brief) Table() *view.Table                 { return nil }
func (*brief) Notes() []string                    { return nil }
func (*brief) Scene(size scene.Size) *scene.Scene { return scene.New(size, "", "") }
func (r *brief) Brief(it scene.Item) (view.Brief, bool) {
	if it.A == none {
		return view.Brief{}, false
	}
	return r.list[it.A], true
}

// The page says of many items, from their columns, what the server says of each; its half of
// this test reads the same fixtures.
func TestBriefsOfPageAndServerAreEqual(t *testing.T) {
	value := &brief{[]view.Brief{
		{Title: "solve", On: "rank 0", Region: 7, Begin: 0, End: 1},
		{Title: "rank 1", On: "rank 1", Region: trace.NoRegion, Begin: 1234567, End: 987654321012, Count: 12345},
		{Title: "\u202eevil", On: "", Region: 0, Begin: 1 << 52, End: 1<<52 + 999, Count: 1},
	}}
	order := []int{0, none, 1, none, 2, none}                 // which brief each item has
	for _, apart := range []trace.Time{1000, 5_000_000_000} { // times of four bytes, and of eight
		for k := range trace.Time(5) {
			begin := 1<<40 + apart*(k*3%5) // forwards and backwards
			order = append(order, len(value.list))
			value.list = append(value.list, view.Brief{Title: "step", On: "rank", Region: 3, Begin: begin, End: begin + 10*k, Count: int64(k)})
		}
		order = append(order, none)
	}
	s := scene.New(scene.Size{Width: 10, Height: 10}, "", "")
	want := map[int]view.Fact{}
	for i, k := range order {
		s.Item(1, k)
		if k != none {
			f := value.list[k].Fact()
			f.Title = scene.Visible(f.Title) // as every text of a picture
			want[i] = f
		}
	}
	r := &result{value: value, scene: s}
	body, err := r.encode(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"briefs.scene": body, "briefs.json": plain} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what it was (go test -update writes it anew): %v", path, err)
		}
	}
}
