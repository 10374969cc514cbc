package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/callout"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/render/pdf"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/report"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func viewCommand() *command {
	return &command{
		name: "view", args: "VIEW SOURCE [-o FILE] [--size WxH]",
		summary: "draw one view without a browser: svg, png, pdf, jpg, eps, html, json or csv, by the ending of FILE",
		help: "Without -o the numbers are printed as JSON. `parallax views` lists the views and their options.\n\n  " +
			"parallax view timeline run.otf2 -o timeline.svg\n  parallax view activity traces/ --from 10% --to 20% " +
			"--locations 'rank:0-3' -o activity.csv",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("output", "o", "",
				"FILE to write; its ending is svg, png, pdf, jpg, eps, html (picture and table), json or csv")
			fs.String("size", "1600x900",
				"WxH, the largest size of the picture in pixels; above 1600x900 text grows too. 1600xAUTO: as high "+
					"as the content; 84mm, 174x90mm: for print, with text of 8 points and PNG of 300 dots per inch")
			fs.String("letter", "", "letter of the picture in a figure, such as a, drawn in its corner")
			fs.String("theme", "light", "light or dark")
			fs.String("region-colours", "usual",
				"colours of regions and locations: usual, or safe (fewer colours, distinct for colour-blind "+
					"readers; --palette sets those of magnitudes)")
			fs.String("callouts", "",
				"FILE with numbered callouts, one line each: position, arrow length, text; see docs/guides/README.md")
			fs.Bool("json", false,
				"JSON on standard output (the default without -o); lists end after 16,384 elements unless --all is "+
					"given")
			fs.Bool("spreadsheet", false,
				"CSV for a spreadsheet: text that begins like a formula (= + - @) gets an apostrophe, so that it is "+
					"not run")
			fs.StringArray("run", nil,
				"NAME=SOURCE, or SOURCE: another run, or a directory of runs, to compare; repeatable")
			fs.String("project", "", projectHelp)
			sourceFlags(fs)
			selectionFlags(fs)
			readingFlags(fs)
			optionFlags(fs)
		},
		run: runView,
	}
}

func viewNames() (names []string) {
	for _, v := range views.Views {
		names = append(names, v.Name)
	}
	return names
}

func findView(name string) *view.View {
	for _, v := range views.Views {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func runView(ctx context.Context, e *env, args []string) error {
	if len(args) < 1 {
		return usage("view: want a view and a source; `parallax views` lists the views")
	}
	v := findView(args[0])
	if v == nil {
		return usage("view: no view %q; `parallax views` lists them%s", args[0], words.Suggest(args[0], viewNames()))
	}
	out, err := e.newOutput()
	if err != nil {
		return err
	}
	set := e.optionValues()
	keys, err := runKeys(set)
	if err != nil {
		return err
	}
	if err := readFiles(set); err != nil {
		return err
	}
	// Views with the option know themselves which rows are drawn.
	if !slices.ContainsFunc(v.Options, func(o view.Option) bool { return o.Name == "all" }) {
		out.all = e.flag("all")
		delete(set, "all")
	}
	values, err := view.NewValues(v, set)
	if err != nil {
		return usageOf(err)
	}
	size := e.text("size")
	if out.kind == "html" && !e.flags.Changed("size") {
		size = report.Size
	}
	if out.picture, err = parsePicture(size); err != nil {
		return err
	}
	out.letter = e.text("letter")
	if err := view.CheckRuns(v, min(len(args)-1, 1)+len(e.list("run")), views.Views); err != nil {
		return usage("--run: %v", err)
	}
	runs, err := e.openRuns(ctx, args[1:], v.Runs > 2)
	if err != nil {
		return err
	}
	defer closeRuns(runs)
	for i := range runs {
		runs[i].Keys = keys.with(&runs[i])
	}
	if err := view.CheckRuns(v, len(runs), views.Views); err != nil {
		return usage("--run: %v", err)
	}
	if missing := v.Needs.Missing(runs[0].Store); missing != "" {
		return fmt.Errorf("view %s: %s; `parallax views` lists the data that each needs", v.Name, missing)
	}
	q := &view.Request{Runs: runs, Values: values, Size: out.picture.Size()}
	spec, note, err := e.spec().First(ctx, v, runs)
	if err != nil {
		return err
	}
	if note != "" {
		e.warn("%s", note)
	}
	if q.Selection, err = spec.Resolve(runs[0].Store); err != nil {
		return err
	}
	result, err := view.Ask(ctx, v, q)
	if err != nil {
		return fmt.Errorf("view %s: %w", v.Name, err)
	}
	if err := out.hasRoom(ctx, q, result); err != nil {
		return fmt.Errorf("view %s: %w", v.Name, err)
	}
	out.command = e.line("view", args)
	return out.write(func(w io.Writer) error { return out.export(w, v, q, result) })
}

// line returns the command as one types it.
func (e *env) line(name string, args []string) string {
	words := append([]string{name}, args...)
	e.flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name+"="+v)
		}
	})
	return report.CommandLine(words...)
}

// hasRoom refuses a table or numbers for which there is no memory: once begun they cannot be stopped.
func (o *output) hasRoom(ctx context.Context, q *view.Request, r view.Result) error {
	held, _ := view.HeldBy(q, r)
	switch o.kind {
	case "json":
		return memory.Room(ctx, view.ToStream(r, held))
	case "csv", "html":
		return memory.Room(ctx, view.ToList(r, held))
	}
	return nil
}

// callouts reads the guide that --callouts names.
func (e *env) callouts() ([]callout.Callout, error) {
	file := e.text("callouts")
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--callouts: %w", err)
	}
	list, err := callout.Parse(string(b))
	if err != nil {
		return nil, fmt.Errorf("--callouts %s: %w", file, err)
	}
	return list, nil
}

// runKeys takes --key KEY=… out of the options of a view, one of which has that name: the
// scale of colours is shown or hidden, the key of a run has a sign.
func runKeys(set map[string][]string) (keyRules, error) {
	var own, runs []string
	for _, k := range set["key"] {
		if strings.Contains(k, "=") {
			runs = append(runs, k)
		} else {
			own = append(own, k)
		}
	}
	if delete(set, "key"); own != nil {
		set["key"] = own
	}
	return parseKeys(runs)
}

// openRuns opens the source as one run, and each --run NAME=SOURCE as another. For a view
// of many runs a source may be a directory of them.
func (e *env) openRuns(ctx context.Context, sources []string, many bool) (runs []view.Run, err error) {
	l, err := e.loader()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeRuns(runs)
		}
	}()
	open := func(sources []string) ([]view.Run, error) {
		if many {
			return (&lakeReader{loader: l, project: e.text("project")}).all(ctx, sources)
		}
		r, err := l.One(ctx, sources)
		return []view.Run{r}, err
	}
	if len(sources) > 0 {
		own, err := open(sources)
		if err != nil {
			return nil, err
		}
		runs = append(runs, own...)
	}
	for _, s := range e.list("run") {
		name, source := splitRun(s)
		own, err := open([]string{source})
		if err != nil {
			return runs, err
		}
		for _, r := range own {
			if slices.ContainsFunc(runs, func(o view.Run) bool { return sameSource(o.Source, r.Source) }) {
				return append(runs, own...),
					usage("--run %q: %s is given already; a run is not compared with itself", s, r.Source)
			}
		}
		for i := range own {
			switch {
			case name != "" && len(own) > 1:
				own[i].Name = name + "/" + own[i].Name
			case name != "":
				own[i].Name = name
			}
		}
		runs = append(runs, own...)
	}
	if many {
		unique(runs)
	}
	if len(runs) == 0 {
		return nil, usage("no source given; name a file, a directory, an archive, a .plx store or demo:NAME")
	}
	return runs, nil
}

// sameSource reports whether two runs are one and the same, however their paths are written.
func sameSource(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// exportKinds are the formats of a result.
var exportKinds = []string{"svg", "png", "pdf", "jpg", "eps", "html", "json", "csv"}

// export writes a result as a picture or as data.
func (o *output) export(w io.Writer, v *view.View, q *view.Request, r view.Result) error {
	switch o.kind {
	case "json":
		of := view.ShortTwinOf
		if o.all {
			of = view.TwinOf
		}
		twin := of(v, q, r)
		if err := view.Failed(r); err != nil {
			return err
		}
		return twin.WriteJSON(w)
	case "csv":
		t := r.Table()
		if err := view.Failed(r); err != nil {
			return err
		}
		if o.sheet {
			return t.WriteSpreadsheet(w)
		}
		return t.WriteCSV(w)
	}
	s := o.picture.AddTitleAndLegend(func(size scene.Size) *scene.Scene {
		s := r.Scene(size)
		if o.letter != "" && s != nil {
			s.Title = strings.TrimSpace("(" + o.letter + ") " + s.Title)
		}
		if s != nil {
			s.Legend = scene.JoinSame(s.Legend, o.theme)
		}
		if s != nil && o.kind == "html" {
			s.Notes = nil // the page writes them
		}
		return s
	})
	if err := view.Failed(r); err != nil {
		return err
	}
	if err := callout.Draw(s, o.callouts); len(o.callouts) > 0 && err != nil {
		return err
	}
	switch o.kind {
	case "svg":
		return svg.Render(w, s, o.theme)
	case "png":
		return png.Render(w, s, o.theme)
	case "jpg", "jpeg":
		return png.RenderJPEG(w, s, o.theme)
	case "pdf":
		return pdf.Render(w, s, o.theme)
	case "eps":
		return png.RenderEPS(w, s, o.theme)
	case "html":
		one := report.OneView{View: v, Runs: q.Runs, Result: r, Scene: s, Theme: o.theme, Command: o.command,
			Version: version()}
		return one.Write(w)
	}
	return usage("%q is none of %s", o.kind, strings.Join(exportKinds, ", "))
}

// An output is the destination and format of a result.
type output struct {
	stdout io.Writer
	path   string
	kind   string
	theme  scene.Theme
	// picture is how large a picture is, letter its name among others.
	picture scene.Picture
	letter  string
	// callouts are numbers drawn on a picture.
	callouts []callout.Callout
	sheet    bool   // CSV is for a spreadsheet
	all      bool   // JSON has all elements of long lists
	command  string // that makes it
}

func (e *env) newOutput() (*output, error) {
	o := &output{stdout: e.stdout, path: e.text("output"), kind: "json", sheet: e.flag("spreadsheet")}
	if o.path != "" {
		if o.kind = strings.TrimPrefix(strings.ToLower(filepath.Ext(o.path)), "."); o.kind == "jpeg" {
			o.kind = "jpg"
		}
	}
	ok := false
	for _, k := range exportKinds {
		ok = ok || k == o.kind
	}
	if !ok {
		return nil, usage("-o %q: the name must end in one of .%s", o.path, strings.Join(exportKinds, " ."))
	}
	var known bool
	if o.theme, known = scene.ParseTheme(e.text("theme")); !known {
		return nil, words.NotOneOf("--theme", e.text("theme"), "light", "dark")
	}
	if o.theme, known = o.theme.With(e.text("region-colours")); !known {
		return nil, words.NotOneOf("--region-colours", e.text("region-colours"), scene.Hues...)
	}
	var err error
	o.callouts, err = e.callouts()
	return o, err
}

// write fills the output; a file appears under its name only when it is whole.
func (o *output) write(fill func(io.Writer) error) error {
	if o.path == "" {
		b := bufio.NewWriterSize(o.stdout, 1<<16)
		if err := fill(b); err != nil {
			return err
		}
		return b.Flush()
	}
	f, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*")
	if err != nil {
		return explainedBy("commands", fmt.Errorf("write %s: %w", o.path, err))
	}
	defer os.Remove(f.Name())
	b := bufio.NewWriterSize(f, 1<<16)
	if err := fill(b); err != nil {
		f.Close()
		return err
	}
	if err := b.Flush(); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	return os.Rename(f.Name(), o.path)
}
