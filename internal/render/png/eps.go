package png

import (
	"bufio"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// epsPixels are how many pixels a point has each way: 144 an inch.
const epsPixels = 2

// RenderEPS writes the same picture as Encapsulated PostScript, for tools that take nothing
// else. PostScript knows no colours that let others through, which shadows and marks of
// aggregates are made of: so the picture is one image in pixels. PDF and SVG are drawn in lines.
func RenderEPS(w io.Writer, s *scene.Scene, theme scene.Theme) error {
	c, err := draw(s, theme, epsPixels)
	if err != nil {
		return fmt.Errorf("eps: %w", err)
	}
	out := bufio.NewWriter(w)
	across, down := float64(c.width)/epsPixels, float64(c.height)/epsPixels
	if s.Print > 0 {
		across, down = across*72/printDots, down*72/printDots
	}
	fmt.Fprintf(out,
		"%%!PS-Adobe-3.0 EPSF-3.0\n%%%%Creator: Parallax\n%%%%BoundingBox: 0 0 %d %d\n%%%%HiResBoundingBox: 0 0 %g "+
			"%g\n%%%%LanguageLevel: 3\n%%%%Pages: 1\n%%%%EndComments\n%%%%Page: 1 1\n",
		int(math.Ceil(across)), int(math.Ceil(down)), across, down)
	fmt.Fprintf(out,
		"gsave\n%g %g scale\n/DeviceRGB setcolorspace\n<< /ImageType 1 /Width %d /Height %d /BitsPerComponent 8 "+
			"/Decode [0 1 0 1 0 1] /ImageMatrix [%d 0 0 %d 0 %d]\n   /DataSource currentfile /ASCII85Decode filter "+
			"/FlateDecode filter >> image\n",
		across, down, c.width, c.height, c.width, -c.height, c.height)
	text := ascii85.NewEncoder(&lines{to: out})
	pack := zlib.NewWriter(text)
	row := make([]byte, 3*c.width)
	for y := range c.height {
		for x, p := range c.pixels[y*c.width : (y+1)*c.width] {
			row[3*x], row[3*x+1], row[3*x+2] = uint8(p), uint8(p>>8), uint8(p>>16)
		}
		if _, err := pack.Write(row); err != nil {
			return err
		}
	}
	if err := pack.Close(); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	fmt.Fprintf(out, "~>\ngrestore\nshowpage\n%%%%EOF\n")
	return out.Flush()
}

// lines breaks text so that no line is longer than PostScript's readers like.
type lines struct {
	to io.Writer
	at int
}

func (l *lines) Write(b []byte) (n int, err error) {
	const most = 80
	for len(b) > 0 {
		k := min(most-l.at, len(b))
		m, err := l.to.Write(b[:k])
		if n += m; err != nil {
			return n, err
		}
		if b, l.at = b[k:], l.at+k; l.at == most {
			if _, err := io.WriteString(l.to, "\n"); err != nil {
				return n, err
			}
			l.at = 0
		}
	}
	return n, nil
}
