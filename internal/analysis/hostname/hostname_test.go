package hostname

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
)

// TestLevelsEqualTheOracle: names of several machines, against an independent program.
func TestLevelsEqualTheOracle(t *testing.T) {
	b, err := os.ReadFile("testdata/hosts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name  string
		Names []string
		Found struct {
			Levels []string
			Sides  []int
			Keys   [][]any
		}
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		l := Find(c.Names)
		if !slices.Equal(l.Kinds, c.Found.Levels) || !slices.Equal(l.Sides, c.Found.Sides) {
			t.Errorf("%s: levels %v of %v, want %v of %v", c.Name, l.Kinds, l.Sides, c.Found.Levels, c.Found.Sides)
		}
		for i, want := range c.Found.Keys {
			if fmt.Sprint(l.Keys[i]) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v, want %v", c.Name, c.Names[i], l.Keys[i], want)
			}
		}
	}
}

func TestNumbersOfAnyLengthAreNames(t *testing.T) {
	l := Find([]string{"node99999999999999999999", "node99999999999999999998", ""})
	if len(l.Keys) != 3 {
		t.Errorf("%+v", l)
	}
}

// Labels that are numbers are no domain: they are general first, as in an address.
func TestNumbersAfterDotsAreNoDomain(t *testing.T) {
	var names []string
	for k := range 12 {
		names = append(names, fmt.Sprintf("node %d.%d.%d", k/6, k/2%3, k%2))
	}
	l := Find(names)
	if !slices.Equal(l.Sides, []int{2, 3, 2}) || fmt.Sprint(l.Keys[11]) != "[1 2 1]" {
		t.Errorf("levels of %v, the last key is %v", l.Sides, l.Keys[11])
	}
	for name, want := range map[string]string{"n1.site.org": "n1", "node 0.3": "node 0.3", "10.0.0.7": "10.0.0.7", "a": "a"} {
		if got := Host(name); got != want {
			t.Errorf("the host of %s is %s", name, got)
		}
	}
}
