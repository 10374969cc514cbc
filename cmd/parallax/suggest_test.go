package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/anonymise"
	"github.com/parallax-hpc/parallax/internal/scene"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

func TestMistypedCommandsAreSuggested(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"chec", "check"}, {"inof", "info"}, {"veiw", "view"}, {"improt", "import"}, {"versoin", "version"},
	} {
		if _, _, stderr := parallax(t, "help", c.typed); !strings.Contains(stderr, "did you mean "+c.want+"?") {
			t.Errorf("help %s: %q", c.typed, stderr)
		}
		if status, _, stderr := parallax(t, c.typed); status != 2 || !strings.Contains(stderr, "did you mean "+c.want+"?") {
			t.Errorf("%s: %d, %q", c.typed, status, stderr)
		}
	}
	if _, _, stderr := parallax(t, "xyzzyplugh"); strings.Contains(stderr, "did you mean") {
		t.Errorf("a guess where nothing is near: %q", stderr)
	}
}

func TestVersionForPrograms(t *testing.T) {
	_, out, _ := parallax(t, "version", "--json")
	var v map[string]string
	if err := json.Unmarshal([]byte(out), &v); err != nil || v["version"] == "" || v["go"] == "" || v["platform"] == "" {
		t.Errorf("%q: %v", out, err)
	}
}

// misspelt is a word with two letters swapped, or one left out of a short one.
func misspelt(word string) string {
	for i := len(word) - 1; i > 1 && len(word) > 3; i-- {
		if word[i] != word[i-1] {
			return word[:i-1] + word[i:i+1] + word[i-1:i] + word[i+1:]
		}
	}
	return word + "q"
}

// TestMisspeltValuesAreSuggested: every option whose values are a list refuses another with the nearest of the list, and
// with the page that is about it.
func TestMisspeltValuesAreSuggested(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x")
	type refusal struct {
		args []string
		want string
	}
	var cases []refusal
	add := func(want string, args ...string) { cases = append(cases, refusal{args, want}) }
	option := func(v, name, value string) {
		add(value, "view", v, "demo:stencil?intervals=500", "--"+name, misspelt(value), "-o", out+".json")
	}
	for _, v := range views.Views {
		for _, o := range v.Options {
			for _, c := range o.Choices {
				option(v.Name, o.Name, c)
			}
		}
	}
	// Options whose values depend on the view or the source.
	for _, x := range strings.Fields(`activity:by:regions histogram:order:location profile:order:inclusive
		phases:metric:waiting commmatrix:metric:bytes timeline:group:optimal timeline:colour:duration
		callmatrix:by:categories callmatrix:metric:inclusive callmatrix:order:differs landscape:order:value
		moments:order:outliers boxprofile:by:categories boxprofile:colour:groups
		boxprofile:metric:exclusive boxprofile:order:longest treemap:hierarchy:attribute treemap:metric:exclusive
		contrast:by:partner profile:metric:inclusive`) {
		part := strings.Split(x, ":")
		option(part[0], part[1], part[2])
	}
	add("beside", "view", "moments", "demo:stencil?intervals=500", "--gantt=besied", "-o", out+".json")
	add("communication", "view", "moments", "demo:stencil?intervals=500", "--busy", "role:comunication", "-o", out+".json")
	add("dark", "view", "profile", "demo:stencil?intervals=500", "--theme", "drak", "-o", out+".svg")
	for _, h := range scene.Hues {
		add(h, "view", "profile", "demo:stencil?intervals=500", "--region-colours", misspelt(h), "-o", out+".svg")
	}
	for _, k := range limitKinds() {
		add(k, "check", "demo:stencil?intervals=500", "--fail-on", misspelt(k)+"=5%")
	}
	for o, known := range map[string][]string{"align": {"auto", "messages", "collectives"},
		"names": {"folded", "raw"}, "progress": {"auto", "json", "none"}, "format": {"otf2", "paje", "perfetto"}} {
		for _, k := range known {
			add(k, "info", "demo:stencil?intervals=500", "--"+o, misspelt(k))
		}
	}
	for _, f := range []string{"chrome", "kineto", "otf2", "paje", "tau"} {
		add(f, "gen", "stencil", "--format", misspelt(f), "-o", out)
	}
	add("loader", "gen", "training", "--fault", "laoder", "-o", out)
	add("status", "compare", "demo:stencil?intervals=500", "--", "demo:stencil?intervals=500", "--cannot-tell", "satus")
	add("bash", "completion", "bsh")
	add("list", "cache", "lits")
	add("python", "recorder", "pythn")
	for _, k := range anonymise.Keeps {
		add(k, "anonymise", "demo:stencil?intervals=500", "--keep", misspelt(k), "-o", out+".plx")
	}
	for _, c := range cases {
		status, _, stderr := parallax(t, c.args...)
		if status != 2 || !strings.Contains(stderr, "did you mean "+c.want+"?") || !strings.Contains(stderr, "? See `parallax docs ") {
			t.Errorf("%s: %d, %s", strings.Join(c.args, " "), status, stderr)
		}
	}
}
