package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
	"github.com/parallax-hpc/parallax/internal/view/profile"
)

// steps is a run of two ranks with so many intervals.
func steps(t *testing.T, intervals int) store.Reader {
	return viewtest.Local(t, func(w trace.Writer) { viewtest.WriteSteps(w, 2, intervals) })
}

// connect gives a client of a server that can open small:N.
func connect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	runs := &mcp.OpenRuns{Opener: func(_ context.Context, sources []string) ([]view.Run, error) {
		var n int
		if _, err := fmt.Sscanf(sources[0], "small:%d", &n); err != nil {
			return nil, fmt.Errorf("no such file: %s", sources[0])
		}
		return []view.Run{{Name: "small", Source: sources[0], Store: steps(t, n)}}, nil
	}}
	s := mcp.New(mcp.Config{
		Version: "1", Runs: runs, Views: []*view.View{profile.View, compare.View}, Documents: map[string]string{"tables.md": "# Tables\n\nAll of them."},
		Database: func(runs []view.Run) *query.Database {
			d := &query.Database{}
			for _, r := range runs {
				d.Runs = append(d.Runs, &table.Run{Name: r.Name, Source: r.Source, Store: r.Store})
			}
			return d
		},
		Picture: func(w io.Writer, s *scene.Scene) error { _, err := io.WriteString(w, "a picture"); return err },
	})
	mine, theirs := sdk.NewInMemoryTransports()
	if err := s.Connect(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), mine, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

type answer struct {
	Runs    []struct{ Run, Source, State string }
	Columns []struct{ Name string }
	Rows    [][]any
	Total   int
	More    string
}

// call asks a tool; wrong is what the tool says is wrong.
func call(t *testing.T, s *sdk.ClientSession, tool string, in map[string]any) (out answer, r *sdk.CallToolResult, wrong string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if r.IsError {
		return out, r, r.Content[0].(*sdk.TextContent).Text
	}
	text, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return out, r, ""
}

func TestToolsUseTheOnlyOpenRunOrTheNamedOne(t *testing.T) {
	s := connect(t)
	if _, _, wrong := call(t, s, "info", nil); !strings.Contains(wrong, "no run is open; call open") {
		t.Errorf("without a run: %s", wrong)
	}
	if _, _, wrong := call(t, s, "open", map[string]any{"source": "nothing"}); !strings.Contains(wrong, "no such file") {
		t.Errorf("a source that is none: %s", wrong)
	}
	call(t, s, "open", map[string]any{"source": "small:100"})
	if out, _, wrong := call(t, s, "query", map[string]any{"sql": "select count(*) from locations"}); wrong != "" || len(out.Rows) != 1 {
		t.Errorf("one run needs no name: %s", wrong)
	}
	call(t, s, "open", map[string]any{"source": "small:100"})
	call(t, s, "open", map[string]any{"source": "small:200"})
	out, _, _ := call(t, s, "runs", nil)
	if len(out.Runs) != 2 || out.Runs[0].Run != "small" || out.Runs[1].Run != "small'" || out.Runs[1].State != "ready" {
		t.Errorf("a source opened twice is one run, two of a name are two: %+v", out.Runs)
	}
	if _, _, wrong := call(t, s, "info", nil); !strings.Contains(wrong, "several runs are open; say run: one of small, small'") {
		t.Errorf("two runs and none named: %s", wrong)
	}
	if _, _, wrong := call(t, s, "info", map[string]any{"run": "big"}); !strings.Contains(wrong, `no run "big" is open`) {
		t.Errorf("a run that is not there: %s", wrong)
	}
}

func TestAnswersAreBoundedAndSayHowToGetTheRest(t *testing.T) {
	s := connect(t)
	call(t, s, "open", map[string]any{"source": "small:2000"})
	for _, c := range []struct{ limit, want int }{{0, 20}, {5, 5}, {100000, 200}} {
		out, _, wrong := call(t, s, "query", map[string]any{"sql": "select begin from intervals", "limit": c.limit})
		if wrong != "" || len(out.Rows) != c.want || out.More == "" {
			t.Errorf("limit %d: %d rows, want %d, more %q, %s", c.limit, len(out.Rows), c.want, out.More, wrong)
		}
	}
	out, _, _ := call(t, s, "query", map[string]any{"sql": "select replace(hex(zeroblob(4000)), '0', 'x')"})
	if text, _ := out.Rows[0][0].(string); len([]rune(text)) > 300 || !strings.HasSuffix(text, "…") {
		t.Errorf("a long text has %d characters", len(text))
	}
	all, _, _ := call(t, s, "view", map[string]any{"view": "profile"})
	rest, _, _ := call(t, s, "view", map[string]any{"view": "profile", "offset": 1, "limit": 1})
	if len(all.Rows) < 2 || rest.Total != all.Total || len(all.Rows) != 20 || fmt.Sprint(rest.Rows) != fmt.Sprint(all.Rows[1:2]) {
		t.Errorf("from offset 1: %v of %v", rest.Rows, all.Rows)
	}
	if _, _, wrong := call(t, s, "query", map[string]any{"sql": "drop table intervals"}); !strings.Contains(wrong, "only reads") {
		t.Errorf("a query that writes: %s", wrong)
	}
}

func TestAViewGivesNumbersAndItsPicture(t *testing.T) {
	s := connect(t)
	call(t, s, "open", map[string]any{"source": "small:100"})
	_, r, wrong := call(t, s, "view", map[string]any{"view": "profile", "picture": true, "locations": []string{"rank:1"}})
	if wrong != "" || len(r.Content) != 2 {
		t.Fatalf("%d parts, %s", len(r.Content), wrong)
	}
	if p, ok := r.Content[1].(*sdk.ImageContent); !ok || p.MIMEType != "image/png" || string(p.Data) != "a picture" {
		t.Errorf("the picture is %+v", r.Content[1])
	}
	if _, _, wrong := call(t, s, "view", map[string]any{"view": "colours"}); !strings.Contains(wrong, "there are profile, compare") {
		t.Errorf("a view that is none: %s", wrong)
	}
	if _, _, wrong := call(t, s, "view", map[string]any{"view": "profile", "options": map[string]string{"x": "1"}}); !strings.Contains(wrong, "no option --x") {
		t.Errorf("an option that is none: %s", wrong)
	}
}

func TestTwoRunsAreCompared(t *testing.T) {
	s := connect(t)
	call(t, s, "open", map[string]any{"source": "small:100"})
	call(t, s, "open", map[string]any{"source": "small:200"})
	out, _, wrong := call(t, s, "compare", map[string]any{"before": "small", "after": "small'"})
	if wrong != "" || len(out.Rows) == 0 || len(out.Columns) < 5 {
		t.Fatalf("%+v %s", out, wrong)
	}
	if _, _, wrong := call(t, s, "compare", map[string]any{"before": "small", "after": "small"}); !strings.Contains(wrong, "with itself") {
		t.Errorf("a run against itself: %s", wrong)
	}
}

func TestDocumentsAreResources(t *testing.T) {
	s := connect(t)
	r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "parallax://docs/tables.md"})
	if err != nil || !strings.Contains(r.Contents[0].Text, "All of them") {
		t.Errorf("%v", err)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 10 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, x := range list.Tools {
		if len(x.Description) < 30 || !x.Annotations.ReadOnlyHint {
			t.Errorf("%s: a program cannot act on %q", x.Name, x.Description)
		}
	}
}
