package scene

// MarkKinds lists every mark; a test holds each renderer against it.
var MarkKinds = []string{"rect", "line", "path", "polygon", "point", "text", "image"}

// A Flag changes how one thing is drawn.
type Flag uint8

const (
	// Aggregated things stand for many: drawn with the aggregate's look.
	Aggregated Flag = 1 << iota
	// Hatched things carry diagonal lines.
	Hatched
	// Dimmed things are outside the selection.
	Dimmed
	// Outlined things have a hairline round them.
	Outlined
	// Arrow puts a head on the end of a line.
	Arrow
	// Dashed lines.
	Dashed
)
