package demo

import "fmt"

var fig5Demo = figureDemo("fig5", "Moments: sixteen processors in a dense chart (Fig. 5 of Godin, Quinn, Pancake)",
	fig5Rows(), []string{
		"The two lowest rows have nearly the same mean and skew, but the lowermost has a smaller norm and longer " +
			"outer bars: both work more early than late, and the lowermost has much larger gaps late.",
		"All other rows are busy for most of the time, the middle ones the most.",
	})

// pulses are busy intervals of one period each from begin to end, whose busy share
// goes from first to last.
func pulses(begin, end, period, first, last float64) (out [][2]float64) {
	for k := 0; begin+float64(k)*period < end-1e-9; k++ {
		t := begin + float64(k)*period
		share := first + (last-first)*(t-begin)/(end-begin)
		out = append(out, [2]float64{t, t + period*share})
	}
	return out
}

func fig5Rows() []figureRow {
	var rows []figureRow
	for i := range 14 {
		middle := float64(min(i, 13-i)) / 6 // 0 at the ends, 1 in the middle
		period := 1.3 + 0.17*float64((i*5)%7)
		rows = append(rows,
			figureRow{"", fmt.Sprint("processor ", i),
				pulses(1+0.4*float64(i%3), 97, period, 0.66+0.28*middle, 0.6+0.3*middle)})
	}
	rows = append(rows, figureRow{"", "processor 14", pulses(2, 90, 2.2, 0.95, 0.35)})
	last := append(pulses(2, 54, 2.2, 0.5, 0.5), [2]float64{70, 78}, [2]float64{96, 97})
	return append(rows, figureRow{"", "processor 15", last})
}
