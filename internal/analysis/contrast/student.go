package contrast

import "math"

// student is the two-sided p of t for two sets with one variance. Values that are the
// same on each side but not on both cannot be chance.
func student(a, b []float64) float64 {
	ma, sa := moments(a)
	mb, sb := moments(b)
	na, nb := float64(len(a)), float64(len(b))
	df := na + nb - 2
	if df < 1 {
		return 1
	}
	return tails(ma-mb, math.Sqrt((sa+sb)/df*(1/na+1/nb)), df)
}

// studentPaired is the same for differences against 0.
func studentPaired(d []float64) float64 {
	m, s := moments(d)
	n := float64(len(d))
	if n < 2 {
		return 1
	}
	return tails(m, math.Sqrt(s/(n-1)/n), n-1)
}

// Welch compares the means of two sets, each with a variance of its own, spread like a bell: the two-sided p, and the
// interval in which mean(b) - mean(a) lies with 1 - level. Two values a side are the least; NaN below that. Sets that
// are each one value, twice, are apart for certain.
func Welch(a, b []float64, level float64) (p, low, high float64) {
	if len(a) < 2 || len(b) < 2 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	ma, sa := moments(a)
	mb, sb := moments(b)
	na, nb := float64(len(a)), float64(len(b))
	va, vb := sa/(na-1)/na, sb/(nb-1)/nb
	d, deviation := mb-ma, math.Sqrt(va+vb)
	if deviation <= 1e-12*math.Abs(d) || deviation == 0 {
		return tails(d, 0, 1), d, d
	}
	df := (va + vb) * (va + vb) / (va*va/(na-1) + vb*vb/(nb-1))
	t := studentQuantile(level, df)
	return tails(d, deviation, df), d - t*deviation, d + t*deviation
}

// studentQuantile is the t that |t| with df degrees of freedom passes with this probability. Tails are convex, so
// Newton's steps from the quantile of the normal distribution, which is less, never pass it.
func studentQuantile(probability, df float64) float64 {
	a, _ := math.Lgamma((df + 1) / 2)
	b, _ := math.Lgamma(df / 2)
	front := 2 * math.Exp(a-b) / math.Sqrt(df*math.Pi)
	t := math.Sqrt2 * math.Erfinv(1-probability)
	for range 200 {
		density := front * math.Pow(1+t*t/df, -(df+1)/2)
		step := (tails(t, 1, df) - probability) / density
		if t += step; !(step > 1e-12*t) {
			break
		}
	}
	return t
}

// moments returns the mean and the sum of squares round it.
func moments(v []float64) (mean, squares float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return mean, squares
}

// tails is the probability that |t| with df degrees of freedom is at least that of a
// difference and its deviation.
func tails(difference, deviation, df float64) float64 {
	difference = math.Abs(difference)
	if deviation <= 1e-12*difference {
		if difference == 0 {
			return 1
		}
		return 0
	}
	if difference == 0 {
		return 1
	}
	t := difference / deviation
	return incompleteBeta(df/2, 0.5, df/(df+t*t))
}

// incompleteBeta is the regularised incomplete beta function, by the continued
// fraction that Abramowitz and Stegun give as 26.5.8, from its front to its back by
// Lentz's method. Good to about 1e-14.
func incompleteBeta(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	f := d
	for m := 1.0; m < 500; m++ {
		for _, term := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			if d = 1 + term*d; math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + term/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			f *= c * d
		}
		if math.Abs(c*d-1) < 1e-15 {
			break
		}
	}
	return front * f
}
