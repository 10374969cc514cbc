package scenetest

import (
	"fmt"
	"image"
)

// Alike returns an error if two pictures differ by more than a share of their pixels; a pixel differs if a channel
// is off by more than a few steps.
func Alike(a, b image.Image, share float64) error {
	if a.Bounds().Size() != b.Bounds().Size() {
		return fmt.Errorf("the pictures are %v and %v", a.Bounds().Size(), b.Bounds().Size())
	}
	size := a.Bounds().Size()
	n, first := 0, image.Point{X: -1}
	for y := range size.Y {
		for x := range size.X {
			r0, g0, b0, _ := a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y).RGBA()
			r1, g1, b1, _ := b.At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y).RGBA()
			if off(r0, r1) || off(g0, g1) || off(b0, b1) {
				if n == 0 {
					first = image.Point{X: x, Y: y}
				}
				n++
			}
		}
	}
	if got := float64(n) / float64(size.X*size.Y); got > share {
		return fmt.Errorf("%d pixels differ (%.2f %%), the first at %v", n, got*100, first)
	}
	return nil
}

// off allows for rounding.
func off(a, b uint32) bool {
	const steps = 6 << 8
	return a > b+steps || b > a+steps
}
