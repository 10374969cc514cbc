package view

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestValuesRefuseWhatTheViewCannotTake(t *testing.T) {
	v := &View{Name: "box", Options: Use("top", "over", "p", "depth", "paper", "busy", "palette=cividis")}
	for _, c := range []struct {
		name, option string
		values       []string
		want         string // part of the error; empty: accepted
	}{
		{"a number in range", "p", []string{"0.5"}, ""},
		{"a number out of range", "p", []string{"1.5"}, "from 0 to 1"},
		{"not a number", "p", []string{"NaN"}, "from 0 to 1"},
		{"a choice", "over", []string{"locations"}, ""},
		{"an unknown choice", "over", []string{"ranks"}, "want calls or locations"},
		{"a broken integer", "top", []string{"ten"}, "whole number"},
		{"a word for a number", "depth", []string{"auto"}, "whole number"},
		{"a switch", "paper", []string{"true"}, ""},
		{"a repeated pattern", "busy", []string{"a", "b"}, ""},
		{"a repeated number", "p", []string{"0.1", "0.2"}, "given 2 times"},
		{"an option of another view", "ring", []string{"4"}, "has no option --ring"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewValues(v, map[string][]string{c.option: c.values})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	vals, err := NewValues(v, nil)
	if err != nil || vals.Text("palette") != "cividis" || vals.Text("p") != "auto" || vals.All()["p"] != "auto" || vals.Switch("paper") {
		t.Errorf("defaults: %v %v", vals.All(), err)
	}
}

func TestOptionNamesAreUniqueAndExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range OptionTable {
		if seen[o.Name] || o.Help == "" || o.Kind == "choice" && len(o.Choices) == 0 {
			t.Errorf("option %q is repeated, or lacks help or choices", o.Name)
		}
		seen[o.Name] = true
		if o.Default != "" {
			if err := o.check(o.Default); err != nil {
				t.Errorf("default: %v", err)
			}
		}
	}
}

func TestOptionsHaveANameAndAGroupInThePage(t *testing.T) {
	known := map[string]bool{}
	for _, o := range OptionTable {
		known[o.Name] = true
		if group, title := wordsOf(o.Name); group == "" || title == "" {
			t.Errorf("option %q has no words in the page", o.Name)
		}
	}
	for _, g := range optionWords {
		for line := range strings.Lines(strings.TrimSpace(g.words)) {
			if name, _, _ := strings.Cut(line, ": "); !known[name] {
				t.Errorf("words for %q, which is no option", name)
			}
		}
	}
	if group, title := wordsOf("least-time"); group != "Form" || title != "Least time" {
		t.Errorf("an option without words is %q in the group %q", title, group)
	}
}

func TestAViewSaysWhatItTakes(t *testing.T) {
	v := &View{Name: "box", Options: Words(Use("by=regions", "group"), "by: a row for each [regions categories]", "group: what is one")}
	if o := v.Options[0]; o.Kind != "choice" || strings.Join(o.Choices, " ") != "regions categories" || o.Help != "a row for each" || o.Default != "regions" {
		t.Errorf("%+v", o)
	}
	if _, err := NewValues(v, map[string][]string{"by": {"roles"}}); err == nil || !strings.Contains(err.Error(), "regions or categories") {
		t.Errorf("--by roles: %v", err)
	}
	for _, o := range OptionTable {
		if o.Name == "by" && (o.Kind != "text" || strings.Contains(o.Help, "row")) {
			t.Errorf("the table itself has changed: %+v", o)
		}
	}
}

func TestPatternsOfRegionsMayBeJoined(t *testing.T) {
	regions := []trace.Region{{Name: "solve"}, {Name: "map<int,long>"}, {Name: "io"}}
	for text, want := range map[string]string{"solve": "solve", "solve,compute": "solve|compute", "map<int,long>": "map<int,long>", "re:a,b": "re:a,b", "solve, io": "solve|io"} {
		v, err := NewValues(&View{Options: Use("busy")}, map[string][]string{"busy": {text}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(v.RegionPatterns("busy", regions), "|"); got != want {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
}

func TestNamesOfTheReleaseBeforeAreAccepted(t *testing.T) {
	v := &View{Name: "matrix", Options: Use("value-scale", "min-change", "similarity")}
	vals, err := NewValues(v, map[string][]string{"stretch": {"log"}, "worth": {"3"}, "alike": {"time"}})
	if err != nil || vals.Text("value-scale") != "log" || vals.Number("min-change") != 3 || vals.Text("similarity") != "time" {
		t.Errorf("%v, %v", vals.All(), err)
	}
	if all := vals.All(); all["stretch"] != "log" || all["value-scale"] != "log" {
		t.Errorf("JSON has not both names: %v", all)
	}
	if _, err := NewValues(v, map[string][]string{"stretch": {"log"}, "value-scale": {"linear"}}); err == nil {
		t.Error("an option under both names is taken once")
	}
}
