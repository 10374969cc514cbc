package server

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/view"
)

// The page's types of the API have the fields that the server writes, those that may be
// left out marked so: a field added, renamed or dropped on one side alone fails here.
func TestThePageKnowsTheTypesOfTheAPI(t *testing.T) {
	text, err := os.ReadFile("../../web/src/api/types.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]any{
		"ApiError": apiError{}, "Bindings": bindingsJSON{}, "Causes": causesJSON{}, "Notes": notesJSON{}, "RunNote": note{}, "SavedPage": workspace{}, "Share": shareJSON{}, "Step": stepJSON{}, "Column": view.Column{}, "Demo": Demo{}, "Empty": wire.Empty{}, "Example": view.Example{}, "Fact": view.Fact{}, "FactLine": view.FactLine{},
		"FormatInfo": formatJSON{}, "Home": homeJSON{}, "IntervalHit": intervalHit{}, "IntervalSearch": intervalsJSON{}, "LocationHit": locationHit{}, "LocationPage": locationPage{}, "LocationRow": locationRow{}, "Moved": movedAnswer{}, "Needs": needsJSON{}, "Pick": pickJSON{},
		"Places": placesAnswer{}, "RecentRun": Recent{}, "RegionRow": regionRow{}, "RegionSummary": regionSummary{}, "RoleTotal": roleTotal{}, "RunInfo": view.InfoJSON{}, "RunState": runState{},
		"SearchResult": searchJSON{}, "SelectionSize": view.TwinSelection{}, "Session": sessionJSON{}, "SourceText": sourceText{}, "Summary": summaryJSON{}, "TablePage": tablePage{}, "ViewInfo": viewJSON{},
	} {
		want := fieldsOfGo(reflect.TypeOf(of))
		got, ok := fieldsOfTypeScript(string(text), name)
		if !ok {
			t.Errorf("types.ts has no interface %s", name)
		} else if !slices.Equal(got, want) {
			t.Errorf("%s has %s on the page, and the server writes %s", name, got, want)
		}
	}
}

// fieldsOfGo lists the names of a struct in JSON; "?" follows those that may be left out.
func fieldsOfGo(typ reflect.Type) (out []string) {
	for _, f := range reflect.VisibleFields(typ) {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || f.Anonymous || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		if strings.Contains(rest, "omitempty") {
			name += "?"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

var member = regexp.MustCompile(`(?m)^  (\w+\??):`)

func fieldsOfTypeScript(text, name string) (out []string, ok bool) {
	_, body, ok := strings.Cut(text, "\nexport interface "+name+" {\n")
	body, _, _ = strings.Cut(body, "\n}")
	for _, m := range member.FindAllStringSubmatch(body, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out, ok
}
