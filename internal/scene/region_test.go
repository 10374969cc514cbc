package scene

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

const roleCommunication = 2

// What asks first has the shades of its family, then the spare ones; nothing is given twice before all are.
func TestRegionsHaveTheirRolesFamilyAndThenSpareColours(t *testing.T) {
	for role := uint8(1); int(role) < len(roleSections); role++ {
		var g Giver
		f, seen := family(role), map[Colour]bool{}
		for i := range Choices(role) {
			c := g.Give(fmt.Sprintf("region %d", i), role, nil)
			own := int(c) > f.Start && int(c) < f.Start+f.Length
			if own != (i < f.Length-1) {
				t.Fatalf("role %d: region %d has colour %d; the family is %v", role, i, c, f)
			}
			if seen[c] {
				t.Fatalf("role %d: region %d has the colour %d of another", role, i, c)
			}
			seen[c] = true
		}
		again := g.Give("one too many", role, []Colour{f.At(1), f.At(2)})
		if !seen[again] || again == f.At(1) || again == f.At(2) {
			t.Errorf("role %d: past the last colour %d is given, next to %d and %d", role, again, f.At(1), f.At(2))
		}
		if c, ok := g.Given("region 0", role); !ok || c != f.At(1) || g.Give("region 0", role, []Colour{c}) != c {
			t.Errorf("role %d: a region does not keep its colour", role)
		}
		other := uint8(len(roleSections)-1) - role%2
		g.Lend(other)
		if c := g.Give("on loan", role, nil); c != RoleColour(other) {
			t.Errorf("role %d: %d is given while a family is lent", role, c)
		}
	}
}

func TestRegionsThatStandForTheirRoleLookLikeIt(t *testing.T) {
	var g Giver
	if g.Give("Idle", 4, nil) != RoleColour(4) || g.Give("Computing", 1, nil) != RoleColour(1) || g.Give("solve", 1, nil) == RoleColour(1) {
		t.Error("Idle, Computing or solve do not look as they should")
	}
	if g.Give("no role", 0, nil) != UIEmpty || RoleColour(200) != UIEmpty {
		t.Error("what has no role has a colour of one")
	}
	if c, ok := g.Given("unheard of", 2); ok || c != RoleColour(2) {
		t.Errorf("a region without a colour has %d", c)
	}
}

func TestNamesOfOneCallHaveOneColour(t *testing.T) {
	var g Giver
	want := g.Give("MPI_Send", roleCommunication, nil)
	for _, n := range []string{"MPI_Send()", " MPI_Send ", "PMPI_Send", "mpi_send_", "MPI_SEND", "mpi_send"} {
		if g.Give(n, roleCommunication, nil) != want {
			t.Errorf("%q has another colour than MPI_Send", n)
		}
	}
}

func TestRampsRunFromEndToEnd(t *testing.T) {
	for _, name := range RampNames {
		s := RampSection(name)
		for at, want := range map[float64]int{0: 0, 1: 255, -3: 0, 9: 255, 0.5: 128, math.Inf(1): 255} {
			if got := int(Ramp(name, at)) - s.Start; got != want {
				t.Errorf("%s at %v is colour %d, want %d", name, at, got, want)
			}
		}
		if Ramp(name, math.NaN()) != None {
			t.Errorf("%s has a colour for no number", name)
		}
	}
	if Ramp("unknown", 0) != Ramp("viridis", 0) {
		t.Error("an unknown ramp is not viridis")
	}
	blue, magenta := Ramp("spectrum", 0).RGBA(Light), Ramp("spectrum", 1).RGBA(Light)
	if blue.B != 255 || blue.R != 0 || magenta.R != 255 || magenta.B != 255 || magenta.G != 0 {
		t.Errorf("the spectrum runs from %v to %v, want blue to magenta", blue, magenta)
	}
}

// The ramps of the papers have 256 colours: the one next to what a formula gives is half a step away at most.
func TestRampsOfThePapersAreThoseOfTheOracle(t *testing.T) {
	var matrix struct {
		Gradient []struct {
			V, Lo, Hi float64
			RGB       [3]float64
		}
	}
	var vista struct {
		Hue []struct {
			T, T0, T1 float64
			Hue       float64 `json:",string"`
		}
	}
	for path, to := range map[string]any{"../analysis/callgraph/testdata/callmatrix.json": &matrix, "../analysis/invocation/testdata/vista.json": &vista} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, to); err != nil {
			t.Fatal(err)
		}
	}
	if len(matrix.Gradient) == 0 || len(vista.Hue) == 0 {
		t.Fatal("the vectors hold no colours")
	}
	share := func(v, low, high float64) float64 {
		if low == high {
			return 0
		}
		return (v - low) / (high - low)
	}
	for _, c := range matrix.Gradient {
		got := Ramp("green-red", share(c.V, c.Lo, c.Hi)).RGBA(Light)
		for i, v := range [3]uint8{got.R, got.G, got.B} {
			if math.Abs(float64(v)-c.RGB[i]) > 1.5 {
				t.Errorf("%v in [%v, %v]: %v, want %v", c.V, c.Lo, c.Hi, got, c.RGB)
			}
		}
	}
	for _, c := range vista.Hue {
		got := Ramp("spectrum", share(c.T, c.T0, c.T1)).RGBA(Light)
		// Of the hue's colour one part is full, one is none, and one runs between.
		for i, v := range [3]uint8{got.R, got.G, got.B} {
			away := math.Abs(math.Mod(c.Hue-120*float64(i)+540, 360) - 180) // from red, green, blue
			want := 255 * min(max(2-away/60, 0), 1)
			if math.Abs(float64(v)-want) > 3 {
				t.Errorf("%v in [%v, %v]: %v, want the hue %v", c.T, c.T0, c.T1, got, c.Hue)
			}
		}
	}
}

func TestThemesHaveNames(t *testing.T) {
	for _, want := range []Theme{Light, Dark} {
		if got, ok := ParseTheme(want.String()); !ok || got != want {
			t.Errorf("%v is read as %v", want, got)
		}
	}
	if _, ok := ParseTheme("pink"); ok {
		t.Error("pink is a theme")
	}
	if (None.RGBA(Light).A | Colour(60000).RGBA(Dark).A) != 0 {
		t.Error("no colour is drawn")
	}
}
