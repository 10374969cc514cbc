package contrast

// RankTest is the two-sided p of Mann and Whitney's test, ties counted, and how it was found. The same
// values give the same p.
func RankTest(a, b []float64) (float64, Method) {
	if len(a) == 0 || len(b) == 0 {
		return 1, None
	}
	return rankTest(a, b, &drawer{})
}

// StudentTest is the two-sided p of t for two sets with one variance.
func StudentTest(a, b []float64) float64 { return student(a, b) }
