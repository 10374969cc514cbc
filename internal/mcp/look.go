package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Bounds of an answer: rows unless asked for more, rows at most, characters of a text.
const (
	someRows = 20
	mostRows = 200
	mostText = 300
)

type runIn struct {
	Run string `json:"run,omitempty" jsonschema:"id of the run; may be left out where only one is open"`
}

type infoOut struct {
	Source      string            `json:"source"`
	Format      string            `json:"format"`
	Length      int64             `json:"length_ns"`
	Locations   int               `json:"locations"`
	Ranks       int               `json:"ranks"`
	Rows        int               `json:"locations_with_intervals"`
	Regions     int               `json:"regions"`
	Intervals   int64             `json:"intervals"`
	Links       int64             `json:"links"`
	Counters    int               `json:"counters"`
	Samples     int64             `json:"samples"`
	Instants    int64             `json:"instants"`
	ProfileRows int64             `json:"profile_rows"`
	Top         []view.RegionInfo `json:"top_regions" jsonschema:"most exclusive time first, in ns or unit"`
	Metrics     []string          `json:"metrics"`
	Properties  map[string]string `json:"properties"`
	Report      []view.ReportInfo `json:"import_report" jsonschema:"what was repaired, guessed or skipped"`
	Tree        []string          `json:"tree" jsonschema:"the first locations as paths, with their kind"`
	More        string            `json:"more,omitempty"`
}

func (s *Server) info(ctx context.Context, _ *sdk.CallToolRequest, in runIn) (*sdk.CallToolResult, infoOut, error) {
	r, release, err := s.use(in.Run)
	if err != nil {
		return nil, infoOut{}, err
	}
	defer release()
	i, err := view.InfoOf(ctx, r.Store)
	if err != nil {
		return nil, infoOut{}, err
	}
	out := infoOut{
		Source: r.Source, Format: i.Format, Length: int64(i.End), Locations: i.Locations, Ranks: i.Ranks, Rows: i.Rows,
		Regions: i.Regions, Intervals: i.Intervals, Links: i.Links,
		Counters: i.Counters, Samples: i.Samples, Instants: i.Instants, ProfileRows: i.ProfileRows,
		Top: i.RegionTable[:min(len(i.RegionTable), 15)], Metrics: []string{},
		Properties: map[string]string{}, Report: i.Report[:min(len(i.Report), 10)], Tree: []string{},
	}
	for _, m := range i.Metrics[:min(len(i.Metrics), 30)] {
		out.Metrics = append(out.Metrics, m.Name)
	}
	for k, v := range i.Properties {
		if len(out.Properties) < 30 {
			out.Properties[k] = cut(v)
		}
	}
	tree := r.Store.Locations()
	for id := range min(tree.Len(), 12) {
		out.Tree = append(out.Tree,
			strings.Repeat("  ", int(tree.Level[id]))+tree.Name[id]+" ("+string(tree.Kind[id])+")")
	}
	if len(i.RegionTable) > 15 || tree.Len() > 12 {
		out.More = "query: select * from locations; select region, sum(exclusive) from time_in() group by 1 order by " +
			"2 desc"
	}
	return nil, out, nil
}

func cut(s string) string {
	if r := []rune(s); len(r) > mostText {
		return string(r[:mostText-1]) + "…"
	}
	return s
}

type viewsIn struct {
	View string `json:"view,omitempty" jsonschema:"a view, for its options"`
}

type viewsOut struct {
	Views   []viewLine    `json:"views"`
	Options []view.Option `json:"options,omitempty"`
	Read    string        `json:"how_to_read,omitempty"`
}

type viewLine struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

func (s *Server) views(_ context.Context, _ *sdk.CallToolRequest, in viewsIn) (*sdk.CallToolResult, viewsOut, error) {
	out := viewsOut{Views: []viewLine{}}
	for _, v := range s.config.Views {
		if in.View == "" || in.View == v.Name {
			out.Views = append(out.Views, viewLine{v.Name, v.Summary})
		}
		if in.View == v.Name {
			out.Options, out.Read = v.Options, v.HowToRead
		}
	}
	if len(out.Views) == 0 {
		return nil, viewsOut{}, failed("no view %q; there are %s", in.View, viewNames(s.config.Views))
	}
	return nil, out, nil
}

type viewIn struct {
	Run       string            `json:"run,omitempty" jsonschema:"id of the run; optional if only one is open"`
	View      string            `json:"view" jsonschema:"name of the view"`
	From      string            `json:"from,omitempty" jsonschema:"begin of the time range: 1.5s, 200ms, 30%"`
	To        string            `json:"to,omitempty" jsonschema:"end of the time range"`
	Locations []string          `json:"locations,omitempty" jsonschema:"globs on paths, re:EXPR, rank:0-3, kind:NAME"`
	Regions   []string          `json:"regions,omitempty" jsonschema:"globs on name, re:EXPR, role:NAME, category:NAME"`
	Options   map[string]string `json:"options,omitempty" jsonschema:"options of the view; the tool views lists them"`
	Offset    int               `json:"offset,omitempty" jsonschema:"first row wanted"`
	Limit     int               `json:"limit,omitempty" jsonschema:"number of rows, 20 by default, at most 200"`
	Picture   bool              `json:"picture,omitempty" jsonschema:"also the picture, as PNG"`
}

type tableOut struct {
	Columns []view.Column `json:"columns"`
	Rows    [][]any       `json:"rows"`
	Total   int           `json:"total" jsonschema:"rows in all"`
	More    string        `json:"more,omitempty" jsonschema:"how to get the rest"`
	Notes   []string      `json:"notes" jsonschema:"what was clipped, capped or guessed"`
}

func (s *Server) view(ctx context.Context, _ *sdk.CallToolRequest, in viewIn) (*sdk.CallToolResult, tableOut, error) {
	r, release, err := s.use(in.Run)
	if err != nil {
		return nil, tableOut{}, err
	}
	defer release()
	set := map[string][]string{}
	for k, v := range in.Options {
		set[k] = []string{v}
	}
	result,
		err := s.compute(ctx, r, in.View,
		view.Spec{From: in.From, To: in.To, Locations: in.Locations, Regions: in.Regions}, set)
	if err != nil {
		return nil, tableOut{}, err
	}
	out := page(result, in.Offset, in.Limit)
	if err := view.Failed(result); err != nil {
		return nil, tableOut{}, err
	}
	if !in.Picture {
		return nil, out, nil
	}
	content, err := s.pictured(result, out)
	return content, out, err
}

// pictured returns an answer with the picture of its result.
func (s *Server) pictured(result view.Result, answer any) (*sdk.CallToolResult, error) {
	var picture bytes.Buffer
	drawn := scene.AddTitleAndLegend(pictureSize, result.Scene)
	if err := cmp.Or(view.Failed(result), s.config.Picture(&picture, drawn)); err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)},
		&sdk.ImageContent{Data: picture.Bytes(), MIMEType: "image/png"}}}, nil
}

// pictureSize suits programs that look at pictures.
var pictureSize = scene.Size{Width: 1200, Height: 750}

// compute runs a view of a run, with others where it compares.
func (s *Server) compute(ctx context.Context, r view.Run, name string, spec view.Spec, set map[string][]string,
	others ...view.Run) (view.Result, error) {
	for _, v := range s.config.Views {
		if v.Name != name {
			continue
		}
		values, err := view.NewValues(v, set)
		if err != nil {
			return nil, err
		}
		if missing := v.Needs.Missing(r.Store); missing != "" {
			return nil, failed("view %s: %s", name, missing)
		}
		q := &view.Request{Runs: append([]view.Run{r}, others...), Values: values, Size: pictureSize}
		if err := view.CheckRuns(v, len(q.Runs), s.config.Views); err != nil {
			return nil, err
		}
		if q.Selection, err = spec.Resolve(r.Store); err != nil {
			return nil, err
		}
		ctx, done := r.Cache.Work(ctx)
		defer done()
		result, err := view.Ask(ctx, v, q)
		var much *memory.Exceeded
		if errors.As(context.Cause(ctx), &much) {
			return nil, much
		}
		return result, err
	}
	return nil, failed("no view %q; there are %s", name, viewNames(s.config.Views))
}

// page returns some rows of a result.
func page(result view.Result, offset, limit int) tableOut {
	t := result.Table()
	if limit <= 0 {
		limit = someRows
	}
	offset, limit = min(max(offset, 0), len(t.Rows)), min(limit, mostRows)
	out := tableOut{Columns: append([]view.Column{}, t.Columns...), Rows: [][]any{}, Total: len(t.Rows),
		Notes: append([]string{}, result.Notes()...)}
	for _, row := range t.Rows[offset:min(offset+limit, len(t.Rows))] {
		out.Rows = append(out.Rows, compact(row))
	}
	if rest := out.Total - offset - len(out.Rows); rest > 0 {
		out.More = view.Thousands(int64(rest)) + " rows follow: ask with offset, or narrow the selection"
	}
	return out
}

// compact cuts long texts of a row and keeps whole numbers exact.
func compact(row []any) []any {
	out := query.Exact(row, query.ExactInJavaScript)
	for i, v := range out {
		if text, ok := v.(string); ok {
			out[i] = cut(text)
		}
	}
	return out
}

type findingsIn struct {
	Run   string `json:"run,omitempty" jsonschema:"id of the run; may be left out where only one is open"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of results, 20 by default"`
}

func (s *Server) findings(ctx context.Context, _ *sdk.CallToolRequest, in findingsIn) (*sdk.CallToolResult, askOut,
	error) {
	return s.ask(ctx, in.Run,
		"select kind, title, severity, lost as lost_ns, share, text, symptom, next, gain as gain_ns, gain_share, "+
			"begin, "+
			"\"end\", paths as locations, view, unit from findings()", in.Limit)
}

type contrastIn struct {
	Run   string `json:"run,omitempty" jsonschema:"id of the run; may be left out where only one is open"`
	A     string `json:"a" jsonschema:"one side: locations (rank:5, a glob on the path) or a time range (time=1s..2s)"`
	B     string `json:"b,omitempty" jsonschema:"the other side; left out: all others"`
	By    string `json:"by,omitempty" jsonschema:"names of facts, joined by commas; all by default"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of rows, 20 by default"`
}

func (s *Server) contrast(ctx context.Context, _ *sdk.CallToolRequest, in contrastIn) (*sdk.CallToolResult, tableOut,
	error) {
	r, release, err := s.use(in.Run)
	if err != nil {
		return nil, tableOut{}, err
	}
	defer release()
	set := map[string][]string{"a": {in.A}}
	if in.B != "" {
		set["b"] = []string{in.B}
	}
	if in.By != "" {
		set["by"] = []string{in.By}
	}
	result, err := s.compute(ctx, r, "contrast", view.Spec{}, set)
	if err != nil {
		return nil, tableOut{}, err
	}
	return nil, page(result, 0, in.Limit), nil
}

type compareIn struct {
	Before string `json:"before" jsonschema:"id of a run, or of several joined by commas"`
	After  string `json:"after" jsonschema:"id of the run to hold against it, or of several"`
	// Limits are judged as --fail-on of the command.
	Limits  []string `json:"limits,omitempty" jsonschema:"limits to judge: length=3%, changed=0, REGION=5%, a measure"`
	Offset  int      `json:"offset,omitempty" jsonschema:"first row wanted"`
	Limit   int      `json:"limit,omitempty" jsonschema:"number of rows, 20 by default"`
	Picture bool     `json:"picture,omitempty" jsonschema:"also the picture, as PNG"`
}

func (s *Server) compare(ctx context.Context, _ *sdk.CallToolRequest, in compareIn) (*sdk.CallToolResult, compareOut,
	error) {
	sides := [][]string{strings.Split(in.Before, ","), strings.Split(in.After, ",")}
	var runs []view.Run
	seen := map[string]bool{}
	for _, side := range sides {
		for i := range side {
			side[i] = strings.TrimSpace(side[i])
			if seen[side[i]] {
				return nil, compareOut{},
					failed("a run is not compared with itself; the tool runs lists what is open")
			}
			seen[side[i]] = true
			r, release, err := s.use(side[i])
			if err != nil {
				return nil, compareOut{}, err
			}
			defer release()
			r.Name = side[i] // two runs may share a name, never an id
			runs = append(runs, r)
		}
	}
	result, err := s.compute(ctx, runs[0], "compare", view.Spec{}, map[string][]string{"a": sides[0], "b": sides[1]},
		runs[1:]...)
	if err != nil {
		return nil, compareOut{}, err
	}
	text, err := json.Marshal(result.Data())
	var said struct{ Text string } // as the view has it
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	out := compareOut{Text: said.Text, Verdicts: []Verdict{}, tableOut: page(result, in.Offset, in.Limit)}
	if err == nil && len(in.Limits) > 0 && s.config.Gate != nil {
		out.Verdicts, err = s.config.Gate(ctx, in.Limits, runs, result)
	}
	if err != nil || !in.Picture {
		return nil, out, err
	}
	content, err := s.pictured(result, out)
	return content, out, err
}

// A Verdict is the judgement of a limit.
type Verdict struct {
	Limit   string `json:"limit"`
	Verdict string `json:"verdict" jsonschema:"holds, broken, or cannot tell (too few runs)"`
	Text    string `json:"text,omitempty" jsonschema:"by how much, and how many runs would decide"`
}

type compareOut struct {
	Text     string    `json:"text" jsonschema:"what changed in a few sentences, and how certain that is"`
	Verdicts []Verdict `json:"verdicts" jsonschema:"one for each limit"`
	tableOut
}

// A Proof is a number in the sentence of a finding, and the number that its query gives.
type Proof struct {
	Finding string  `json:"finding" jsonschema:"kind of the finding"`
	Says    string  `json:"says"`
	Told    float64 `json:"told"`
	Asked   float64 `json:"asked"`
	Unit    string  `json:"unit"`
	Holds   bool    `json:"holds"`
	SQL     string  `json:"sql"`
}

type proveOut struct {
	Holds  bool    `json:"holds" jsonschema:"all claims do"`
	Claims []Proof `json:"claims"`
	More   string  `json:"more,omitempty"`
}

// Bounds of an answer of prove.
const (
	mostClaims = 40
	mostSQL    = 1000
)

func (s *Server) prove(ctx context.Context, _ *sdk.CallToolRequest, in runIn) (*sdk.CallToolResult, proveOut, error) {
	r, release, err := s.use(in.Run)
	if err != nil {
		return nil, proveOut{}, err
	}
	defer release()
	ctx, done := r.Cache.Work(ctx)
	defer done()
	out := proveOut{Holds: true, Claims: []Proof{}}
	claims, err := s.config.Prove(ctx, r)
	if err != nil {
		return nil, proveOut{}, err
	}
	for _, c := range claims {
		out.Holds = out.Holds && c.Holds
		if len(c.SQL) > mostSQL { // a list of thousands of ranks
			c.SQL = strings.ToValidUTF8(c.SQL[:mostSQL], "") + "…"
		}
		if len(out.Claims) < mostClaims {
			out.Claims = append(out.Claims, c)
		}
	}
	if rest := len(claims) - len(out.Claims); rest > 0 {
		out.More = view.Count(rest, "claim") + " more: `parallax check --prove` prints all"
	}
	return nil, out, nil
}
