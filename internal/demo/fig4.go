package demo

var fig4Demo = figureDemo("fig4", "Moments: ten processors, half early and half late (Fig. 4 of Godin, Quinn, Pancake)",
	fig4Rows(), []string{
		"Half of the processors work in the first half of the run, the others in the second.",
		"The topmost works for a short time with short breaks (small deviation); the second has more idle time, " +
			"towards " +
			"the end of its active period (larger deviation, positive skew).",
		"The lowermost, as in Table II: little activity (small m0), early (small m1), idle for long between (large " +
			"m2), " +
			"a small piece late (large positive m3).",
	})

func fig4Rows() []figureRow {
	return []figureRow{
		{"", "processor 0", [][2]float64{{8, 13}, {13.3, 18}, {18.4, 24}}},
		{"", "processor 1", [][2]float64{{5, 17}, {20, 26}, {31, 34}, {42, 44}}},
		{"", "processor 2", [][2]float64{{2, 20}, {22, 38}}},
		{"", "processor 3", [][2]float64{{4, 14}, {15, 36}, {39, 44}}},
		{"", "processor 4", [][2]float64{{52, 70}, {73, 95}}},
		{"", "processor 5", [][2]float64{{48, 60}, {62, 90}}},
		{"", "processor 6", [][2]float64{{55, 92}, {94, 98}}},
		{"", "processor 7", [][2]float64{{60, 66}, {68, 86}, {87, 97}}},
		{"", "processor 8", [][2]float64{{50, 58}, {66, 72}, {75, 93}}},
		{"", "processor 9", [][2]float64{{3, 10}, {12, 16}, {90, 91.5}}},
	}
}
