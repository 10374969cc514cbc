package scene

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"strconv"
)

// A Picture is how large one is to be: in pixels, or in millimetres of paper.
type Picture struct {
	width, height float64 // height 0: as much as the content takes
	paper         bool
}

var pictureSize = regexp.MustCompile(`^(\d+(?:\.\d+)?)(mm)?(?:x(?:(?i:(auto))|(\d+(?:\.\d+)?)(mm)?))?$`)

var errPicture = errors.New("want WIDTHxHEIGHT in pixels, such as 1600x900 or 1600xAUTO, at most 20000 each way, or millimetres of paper, such as 84mm or 174x90mm")

// ParsePicture reads "1920x1080", "1600xAUTO", "84mm", "174x90mm".
func ParsePicture(s string) (p Picture, err error) {
	m := pictureSize.FindStringSubmatch(s)
	if m == nil {
		return p, errPicture
	}
	p.width, _ = strconv.ParseFloat(m[1], 64)
	p.height, _ = strconv.ParseFloat(m[4], 64)
	if p.paper = m[2] != "" || m[5] != ""; p.paper {
		if p.width < 30 || p.width > 1200 || p.height > 1200 || p.height > 0 && p.height < 15 {
			return p, errPicture
		}
		return p, nil
	}
	if m[3] == "" && m[4] == "" || p.width < 64 || p.width > 20000 || p.height > 20000 || m[3] == "" && p.height < 32 ||
		p.width != math.Trunc(p.width) || p.height != math.Trunc(p.height) {
		return p, errPicture
	}
	return p, nil
}

// Size is what a view is asked for.
func (p Picture) Size() Size {
	if p.paper {
		return Size{Width: PrintSize(p.width), Height: PrintSize(cmp.Or(p.height, UsualHeight*p.width))}
	}
	return Size{Width: int(p.width), Height: int(cmp.Or(p.height, UsualHeight*p.width))}
}

// Furnish draws the picture with all that stands round it.
func (p Picture) Furnish(draw func(Size) *Scene) *Scene {
	switch {
	case p.paper:
		return FurnishPrint(p.width, p.height, draw)
	case p.height == 0:
		return FurnishLow(int(p.width), draw)
	}
	return Furnish(p.Size(), draw)
}
