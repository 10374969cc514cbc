package svg

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// A Palette numbers the pairs of colours, light and dark, that themed pictures of one page
// use. Its zero value is empty.
type Palette struct {
	// Hues is a theme that has those of categories.
	Hues scene.Theme

	numbers map[ink]int
	list    []ink
}

// light and dark are the two themes.
func (p *Palette) light() scene.Theme { return p.Hues &^ scene.Dark }
func (p *Palette) dark() scene.Theme  { return p.Hues | scene.Dark }

func (p *Palette) number(c ink) int {
	n, ok := p.numbers[c]
	if !ok {
		if p.numbers == nil {
			p.numbers = map[ink]int{}
		}
		n = len(p.list)
		p.numbers[c], p.list = n, append(p.list, c)
	}
	return n
}

// CSS declares the variables: light by default and on paper, dark where the reader wants it.
func (p *Palette) CSS() string {
	var light, dark strings.Builder
	for n, c := range p.list {
		fmt.Fprintf(&light, "--c%d:%s;", n, css(c.NRGBA))
		fmt.Fprintf(&dark, "--c%d:%s;", n, css(c.dark))
	}
	return ":root{" + light.String() + "}\n@media screen and (prefers-color-scheme:dark){:root{" + dark.String() +
		"}}\n"
}

func css(c color.NRGBA) string {
	hex := string(appendHex(nil, c))
	if c.A != 255 {
		hex += fmt.Sprintf("%02x", c.A)
	}
	return hex
}
