package scene

import (
	"math"
	"strings"
	"testing"
)

func labels(ticks []Tick) string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.Label)
	}
	return strings.Join(out, ", ")
}

func TestTimeTicksStandAtRoundTimes(t *testing.T) {
	for _, c := range []struct {
		begin, end float64
		most       int
		want, from string
	}{
		{0, 8.52e9, 5, "0, 2 s, 4 s, 6 s, 8 s", ""},
		{0, 1, 5, "0, 0.2 ns, 0.4 ns, 0.6 ns, 0.8 ns, 1 ns", ""},
		{0, 3.2e6, 8, "0, 0.5 ms, 1 ms, 1.5 ms, 2 ms, 2.5 ms, 3 ms", ""},
		{1e9, 1.2e9, 4, "1 s, 1.05 s, 1.1 s, 1.15 s, 1.2 s", ""},
		{0, 7200e9, 4, "0, 2000 s, 4000 s, 6000 s", ""},
		{0, 90000e9, 4, "0, 50,000 s", ""},
		{1.234512e9, 1.234539e9, 6, "+15 µs, +20 µs, +25 µs, +30 µs, +35 µs", "from 1.2345 s"},
		{5e12, 5e12 + 40, 4, "+0, +10 ns, +20 ns, +30 ns, +40 ns", "from 5000 s"},
		{0, 0, 4, "0", ""},
		{5, 2, 4, "", ""},
		{math.NaN(), 2, 4, "", ""},
		{0, math.Inf(1), 4, "", ""},
	} {
		ticks, from := TimeTicks(c.begin, c.end, c.most)
		if got := labels(ticks); got != c.want || from != c.from {
			t.Errorf("TimeTicks(%g, %g, %d) = %s %s; want %s %s", c.begin, c.end, c.most, got, from, c.want, c.from)
		}
	}
}

func TestLinearTicksHaveUnits(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		most   int
		unit   string
		want   string
	}{
		{0, 1, 4, "share", "0, 50 %, 100 %"},
		{0, 1, 5, "share", "0, 20 %, 40 %, 60 %, 80 %, 100 %"},
		{0, 0.002, 4, "share", "0, 0.05 %, 0.1 %, 0.15 %, 0.2 %"},
		{0, 3 << 30, 4, "bytes", "0, 1 GiB, 2 GiB, 3 GiB"},
		{0, 3000, 4, "bytes", "0, 1 KiB, 2 KiB"},
		{0, 3, 8, "count", "0, 1, 2, 3"},
		{0, 46000, 5, "count", "0, 10 k, 20 k, 30 k, 40 k"},
		{0, 9000, 3, "count", "0, 5000"},
		{0, 3.1e6, 4, "count", "0, 1 M, 2 M, 3 M"},
		{-1, 1, 4, "", "−1, −0.5, 0, 0.5, 1"},
		{0, 2.5e6, 5, "ns", "0, 0.5 ms, 1 ms, 1.5 ms, 2 ms, 2.5 ms"},
		{1e300, 2e300, 1, "", "1e+288 T, 2e+288 T"},
	} {
		if got := labels(LinearTicks(c.lo, c.hi, c.most, c.unit)); got != c.want {
			t.Errorf("LinearTicks(%g, %g, %d, %q) = %s; want %s", c.lo, c.hi, c.most, c.unit, got, c.want)
		}
	}
}

func TestLogTicksStandAtPowersOfTen(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{300, 4e8, 10, "1 µs, 10 µs, 100 µs, 1 ms, 10 ms, 100 ms"},
		{300, 4e8, 3, "10 µs, 1 ms, 100 ms"},
		{1, 100, 12, "1 ns, 2 ns, 5 ns, 10 ns, 20 ns, 50 ns, 100 ns"},
		{20, 90, 8, "20 ns, 30 ns, 40 ns, 50 ns, 60 ns, 70 ns, 80 ns, 90 ns"},
		{0, 10, 5, ""},
		{10, 1, 5, ""},
	} {
		if got := labels(LogTicks(c.lo, c.hi, c.most, "ns")); got != c.want {
			t.Errorf("LogTicks(%g, %g, %d) = %s; want %s", c.lo, c.hi, c.most, got, c.want)
		}
	}
}

// Whatever the window, ticks lie inside, ascend, are few, and no two look the same.
func TestTicksOfAnyWindow(t *testing.T) {
	for begin := 0.0; begin < 1e13; begin = begin*7 + 1 {
		for span := 1.0; span < 1e13; span *= 3.7 {
			for _, most := range []int{1, 3, 7, 20} {
				ticks, _ := TimeTicks(begin, begin+span, most)
				if len(ticks) > most+1 {
					t.Fatalf("window %g + %g: %d ticks, want at most %d", begin, span, len(ticks), most+1)
				}
				for i, k := range ticks {
					if k.At < begin-span*1e-6 || k.At > begin+span*(1+1e-6) {
						t.Fatalf("window %g + %g: tick at %g", begin, span, k.At)
					}
					if i > 0 && (k.At <= ticks[i-1].At || k.Label == ticks[i-1].Label) {
						t.Fatalf("window %g + %g: ticks %v and %v", begin, span, ticks[i-1], k)
					}
				}
			}
		}
	}
}

// One label tells no scale: there are two, also within a decade and where there is little room.
func TestEveryAxisHasTwoLabels(t *testing.T) {
	for _, c := range [][2]float64{{84e6, 141e6}, {101, 199}, {99, 101}, {3e3, 4e3}, {1, 1e9}, {2e3, 9e5}} {
		for most := 1; most <= 12; most++ {
			if got := LogTicks(c[0], c[1], most, "ns"); len(got) < 2 && !(c[1]/c[0] > 10 && most < 2) {
				t.Errorf("LogTicks(%g, %g, %d) = %s", c[0], c[1], most, labels(got))
			}
		}
	}
	for _, kind := range []string{"linear", "log"} {
		for _, ends := range [][2]float64{{-35e6, 35e6}, {84e6, 141e6}, {0, 21e6}} {
			if kind == "log" && ends[0] <= 0 {
				continue
			}
			f := &Frame{X: 40, W: 110, H: 50, XScale: Scale{Kind: kind, Begin: ends[0], End: ends[1], Label: "m0, difference"}}
			if got, _, _ := fitTicks(f, Axis{Unit: "ns"}, 160); len(got) < 2 {
				t.Errorf("%s axis from %g to %g: %s", kind, ends[0], ends[1], labels(got))
			}
		}
	}
}
