package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/web"
)

// A program is a client of the protocol, as the SDK has it.
type program struct {
	t       *testing.T
	session *sdk.ClientSession
}

// newRuns can open anything.
func newRuns(t *testing.T) *mcp.OpenRuns {
	t.Helper()
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runs := &mcp.OpenRuns{Opener: newLoader(c, 64<<20, nil).All}
	t.Cleanup(runs.Close)
	return runs
}

func newProgram(t *testing.T) *program {
	t.Helper()
	ctx := context.Background()
	s, err := newPrograms(anAsker(), newRuns(t))
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := sdk.NewInMemoryTransports()
	if err := s.Connect(ctx, theirs); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, mine, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &program{t, session}
}

// call asks a tool and reads its structured answer into out; it gives the content and an error of the tool.
func (p *program) call(tool string, in map[string]any, out any) ([]sdk.Content, string) {
	p.t.Helper()
	r, err := p.session.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		p.t.Fatalf("%s: %v", tool, err)
	}
	if r.IsError {
		return nil, r.Content[0].(*sdk.TextContent).Text
	}
	text, err := json.Marshal(r.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", tool, err)
	}
	if len(text) > 64<<10 {
		p.t.Errorf("%s: an answer of %d bytes", tool, len(text))
	}
	return r.Content, ""
}

type answer struct {
	Columns []struct{ Name, Unit string }
	Rows    [][]any
	More    string
	Total   int
}

// Three questions about a real training job of eight ranks are answered by tool calls
// alone; data/TRUTH.md says what was done to it.
func TestAProgramFindsOutWhatIsWrongWithARun(t *testing.T) {
	source := "../../../shared/data/kineto-ddp-8rank"
	if !exists(source) {
		t.Skip("the sample data are not beside the repository")
	}
	t.Run("stdio", func(t *testing.T) { threeQuestions(t, overStdio(t), source) })
	t.Run("http", func(t *testing.T) { threeQuestions(t, overHTTP(t), source) })
}

// overStdio is a program that started `parallax mcp` and talks to it through two pipes.
func overStdio(t *testing.T) *program {
	t.Helper()
	s, err := newPrograms(anAsker(), newRuns(t))
	if err != nil {
		t.Fatal(err)
	}
	asks, questions := io.Pipe()
	answers, answered := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), asks, answered) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), &sdk.IOTransport{Reader: answers, Writer: questions}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return &program{t, session}
}

// overHTTP is a program that asks the page's server, with its token.
func overHTTP(t *testing.T) *program {
	t.Helper()
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(c, 64<<20, nil)
	s, err := server.New(server.Config{
		Views: views.Views, Assets: web.Files(), Token: "secret", Ask: anAsker().answerSQL, Programs: programsHandler(anAsker(), slog.New(slog.DiscardHandler)),
		Open: func(ctx context.Context, o server.Opening) ([]view.Run, error) {
			return l.All(ctx, o.Sources)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), &sdk.StreamableClientTransport{
		Endpoint: h.URL + "/api/mcp", HTTPClient: &http.Client{Transport: bearer("secret")}, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		h.Close()
		s.Close()
	})
	return &program{t, session}
}

func threeQuestions(t *testing.T, p *program, source string) {
	var opened struct{ Runs []struct{ Run string } }
	if _, bad := p.call("open", map[string]any{"source": source}, &opened); bad != "" || len(opened.Runs) != 1 {
		t.Fatalf("open: %v %s", opened, bad)
	}

	// Which rank holds the others up?
	var findings answer
	if _, bad := p.call("findings", nil, &findings); bad != "" {
		t.Fatal(bad)
	}
	if len(findings.Rows) == 0 || !strings.Contains(fmt.Sprint(findings.Rows[0]), "Rank 5") {
		t.Errorf("the straggler is rank 5; the first finding is %v", findings.Rows)
	}

	// How much longer than the others does it compute, and in what?
	var contrast answer
	if _, bad := p.call("contrast", map[string]any{"a": "rank:5", "by": "role", "limit": 5}, &contrast); bad != "" {
		t.Fatal(bad)
	}
	if len(contrast.Rows) == 0 || !strings.Contains(fmt.Sprint(contrast.Rows), "compute") {
		t.Errorf("rank 5 differs in compute: %v", contrast.Rows)
	}

	// Whose GPU works longest? By hand, from the files: rank 5, 587 kernels, 102,020.732 us.
	var kernels answer
	_, bad := p.call("query", map[string]any{"sql": "select rank, sum(calls), sum(inclusive) from time_in() where category = 'kernel' group by 1 order by 3 desc"}, &kernels)
	if bad != "" {
		t.Fatal(bad)
	}
	if len(kernels.Rows) != 8 || fmt.Sprint(kernels.Rows[0]) != fmt.Sprint([]any{5.0, 587.0, 102020732.0}) {
		t.Errorf("kernels of rank 5 come first, 587 of 102020732 ns: %v", kernels.Rows)
	}
}

func TestToolsOfAProgram(t *testing.T) {
	p := newProgram(t)
	if _, bad := p.call("info", nil, nil); !strings.Contains(bad, "no run is open") {
		t.Errorf("info without a run: %q", bad)
	}
	if _, bad := p.call("open", map[string]any{"source": "demo:stencil"}, nil); bad != "" {
		t.Fatal(bad)
	}
	var info struct {
		Intervals int64 `json:"intervals"`
		Top       []any `json:"top_regions"`
	}
	p.call("info", nil, &info)
	if info.Intervals == 0 || len(info.Top) == 0 {
		t.Errorf("info: %+v", info)
	}
	var views struct{ Views []any }
	p.call("views", nil, &views)
	if len(views.Views) < 15 {
		t.Errorf("%d views", len(views.Views))
	}

	// Numbers, some at a time, and a picture.
	var profile answer
	content, bad := p.call("view", map[string]any{"view": "profile", "limit": 2, "picture": true}, &profile)
	if bad != "" || len(profile.Rows) != 2 || profile.Total <= 2 || profile.More == "" {
		t.Errorf("view: %+v %s", profile, bad)
	}
	if len(content) != 2 {
		t.Fatalf("%d pieces of content, want numbers and a picture", len(content))
	}
	if _, err := png.Decode(bytes.NewReader(content[1].(*sdk.ImageContent).Data)); err != nil {
		t.Errorf("the picture: %v", err)
	}

	// Errors are answers that say what to do.
	for _, c := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"view", map[string]any{"view": "nosuch"}, "there are timeline"},
		{"query", map[string]any{"sql": "delete from intervals"}, "only reads"},
		{"query", map[string]any{"sql": "select x from intervals"}, "no such column"},
		{"open", map[string]any{"source": "/no/such/file"}, "no such file"},
		{"info", map[string]any{"run": "other"}, "no run \"other\""},
	} {
		if _, bad := p.call(c.tool, c.in, nil); !strings.Contains(bad, c.want) {
			t.Errorf("%s %v: %q, want %q", c.tool, c.in, bad, c.want)
		}
	}

	// Whole numbers that a float64 would round come as texts.
	var big answer
	p.call("query", map[string]any{"sql": "select 9007199254740993 as a, 9007199254740991 as b"}, &big)
	if big.Rows[0][0] != "9007199254740993" || big.Rows[0][1] != float64(9007199254740991) {
		t.Errorf("big numbers: %v", big.Rows)
	}

	// Rows are bounded whatever is asked for.
	var many answer
	p.call("query", map[string]any{"sql": "select location, begin from intervals", "limit": 100000}, &many)
	if len(many.Rows) != 200 || many.More == "" {
		t.Errorf("%d rows, more %q", len(many.Rows), many.More)
	}

	r, err := p.session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "parallax://docs/tables.md"})
	if err != nil || !strings.Contains(r.Contents[0].Text, "### `intervals`") {
		t.Errorf("the document on tables: %v", err)
	}
}

// The page's server answers programs as well, over HTTP and only with its token.
func TestProgramsAskTheServerWithItsToken(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(c, 64<<20, nil)
	opened, err := l.One(ctx, []string{"demo:stencil"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{
		Runs: []view.Run{opened}, Views: views.Views, Assets: web.Files(), Token: "secret", Ask: anAsker().answerSQL, Programs: programsHandler(anAsker(), slog.New(slog.DiscardHandler)),
		Open: func(ctx context.Context, o server.Opening) ([]view.Run, error) {
			return l.All(ctx, o.Sources)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := httptest.NewServer(s)
	defer h.Close()
	dial := func(token string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
			Endpoint: h.URL + "/api/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1,
		}, nil)
	}
	if x, err := dial("guess"); err == nil {
		x.Close()
		t.Error("a program without the token was let in")
	}
	session, err := dial("secret")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	p := &program{t, session}
	var runs struct{ Runs []struct{ Run, State string } }
	p.call("runs", nil, &runs)
	if len(runs.Runs) != 1 || runs.Runs[0].State != "ready" {
		t.Errorf("runs: %+v", runs)
	}
	var q answer
	if _, bad := p.call("query", map[string]any{"sql": "select count(*) from intervals"}, &q); bad != "" || len(q.Rows) != 1 {
		t.Errorf("query: %v %s", q.Rows, bad)
	}
	if _, bad := p.call("open", map[string]any{"source": "demo:quicksort"}, nil); bad != "" {
		t.Error(bad)
	}
	p.call("runs", nil, &runs)
	if len(runs.Runs) != 2 {
		t.Errorf("after open: %+v", runs)
	}

	// And the page asks SQL.
	for body, want := range map[string]string{
		`{"sql": "select count(*) as n from locations"}`:     `"columns":[{"name":"n","unit":""}],"rows":[[`,
		`{"sql": "select begin from intervals", "limit": 3}`: `"more":true`,
		`{"sql": "select 9007199254740993"}`:                 `"9007199254740993"`,
		`{"sql": "drop table intervals"}`:                    `"kind":"usage"`,
		`{"sql": "select nosuch from intervals"}`:            `no such column`,
	} {
		r, err := http.NewRequest("POST", h.URL+"/api/runs/"+runs.Runs[0].Run+"/query", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, want %s", body, text, want)
		}
	}
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Whoever pipes questions in and closes the pipe gets every answer before the end.
func TestQuestionsAreAnsweredAfterTheirPipeWasClosed(t *testing.T) {
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(c, 64<<20, nil)
	runs := &mcp.OpenRuns{Opener: l.All}
	defer runs.Close()
	s, err := newPrograms(anAsker(), runs)
	if err != nil {
		t.Fatal(err)
	}
	questions := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}
	const tools = 20
	for id := range tools {
		questions = append(questions, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id+2))
	}
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(strings.Join(questions, "\n")+"\n")), writer{&out}); err != nil {
		t.Fatal(err)
	}
	answered := map[int]bool{}
	for d := json.NewDecoder(&out); d.More(); {
		var a struct {
			ID     int
			Result map[string]any
		}
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		if answered[a.ID] = a.Result != nil; !answered[a.ID] {
			t.Errorf("question %d has no result", a.ID)
		}
	}
	if len(answered) != tools+1 {
		t.Errorf("%d of %d questions have an answer", len(answered), tools+1)
	}
}

// Programs can ask the numbers of findings again, and get sentences and verdicts for several runs a side.
func TestProgramsProveAndCompare(t *testing.T) {
	p := newProgram(t)
	for _, source := range []string{"demo:stencil", "demo:stencil?seed=2", "demo:stencil?seed=3", "demo:stencil?seed=4"} {
		if _, wrong := p.call("open", map[string]any{"source": source}, nil); wrong != "" {
			t.Fatal(wrong)
		}
	}
	var open struct{ Runs []struct{ Run string } }
	p.call("runs", nil, &open)
	if len(open.Runs) != 4 {
		t.Fatalf("%d runs", len(open.Runs))
	}
	id := func(i int) string { return open.Runs[i].Run }
	var proof struct {
		Holds  bool
		Claims []struct {
			Says, SQL string
			Holds     bool
		}
	}
	if _, wrong := p.call("prove", map[string]any{"run": id(0)}, &proof); wrong != "" || !proof.Holds || len(proof.Claims) == 0 ||
		!strings.Contains(proof.Claims[0].SQL, "select") {
		t.Errorf("%s %+v", wrong, proof)
	}
	var said struct {
		answer
		Text string
	}
	both := map[string]any{"before": id(0) + "," + id(1), "after": id(2) + ", " + id(3)}
	if _, wrong := p.call("compare", both, &said); wrong != "" || !strings.Contains(said.Text, "in A and") || len(said.Rows) == 0 {
		t.Errorf("%s %+v", wrong, said)
	}
	var judged struct {
		Verdicts []struct{ Limit, Verdict, Text string }
	}
	both["limits"], both["picture"] = []string{"length=0.001%", "changed=100000"}, true
	if _, wrong := p.call("compare", both, &judged); wrong != "" || len(judged.Verdicts) != 2 ||
		judged.Verdicts[1].Verdict != "holds" || judged.Verdicts[0].Limit != "length=0.001%" {
		t.Errorf("%s %+v", wrong, judged)
	}
	delete(both, "picture")
	both["limits"] = []string{"nothing of this name=3%"}
	if _, wrong := p.call("compare", both, nil); !strings.Contains(wrong, "nothing of this name") {
		t.Errorf("an unknown limit: %q", wrong)
	}
	verdict := false
	for _, c := range said.Columns {
		verdict = verdict || c.Name == "verdict"
	}
	if !verdict {
		t.Errorf("no verdict among %v", said.Columns)
	}
	if _, wrong := p.call("compare", map[string]any{"before": id(0), "after": id(0)}, nil); !strings.Contains(wrong, "itself") {
		t.Errorf("a run against itself: %q", wrong)
	}
}

// Programs ask which lines of the program take the time.
func TestProgramsAskForLines(t *testing.T) {
	p := newProgram(t)
	if _, wrong := p.call("open", map[string]any{"source": "../../internal/importer/callgrind/testdata/callgrind.out.gz"}, nil); wrong != "" {
		t.Fatal(wrong)
	}
	var said struct {
		File   string
		ByLine bool
		Lines  []struct {
			Line      int
			Exclusive float64
			Region    string
		}
		Notes []string
	}
	if _, wrong := p.call("source", map[string]any{"limit": 3}, &said); wrong != "" || !said.ByLine || len(said.Lines) != 3 ||
		said.File == "" || said.Lines[0].Exclusive < said.Lines[1].Exclusive || !strings.Contains(strings.Join(said.Notes, " "), "--source") {
		t.Errorf("%s %+v", wrong, said)
	}
	if _, wrong := p.call("source", map[string]any{"file": "nosuch.c"}, nil); !strings.Contains(wrong, "no such file") {
		t.Errorf("an unknown file: %q", wrong)
	}
}

// The dialogue of docs/programs.md is what the tools answer: each number and each sentence of it is in the answers.
func TestTheDialogueIsWhatToolsAnswer(t *testing.T) {
	text, err := os.ReadFile("../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, dialogue, found := strings.Cut(string(text), "## A dialogue")
	if !found {
		t.Fatal("there is no dialogue")
	}
	t.Chdir("../..")
	p := newProgram(t)
	asked := regexp.MustCompile("(?m)^- `([a-z]+) (\\{.*?\\})`: (.*)$")
	calls := asked.FindAllStringSubmatch(dialogue, -1)
	if len(calls) < 9 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, c := range calls {
		in := map[string]any{}
		if err := json.Unmarshal([]byte(c[2]), &in); err != nil {
			t.Fatalf("%s: %v", c[2], err)
		}
		var out any
		if _, wrong := p.call(c[1], in, &out); wrong != "" {
			t.Fatalf("%s %s: %s", c[1], c[2], wrong)
		}
		answer, _ := json.Marshal(out)
		for _, word := range regexp.MustCompile("\"[^\"]+\"|[0-9]{7,}").FindAllString(c[3], -1) {
			word = strings.TrimSuffix(strings.Trim(word, "\""), " …")
			if !strings.Contains(strings.ReplaceAll(string(answer), "e+", ""), word) {
				t.Errorf("%s %s does not answer %q:\n%s", c[1], c[2], word, answer)
			}
		}
	}
}
