package scene

import (
	"math/rand/v2"
	"testing"
)

func TestPlaceKeepsLabelsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		labels := make([]Label, r.IntN(60))
		for i := range labels {
			labels[i] = Label{At: 500 * r.Float32(), Width: 5 + 60*r.Float32(), Rank: r.IntN(3)}
		}
		places := Place(labels, 0, 500, 8)
		for i, a := range places {
			if a != a {
				continue
			}
			if a-labels[i].Width/2 < -0.001 || a+labels[i].Width/2 > 500.001 {
				t.Fatalf("label %d at %v reaches out", i, a)
			}
			for j, b := range places[:i] {
				if b == b && max(a, b)-min(a, b) < (labels[i].Width+labels[j].Width)/2+8-0.001 {
					t.Fatalf("labels %d and %d at %v and %v overlap", i, j, a, b)
				}
			}
		}
	}
}

func TestPlacePrefersTheLowerRankAndMovesInwards(t *testing.T) {
	places := Place([]Label{{At: 50, Width: 40, Rank: 1}, {At: 60, Width: 40, Rank: 0}, {At: 0, Width: 20, Rank: 1}}, 0, 100, 4)
	if places[0] == places[0] || places[1] != 60 || places[2] != 10 {
		t.Errorf("placed at %v", places)
	}
	if p := Place([]Label{{At: 5, Width: 200}, {At: -3, Width: 2}, {At: 5, Width: -1}}, 0, 100, 0); p[0] == p[0] || p[1] == p[1] || p[2] == p[2] {
		t.Errorf("what has no room is at %v", p)
	}
}

func TestThinGivesEveryNth(t *testing.T) {
	for _, c := range []struct {
		step, width float32
		want        int
	}{{20, 10, 1}, {10, 10, 2}, {5, 10, 3}, {0.1, 10, 120}} {
		if got := Thin(c.step, c.width, 2); got != c.want {
			t.Errorf("Thin(%v, %v) = %d, want %d", c.step, c.width, got, c.want)
		}
	}
}
