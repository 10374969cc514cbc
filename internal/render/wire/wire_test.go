package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

var update = flag.Bool("update", false, "rewrite the fixtures that web/src/api/wire.test.ts reads")

// every holds each kind of mark, optional columns present and absent, and names
// as hostile traces have them.
func every() *scene.Scene {
	rect := &scene.Rect{Flags: []scene.Flag{scene.Hatched, scene.Aggregated | scene.Outlined, 0}, Count: []uint32{1, 4_000_000_000, 7}}
	rect.Add(1, 2, 3.5, 4.25, 5)
	rect.Add(-1e6, 0, 1e-3, 1, scene.None)
	rect.Add(10, 20, 30, 40, 0)
	rect.Items = []uint32{scene.NoItem, 0, 1}
	bare := &scene.Rect{}
	bare.Add(0, 0, 1, 1, 9)
	line := &scene.Line{Width: 1.5, Flags: []scene.Flag{scene.Arrow | scene.Dashed}}
	line.Add(0, 1, 100, 50, 3)
	line.SetItem(2)
	path := &scene.Path{Width: 2}
	path.Add([]float32{0, 1, 2}, []float32{3, 4, 5}, 1)
	path.Add(nil, nil, 2)
	path.Add([]float32{9, 8}, []float32{7, 6}, 3)
	poly := &scene.Polygon{Flags: []scene.Flag{0, scene.Dimmed}}
	poly.Add([]float32{0, 10, 0}, []float32{0, 0, 10}, 4)
	poly.SetItem(1)
	poly.Add([]float32{0, 10}, []float32{5, 5}, 6)
	point := &scene.Point{Shape: []scene.Shape{scene.Disc, scene.Burst}, Count: []uint32{1, 12}}
	point.Add(5, 6, 2, 7)
	point.Add(15, 16, 4, 8)
	point.SetItem(0)
	text := &scene.Text{Size: 12, Bold: true, Turned: true}
	for i, t := range []string{"MPI_Wait", "<script>alert(1)</script>", "مرحبا", "MPI_Wait", "bad \xff byte", "\u2028 \x00"} {
		text.Add(float32(i), 10, t, scene.Colour(i), scene.Anchor(i%3))
	}
	image := &scene.Image{X: 1, Y: 2, W: 300, H: 4, Columns: 3, Rows: 2, Cells: []scene.Colour{0, 1, 2, 3, scene.None, 5}, Of: 2, At: [2]int32{1, 0}}
	space := &scene.Space{X: 1, Y: 2, W: 300, H: 200, Form: scene.Bars, Low: 1, High: 9, Ramp: "cividis", Radius: 0.5, Half: [2]float32{0.5, 0.25}, Tall: 4, Columns: 2, Gap: 3, Camera: scene.UsualCamera}
	space.Filter = scene.SpaceFilter{Ranged: true, Min: 3, Max: 2, Slice: [3]bool{true, false, true}, At: [3]float64{1, 0, 2}, Width: [3]float64{1, 1, 1}}
	space.Axes[1] = scene.FitAxis("rank", 0, 4, "count")
	space.Add(1, 2, 3, 4)
	space.Add(5, 6, 7, 8)
	space.Runs = []scene.SpaceRun{{First: 0, Location: 4, Step: 3}}
	space.Links.Add(0, 1, 9)
	space.Labels = []scene.SpaceLabel{{Thing: 1, Text: "main"}}
	space.Links.Width, space.Least, space.Detail, space.Bare = 2, 1.5, 4, true
	space.Of = 3
	return &scene.Scene{
		Items: []scene.Item{{Of: 1}, {Of: 1, A: 1}, {Of: 1, A: 2, B: 3}},
		Width: 640, Height: 480, Title: "every mark", Description: "One of each.",
		Frames: []scene.Frame{{
			Name: "plot", X: 60, Y: 20, W: 500, H: 400,
			XScale: scene.Scale{Kind: "time", Begin: 0, End: 9007199254740991, Label: "time"},
			YScale: scene.Scale{Kind: "rows", Rows: []scene.Row{
				{From: 20, To: 40, Location: 0, Region: scene.NoID, Label: "rank 0", Count: 1, Open: true},
				{From: 40, To: 60, Location: 7, Region: scene.NoID, Label: "others", Count: 1023, Level: 2, Folded: true},
			}},
		}},
		Layers: []scene.Layer{
			{Name: "bars", Frame: 0, Marks: []scene.Mark{rect, bare, line, path, poly}},
			{Name: "above", Frame: -1, Marks: []scene.Mark{point, text, image, &scene.Rect{}, &scene.Path{}, space}},
			{Name: "nothing", Frame: -1},
		},
		Legend: []scene.LegendEntry{
			{Label: "compute", Colour: 3, RampEnd: scene.None, Region: 1, Parent: scene.NoID},
			{Label: "loss", Colour: 10, RampEnd: 30, RampLow: "0 %", RampHigh: "100 %", Region: scene.NoID, Parent: scene.NoID},
		},
		Notes: []string{"aggregated: 1,023 processes"},
		Terms: []scene.Term{{Name: "event0", Text: "MPI_Barrier:exclusive", Label: "waiting", By: "layout"}},
	}
}

// Everything the page needs survives the trip; the page's half of this test reads
// the same fixtures.
func TestFixturesMatchTheEncoder(t *testing.T) {
	cases := []struct {
		name  string
		scene *scene.Scene
		extra Extra
	}{
		{"every", every(), Extra{}},
		{"empty", &scene.Scene{Width: 10, Height: 20}, Extra{Empty: &Empty{What: "no interval", Hint: "choose more"}}},
		{"coarse", &scene.Scene{Width: 10, Height: 20, Notes: []string{"a"}}, Extra{Coarse: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Encode(c.scene, c.extra)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := json.MarshalIndent(plainScene(c.scene), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".scene", got)
			golden(t, c.name+".json", plain)
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the encoder's answer; run with -update and look at the difference", file)
	}
}

// plainScene is the scene as ordinary JSON, with the kind beside each mark's fields.
func plainScene(s *scene.Scene) map[string]any {
	first := map[scene.Mark]int{}
	s.EachItemRange(func(m scene.Mark, n int) { first[m] = n })
	layers := []any{}
	for _, l := range s.Layers {
		marks := []any{}
		for _, m := range l.Marks {
			fields := map[string]any{"Kind": m.Kind()}
			v := reflect.ValueOf(m).Elem()
			for i := range v.NumField() {
				if name := v.Type().Field(i).Name; name == "Of" || name == "At" {
					continue // the wire has the number of the first item
				}
				fields[v.Type().Field(i).Name] = numbers(v.Field(i))
			}
			if n, ok := first[m]; ok {
				fields["FirstItem"] = n
			}
			if t, ok := m.(*scene.Text); ok {
				drawn := []string{}
				for _, x := range t.Text {
					drawn = append(drawn, scene.Visible(x))
				}
				fields["Text"], fields["Width"] = drawn, widths(t)
			}
			if v, ok := m.(*scene.Space); ok { // labels travel with their widths, the ramp as its place in the palette
				e := encoder{strings: map[string]uint32{}}
				described := e.space(v)
				fields["Ramp"], fields["Axes"] = described.Ramp, described.Axes
				delete(fields, "Runs")
				delete(fields, "Links")
				fields["Labels"] = described.Labels
				if fields["LinkWidth"] = v.Links.Width; len(v.Links.From) > 0 {
					fields["LinkFrom"], fields["LinkTo"], fields["LinkFill"] = v.Links.From, v.Links.To, v.Links.Fill
					if v.Links.Part != nil {
						fields["LinkPart"] = v.Links.Part
					}
				}
				for _, r := range v.Runs {
					for name, x := range map[string]uint32{"RunFirst": r.First, "RunLocation": r.Location, "RunStep": r.Step} {
						list, _ := fields[name].([]uint32)
						fields[name] = append(list, x)
					}
				}
				for _, a := range []string{"X", "Y", "Z"} {
					fields["p"+strings.ToLower(a)] = fields["P"+a]
					delete(fields, "P"+a)
				}
			}
			marks = append(marks, fields)
		}
		layers = append(layers, map[string]any{"Name": l.Name, "Frame": l.Frame, "Marks": marks})
	}
	return map[string]any{
		"Width": s.Width, "Height": s.Height, "Title": s.Title, "Description": s.Description,
		"Frames": s.Frames, "Layers": layers, "Legend": s.Legend, "Notes": s.Notes, "Terms": s.Terms,
	}
}

// numbers keeps encoding/json from writing a list of bytes as base64.
func numbers(v reflect.Value) any {
	if v.Kind() != reflect.Slice || v.IsNil() || v.Type().Elem().Kind() != reflect.Uint8 {
		return v.Interface()
	}
	out := make([]int, v.Len())
	for i := range out {
		out[i] = int(v.Index(i).Uint())
	}
	return out
}

// Every column starts at a multiple of 8 and lies inside the buffer, so the
// browser may view it in place.
func TestColumnsAreAlignedAndInside(t *testing.T) {
	b, err := Encode(every(), Extra{})
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint32(b))
	var h struct {
		Layers []struct{ Marks []map[string]json.RawMessage }
	}
	if err := json.Unmarshal(b[4:4+n], &h); err != nil {
		t.Fatal(err)
	}
	width := map[string]int{"f32": 4, "u32": 4, "text": 4, "u16": 2, "u8": 1}
	base, seen := align(4+n), 0
	for _, l := range h.Layers {
		for _, m := range l.Marks {
			for name, raw := range m {
				var c column
				if json.Unmarshal(raw, &c) != nil || c.Type == "" {
					continue
				}
				seen++
				if c.Offset%8 != 0 || base+c.Offset+c.Length*width[c.Type] > len(b) {
					t.Errorf("column %s at %d of %d %s does not lie in %d bytes", name, c.Offset, c.Length, c.Type, len(b)-base)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("saw %d columns, want all of them", seen)
	}
}

func TestEveryMarkKindHasAnEncoding(t *testing.T) {
	have := map[string]bool{}
	for _, l := range every().Layers {
		for _, m := range l.Marks {
			have[m.Kind()] = true
		}
	}
	for _, k := range scene.MarkKinds {
		if !have[k] {
			t.Errorf("no mark of kind %q in the fixture", k)
		}
	}
}

func TestColumnsThatDoNotFitAreRefused(t *testing.T) {
	bad := map[string]scene.Mark{
		"short fill":     &scene.Rect{X: []float32{1}, Y: []float32{1}, W: []float32{1}, H: []float32{1}},
		"long flags":     &scene.Line{X0: []float32{1}, Y0: []float32{1}, X1: []float32{1}, Y1: []float32{1}, Stroke: []scene.Colour{1}, Flags: []scene.Flag{0, 0}},
		"offsets beyond": &scene.Path{Offsets: []uint32{0, 9}, X: []float32{1}, Y: []float32{1}, Stroke: []scene.Colour{1}},
		"offsets back":   &scene.Polygon{Offsets: []uint32{0, 2, 1}, X: make([]float32, 2), Y: make([]float32, 2), Fill: make([]scene.Colour, 2)},
		"missing cells":  &scene.Image{Columns: 2, Rows: 2, Cells: make([]scene.Colour, 3)},
	}
	for name, m := range bad {
		t.Run(name, func(t *testing.T) {
			_, err := Encode(&scene.Scene{Layers: []scene.Layer{{Name: "l", Marks: []scene.Mark{m}}}}, Extra{})
			if err == nil || !strings.Contains(err.Error(), m.Kind()) {
				t.Errorf("got %v, want an error that names %q", err, m.Kind())
			}
		})
	}
}

func TestNumbersThatJSONLacksDoNotFail(t *testing.T) {
	s := &scene.Scene{Width: math.NaN(), Frames: []scene.Frame{{XScale: scene.Scale{Begin: math.Inf(1)}}}}
	if _, err := Encode(s, Extra{}); err != nil {
		t.Error(err)
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{20_000, 200_000} {
		m := &scene.Rect{}
		for i := range n {
			m.Add(float32(i%1000), float32(i/1000), 1, 1, scene.Colour(i%200))
		}
		s := &scene.Scene{Width: 1000, Height: 1000, Layers: []scene.Layer{{Marks: []scene.Mark{m}}}}
		b.Run(fmt.Sprintf("rects=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := Encode(s, Extra{})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(out)))
			}
		})
	}
}

// Places travel once: a page that has them is sent their names, and what is new.
func TestColumnsOfASpaceAreNotSentTwice(t *testing.T) {
	const n = 1_000_000
	m := &scene.Space{PX: make([]float32, n), PY: make([]float32, n), PZ: make([]float32, n), Value: make([]float32, n)}
	for i := range n {
		m.PX[i], m.PY[i], m.PZ[i], m.Value[i] = float32(i%100), float32(i/100%100), float32(i/10000), float32(i)
	}
	s := &scene.Scene{Width: 10, Height: 10, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
	keys := func(have []string) (size int, keys []string) {
		b, err := Encode(s, Extra{Have: have})
		if err != nil {
			t.Fatal(err)
		}
		var h struct {
			Layers []struct{ Marks []map[string]json.RawMessage }
		}
		if err := json.Unmarshal(b[4:4+binary.LittleEndian.Uint32(b)], &h); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"px", "py", "pz", "value"} {
			var c column
			if err := json.Unmarshal(h.Layers[0].Marks[0][name], &c); err != nil || c.Key == "" || c.Length != n {
				t.Fatalf("column %s is %+v: %v", name, c, err)
			}
			keys = append(keys, c.Key)
		}
		return len(b), keys
	}
	whole, first := keys(nil)
	if whole > 16<<20 {
		t.Errorf("a million places and values take %d bytes", whole)
	}
	if again, same := keys(first); again > 4096 || !reflect.DeepEqual(first, same) {
		t.Errorf("%d bytes are sent again, keys %v and %v", again, first, same)
	}
	m.Value[7]++
	if values, _ := keys(first); values < 4*n || values > 4*n+4096 {
		t.Errorf("%d bytes for other values of the same places", values)
	}
}
