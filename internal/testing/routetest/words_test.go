package routetest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// A use is a heading that a word of the glossary may have: where, in which unit, and under
// which entry of "Numbers" its meaning stands. A heading with such a word that is not
// listed here fails: it is new and must say which meaning it has, or it means another thing
// and must have another name.
type use struct{ heading, unit, views, entry string }

var uses = []use{
	{"calls", "count", "profile calltree kaleidoscope operators services source", "calls"},
	{"calls per second", "", "services", "calls"},
	{"calls_a", "count", "contrast", "calls"},
	{"calls_b", "count", "contrast", "calls"},
	{"count", "count", "boxprofile callmatrix commmatrix timeline", "calls"},
	{"call_mean", "*", "profile", "mean of a call"},
	{"mean", "*", "profile landscape histogram", "mean, sd, min, max of a location"},
	{"mean", "*", "boxprofile callmatrix", "mean of a call"},
	{"total", "*", "boxprofile callmatrix", "total"},
	{"total", "ns", "steps", "total of a step"},
	{"busy", "ns", "phases treemap overview topology", "busy"},
	{"waiting", "ns", "phases", "busy"},
	{"idle", "ns", "treemap overview", "busy"},
	{"idle", "ns", "steps", "idle of a GPU"},
	{"gpu_idle", "ns", "steps", "idle of a GPU"},
	{"busy", "share", "activity", "busy"},
	{"idle", "share", "activity", "busy"},
	{"share", "share", "profile calltree findings criticalpath", "share"},
	{"mean", "ns", "criticalpath", "mean of a request"},
	{"mean time", "axis", "criticalpath", "mean of a request"},
	{"share of loss", "share", "treemap", "share"},
	{"locations", "count", "landscape", "locations"},
	{"rank", "", "histogram scatter timeline topology steps", "rank"},
	{"index", "", "topology kaleidoscope", "rank"},
	{"messages", "count", "commmatrix", "messages"},
	{"idle: …", "ns", "steps", "idle of a GPU"},
	{"longest times of the calls, added up", "axis", "alignment", "calls"},
	// Legends.
	{"outline: calls with several modes", "legend", "boxprofile", "calls"},
	{"idle", "legend", "calltree", "busy"},
	{"A: rank N", "legend", "contrast", "rank"},
	{"A: rank N N", "legend", "contrast", "rank"},
	{"B: the N other locations", "legend", "contrast", "locations"},
	{"B: the N other ranks", "legend", "contrast", "rank"},
	{"calls", "legend", "landscape", "calls"},
	{"calls of one column", "legend", "source", "calls"},
	{"busy time", "legend", "moments topology", "busy"},
	{"mean (mN), skew", "legend", "moments", "moments of a location"},
	{"waited for the last and for late messages", "legend", "phases", "messages"},
	{"spread over locations", "legend", "profile", "locations"},
	{"GPU idle", "legend", "steps", "idle of a GPU"},
	{"calls of the GPU's library", "legend", "steps", "calls"},
	{"host calls the driver", "legend", "steps", "idle of a GPU"},
	// Axes: N stands for a number, R for a region.
	{"share of N locations", "axis", "activity", "share"},
	{"locations", "axis", "histogram", "locations"},
	{"R, calls", "axis", "histogram scatter", "calls"},
	{"calls", "axis", "profile calltree", "calls"},
	{"mean of a location", "axis", "profile landscape", "mean, sd, min, max of a location"},
}

var guarded = regexp.MustCompile(`\b(total|mean|calls|count|busy|idle|waiting|balance|rank|index|locations|share|messages)\b|_mean|mean_|calls_|idle_|_idle`)

var amount = regexp.MustCompile(`(/[a-z]+ N)? \(m?N\)$|( N)?(\.N)?( (ns|µs|ms|s|k|M|G|KiB|MiB|B))? ?$`)

var number = regexp.MustCompile(`\d[\d,]*`)

// entries are the words in bold in the first column of "Numbers".
func entries(t *testing.T) []string {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "glossary.md"))
	must(t, err)
	_, numbers, _ := strings.Cut(string(text), "\n## Numbers\n")
	numbers, _, _ = strings.Cut(numbers, "\n## ")
	var out []string
	for _, line := range strings.Split(numbers, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for i, word := range strings.Split(cells[1], "**") {
				if i%2 == 1 {
					out = append(out, word)
				}
			}
		}
	}
	return out
}

func TestHeadingsUseWordsAsTheGlossaryDefinesThem(t *testing.T) {
	defined := entries(t)
	for _, u := range uses {
		if !slices.Contains(defined, u.entry) {
			t.Errorf("%q in %s: %q is not defined under Numbers in docs/glossary.md", u.heading, u.views, u.entry)
		}
	}
	seen := map[string]bool{}
	for _, s := range Shapes {
		if s.Large {
			continue
		}
		x := Open(t, s, 0)
		w := x.Windows(0, true)[0]
		for _, v := range all.Views {
			if !suits(v, x.Reader) {
				continue
			}
			for _, o := range append(slices.Clone(Routes[v.Name].Options), nil) {
				r := x.Ask(t, v, w, o)
				if r.Result == nil {
					continue
				}
				for _, c := range r.Result.Table().Columns {
					x.heading(t, seen, v.Name, c.Name, c.Unit)
				}
				sc := r.Result.Scene(scene.Size{Width: 900, Height: 600})
				for _, f := range sc.Frames {
					x.heading(t, seen, v.Name, f.XScale.Label, "axis")
					x.heading(t, seen, v.Name, f.YScale.Label, "axis")
				}
				for _, e := range sc.Legend {
					x.heading(t, seen, v.Name, e.Label, "legend")
				}
			}
		}
	}
}

// heading looks one heading up.
func (x *Raw) heading(t *testing.T, seen map[string]bool, view, text, unit string) {
	t.Helper()
	if unit != "axis" && x.names(text) {
		return
	}
	for _, g := range x.Regions {
		text = strings.TrimSpace(strings.ReplaceAll(text, g.Name+",", "R,"))
	}
	text = number.ReplaceAllString(text, "N")
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "x: "), "y: "), "z: ")
	if unit == "legend" { // what follows the words is how many or how much
		text = amount.ReplaceAllString(text, "")
	}
	if cause, _, ok := strings.Cut(text, "idle: "); ok && cause == "" {
		text = "idle: …"
	}
	key := view + " " + text + " " + unit
	if !guarded.MatchString(text) || seen[key] {
		return
	}
	seen[key] = true
	for _, u := range uses {
		if u.heading == text && (u.unit == unit || u.unit == "*" || unit == "legend" && u.unit != "axis" || unit == "count" && u.unit == "axis") && slices.Contains(strings.Fields(u.views), view) {
			return
		}
	}
	t.Errorf("%s heads something with %q in %q, which no use listed here allows", view, text, unit)
}

// names reports whether a heading is the name of a location, of a region or of a role.
func (x *Raw) names(text string) bool {
	for id := range x.Tree.Len() {
		if p := x.Tree.Path(trace.LocationID(id)); p == text || strings.HasSuffix(p, text) && strings.Contains(text, x.Tree.Name[id]) {
			return true
		}
	}
	for _, g := range x.Regions {
		if g.Name == text {
			return true
		}
	}
	return false
}

// A meaning is which entry of the glossary a word with several has in the help of some views:
// their summaries, how to read them, and their options.
type meaning struct{ word, views, entry string }

var meanings = []meaning{
	{"mean", "profile histogram landscape", "mean, sd, min, max of a location"},
	{"mean", "calltree scatter topology steps operators alignment criticalpath history", "mean of what is drawn as one"},
	{"mean", "moments", "moments of a location"},
	{"mean", "findings", "load balance"},
	{"balance", "findings scaling", "load balance"},
	{"share", "profile activity contrast timeline treemap steps operators criticalpath", "share"},
	{"share", "boxprofile callmatrix topology kaleidoscope", "share of a range"},
	{"rank", "boxprofile callmatrix groups contrast phases steps topology compare scaling criticalpath", "rank"},
	{"rank", "callmatrix", "rank scale"},
	{"index", "topology", "rank"},
}

// ambiguous are nouns: "colours mean" and "calls share" are verbs.
var ambiguous = regexp.MustCompile(`(?i)(?:\b(?:the|a|an|its|their|by|each|which|load|in order of|region's) |\||\()(total|mean|share|rank|index|balance)\b`)

// foreign are words of other tools for what the glossary gives a word of ours.
var foreign = regexp.MustCompile(`(?i)\b(event|events|containers?|timers?|visits?|occurrences?|callpaths?|useful work|trials?|flat profile)\b`)

func TestHelpUsesWordsAsTheGlossaryDefinesThem(t *testing.T) {
	defined := entries(t)
	for _, m := range meanings {
		if !slices.Contains(defined, m.entry) {
			t.Errorf("%q is not defined under Numbers in docs/glossary.md", m.entry)
		}
	}
	for _, v := range all.Views {
		texts := []string{v.Summary, v.HowToRead}
		for _, o := range v.Options {
			texts = append(texts, o.Help)
		}
		help := strings.Join(texts, "\n")
		for _, w := range ambiguous.FindAllStringSubmatch(help, -1) {
			word := strings.ToLower(w[1])
			if !slices.ContainsFunc(meanings, func(m meaning) bool { return m.word == word && slices.Contains(strings.Fields(m.views), v.Name) }) {
				t.Errorf("the help of %s has %q: say above which meaning of the glossary it has, or use another word", v.Name, w[0])
			}
		}
		if w := foreign.FindString(help); w != "" {
			t.Errorf("the help of %s has %q, which is a word of other tools", v.Name, w)
		}
	}
}
