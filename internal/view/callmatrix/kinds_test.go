package callmatrix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// Threads and GPUs take turns in the tree. A square of what GPUs alone call has no slices of threads, and those of
// what both call lie kind by kind.
func TestSquaresHaveSlicesOfTheKindsThatCall(t *testing.T) {
	c := viewtest.Case{Options: map[string][]string{"rows": {"all"}}, Trace: `
region kernel
region launch
region both
location thread a
  0..10 launch
  10..30 both
location stream b
  0..40 kernel
  40..50 both
location thread c
  0..15 launch
  15..30 both
location stream d
  0..80 kernel
  80..90 both
`}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	s := r.Scene(scene.Size{Width: 800, Height: 600})
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, "a, c, b, d") || !strings.Contains(notes, "kinds of locations that call") {
		t.Errorf("notes are %s", notes)
	}
	said := map[string]int{}
	for _, l := range s.Layers {
		if l.Name != "squares" {
			continue
		}
		squares := l.Marks[0].(*scene.Rect)
		for i := range squares.X {
			for _, at := range [][2]float32{{0.4, 0.1}, {0.9, 0.4}, {0.6, 0.9}, {0.1, 0.6}} {
				it, _ := s.ItemAt(float64(squares.X[i]+at[0]*squares.W[i]), float64(squares.Y[i]+at[1]*squares.H[i]))
				if f, ok := r.(view.Facts).Fact(it); ok {
					said[f.Title+" "+f.Lines[0].Value]++
				}
			}
		}
	}
	for what, want := range map[string]int{"(root) → kernel b": 2, "(root) → kernel a": 0, "(root) → launch c": 2, "(root) → both a": 1, "(root) → both d": 1} {
		if said[what] != want {
			t.Errorf("%q is said in %d of four places, want %d: %v", what, said[what], want, said)
		}
	}
}

// Of many groups most call nothing of a square. It has slices of those that call, and the number of the group where it
// is one; the item under the cursor is of the location that is drawn there.
func TestSquaresOfManyGroupsHaveSlicesOfThoseThatCall(t *testing.T) {
	var b strings.Builder
	for g := range 6 {
		fmt.Fprintf(&b, "region r%d\n", g)
	}
	for g := range 6 {
		for i := range 2 {
			fmt.Fprintf(&b, "location process \"p%d-%d\" rank=%d\n  0..%d r%d\n", g, i, 2*g+i, 10+g+i, g)
		}
	}
	c := viewtest.Case{Trace: b.String()}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	s := r.Scene(scene.Size{Width: 900, Height: 700})
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, "slices of the groups that call") {
		t.Errorf("notes are %s", notes)
	}
	numbers := map[string]bool{}
	for _, l := range s.Layers {
		switch l.Name {
		case "groups that call alone":
			for _, text := range l.Marks[1].(*scene.Text).Text {
				numbers[text] = true
			}
		case "squares":
			squares := l.Marks[0].(*scene.Rect)
			for i := range squares.X {
				for _, at := range [][2]float32{{0.9, 0.6}, {0.1, 0.6}} {
					it, _ := s.ItemAt(float64(squares.X[i]+at[0]*squares.W[i]), float64(squares.Y[i]+at[1]*squares.H[i]))
					f, _ := r.(view.Facts).Fact(it)
					rank := 2 * int(f.Title[len(f.Title)-1]-'0')
					if at[0] < 0.5 {
						rank++
					}
					if who := f.Lines[0].Value; who != fmt.Sprint("rank ", rank) {
						t.Errorf("%s at %v is of %s, want rank %d", f.Title, at, who, rank)
					}
				}
			}
		}
	}
	if len(numbers) != 6 {
		t.Errorf("numbers of groups are %v", numbers)
	}
}
