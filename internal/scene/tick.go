package scene

import (
	"math"
	"strconv"
	"strings"
)

// A Tick is a labelled value of an axis.
type Tick struct {
	At    float64
	Label string
}

// roundStep returns the least of 1, 2, 5 × a power of ten that is not below v.
func roundStep(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5, 10} {
		if power*f >= v*(1-1e-9) {
			return power * f
		}
	}
	return power * 10
}

// roundBinaryStep returns the least power of two that is not below v, for bytes.
func roundBinaryStep(v float64) float64 { return math.Pow(2, math.Ceil(math.Log2(max(v, 1)*(1-1e-9)))) }

// multiples lists the multiples of a step from lo to hi; none where lo and hi are
// not finite or the step is lost in them.
func multiples(lo, hi, step float64) []float64 {
	if !(hi >= lo) || math.IsInf(hi-lo, 0) || !(step > 0) || (hi-lo)/step > 10000 {
		return nil
	}
	var out []float64
	first := math.Ceil(lo/step - 1e-9)
	for i := 0.0; ; i++ {
		v := (first + i) * step
		if v > hi+step*1e-9 || len(out) > 10000 {
			return out
		}
		if len(out) > 0 && v <= out[len(out)-1] {
			return out
		}
		if v == 0 {
			v = 0 // never minus zero
		}
		out = append(out, v)
	}
}

// Ticks returns values at round steps (1, 2, 5 × a power of ten) from lo to hi: about
// most of them, and not more.
func Ticks(lo, hi float64, most int) []float64 {
	return multiples(lo, hi, roundStep((hi-lo)/float64(max(most, 1))))
}

// LinearTicks returns labelled round values. Unit is "ns", "bytes", "count", "share"
// or "" as in a view's table.
func LinearTicks(lo, hi float64, most int, unit string) []Tick {
	var step float64
	switch raw := (hi - lo) / float64(max(most, 1)); unit {
	case "bytes":
		step = roundBinaryStep(raw)
	case "count":
		step = max(roundStep(raw), 1)
	default:
		step = roundStep(raw)
	}
	values := multiples(lo, hi, step)
	out := make([]Tick, len(values))
	big := max(math.Abs(lo), math.Abs(hi))
	for i, v := range values {
		out[i] = Tick{v, FormatTick(v, step, big, unit)}
	}
	return out
}

// FormatTick writes a tick's value with a unit: as many decimals as the step needs, in
// the prefix that suits the biggest value of the axis.
func FormatTick(v, step, big float64, unit string) string {
	if v == 0 {
		return "0"
	}
	scale, suffix := prefixOf(big, unit)
	return fixedDecimals(v/scale, step/scale) + suffix
}

// A unitPrefix serves values from a size on.
type unitPrefix struct {
	from, scale float64
	suffix      string
}

var unitPrefixes = map[string][]unitPrefix{
	"ns": {{1e9, 1e9, " s"}, {1e6, 1e6, " ms"}, {1e3, 1e3, " µs"}, {0, 1, " ns"}},
	"bytes": {{1 << 40, 1 << 40, " TiB"}, {1 << 30, 1 << 30, " GiB"}, {1 << 20, 1 << 20, " MiB"},
		{1 << 10, 1 << 10, " KiB"}, {0, 1, " B"}},
	"share": {{0, 0.01, " %"}},
	"":      {{1e12, 1e12, " T"}, {1e9, 1e9, " G"}, {1e6, 1e6, " M"}, {1e4, 1e3, " k"}, {0, 1, ""}},
}

func prefixOf(big float64, unit string) (scale float64, suffix string) {
	list, ok := unitPrefixes[unit]
	if !ok {
		list = unitPrefixes[""]
	}
	for _, p := range list {
		if scale, suffix = p.scale, p.suffix; big >= p.from*(1-1e-9) {
			break
		}
	}
	return scale, suffix
}

// fixedDecimals writes v with the decimals that tell it from its neighbours a step away.
func fixedDecimals(v, step float64) string {
	decimals := 0
	for s := math.Abs(step); decimals < 9 && math.Abs(s-math.Round(s)) > 1e-6*s; decimals++ {
		s *= 10
	}
	if math.Abs(v) >= 1e15 || math.Abs(v) < 1e-9 && v != 0 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if v < 0 {
		text = "−" + text[1:]
	}
	return groupThousands(text)
}

// groupThousands puts commas into the whole part of a number.
func groupThousands(s string) string {
	from, to := 0, len(s)
	for i, r := range s {
		if r >= '0' && r <= '9' {
			from = i
			break
		}
	}
	for i := from; i < len(s); i++ {
		if s[i] == '.' {
			to = i
			break
		}
	}
	if to-from < 5 {
		return s // 1234 needs no comma on an axis
	}
	for i := to - 3; i > from; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// TimeTicks returns round times in ns from begin to end. Deep inside a long run, where
// full times would not fit, ticks are relative: origin then says from when.
func TimeTicks(begin, end float64, most int) (ticks []Tick, origin string) {
	if !(end >= begin) || math.IsInf(end-begin, 0) {
		return nil, ""
	}
	step := roundStep((end - begin) / float64(max(most, 1)))
	from := 0.0
	if end > begin && max(math.Abs(begin), math.Abs(end))/step > 2000 {
		// The origin is rounder than the steps by as much as the window is wide.
		round := math.Pow(10, math.Ceil(math.Log10(end-begin)-1e-9))
		from = math.Floor(begin/round) * round
		origin = "from " + exactTime(from)
	}
	values := multiples(begin-from, end-from, step)
	big := max(math.Abs(begin-from), math.Abs(end-from))
	for _, v := range values {
		label := FormatTick(v, step, big, "ns")
		if origin != "" {
			label = "+" + label
		}
		ticks = append(ticks, Tick{from + v, label})
	}
	return ticks, origin
}

// exactTime writes all digits of a round time.
func exactTime(ns float64) string {
	scale, suffix := prefixOf(math.Abs(ns), "ns")
	return groupThousands(strconv.FormatFloat(ns/scale, 'f', -1, 64)) + suffix
}

// LogTicks returns powers of ten from lo to hi, with 2 and 5 between where there are
// few, and steps where that is one alone; every other power and so on where there are many.
func LogTicks(lo, hi float64, most int, unit string) []Tick {
	if !(lo > 0) || !(hi > lo) || math.IsInf(hi, 0) {
		return nil
	}
	first, last := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
	decades := max(last-first+1, 0)
	var values []float64
	switch {
	case decades < 2 && 3*decades < float64(most):
		values = Ticks(lo, hi, most)
		if decades >= 1 {
			values = oneTwoFive(lo, hi, first-1, last)
		}
	case 3*decades <= float64(most):
		values = oneTwoFive(lo, hi, first-1, last)
	default:
		stride := math.Ceil(decades / float64(max(most, 1)))
		for p := math.Ceil(first/stride) * stride; p <= last; p += stride {
			values = append(values, math.Pow(10, p))
		}
	}
	step := 0.0
	for n := max(most, 2); len(values) < 2 && n <= 16; n++ { // within a decade a power says nothing of the scale
		step = roundStep((hi - lo) / float64(n))
		values = multiples(lo, hi, step)
	}
	var out []Tick
	for _, v := range values {
		if v > 0 && step > 0 {
			out = append(out, Tick{v, FormatTick(v, step, v, unit)})
		} else if v > 0 {
			out = append(out, Tick{v, FormatTick(v, v, v, unit)})
		}
	}
	return out
}

func oneTwoFive(lo, hi, first, last float64) (values []float64) {
	for p := first; p <= last; p++ {
		for _, f := range []float64{1, 2, 5} {
			if v := f * math.Pow(10, p); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				values = append(values, v)
			}
		}
	}
	return values
}
