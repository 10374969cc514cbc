package viewtest

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func TestFigureFaultsAreFound(t *testing.T) {
	size := scene.Size{Width: 1000, Height: 900}
	for want, draw := range map[string]func(*scene.Scene, *scene.Text){
		"lie over each other": func(_ *scene.Scene, x *scene.Text) {
			x.Add(500, 880, "100", scene.UIText, scene.Middle)
			x.Add(510, 880, "1 µs", scene.UIText, scene.Middle)
		},
		"out of":     func(_ *scene.Scene, x *scene.Text) { x.Add(10, 880, "146.5 ms", scene.UIText, scene.End) },
		"blank from": func(*scene.Scene, *scene.Text) {},
		"cut off": func(s *scene.Scene, _ *scene.Text) {
			in := &scene.Text{Size: 12}
			in.Add(110, 880, "146.5 ms", scene.UIText, scene.End)
			s.AddLayer("inside", s.AddFrame(scene.Frame{X: 100, Y: 100, W: 500, H: 800}), in)
		},
	} {
		s := scene.New(size, "", "")
		text := &scene.Text{Size: 12}
		text.Add(400, 100, "a label", scene.UIText, scene.Middle)
		draw(s, text)
		s.AddLayer("axis", -1, text)
		if faults := strings.Join(FigureFaults(s, size), "; "); !strings.Contains(faults, want) {
			t.Errorf("want %q, found %q", want, faults)
		}
	}
}
