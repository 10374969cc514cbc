package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/view"
)

type sourceIn struct {
	Run    string `json:"run,omitempty" jsonschema:"id of the run; may be left out if only one is open"`
	Region string `json:"region,omitempty" jsonschema:"a region by glob on its name: the lines of its file"`
	File   string `json:"file,omitempty" jsonschema:"a recorded path, or the end of it; left out: the largest"`
	Line   string `json:"line,omitempty" jsonschema:"line in the middle of the text, or hot:K: the K-th largest value"`
	Metric string `json:"metric,omitempty" jsonschema:"exclusive (default), inclusive, or a metric of the run"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines with values, 20 by default, largest first"`
}

// A sourceOut is the data of the view source, cut to the requested lines.
type sourceOut struct {
	File   string `json:"file"`
	Found  string `json:"found" jsonschema:"file that the text is from; empty: no text, see notes"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	ByLine bool   `json:"byLine" jsonschema:"false: each region has its values at its first line"`
	Line   int    `json:"line" jsonschema:"the line in the middle of the text"`
	Lines  []struct {
		Line      int      `json:"line"`
		Exclusive float64  `json:"exclusive"`
		Inclusive float64  `json:"inclusive"`
		Calls     *float64 `json:"calls"`
		Region    string   `json:"region"`
		Text      string   `json:"text"`
		Callees   []struct {
			Region    string   `json:"region"`
			Calls     *float64 `json:"calls"`
			Inclusive float64  `json:"inclusive"`
		} `json:"callees"`
	} `json:"lines" jsonschema:"lines with values, largest first"`
	Files []struct {
		File      string  `json:"file"`
		Exclusive float64 `json:"exclusive"`
	} `json:"files" jsonschema:"files by exclusive value"`
	Context []struct {
		Line int    `json:"line"`
		Text string `json:"text"`
	} `json:"context" jsonschema:"text around the line"`
	More  string   `json:"more,omitempty"`
	Notes []string `json:"notes" jsonschema:"why there is no text, whether the file changed since the run"`
}

func (s *Server) source(ctx context.Context, _ *sdk.CallToolRequest, in sourceIn) (*sdk.CallToolResult, sourceOut,
	error) {
	var out sourceOut
	r, release, err := s.use(in.Run)
	if err != nil {
		return nil, out, err
	}
	defer release()
	set, spec := map[string][]string{}, view.Spec{}
	for name, value := range map[string]string{"file": in.File, "line": in.Line, "metric": in.Metric} {
		if value != "" {
			set[name] = []string{value}
		}
	}
	if in.Region != "" {
		spec.Regions = []string{in.Region}
	}
	result, err := s.compute(ctx, r, "source", spec, set)
	if err != nil {
		return nil, out, err
	}
	text, err := json.Marshal(result.Data())
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, out, err
	}
	value := func(i int) float64 {
		if in.Metric == "inclusive" {
			return out.Lines[i].Inclusive
		}
		return out.Lines[i].Exclusive
	}
	order := make([]int, len(out.Lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	limit := min(cmp.Or(max(in.Limit, 0), someRows), mostRows, len(order))
	lines := out.Lines[:0:0]
	for _, i := range order[:limit] {
		x := out.Lines[i]
		x.Text, x.Callees = cut(x.Text), x.Callees[:min(len(x.Callees), 5)]
		lines = append(lines, x)
	}
	if rest := len(out.Lines) - limit; rest > 0 {
		out.More = view.Count(rest, "line") + " with smaller values follow: ask with limit"
	}
	out.Lines, out.Files = lines, out.Files[:min(len(out.Files), someRows)]
	for i := range out.Context {
		out.Context[i].Text = cut(out.Context[i].Text)
	}
	out.Notes = append([]string{}, result.Notes()...)
	return nil, out, nil
}
