package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
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

// heavy is the number of things that a layer may hold as vectors; beyond that it is a raster
// under the vectors of the rest, so that text stays sharp and files stay small.
const heavy = 3000

// A picture is a view drawn.
type picture struct {
	Title, Summary, HowToRead, Paper string
	Command                          string
	SVG                              template.HTML
	Notes                            []string
}

// plans returns the views whose pictures every report has, if the run has the data for them.
func (r *reporter) plans() []*view.View {
	list := slices.DeleteFunc(slices.Clone(r.Views), func(v *view.View) bool { return v.Report.Place == 0 })
	slices.SortFunc(list, func(a, b *view.View) int { return a.Report.Place - b.Report.Place })
	return list
}

func (r *reporter) pictures() error {
	for _, v := range r.plans() {
		if r.bytes > most {
			r.doc.Left = append(r.doc.Left, v.Name+": the file is large already")
			continue
		}
		sel := r.Selection
		if v.Report.About && sel.Locations == nil && len(r.about) > 0 {
			sel.Locations = r.about // why those that the findings name are different
		}
		if r.drawn[r.commandOf(v, sel, nil)] || r.nearly[v.Name] {
			continue
		}
		drawn, err := r.draw(v, sel, nil, v.Report.Height)
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
func (r *reporter) compute(v *view.View, sel trace.Selection, set map[string][]string, size scene.Size) (view.Result,
	error) {
	values, err := view.NewValues(v, set)
	if err != nil {
		return nil, err
	}
	return view.Ask(r.ctx, v, &view.Request{Runs: []view.Run{r.Run}, Selection: sel, Values: values, Size: size})
}

// draw returns a view's picture; nil if there is nothing to show, which is noted.
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
	if v.Report.Lacks != nil {
		if why := v.Report.Lacks(result); why != "" {
			r.doc.Left = append(r.doc.Left, v.Name+": "+why)
			return nil, nil
		}
	}
	s := scene.AddTitleAndLegend(size, func(size scene.Size) *scene.Scene {
		s := result.Scene(size)
		s.Notes = nil // the page writes them
		return s
	})
	if err := view.Failed(result); err != nil {
		return nil, r.leave(v.Name, err)
	}
	text, err := r.picture(s)
	if err != nil {
		return nil, r.leave(v.Name, err)
	}
	r.bytes += len(text)
	r.drawn[r.commandOf(v, sel, set)] = true
	if 10*(sel.End-sel.Begin) >= 9*(r.Selection.End-r.Selection.Begin) &&
		len(sel.Locations) == len(r.Selection.Locations) && len(sel.Regions) == len(r.Selection.Regions) {
		r.nearly[v.Name] = true
	}
	p := &picture{Title: v.Title, Summary: v.Summary, HowToRead: v.HowToRead, Paper: v.Paper, SVG: template.HTML(text),
		Command: r.commandOf(v, sel, set)}
	for _, n := range result.Notes() {
		p.Notes = append(p.Notes, clean(n))
	}
	return p, nil
}

// commandOf returns the line that draws the same picture.
func (r *reporter) commandOf(v *view.View, sel trace.Selection, set map[string][]string) string {
	words := []string{"view", v.Name, r.Run.Source}
	if sel.Begin > 0 || sel.End < r.Run.Store.Info().End {
		words = append(words, "--from", strconv.FormatInt(int64(sel.Begin), 10), "--to",
			strconv.FormatInt(int64(sel.End), 10))
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
	return clean(CommandLine(append(words, "-o", v.Name+".svg")...))
}

// picture draws a scene in both themes as one SVG whose colours are variables. Layers that are too large for that are
// put on its background, as one raster per theme.
func (r *reporter) picture(s *scene.Scene) (string, error) {
	vectors, raster := split(s)
	var images, b strings.Builder
	for _, theme := range []scene.Theme{r.palette.Hues &^ scene.Dark, r.palette.Hues | scene.Dark} {
		if raster == nil {
			break
		}
		var p bytes.Buffer
		if err := png.Render(&p, raster, theme); err != nil {
			return "", err
		}
		fmt.Fprintf(&images, `<image class="%s" width="%g" height="%g" href="data:image/png;base64,%s"/>`,
			className(theme), s.Width, s.Height, base64.StdEncoding.EncodeToString(p.Bytes()))
	}
	err := svg.Themed(&b, vectors, &r.palette, images.String())
	return b.String(), err
}

func className(t scene.Theme) string {
	if t.IsDark() {
		return "dark"
	}
	return "light"
}

// split takes the layers that hold too much out of a scene, and all under them that
// have no text; nil if there are none.
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
