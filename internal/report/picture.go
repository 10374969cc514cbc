package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// width of pictures in pixels.
const width = 1080

// heavy is how many things a layer may hold as vectors; beyond that it is a raster
// under the vectors of the rest, so that text stays sharp and files stay small.
const heavy = 3000

// A picture is a view drawn.
type picture struct {
	Title, Summary, HowToRead, Paper string
	Command                          string
	SVG                              template.HTML
	Notes                            []string
}

// plans says which pictures every report has, where the run has what they need.
var plans = []struct {
	view   string
	height int
}{
	{"timeline", 420},
	{"activity", 220},
	{"contrast", 420},
	{"phases", 360},
	{"moments", 380},
	{"treemap", 320},
	{"profile", 380},
	{"boxprofile", 380},
	{"commmatrix", 440},
}

func (r *reporter) pictures() error {
	for _, p := range plans {
		v := r.find(p.view)
		if v == nil {
			continue
		}
		if r.bytes > most {
			r.doc.Left = append(r.doc.Left, v.Name+": the file is large already")
			continue
		}
		sel := r.Selection
		if p.view == "contrast" && sel.Locations == nil && len(r.about) > 0 {
			sel.Locations = r.about // why those that the findings name are different
		}
		if r.drawn[r.commandOf(v, sel, nil)] || r.nearly[v.Name] {
			continue
		}
		drawn, err := r.draw(v, sel, nil, p.height)
		if err != nil {
			return err
		}
		if drawn != nil {
			r.doc.Pictures = append(r.doc.Pictures, *drawn)
		}
	}
	return nil
}

// compute asks a view.
func (r *reporter) compute(v *view.View, sel trace.Selection, set map[string][]string, size scene.Size) (view.Result, error) {
	values, err := view.NewValues(v, set)
	if err != nil {
		return nil, err
	}
	return v.Compute(r.ctx, &view.Request{Runs: []view.Run{r.Run}, Selection: sel, Values: values, Size: size})
}

// draw gives a view's picture; nil where there is nothing to show, which is noted.
func (r *reporter) draw(v *view.View, sel trace.Selection, set map[string][]string, height int) (*picture, error) {
	if why := v.Needs.Missing(r.Run.Store); why != "" {
		r.doc.Left = append(r.doc.Left, v.Name+": "+why)
		return nil, nil
	}
	size := scene.Size{Width: width, Height: height}
	result, err := r.compute(v, sel, set, size)
	if err != nil {
		return nil, r.leave(v.Name, err)
	}
	if v.Name == "commmatrix" && !crosses(result.Table()) {
		r.doc.Left = append(r.doc.Left, v.Name+": no link goes from one process to another")
		return nil, nil
	}
	s := scene.Furnish(size, func(size scene.Size) *scene.Scene {
		s := result.Scene(size)
		s.Notes = nil // the page writes them
		return s
	})
	text, err := r.picture(s)
	if err != nil {
		return nil, r.leave(v.Name, err)
	}
	r.bytes += len(text)
	r.drawn[r.commandOf(v, sel, set)] = true
	if 10*(sel.End-sel.Begin) >= 9*(r.Selection.End-r.Selection.Begin) && len(sel.Locations) == len(r.Selection.Locations) && len(sel.Regions) == len(r.Selection.Regions) {
		r.nearly[v.Name] = true
	}
	p := &picture{Title: v.Title, Summary: v.Summary, HowToRead: v.HowToRead, Paper: v.Paper, SVG: template.HTML(text), Command: r.commandOf(v, sel, set)}
	for _, n := range result.Notes() {
		p.Notes = append(p.Notes, clean(n))
	}
	return p, nil
}

// crosses reports whether a table of links has one between two different ends.
func crosses(t *view.Table) bool {
	return slices.ContainsFunc(t.Rows, func(row []any) bool { return len(row) > 1 && row[0] != row[1] })
}

// commandOf is the line that draws the same picture.
func (r *reporter) commandOf(v *view.View, sel trace.Selection, set map[string][]string) string {
	words := []string{"view", v.Name, r.Run.Source}
	if sel.Begin > 0 || sel.End < r.Run.Store.Info().End {
		words = append(words, "--from", strconv.FormatInt(int64(sel.Begin), 10), "--to", strconv.FormatInt(int64(sel.End), 10))
	}
	const most = 12 // of more the line would be longer than anybody reads
	if n := len(sel.Locations); n > 0 && n <= most {
		for _, id := range sel.Locations {
			words = append(words, "--locations", "#"+strconv.Itoa(int(id)))
		}
	}
	if n := len(sel.Regions); n > 0 && n <= most {
		for _, id := range sel.Regions {
			words = append(words, "--regions", "#"+strconv.Itoa(int(id)))
		}
	}
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		for _, x := range set[n] {
			words = append(words, "--"+n+"="+x)
		}
	}
	return clean(command(append(words, "-o", v.Name+".svg")...))
}

// picture draws a scene in both themes as one SVG whose colours are variables.
func (r *reporter) picture(s *scene.Scene) (string, error) {
	vectors, raster := split(s)
	light, dark, err := r.both(vectors)
	if err != nil {
		return "", err
	}
	text, ok := r.palette.merge(light, dark)
	if !ok {
		text = toggle(light, "light") + toggle(dark, "dark")
	}
	text = strings.ReplaceAll(text, ` xmlns="http://www.w3.org/2000/svg"`, "") // HTML knows without
	if raster == nil {
		return text, nil
	}
	var images strings.Builder
	for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
		var b bytes.Buffer
		if err := png.Render(&b, raster, theme); err != nil {
			return "", err
		}
		fmt.Fprintf(&images, `<image class="%s" width="%g" height="%g" href="data:image/png;base64,%s"/>`, className(theme), s.Width, s.Height, base64.StdEncoding.EncodeToString(b.Bytes()))
	}
	// The raster covers the background, which is the first rectangle of the picture.
	return background.ReplaceAllStringFunc(text, func(m string) string { return m + images.String() }), nil
}

var background = regexp.MustCompile(`(?m)^<rect width="[0-9.]+" height="[0-9.]+" fill="[^"]*"/>`)

func className(t scene.Theme) string {
	if t == scene.Dark {
		return "dark"
	}
	return "light"
}

func (r *reporter) both(s *scene.Scene) (light, dark string, err error) {
	var b bytes.Buffer
	if err = svg.Render(&b, s, scene.Light); err != nil {
		return "", "", err
	}
	light = b.String()
	b.Reset()
	err = svg.Render(&b, s, scene.Dark)
	return light, b.String(), err
}

// toggle shows a picture in one theme alone.
func toggle(text, class string) string {
	return strings.Replace(text, "<svg ", `<svg class="`+class+`" `, 1)
}

// split takes the layers that hold too much out of a scene, and all under them that
// have no text; nil where there are none.
func split(s *scene.Scene) (vectors, raster *scene.Scene) {
	last := -1
	for i, l := range s.Layers {
		n := 0
		for _, m := range l.Marks {
			n += m.Len()
		}
		if n > heavy {
			last = i
		}
	}
	if last < 0 {
		return s, nil
	}
	v, w := *s, *s
	v.Layers, w.Layers = nil, nil
	for i, l := range s.Layers {
		if i <= last && !slices.ContainsFunc(l.Marks, func(m scene.Mark) bool { return m.Kind() == "text" }) {
			w.Layers = append(w.Layers, l)
		} else {
			v.Layers = append(v.Layers, l)
		}
	}
	return &v, &w
}

// A palette numbers the pairs of colours, light and dark, that pictures use.
type palette map[[2]string]int

var (
	colour = regexp.MustCompile(`"#[0-9a-f]{3,6}"`)
	prefix = regexp.MustCompile(`\b(p[0-9a-f]{6})(a|h|f[0-9]+)\b`)
)

// merge makes one picture of two that differ in nothing but colours.
func (p palette) merge(light, dark string) (string, bool) {
	if l, d := prefix.FindStringSubmatch(light), prefix.FindStringSubmatch(dark); l != nil && d != nil {
		dark = strings.ReplaceAll(dark, d[1], l[1])
	}
	a, b := colour.FindAllStringIndex(light, -1), colour.FindAllStringIndex(dark, -1)
	if len(a) != len(b) {
		return "", false
	}
	var out strings.Builder
	pa, pb := 0, 0
	for i := range a {
		if light[pa:a[i][0]] != dark[pb:b[i][0]] {
			return "", false
		}
		out.WriteString(light[pa:a[i][0]])
		pair := [2]string{strings.Trim(light[a[i][0]:a[i][1]], `"`), strings.Trim(dark[b[i][0]:b[i][1]], `"`)}
		n, ok := p[pair]
		if !ok {
			n = len(p)
			p[pair] = n
		}
		fmt.Fprintf(&out, `"var(--c%d)"`, n)
		pa, pb = a[i][1], b[i][1]
	}
	if light[pa:] != dark[pb:] {
		return "", false
	}
	out.WriteString(light[pa:])
	return out.String(), true
}

// css gives the variables: light by default and on paper, dark where the reader wants it.
func (p palette) css() string {
	pairs := make([][2]string, len(p))
	for pair, n := range p {
		pairs[n] = pair
	}
	list := func(k int) string {
		var b strings.Builder
		for n, pair := range pairs {
			fmt.Fprintf(&b, "--c%d:%s;", n, pair[k])
		}
		return b.String()
	}
	return ":root{" + list(0) + "}\n@media screen and (prefers-color-scheme:dark){:root{" + list(1) + "}}\n"
}
