package demo

import (
	"fmt"
	"math"
)

var fig6Demo = figureDemo("fig6", "Moments: 128 processors whose bars make areas (Fig. 6 of Godin, Quinn, Pancake)",
	fig6Rows(), []string{
		"128 processors: work moves through them in two waves, so that neighbouring bars join into areas with smooth " +
			"edges.",
		"Processors 48 to 63 are interrupted more than the others (their outer bars stand out as a band), and " +
			"processor " +
			"100 alone works late.",
	})

func fig6Rows() []figureRow {
	rows := make([]figureRow, 128)
	for i := range rows {
		wave := math.Sin(4 * math.Pi * float64(i) / 128)
		begin, end := 14+9*wave, 78+12*math.Sin(2*math.Pi*float64(i)/128)
		share := 0.86
		switch {
		case i >= 48 && i < 64:
			share = 0.55
		case i == 100:
			begin, end = 70, 98
		}
		rows[i] = figureRow{"", fmt.Sprint("processor ", i), pulses(begin, end, 1.9, share, share-0.12*(1+wave)/2)}
	}
	return rows
}
