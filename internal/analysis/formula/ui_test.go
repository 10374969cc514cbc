package formula

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const withUI = `BEGIN_VIZ=a
x=rank
y=0
z=0
END_VIZ
BEGIN_UI=a
event0 = MPI_Send:calls   
Event1.Name=how often
## a comment
point=2
END_UI
BEGIN_VIZ=b
x=rank
y=0
z=0
END_VIZ
`

func TestAUIBelongsToTheLayoutOfItsName(t *testing.T) {
	layouts, err := Parse(withUI)
	if err != nil {
		t.Fatal(err)
	}
	u := layouts[0].UI
	if u == nil || u.Defaults["event0"] != "MPI_Send:calls" || u.Label[1] != "how often" || u.Defaults["point"] != "2" || len(u.Defaults) != 2 || u.Line != 6 {
		t.Errorf("%+v", u)
	}
	if layouts[1].UI != nil {
		t.Errorf("b has %+v", layouts[1].UI)
	}
}

func TestAUIInCommentsIsReadTheSame(t *testing.T) {
	var commented []string
	inside := false
	for _, line := range strings.Split(withUI, "\n") {
		inside = inside || strings.HasPrefix(line, "BEGIN_UI")
		if inside {
			line = "# " + line
		}
		inside = inside && line != "# END_UI"
		commented = append(commented, line)
	}
	layouts, err := Parse(strings.Join(commented, "\n"))
	if err != nil || layouts[0].UI == nil || layouts[0].UI.Defaults["event0"] != "MPI_Send:calls" {
		t.Errorf("%v, %v", layouts, err)
	}
}

func TestOneUIMayServeAllLayouts(t *testing.T) {
	layouts, err := Parse(withUI[strings.Index(withUI, "BEGIN_VIZ=b"):] + "BEGIN_UI=*\nshape=bars\nEND_UI\n")
	if err != nil || layouts[0].UI.Defaults["shape"] != "bars" {
		t.Errorf("%v, %v", layouts, err)
	}
}

func TestFaultsOfAUI(t *testing.T) {
	block := "BEGIN_VIZ=a\nx=rank\ny=0\nz=0\nEND_VIZ\n"
	for name, c := range map[string]struct{ text, kind, says string }{
		"no such key":   {"BEGIN_UI=a\nsize=3\nEND_UI", Syntax, "cannot set \"size\""},
		"no value":      {"BEGIN_UI=a\nevent0\nEND_UI", Syntax, "sets nothing"},
		"no name":       {"BEGIN_UI=\npoint=1\nEND_UI", Syntax, "no name"},
		"no layout":     {"BEGIN_UI=q\npoint=1\nEND_UI", Missing, "no layout \"q\""},
		"no end":        {"BEGIN_UI=a\npoint=1\n", Unterminated, "does not end"},
		"fifth event":   {"BEGIN_UI=a\nevent4=x\nEND_UI", Syntax, "event4"},
		"odd event":     {"BEGIN_UI=a\nevent+1=x\nEND_UI", Syntax, "event+1"},
		"ends in begin": {"BEGIN_UI=a\nBEGIN_VIZ=c\nx=0\ny=0\nz=0\nEND_VIZ", Unterminated, "does not end"},
	} {
		_, err := Parse(block + c.text)
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Error(), c.says) || e.Line < 6 {
			t.Errorf("%s: %v", name, err)
		}
		layouts, warnings, err := ParseCompatible(block + c.text)
		if err != nil || len(layouts) == 0 || len(warnings) == 0 {
			t.Errorf("%s, compatible: %d layouts, %v, %v", name, len(layouts), warnings, err)
		}
	}
}

// Every example compiles, is called as it says, and places all ranks of its figure.
func TestExamplesOfThePaper(t *testing.T) {
	ranks := map[string]int{"sweep3d": 16384, "s3d": 4096, "zgrd": 10240}
	distinct := map[string]int{"figure4": 16257} // the first ring of the printed sphere is one point
	for _, e := range Examples {
		layouts, err := Parse(e.Text)
		if err != nil || len(layouts) != 1 || layouts[0].Name != e.Name || layouts[0].UI == nil || e.Note == "" {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		n := ranks[e.Demo]
		out, err := layouts[0].Apply(context.Background(), exampleInput(n))
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		p := &out.Points[0]
		places := map[[3]int64]bool{}
		for i, ok := range p.Place(out.Restrict) {
			if !ok {
				t.Fatalf("%s: rank %d is not placed", e.Name, i)
			}
			at := [3]int64{}
			for a, v := range [3]float64{p.X[i], p.Y[i], p.Z[i]} {
				at[a] = int64(math.Round(v * 1e9))
			}
			places[at] = true
		}
		want := n
		if d, ok := distinct[e.Name]; ok {
			want = d
		}
		if len(places) != want {
			t.Errorf("%s: %d places for %d ranks, want %d", e.Name, len(places), n, want)
		}
	}
}

// exampleInput has coordinates of a box 32 wide and 32 deep, and events that differ.
func exampleInput(n int) *Input {
	column := map[string][]float64{}
	for k, name := range []string{"coordx", "coordy", "coordz", "event0.val", "event1.val", "event2.val", "color"} {
		values := make([]float64, n)
		for i := range values {
			switch k {
			case 0:
				values[i] = float64(i % 32)
			case 1:
				values[i] = float64(i / 32 % 32)
			case 2:
				values[i] = float64(i / 1024)
			default:
				values[i] = float64(i * k)
			}
		}
		column[name] = values
	}
	scalar := map[string]float64{}
	for _, e := range []string{"event0", "event1", "event2"} {
		values := column[e+".val"]
		scalar[e+".min"], scalar[e+".max"] = values[0], values[n-1]
	}
	return &Input{N: n, Column: func(s string) ([]float64, bool) { v, ok := column[s]; return v, ok }, Scalar: func(s string) (float64, bool) { v, ok := scalar[s]; return v, ok }}
}

var update = flag.Bool("update", false, "rewrite the expected outputs")

// The files that the documents offer are the examples, and all of them parse.
func TestLayoutFilesOfTheDocuments(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "docs", "layouts")
	want := "# The listings and Figures 2 to 8 of Spear, Malony, Lee, Biersdorff and Shende, \"An\n# Approach to Creating Performance Visualizations in a Parallel Profile Analysis Tool\".\n"
	for _, e := range Examples {
		want += "\n# " + e.Note + " (demo:" + e.Demo + ")\n" + e.Text
	}
	file := filepath.Join(dir, "figures.txt")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the examples say; run with -update: %v", file, err)
	}
	for name, blocks := range map[string]int{"figures.txt": len(Examples), "cray.txt": 2} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		layouts, err := Parse(string(text))
		if err != nil || len(layouts) != blocks {
			t.Errorf("%s: %d layouts, %v", name, len(layouts), err)
		}
	}
}

// A file of another kind says so once, not a line for each of its lines.
func TestWarningsAreFew(t *testing.T) {
	_, warnings, err := ParseCompatible(strings.Repeat("17 bottles\n", 5000))
	if err != nil || len(warnings) != 1 || warnings[0] != "5000 lines stand outside of blocks and are skipped, the first is line 1" {
		t.Errorf("%q, %v", warnings, err)
	}
	_, warnings, _ = ParseCompatible("BEGIN_VIZ=a\nx=0\ny=0\nz=0\n" + strings.Repeat("17 bottles\n", 5000) + "END_VIZ\n")
	if len(warnings) != 21 || warnings[20] != "and 4980 more" {
		t.Errorf("%d warnings, the last %q", len(warnings), warnings[len(warnings)-1])
	}
}
