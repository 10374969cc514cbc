package formula

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestTheVocabularyHasEveryFunction(t *testing.T) {
	listed := map[string]bool{}
	for _, w := range Vocabulary {
		if w.Call == "" {
			continue
		}
		listed[w.Name] = true
		if _, ok := functions[w.Name]; !ok && w.Name != "metadata" {
			t.Errorf("%s is listed, and there is no such function", w.Name)
		}
		call := strings.NewReplacer(", …", "", "key", "k").Replace(w.Call)
		if _, err := Parse("BEGIN_VIZ=t\na=1 b=2 n=3 k=4 y=5 x=6 condition=1 yes=2 no=3\nz=" + call + "\nEND_VIZ"); err != nil {
			t.Errorf("%s cannot be called as listed: %v", w.Call, err)
		}
	}
	for name := range functions {
		if isLetter(name[0]) && name != "neg" && !listed[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

func TestMistypedWordsAreSuggested(t *testing.T) {
	in := &Input{N: 4, Column: func(n string) ([]float64, bool) { return make([]float64, 4), n == "event0.val" }}
	for _, c := range []struct{ line, hint string }{
		{"z=squrt(4)", "did you mean sqrt?"},
		{"z=flor(4)", "did you mean floor?"},
		{"z=maxrnak", "did you mean maxRank?"},
		{"z=event0.vla", "did you mean event0.val?"},
		{"z=2*rootRank", "did you mean rootRanks?"},
		{"z=2*pi", "pi is a function: did you mean pi()?"},
		{"z=later\nlater=2", "it is set on line 6, and takes effect from the line after"},
		{"z=zwölf", ""},
	} {
		layouts, err := Parse("BEGIN_VIZ=t\nrootRanks=2\nx=0\ny=0\n" + c.line + "\nEND_VIZ")
		if err == nil {
			_, err = layouts[0].Apply(context.Background(), in)
		}
		var bad *Error
		if !errors.As(err, &bad) || c.hint != "" && bad.Hint != c.hint {
			t.Errorf("%q: %v, want the hint %q", c.line, err, c.hint)
		}
	}
}

// The steps of a location end in the point where Apply places it.
func TestStepsAreThoseOfTheLocation(t *testing.T) {
	layouts, err := Parse(load(t).Listings)
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{N: 5000, Column: func(n string) ([]float64, bool) {
		out := make([]float64, 5000)
		for i := range out {
			out[i] = float64(i*i%977) + float64(len(n))
		}
		return out, strings.HasPrefix(n, "event") && strings.HasSuffix(n, ".val")
	}, Scalar: func(n string) (float64, bool) {
		return float64(len(n)), strings.HasPrefix(n, "event") && !strings.HasSuffix(n, ".val")
	}}
	for _, l := range layouts {
		p := apply(t, l, in).Points[0]
		for _, i := range []int{0, 17, 2047, 2048, 4999} {
			steps, err := l.Steps(in, i)
			if err != nil {
				t.Fatal(err)
			}
			last := map[string]float64{}
			for _, s := range steps {
				last[strings.ToLower(s.Name)] = s.Value
			}
			for name, want := range map[string]float64{"x": p.X[i], "y": p.Y[i], "z": p.Z[i]} {
				if got := last[name]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s, %d: %s is %v, and %v where it is drawn", l.Name, i, name, got, want)
				}
			}
		}
	}
}
