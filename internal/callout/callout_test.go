package callout

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func picture() *scene.Scene {
	s := scene.New(scene.Size{Width: 400, Height: 200}, "", "")
	s.AddFrame(scene.Frame{X: 100, Y: 0, W: 200, H: 100, YScale: scene.Scale{Kind: "rows", Rows: []scene.Row{{From: 0, To: 40, Label: "rank 0"}, {From: 40, To: 80, Label: "rank 1"}}}})
	text := &scene.Text{Size: 10}
	text.Add(50, 100, "rank 10", scene.UIText, scene.Start)
	text.Add(300, 150, "rank 1", scene.UIText, scene.End)
	s.AddLayer("texts", -1, text)
	return s
}

func TestNumbersOfCalloutsAreNextToTheirItems(t *testing.T) {
	list, err := Parse("# a guide\nrow \"rank 1\" 50 | a row\n\ntext \"rank 1\" right | a text | with a bar\nplot 0 100 | a corner\npicture 75 90 | below\n")
	if err != nil {
		t.Fatal(err)
	}
	s := picture()
	if err := Draw(s, list); err != nil {
		t.Fatal(err)
	}
	marks := s.Layers[len(s.Layers)-1].Marks
	discs, numbers := marks[1].(*scene.Point), marks[2].(*scene.Text)
	want := [][2]float32{{200, 60}, {300 + gap + Radius, 150 - 3.5}, {100, 100}, {300, 180}}
	for i, w := range want {
		if discs.X[i] != w[0] || discs.Y[i] != w[1] || numbers.Text[i] != string(rune('1'+i)) {
			t.Errorf("%s: at %v, %v, want %v", list[i].Where, discs.X[i], discs.Y[i], w)
		}
	}
	if list[1].Says != "a text | with a bar" {
		t.Errorf("%q", list[1].Says)
	}
}

func TestACalloutWithoutAPlaceIsAnError(t *testing.T) {
	for guide, want := range map[string]string{
		"row \"rank 7\" 50 | x":                       "no row",
		"text \"rank 7\" left | x":                    "no text",
		"plot 3 50 50 | x":                            "1 plots",
		"picture 110 50 | x":                          "outside",
		"picture 50 50 | x\npicture 51 50 | y":        "covers number 1",
		"plot 50 50":                                  "line 1",
		"somewhere | x":                               "want text",
		"# nothing":                                   "0 callouts",
		strings.Repeat("picture 50 50 | x\n", most+1): "21 callouts",
	} {
		list, err := Parse(guide)
		if err == nil {
			err = Draw(picture(), list)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", guide, err, want)
		}
	}
}
