package derived

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
)

type (
	firstKept  struct{ Parts []firstPart }
	firstPart  struct{ Name string }
	secondKept struct{ Parts []secondPart }
	secondPart struct{ Count map[string]int }
)

// A generation is all of a store that the head of a result says.
type generation struct{ store.Reader }

func (generation) Generation() uint64 { return 7 }

// Processes that encode two results in another order write the same bytes, if they declare them in the same order.
func TestResultsThatAreDeclaredHaveTheSameBytesInAnyOrder(t *testing.T) {
	first := Derived[*firstKept]{Name: "first", Version: 1}
	second := Derived[secondKept]{Name: "second", Version: 1}
	if order := os.Getenv("PARALLAX_TEST_ORDER"); order != "" {
		first.Declare()
		second.Declare()
		made := map[rune]func() ([]byte, error){
			'1': func() ([]byte, error) { return first.encode(generation{}, &firstKept{Parts: []firstPart{{"a"}}}) },
			'2': func() ([]byte, error) {
				return second.encode(generation{}, secondKept{Parts: []secondPart{{map[string]int{"a": 1}}}})
			},
		}
		lines := []string{}
		for _, k := range order {
			b, err := made[k]()
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(k)+" "+hex.EncodeToString(b)+"\n")
		}
		slices.Sort(lines)
		for _, line := range lines {
			os.Stdout.WriteString(line)
		}
		os.Exit(0)
	}
	said := func(order string) []byte {
		c := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), "PARALLAX_TEST_ORDER="+order)
		b, err := c.Output()
		if err != nil || len(b) == 0 {
			t.Fatalf("%v, %q", err, b)
		}
		return b
	}
	if a, b := said("12"), said("21"); !bytes.Equal(a, b) {
		t.Errorf("in one order\n%sin the other\n%s", a, b)
	}
}
