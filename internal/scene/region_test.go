package scene

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

const roleCommunication = 2

func TestRegionColourIsOfTheFamilyAndByNameAlone(t *testing.T) {
	for role := range uint8(20) {
		f := family(role)
		for i := range 500 {
			c := int(RegionColour(fmt.Sprintf("region %d", i), role))
			if c < f.Start || c >= f.Start+f.Length {
				t.Fatalf("role %d: colour %d is not of its family", role, c)
			}
		}
	}
	if RegionColour("solve", 0) != UIEmpty || RoleColour(200) != UIEmpty {
		t.Error("what has no role has a colour of one")
	}
}

// These colours are promised: a region looks the same in every release.
func TestRegionColoursDoNotChange(t *testing.T) {
	for name, want := range map[string]int{"solve": 14, "exchange_halo": 12, "main": 2, "cg_solve": 11} {
		if got := int(RegionColour(name, 1)) - family(1).Start; got != want {
			t.Errorf("%s has shade %d, was %d", name, got, want)
		}
	}
}

func TestNamesOfOneCallHaveOneColour(t *testing.T) {
	want := RegionColour("MPI_Send", roleCommunication)
	for _, n := range []string{"MPI_Send()", " MPI_Send ", "PMPI_Send", "mpi_send_", "MPI_SEND", "mpi_send"} {
		if RegionColour(n, roleCommunication) != want {
			t.Errorf("%q has another colour than MPI_Send", n)
		}
	}
}

func TestCommonCallsDiffer(t *testing.T) {
	names := []string{
		"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce",
		"MPI_Barrier", "MPI_Alltoall", "MPI_Allgather", "MPI_Sendrecv", "MPI_Gather", "MPI_Scatter",
	}
	for i, a := range names {
		for _, b := range names[:i] {
			if RegionColour(a, roleCommunication) == RegionColour(b, roleCommunication) {
				t.Errorf("%s and %s have one colour", a, b)
			}
		}
	}
	// The most common four are far apart for normal eyes.
	for i, a := range names[:4] {
		for _, b := range names[:i] {
			x, y := RegionColour(a, roleCommunication), RegionColour(b, roleCommunication)
			if d := distance(seen(x.RGBA(Light), eyes[0].m), seen(y.RGBA(Light), eyes[0].m)); d < 4 {
				t.Errorf("%s and %s are %.1f apart", a, b, d)
			}
		}
	}
}

func TestNamesSpreadEvenly(t *testing.T) {
	n, counts := family(1).Length, map[Colour]int{}
	const names = 9000
	for i := range names {
		counts[RegionColour(fmt.Sprintf("kernel_%d", i), 1)]++
	}
	for c, got := range counts {
		if want := names / n; math.Abs(float64(got-want)) > 0.3*float64(want) {
			t.Errorf("shade %d has %d of %d names, want about %d", c, got, names, want)
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
