package wire

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Briefs are the words of many items, one after the other, in columns; see view.Brief.
type Briefs struct {
	First      int // number of the first item
	Things     []Thing
	Begin, End []int64
	Count      []uint32
}

// A Thing holds the facts that many items share.
type Thing struct {
	Title  string `json:"title"`
	On     string `json:"on"`
	Region uint32 `json:"region"`
}

type briefs struct {
	First int `json:"first"`
	// Things stand once; a column says which is whose.
	Things []Thing `json:"things"`
	Thing  *column `json:"thing"`
	// Gap is the time from the end of the one before, at first from Origin; where it is
	// negative, modulo 2^32 as the column is. Most are 0, so that they pack well.
	Origin float64 `json:"origin"`
	Gap    *column `json:"gap"`
	Length *column `json:"length"`
	// Count is left out where each is one.
	Count *column `json:"count,omitempty"`
}

// briefs places the columns.
func (e *encoder) briefs(list []Briefs) (out []briefs) {
	for _, b := range list {
		x := briefs{First: b.First}
		index := map[Thing]uint32{}
		of := make([]uint32, len(b.Things))
		for i, t := range b.Things {
			k, ok := index[t]
			if !ok {
				k = uint32(len(x.Things))
				index[t] = k
				x.Things = append(x.Things, Thing{scene.Visible(t.Title), scene.Visible(t.On), t.Region})
			}
			of[i] = k
		}
		x.Thing = e.narrow(of, len(x.Things))
		origin := slices.Min(b.Begin)
		x.Origin = float64(origin)
		gaps, lengths := make([]int64, len(b.Begin)), make([]int64, len(b.Begin))
		for i, before := 0, origin; i < len(gaps); i++ {
			gaps[i], lengths[i], before = b.Begin[i]-before, b.End[i]-b.Begin[i], b.End[i]
		}
		short := slices.Max(b.End)-origin <= math.MaxUint32
		x.Gap, x.Length = e.times(gaps, short), e.times(lengths, short)
		if slices.Max(b.Count) > 1 {
			x.Count = e.u32(b.Count)
		}
		out = append(out, x)
	}
	return out
}

// narrow places numbers below a bound, in two bytes where they fit.
func (e *encoder) narrow(xs []uint32, bound int) *column {
	if bound > math.MaxUint16 {
		return e.u32(xs)
	}
	short := make([]uint16, len(xs))
	for i, x := range xs {
		short[i] = uint16(x)
	}
	return u16(e, short)
}

// times places times, in four bytes where they fit.
func (e *encoder) times(xs []int64, short bool) *column {
	if !short {
		return e.f64(xs)
	}
	out := make([]uint32, len(xs))
	for i, x := range xs {
		out[i] = uint32(x)
	}
	return e.u32(out)
}
