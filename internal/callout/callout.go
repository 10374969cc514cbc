// Package callout puts numbers on a finished picture and explains each: the guides of the documentation, or figures
// of one's own. The content of the picture determines the place of a number, so that it stays right when the
// picture changes.
//
// A guide is a text, a callout a line, with a bar between the place and its explanation:
//
//	text "MPI_Allreduce" right | next to a text of the picture; or left, above, below
//	row "rank 5" 40            | on the row of that label, 40 % to the right in its plot
//	plot 50 20                 | in the first plot, 50 % to the right and 20 % down; "plot 2 50 20" in the second
//	picture 50 20              | the same of the whole picture
//
// Empty lines and those that begin with # are left out.
package callout

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// A Callout is one number: its place and its explanation.
type Callout struct {
	Says string
	// Where is the place as it was written.
	Where string
	find  func(*scene.Scene) (x, y float32, err error)
}

// Radius of a number's disc, in pixels.
const Radius = 9

// most is how many callouts a picture can bear.
const most = 20

// Parse reads a guide.
func Parse(text string) (list []Callout, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		where, says, ok := strings.Cut(line, "|")
		if !ok {
			return nil, fmt.Errorf("line %d: want a place and what it says, with | between them", n)
		}
		c := Callout{Where: strings.TrimSpace(where), Says: strings.TrimSpace(says)}
		if c.find, err = parsePlace(c.Where); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, c)
	}
	if len(list) == 0 || len(list) > most {
		return nil, fmt.Errorf("%d callouts; want 1 to %d", len(list), most)
	}
	return list, nil
}

var (
	ofText = regexp.MustCompile(`^text "(.+)" (left|right|above|below)$`)
	ofRow  = regexp.MustCompile(`^row "(.+)" (\d+(?:\.\d+)?)$`)
	ofPlot = regexp.MustCompile(`^plot(?: (\d+))? (\d+(?:\.\d+)?) (\d+(?:\.\d+)?)$`)
	ofAll  = regexp.MustCompile(`^picture (\d+(?:\.\d+)?) (\d+(?:\.\d+)?)$`)
)

func parsePlace(s string) (func(*scene.Scene) (x, y float32, err error), error) {
	share := func(s string) float32 { f, _ := strconv.ParseFloat(s, 32); return float32(f) / 100 }
	if m := ofText.FindStringSubmatch(s); m != nil {
		return func(s *scene.Scene) (float32, float32, error) { return besideText(s, m[1], m[2]) }, nil
	}
	if m := ofRow.FindStringSubmatch(s); m != nil {
		return func(s *scene.Scene) (float32, float32, error) { return onRow(s, m[1], share(m[2])) }, nil
	}
	if m := ofPlot.FindStringSubmatch(s); m != nil {
		k, _ := strconv.Atoi("0" + m[1])
		return func(s *scene.Scene) (float32, float32, error) { return inPlot(s, max(k, 1), share(m[2]), share(m[3])) },
			nil
	}
	if m := ofAll.FindStringSubmatch(s); m != nil {
		return func(s *scene.Scene) (float32, float32, error) {
			return share(m[1]) * float32(s.Width), share(m[2]) * float32(s.Height), nil
		}, nil
	}
	return nil,
		fmt.Errorf(
			`place %q: want text "WORDS" left|right|above|below, row "LABEL" X, plot X Y or picture X Y, in per cent`,
			s,
		)
}

// besideText finds a text of the picture: the first that is just this, or else has it in it.
func besideText(s *scene.Scene, words, side string) (x, y float32, err error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.Contains} {
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				t, _ := m.(*scene.Text)
				for i := 0; t != nil && i < len(t.Text); i++ {
					if same(t.Text[i], words) {
						x, y = beside(t, i, side)
						return x, y, nil
					}
				}
			}
		}
	}
	return 0, 0, fmt.Errorf("the picture has no text %q", words)
}

// gap is between a text and its number.
const gap = 4

func beside(t *scene.Text, i int, side string) (x, y float32) {
	width, height := scene.TextWidth(t.Text[i], t.Size, t.Bold), t.Size*0.7 // of capitals
	left, middle := t.X[i], t.Y[i]-height/2
	if t.Anchor != nil {
		left -= width * float32(t.Anchor[i]) / 2
	}
	if t.Turned { // upwards from its place
		left, middle, width, height = t.X[i]-height, t.Y[i]-width/2, height, width
	}
	switch side {
	case "left":
		return left - gap - Radius, middle
	case "right":
		return left + width + gap + Radius, middle
	case "above":
		return left + width/2, middle - height/2 - gap - Radius
	}
	return left + width/2, middle + height/2 + gap + Radius
}

func onRow(s *scene.Scene, label string, share float32) (x, y float32, err error) {
	for _, f := range s.Frames {
		for _, r := range f.YScale.Rows {
			if r.Label == label {
				return f.X + share*f.W, (r.From + r.To) / 2, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("the picture has no row %q", label)
}

func inPlot(s *scene.Scene, k int, right, down float32) (x, y float32, err error) {
	if k > len(s.Frames) {
		return 0, 0, fmt.Errorf("the picture has %d plots", len(s.Frames))
	}
	f := &s.Frames[k-1]
	return f.X + right*f.W, f.Y + down*f.H, nil
}

// Draw adds the numbers to a picture, from 1 on. It fails if one has no place, is outside the picture, or covers
// another.
func Draw(s *scene.Scene, list []Callout) error {
	rim, discs, numbers := &scene.Point{}, &scene.Point{}, &scene.Text{Size: 12, Bold: true}
	var failed []error
	for i := range list {
		x, y, err := list[i].find(s)
		if err == nil &&
			!(x >= -Radius && y >= -Radius && x <= float32(s.Width)+Radius && y <= float32(s.Height)+Radius) {
			err = fmt.Errorf("%.0f, %.0f is outside the picture", x, y)
		}
		// wholly in it
		x, y = min(max(x, Radius+1), float32(s.Width)-Radius-1), min(max(y, Radius+1), float32(s.Height)-Radius-1)
		for k := range discs.X {
			if dx, dy := x-discs.X[k], y-discs.Y[k]; err == nil && dx*dx+dy*dy < 4*Radius*Radius {
				err = fmt.Errorf("covers number %d", k+1)
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("callout %d, %s: %w", i+1, list[i].Where, err))
			continue
		}
		rim.Add(x, y, Radius+1.5, scene.UIBackground)
		discs.Add(x, y, Radius, scene.UIText)
		numbers.Add(x, y+4.3, strconv.Itoa(i+1), scene.UIBackground, scene.Middle)
	}
	s.AddLayer("callouts", -1, rim, discs, numbers)
	return errors.Join(failed...)
}
