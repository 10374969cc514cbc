package pack

import (
	"math"
	"math/rand/v2"
	"testing"
)

func roundTrip(t *testing.T, values []uint64) int {
	t.Helper()
	b := Append(nil, values)
	narrow[uint8](t, b, values)
	narrow[uint16](t, b, values)
	narrow[uint32](t, b, values)
	return comesBack(t, b, values)
}

func comesBack(t *testing.T, b []byte, values []uint64) int {
	t.Helper()
	if len(b)%8 != 0 {
		t.Fatalf("%d bytes are no whole words", len(b))
	}
	got := make([]uint64, len(values))
	padded := append(append([]byte(nil), b...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	Decode(got, padded, len(b) == 0)
	for i := range got {
		if got[i] != values[i] {
			t.Fatalf("value %d of %d is %d, want %d", i, len(values), int64(got[i]), int64(values[i]))
		}
	}
	if first := First(padded, len(b) == 0); first != NotAlone && first != values[0] {
		t.Fatalf("the first value is %d, want %d", first, values[0])
	}
	return len(b)
}

// narrow reads a frame into a column of fewer bits: the lowest of each value come back.
func narrow[T uint8 | uint16 | uint32](t *testing.T, b []byte, values []uint64) {
	t.Helper()
	got := make([]T, len(values))
	Decode(got, append(b[:len(b):len(b)], make([]byte, 8)...), len(b) == 0)
	for i := range got {
		if got[i] != T(values[i]) {
			t.Fatalf("value %d of %d is %d in %T, want %d", i, len(values), got[i], got[i], T(values[i]))
		}
	}
}

func TestFramesGiveBackWhatWasWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for width := range 65 {
		for _, n := range []int{1, 2, 7, 255, 256} {
			for how := range 5 {
				values := make([]uint64, n)
				at := random.Uint64()
				for i := range values {
					v := random.Uint64()
					if width < 64 {
						v &= 1<<width - 1
					}
					switch how {
					case 1: // around some base
						v += at
					case 2: // ascending
						at += v
						v = at
					case 3: // now and then far away
						if random.IntN(20) == 0 {
							v = random.Uint64()
						}
					case 4: // of few
						v = (v % 5) * math.MaxUint64 / 7
					}
					values[i] = v
				}
				roundTrip(t, values)
			}
		}
	}
}

func TestFramesAreSmall(t *testing.T) {
	values := func(f func(i int) uint64) []uint64 {
		out := make([]uint64, Frame)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name   string
		values []uint64
		most   int
	}{
		{"zeros take nothing", values(func(int) uint64 { return 0 }), 0},
		{"equal ones take a word", values(func(int) uint64 { return 12345 }), 8},
		{"steps take two words", values(func(i int) uint64 { return 1e9 + 1000*uint64(i) }), 24},
		{"small ones take their bits", values(func(int) uint64 { return random.Uint64() % 16 }), 8 + 4*32},
		{"one that is far away takes three words", values(func(i int) uint64 {
			if i == 77 {
				return math.MaxUint64 / 3
			}
			return random.Uint64() % 16
		}), 8 + 4*32 + 16},
		{"few take bits of a list", values(func(i int) uint64 { return []uint64{1, 1 << 20, 1 << 40, 1 << 60}[random.IntN(4)] }), 8 + 4*8 + 2*32},
	} {
		if n := roundTrip(t, c.values); n > c.most {
			t.Errorf("%s: %d bytes, want at most %d", c.name, n, c.most)
		}
	}
}

// A damaged frame ends in a panic of the run time, which a store turns into an error, or in other values.
func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, []uint64{1, 2, 3}), 3)
	f.Add(Append(nil, []uint64{1, 1 << 63, 1 << 62, 5}), 4)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		defer func() { _ = recover() }()
		Decode(make([]uint64, min(max(n, 0), Frame)), b, false)
	})
}

func BenchmarkFrames(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	at := uint64(0)
	values := make([]uint64, Frame)
	for i := range values {
		at += random.Uint64() % 50_000
		values[i] = at
	}
	frame := append(Append(nil, values), make([]byte, 8)...)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			frame = append(Append(frame[:0], values), make([]byte, 8)...)
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			Decode(values, frame, false)
		}
	})
}

// Floating point numbers come back bit by bit, whatever they are; those that were counted take as much room as integers.
func TestFloatsGiveBackWhatWasWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sizes := map[string]int{}
	for name, next := range map[string]func(i int) float64{
		"counts":    func(int) float64 { return float64(random.IntN(1000)) },
		"signs":     func(int) float64 { return float64(random.IntN(1000) - 500) },
		"fractions": func(int) float64 { return random.NormFloat64() },
		"large":     func(int) float64 { return float64(random.Uint64()) },
		"edge": func(i int) float64 {
			return []float64{1 << 53, 1<<53 - 1, -1 << 53, 1<<53 + 2, math.MaxInt64, math.MinInt64}[i%6]
		},
		"zeros":      func(int) float64 { return 0 },
		"negative 0": func(i int) float64 { return math.Copysign(0, float64(i%2)-0.5) },
		"no numbers": func(i int) float64 { return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1}[i%4] },
		"few":        func(i int) float64 { return max(0, random.NormFloat64()-1) },
		"one":        func(int) float64 { return 0.1 },
	} {
		for _, n := range []int{1, 2, 255, 256} {
			values := make([]uint64, n)
			for i := range values {
				values[i] = math.Float64bits(next(i))
			}
			sizes[name] = comesBack(t, AppendFloats(nil, values), values)
		}
	}
	for name, most := range map[string]int{"counts": 400, "signs": 400, "fractions": 8 + 8*256, "zeros": 0, "few": 900, "one": 16} {
		if sizes[name] > most {
			t.Errorf("%s: %d bytes for 256, more than %d", name, sizes[name], most)
		}
	}
}
