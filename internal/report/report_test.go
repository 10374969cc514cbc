package report

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// hostile names are in everything a report writes.
const hostile = `
region "<script>alert(1)</script>" role=compute category="</style><script>"
region "\"><img src=x onerror=alert(2)>" role=communication
region "a\u202egnp.exe" role=io
location machine "<b>node</b>"
  location process "</svg><script>alert(3)</script>" rank=0 "k<i>"="v</text>"
    0..1000 "<script>alert(1)</script>"
      100..400 "\"><img src=x onerror=alert(2)>"
      500..600 "a\u202egnp.exe"
  location process "{{.Title}} http://example.org/x" rank=1
    0..1000 "<script>alert(1)</script>"
      100..900 "\"><img src=x onerror=alert(2)>"
  location process "&amp;" rank=2
    0..1000 "<script>alert(1)</script>"
report repaired "<script>alert(4)</script>" 3 "x:'\"><svg onload=1>"
`

func write(tb testing.TB, r store.Reader, name string) string {
	tb.Helper()
	var b bytes.Buffer
	o := Options{Run: view.Run{Name: name, Source: name, Store: r}, Selection: trace.Selection{End: r.Info().End}, Views: views.Views, Version: "test"}
	if err := Write(context.Background(), &b, o); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestHostileNamesAreText(t *testing.T) {
	text := write(t, storetest.Text(t, hostile, all.Summaries...), `run"><script>alert(0)</script>`)
	for _, bad := range []string{"<script", "</style><", "<img", "<b>", "<i>", "onload=1>", "\u202e", "<svg on"} {
		if i := strings.Index(text, bad); i >= 0 && bad != "</style><" {
			t.Errorf("%q is in the report: …%s…", bad, text[max(0, i-80):min(len(text), i+80)])
		}
	}
	if !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") || !strings.Contains(text, `\u202e`) {
		t.Error("the names are not shown")
	}
	if strings.Count(text, "</style>") != 1 || strings.Count(text, "<html") != 1 {
		t.Error("a name ended something")
	}
}

func TestTheFileNeedsNothingElse(t *testing.T) {
	text := write(t, storetest.Text(t, strings.ReplaceAll(hostile, "http://example.org/x", ""), all.Summaries...), "run")
	for _, bad := range []string{"http:", "https:", "@import", "<link", "<iframe", "<object", "<base", "javascript:"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in the report", bad)
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]{0,20})|url\(([^)]{0,20})`).FindAllStringSubmatch(text, -1) {
		if from := m[1] + m[2]; !strings.HasPrefix(from, "data:image/png") && !strings.HasPrefix(from, "#") {
			t.Errorf("it refers to %q", from)
		}
	}
	if !strings.Contains(text, `default-src 'none'`) {
		t.Error("no policy")
	}
}

func TestAReportHasFindingsPicturesAndTables(t *testing.T) {
	text := write(t, viewtest.Local(t, func(w trace.Writer) { viewtest.WriteSteps(w, 64, 64_000) }), "steps")
	for _, want := range []string{"<h2>Findings</h2>", ">Timeline</h3>", ">Contrast</h3>", ">Treemap</h3>", "parallax view profile steps", "Regions by exclusive time", "Nothing was repaired", "parallax view timeline steps -o timeline.svg"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(text) > 2_000_000 {
		t.Errorf("the report has %d bytes", len(text))
	}
	if !strings.Contains(text, `<image class="dark"`) {
		t.Error("a timeline of thousands of intervals is no raster")
	}
}

func TestTheSameRunGivesTheSameBytes(t *testing.T) {
	r := storetest.Text(t, hostile, all.Summaries...)
	if write(t, r, "x") != write(t, r, "x") {
		t.Error("two reports differ")
	}
}

func TestAProfileHasAReport(t *testing.T) {
	var b strings.Builder
	for p := range 8 {
		fmt.Fprintf(&b, "location process r%d rank=%d\n", p, p)
	}
	b.WriteString("metric TIME unit=ns default\n")
	for p := range 8 {
		fmt.Fprintf(&b, "profile r%d main TIME calls=1 incl=100 excl=%d flat\nprofile r%d MPI_Send TIME calls=6 incl=60 excl=%d flat\n", p, 40+p, p, 60-p)
	}
	text := write(t, storetest.Text(t, b.String(), all.Summaries...), "profile")
	// The profile is the picture of what communication takes.
	if !strings.Contains(text, "Communication takes 56.5 %") || !strings.Contains(text, "parallax view profile profile") || !strings.Contains(text, "timeline: this view needs time") {
		t.Error("the profile is not shown, or not why the timeline is not")
	}
}

var (
	variable = regexp.MustCompile(`(fill|stroke)="var\(--c(\d+)\)"`)
	prefix   = regexp.MustCompile(`\b(p[0-9a-f]{6})(a|h|f[0-9]+)\b`)
	opacity  = regexp.MustCompile(` (fill|stroke)-opacity="[0-9.]+"`) // part of the variable
)

// TestPicturesAreTheSameInBothThemes: with the colours put back, the picture is the
// one that the renderer made for each theme.
func TestPicturesAreTheSameInBothThemes(t *testing.T) {
	r := storetest.Text(t, hostile, all.Summaries...)
	rep := &reporter{Options: Options{Run: view.Run{Store: r}, Selection: trace.Selection{End: r.Info().End}}, ctx: context.Background()}
	n := 0
	for _, v := range views.Views {
		if v.Needs.Missing(r) != "" {
			continue
		}
		result, err := rep.compute(v, rep.Selection, nil, scene.Size{Width: 600, Height: 300})
		if err != nil {
			continue
		}
		s := result.Scene(scene.Size{Width: 600, Height: 300})
		var p svg.Palette
		var both strings.Builder
		if err := svg.Themed(&both, s, &p, ""); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(both.String(), "<image") {
			continue // there once for each theme
		}
		n++
		lists := strings.SplitN(p.CSS(), "@media", 2)
		for k, theme := range []scene.Theme{scene.Light, scene.Dark} {
			var want strings.Builder
			if err := svg.Render(&want, s, theme); err != nil {
				t.Fatal(err)
			}
			got := variable.ReplaceAllStringFunc(both.String(), func(text string) string {
				m := variable.FindStringSubmatch(text)
				value := regexp.MustCompile(`--c` + m[2] + `:(#[0-9a-f]+);`).FindStringSubmatch(lists[k])[1]
				return m[1] + `="` + value[:7] + `"`
			})
			plain := func(s string) string {
				s = strings.Replace(s, ` xmlns="http://www.w3.org/2000/svg"`, "", 1)
				return prefix.ReplaceAllString(opacity.ReplaceAllString(s, ""), "p$2")
			}
			if plain(got) != plain(want.String()) {
				t.Errorf("%s: theme %d is not what was drawn", v.Name, k)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d pictures have one form for both themes", n)
	}
}

func TestCommandsAreQuoted(t *testing.T) {
	if got, want := CommandLine("view", "x", "my run's.json", "--a=rank:5"), `parallax view x 'my run'\''s.json' --a=rank:5`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestACancelledReportStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := storetest.Text(t, hostile, all.Summaries...)
	if err := Write(ctx, &bytes.Buffer{}, Options{Run: view.Run{Store: r}, Selection: trace.Selection{End: 1000}, Views: views.Views}); err == nil {
		t.Error("it did not")
	}
}

func TestOneViewHasItsPictureAndItsNumbers(t *testing.T) {
	run := view.Run{Name: "run", Source: `run"><script>alert(0)</script>`, Store: storetest.Text(t, hostile, all.Summaries...)}
	for _, v := range views.Views {
		if v.Name != "profile" && v.Name != "answer" {
			continue
		}
		values, err := view.NewValues(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := &view.Request{Runs: []view.Run{run}, Selection: trace.Selection{End: run.Store.Info().End}, Values: values,
			Size: scene.Size{Width: 1080, Height: 720}}
		result, err := view.Ask(context.Background(), v, q)
		if err != nil {
			t.Fatal(err)
		}
		one := OneView{View: v, Runs: q.Runs, Result: result, Scene: result.Scene(q.Size), Command: "parallax view", Version: "test"}
		var b bytes.Buffer
		if err := one.Write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, bad := range []string{"<script", "<img", "http:"} {
			if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text, "http://www.w3.org", ""), "http://example.org", ""), bad) {
				t.Errorf("%s: %q is in the file", v.Name, bad)
			}
		}
		table := result.Table()
		if len(table.Rows) == 0 || strings.Count(text, "<tr>") != len(table.Rows)+1 || !strings.Contains(text, "<svg") {
			t.Errorf("%s: %d rows in the file, want a head and %d", v.Name, strings.Count(text, "<tr>"), len(table.Rows))
		}
	}
}

func TestNumbersHaveTheUnitOfTheirRow(t *testing.T) {
	got := tableOf(&view.Table{Columns: []view.Column{{Name: "name"}, {Name: "value"}, {Name: "unit"}},
		Rows: [][]any{{"kernels", 102e6, "ns"}, {"calls", 3.0, "count"}}})
	if fmt.Sprint(got.Head, got.Rows) != "[name value] [[kernels 102 ms] [calls 3]]" {
		t.Errorf("%v", got)
	}
}
