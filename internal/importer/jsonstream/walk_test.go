package jsonstream

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// What Walk gives does not depend on where the buffer ends, and is what Take gives.
func TestWalkReturnsTheSameAsTake(t *testing.T) {
	long := `{"name":"` + strings.Repeat("x", 200_000) + `"}`
	for _, text := range []string{
		`[{"name":"a","n":{"name":"inner"}},{"name":"b\"c"},{"name":null}]`,
		`[{"name":"a"},{"name":7},{"name":"after"}]`,
		`[{"name":"a"},` + long + `,{"name":"z"}]`,
		`[{"name":"a"},{"name":"cut`,
		`[{"name":"a"},{"name" "b"},{"name":"c"}]`,
		`[{"name":"a"},7,"text",{"name":"b"}]`,
		`[` + strings.Repeat(`{"name":"x\\y","more":[1,{"name":2}]},`, 9000) + `]`,
	} {
		for _, pieces := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.DataErrReader} {
			take := names(pieces(strings.NewReader(text)), (*Reader).Take)
			walk := names(pieces(strings.NewReader(text)), (*Reader).Walk)
			if !slices.Equal(take, walk) {
				t.Errorf("%.60s: Take gives %.200s, Walk %.200s", text, fmt.Sprint(take), fmt.Sprint(walk))
			}
		}
	}
}

func names(in io.Reader, next func(*Reader, func(*Cursor)) (bool, error)) (out []string) {
	r := NewReader(context.Background(), in, "x", func(_ trace.ReportKind, what, place string) { out = append(out, what+" "+place) })
	err := r.Array(func() error {
		var name string
		ok, err := next(r, func(c *Cursor) {
			name = ""
			for ok := c.Open('{'); ok && c.More('}'); {
				if string(c.Key()) == "name" {
					name = c.Text() // the values of others are skipped
				}
			}
		})
		if ok {
			out = append(out, name)
		}
		return err
	})
	return append(out, fmt.Sprint(err))
}

func TestTextsThatComeOftenAreOneString(t *testing.T) {
	var texts Texts
	for round := range 2 {
		for i := range 3000 {
			want := fmt.Sprint("text ", i%1500, strings.Repeat("!", i%70))
			if got := texts.Intern([]byte(want)); got != want {
				t.Fatalf("round %d: %q became %q", round, want, got)
			}
		}
	}
}
