package parallax

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/render/pdf"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// A ViewInfo describes a view. docs/views.md has the options of each.
type ViewInfo struct{ Name, Title, Summary string }

// Views lists the views.
func Views() []ViewInfo {
	var out []ViewInfo
	for _, v := range views.Views {
		out = append(out, ViewInfo{v.Name, v.Title, v.Summary})
	}
	return out
}

// A Request selects the part of a run that a view shows; the zero value is all of it.
type Request struct {
	From, To  string   // "1.5s", "200ms", "30%"; "": from begin to end
	Locations []string // patterns: a glob on path or name, re:EXPR, rank:0-3, kind:NAME
	Regions   []string // patterns: a glob on the name, re:EXPR, role:NAME, category:NAME
	// Options of the view, as on the command line without the dashes.
	Options map[string][]string
	// Width and Height of the picture in pixels; 0: 1600 and 900.
	Width, Height int
	// Against are further runs, for views that compare.
	Against []*Run
}

// A View is an answer as picture, table and data, all of the same result. It is for one
// goroutine at a time.
type View struct {
	view    *view.View
	request *view.Request
	result  view.Result
}

// ErrEmpty is the error of a selection that holds nothing to show.
var ErrEmpty = errors.New("the selection is empty")

// View computes a view. If the selection holds nothing to show, the error is ErrEmpty.
func (r *Run) View(ctx context.Context, name string, q Request) (*View, error) {
	v := find(name)
	if v == nil {
		return nil, fmt.Errorf("parallax: no view %q", name)
	}
	values, err := view.NewValues(v, q.Options)
	if err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	request := &view.Request{Runs: []view.Run{r.run}, Values: values, Size: scene.Size{Width: 1600, Height: 900}}
	for _, o := range q.Against {
		request.Runs = append(request.Runs, o.run)
	}
	if q.Width > 0 {
		request.Size.Width = q.Width
	}
	if q.Height > 0 {
		request.Size.Height = q.Height
	}
	if err := view.CheckRuns(v, len(request.Runs), views.Views); err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	if missing := v.Needs.Missing(r.run.Store); missing != "" {
		return nil, fmt.Errorf("parallax: view %s: %s", name, missing)
	}
	spec, _,
		err := view.Spec{From: q.From, To: q.To, Locations: q.Locations, Regions: q.Regions}.First(ctx, v, request.Runs)
	if err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	if request.Selection, err = spec.Resolve(r.run.Store); err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	result, err := view.Ask(ctx, v, request)
	if empty := new(view.EmptyError); errors.As(err, &empty) {
		return nil, fmt.Errorf("parallax: view %s: %w: %w", name, ErrEmpty, err)
	} else if err != nil {
		return nil, fmt.Errorf("parallax: view %s: %w", name, err)
	}
	return &View{v, request, result}, nil
}

func find(name string) *view.View {
	for _, v := range views.Views {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Data returns the numbers as JSON; docs/schemas/NAME.json describes it.
func (v *View) Data() (json.RawMessage, error) {
	data := v.result.Data()
	if err := v.failed(); err != nil {
		return nil, err
	}
	return json.Marshal(data)
}

// failed returns the error of a store that could not be read for what was asked for last.
func (v *View) failed() error {
	if err := view.Failed(v.result); err != nil {
		return fmt.Errorf("parallax: view %s: %w", v.view.Name, err)
	}
	return nil
}

// Table returns the same as a table.
func (v *View) Table() (columns []Column, rows [][]any) {
	t := v.result.Table()
	for _, c := range t.Columns {
		columns = append(columns, Column{c.Name, c.Unit})
	}
	return columns, t.Rows
}

// Notes lists clipped, capped and guessed values.
func (v *View) Notes() []string { return append([]string{}, v.result.Notes()...) }

// pictures are the kinds of pictures.
var pictures = map[string]func(io.Writer, *scene.Scene, scene.Theme) error{"svg": svg.Render, "png": png.Render,
	"pdf": pdf.Render, "jpg": png.RenderJPEG, "eps": png.RenderEPS}

// Write writes the view as svg, png, pdf, jpg or eps, or as json or csv. The theme, for pictures, is
// light or dark; "" is light.
func (v *View) Write(w io.Writer, kind, theme string) error {
	switch kind {
	case "json":
		twin := view.TwinOf(v.view, v.request, v.result)
		if err := v.failed(); err != nil {
			return err
		}
		return twin.WriteJSON(w)
	case "csv":
		t := v.result.Table()
		if err := v.failed(); err != nil {
			return err
		}
		return t.WriteCSV(w)
	}
	render, known := pictures[kind]
	if !known {
		return fmt.Errorf("parallax: %q is none of svg, png, pdf, jpg, eps, json, csv", kind)
	}
	if theme == "" {
		theme = "light"
	}
	colours, known := scene.ParseTheme(theme)
	if !known {
		return fmt.Errorf("parallax: theme %q: want light or dark", theme)
	}
	s := scene.AddTitleAndLegend(v.request.Size, v.result.Scene)
	if err := v.failed(); err != nil {
		return err
	}
	return render(w, s, colours)
}
