package moment

import (
	"fmt"
	"math"
)

// Reading describes the moments of a row in a window of that length: Table I of the paper with its errors
// corrected. A positive skew is said as "a small part came late", since it does not imply that most work
// came early. Percent writes a share.
func Reading(m Moments, length float64, percent func(float64) string) string {
	if m.Empty() {
		return "Never busy."
	}
	return fmt.Sprintf("%s (%s); %s; %s; %s.", howMuch(m.M0/length), percent(m.M0/length), when(m.M1/length),
		howBroken(m), lopsided(m))
}

func howMuch(share float64) string {
	switch {
	case share > 0.98:
		return "Busy all the time"
	case share > 0.75:
		return "Busy most of the time"
	case share > 0.4:
		return "Busy for much of the time"
	case share > 0.15:
		return "Busy for the smaller part of the time"
	}
	return "Hardly busy"
}

func when(at float64) string {
	switch {
	case at < 0.2:
		return "at the beginning"
	case at < 0.4:
		return "early on the whole"
	case at <= 0.6:
		return "about the middle on the whole"
	case at <= 0.8:
		return "late on the whole"
	}
	return "at the end"
}

func howBroken(m Moments) string {
	ratio := 2 * m.M2 / m.M0
	switch {
	case ratio < 1.0005:
		return "in one unbroken stretch"
	case ratio < 1.25:
		return "with short or few breaks"
	case ratio < 2:
		return "with long breaks"
	}
	return "in pieces far apart: idle for most of the range in which it works"
}

func lopsided(m Moments) string {
	switch r := m.M3 / m.M2; {
	case math.Abs(r) < 0.4:
		return "even on both sides of its mean"
	case r > 1.5:
		return "a small part of the work came much later than the rest"
	case r > 0:
		return "its tail is late: some work came later than the rest"
	case r < -1.5:
		return "a small part of the work came much earlier than the rest"
	}
	return "its tail is early: some work came before the rest"
}
