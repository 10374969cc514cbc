package png

import (
	"image/jpeg"
	"io"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// RenderJPEG writes the same picture as a JPEG, for places that take nothing else. Lines
// and letters keep their edges at this quality; a PNG is exact, and mostly smaller.
func RenderJPEG(w io.Writer, s *scene.Scene, theme scene.Theme) error {
	m, err := Image(s, theme)
	if err != nil {
		return err
	}
	return jpeg.Encode(w, m, &jpeg.Options{Quality: 94})
}
