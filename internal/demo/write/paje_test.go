package write

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// writePaje writes one location with what do puts on it.
func writePaje(t *testing.T, do func(f File, at trace.LocationID, region trace.RegionID)) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.trace")
	f, err := Paje.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	at := f.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: `rank "0"`, Rank: 0})
	do(f, at, f.Region(trace.Region{Name: "work"}))
	err = f.Commit()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

func TestPajeHasRecordsInOrderOfTime(t *testing.T) {
	text, err := writePaje(t, func(f File, at trace.LocationID, region trace.RegionID) {
		why := f.Attribute("why so")
		s := f.Stream(at, trace.StreamOptions{})
		s.Interval(1_000_000_001, 3_000_000_000, region)
		s.Attribute(why, trace.Text("a\n\"b\""))
		s.Interval(2_000_000_000, 2_500_000_000, region)
		s.Close()
		f.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: at, Time: 5}, To: trace.End{Location: at, Time: 2_200_000_000}, Size: 4, Tag: 2})
	})
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(text, "\n16 ")
	want := `0.000000000 c0 t0 0 "rank '0'" 0 0
19 0.000000005 l0 0 message c0 1 2 4
20 1.000000001 s0 c0 r0 "a 'b'"
9 2.000000000 s0 c0 r0
12 2.200000000 l0 0 message c0 1
10 2.500000000 s0 c0
10 3.000000000 s0 c0
7 3.000000000 t0 c0
`
	if body != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
	if !strings.Contains(text, "%  why_so string\n") {
		t.Error("the attribute is not a field of its own")
	}
}

func TestPajeRefusesWhatItCannotHold(t *testing.T) {
	for want, do := range map[string]func(f File, at trace.LocationID, region trace.RegionID){
		"intervals that cross": func(f File, at trace.LocationID, region trace.RegionID) {
			s := f.Stream(at, trace.StreamOptions{})
			s.Interval(0, 10, region)
			s.Interval(5, 15, region)
			s.Close()
		},
		"intervals that may cross": func(f File, at trace.LocationID, _ trace.RegionID) {
			f.Stream(at, trace.StreamOptions{ByName: true}).Close()
		},
		"messages without times": func(f File, at trace.LocationID, _ trace.RegionID) { f.Link(trace.Link{Untimed: true}) },
		"profiles":               func(f File, _ trace.LocationID, _ trace.RegionID) { f.Profile(trace.ProfileRow{}) },
	} {
		if _, err := writePaje(t, do); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
