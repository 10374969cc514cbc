package kaleidoscope

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A pair is the signatures of two runs side by side, each with its own legend of
// locations left out: colours of regions and of time mean the same in both.
type pair struct {
	left, right *result
	names       [2]string
	middle      float64 // of the scene drawn last
}

// besides computes both halves. The second run is shown whole.
func besides(ctx context.Context, q *view.Request) (view.Result, error) {
	p := &pair{names: [2]string{q.Runs[0].Name, q.Runs[1].Name}}
	half := scene.Size{Width: q.Size.Width / 2, Height: q.Size.Height}
	for k, to := range []**result{&p.left, &p.right} {
		one := *q
		one.Runs, one.Size = q.Runs[k:k+1], half
		if k == 1 {
			one.Selection = trace.Selection{End: one.Store().Info().End}
		}
		r, err := signature(ctx, &one)
		if err != nil {
			return nil, err
		}
		*to = r
	}
	return p, nil
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (p *pair) Data() any {
	return PairData{p.left.Data().(Data), p.right.Data().(Data)}
}

// Table holds the first run's nodes; the JSON twin has both.
func (p *pair) Table() *view.Table { return p.left.Table() }

func (p *pair) Scene(size scene.Size) *scene.Scene {
	const title = scene.TextSize + 6
	half := scene.Size{Width: size.Width / 2, Height: size.Height - title}
	left, right := p.left.Scene(half), p.right.Scene(half)
	p.middle = float64(half.Width)
	left.Translate(0, title)
	right.Translate(float32(half.Width), title)
	s := scene.New(size, "", left.Description+" Beside it: "+right.Description)
	s.AddFrame(scene.Frame{Name: "main", W: float32(size.Width), H: float32(size.Height)})
	for _, one := range []*scene.Scene{left, right} {
		for _, l := range one.Layers {
			s.AddLayer(l.Name, 0, l.Marks...)
		}
	}
	text := &scene.Text{Size: scene.TextSize}
	text.Add(float32(half.Width)/2, scene.TextSize, p.names[0], scene.UIText, scene.Middle)
	text.Add(float32(half.Width)*3/2, scene.TextSize, p.names[1], scene.UIText, scene.Middle)
	s.AddLayer("names", -1, text)
	s.Legend, s.Notes = left.Legend, p.Notes()
	return s
}

func (p *pair) Pick(x, y float64) (view.Fact, bool) {
	const title = scene.TextSize + 6
	if x < p.middle {
		return p.left.Pick(x, y-title)
	}
	f, ok := p.right.Pick(x-p.middle, y-title)
	// Ids of another run choose nothing here.
	f.Locations, f.Regions, f.Begin, f.End, f.Row, f.Open = nil, nil, nil, nil, nil, nil
	return f, ok
}

func (p *pair) Notes() (out []string) {
	for k, r := range []*result{p.left, p.right} {
		for _, n := range r.Notes() {
			out = append(out, p.names[k]+": "+n)
		}
	}
	if paint := p.right.request.Values.Text("paint"); paint == "time" || paint == "both" {
		f := p.right.forest
		out = append(out, fmt.Sprintf("%s: its colours run from %s to %s", p.names[1], view.FormatTime(f.begin), view.FormatTime(f.end)))
	}
	return out
}
