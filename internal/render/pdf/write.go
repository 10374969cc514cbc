package pdf

import (
	"image/color"
	"math"
	"strconv"
)

// op writes operators or operands as they are.
func (p *page) op(s string) *page {
	p.b = append(append(p.b, s...), ' ')
	return p
}

// num writes a number with up to three decimals.
func (p *page) num(v float64) *page {
	if v != v || math.IsInf(v, 0) {
		v = 0
	}
	n := int64(math.Round(v * 1000))
	if n < 0 {
		p.b = append(p.b, '-')
		n = -n
	}
	p.b = strconv.AppendInt(p.b, n/1000, 10)
	if part := n % 1000; part != 0 {
		p.b = append(p.b, '.', byte('0'+part/100))
		if part%100 != 0 {
			p.b = append(p.b, byte('0'+part/10%10))
		}
		if part%10 != 0 {
			p.b = append(p.b, byte('0'+part%10))
		}
	}
	p.b = append(p.b, ' ')
	return p
}

func (p *page) at(x, y float32, op string) *page { return p.num(float64(x)).num(float64(y)).op(op) }

func (p *page) fillColour(c color.NRGBA)   { p.rgb(c).op("rg\n") }
func (p *page) strokeColour(c color.NRGBA) { p.rgb(c).op("RG\n") }

func (p *page) rgb(c color.NRGBA) *page {
	return p.num(float64(c.R) / 255).num(float64(c.G) / 255).num(float64(c.B) / 255)
}

// outline writes a closed polygon without painting it.
func (p *page) outline(xs, ys []float32) {
	for i := range xs {
		if i == 0 {
			p.at(xs[i], ys[i], "m")
		} else {
			p.at(xs[i], ys[i], "l")
		}
	}
	p.op("h\n")
}
