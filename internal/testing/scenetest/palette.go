package scenetest

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Palette shows every section of the palette: families and hues as numbered swatches, ramps as bars.
func Palette() *scene.Scene {
	s := scene.New(scene.Size{Width: 760, Height: 548}, "Palette",
		"All colours of the palette, a row for each family and each ramp.")
	swatches, names, numbers := &scene.Rect{}, &scene.Text{Size: scene.TextSize}, &scene.Text{Size: 10}
	y := float32(16)
	var bars []scene.Mark
	for _, section := range scene.Sections() {
		names.Add(124, y+16, section.Name, scene.UIText, scene.End)
		if section.Length == 256 {
			bar := &scene.Image{X: 136, Y: y, W: 608, H: 24, Columns: 256, Rows: 1}
			for i := range 256 {
				bar.Cells = append(bar.Cells, section.At(i))
			}
			bars = append(bars, bar)
			y += 28
			continue
		}
		step := min(608/float32(section.Length), 30)
		for i := range section.Length {
			x := 136 + float32(i)*step
			swatches.Add(x, y, step-2, 24, section.At(i))
			if section.Name == "ui" {
				swatches.SetFlags(scene.Outlined)
			}
			if step >= 12 {
				numbers.Add(x+(step-2)/2, y+16, strconv.Itoa(i), scene.Ink(section.At(i)), scene.Middle)
			}
		}
		y += 28
	}
	s.AddLayer("palette", -1, append([]scene.Mark{swatches, names, numbers}, bars...)...)
	return s
}
