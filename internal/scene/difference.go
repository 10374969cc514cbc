package scene

import (
	"image/color"
	"math"
)

// Difference returns how far two colours are apart to the eye, by CIEDE2000: 1 is just seen, 10 is plain.
func Difference(p, q color.NRGBA) float64 {
	l1, a1, b1 := cielab(p)
	l2, a2, b2 := cielab(q)
	vivid := func(c float64) float64 { return math.Sqrt(math.Pow(c, 7) / (math.Pow(c, 7) + math.Pow(25, 7))) }
	stretch := 1 + 0.5*(1-vivid((math.Hypot(a1, b1)+math.Hypot(a2, b2))/2))
	a1, a2 = a1*stretch, a2*stretch
	c1, c2 := math.Hypot(a1, b1), math.Hypot(a2, b2)
	h1, h2 := hueOf(a1, b1), hueOf(a2, b2)
	turn, hue := math.Remainder(h2-h1, 360), (h1+h2)/2
	switch {
	case c1*c2 == 0:
		turn, hue = 0, h1+h2
	case math.Abs(h1-h2) > 180 && h1+h2 < 360:
		hue += 180
	case math.Abs(h1-h2) > 180:
		hue -= 180
	}
	l, c := (l1+l2)/2, (c1+c2)/2
	t := 1 - 0.17*cosine(hue-30) + 0.24*cosine(2*hue) + 0.32*cosine(3*hue+6) - 0.20*cosine(4*hue-63)
	light := (l2 - l1) / (1 + 0.015*(l-50)*(l-50)/math.Sqrt(20+(l-50)*(l-50)))
	chroma := (c2 - c1) / (1 + 0.045*c)
	round := 2 * math.Sqrt(c1*c2) * math.Sin(turn/2*math.Pi/180) / (1 + 0.015*c*t)
	blue := (hue - 275) / 25
	lean := -2 * vivid(c) * math.Sin(60*math.Exp(-blue*blue)*math.Pi/180)
	return math.Sqrt(light*light + chroma*chroma + round*round + lean*chroma*round)
}

func cosine(degrees float64) float64 { return math.Cos(degrees * math.Pi / 180) }

// hueOf returns an angle in degrees from 0 up to 360.
func hueOf(a, b float64) float64 { return math.Mod(math.Atan2(b, a)*180/math.Pi+360, 360) }

// cielab places a colour in CIE L*a*b* (D65).
func cielab(c color.NRGBA) (l, a, b float64) {
	red, green, blue := linear(c.R), linear(c.G), linear(c.B)
	root := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := root((0.4124564*red + 0.3575761*green + 0.1804375*blue) / 0.95047)
	y := root(0.2126729*red + 0.7151522*green + 0.0721750*blue)
	z := root((0.0193339*red + 0.1191920*green + 0.9503041*blue) / 1.08883)
	return 116*y - 16, 500 * (x - y), 200 * (y - z)
}
