package scene

// MarkKinds lists every mark; a test holds each renderer against it.
var MarkKinds = []string{"rect", "line", "path", "polygon", "point", "text", "image", "space"}

// A Flag changes how one thing is drawn.
type Flag uint8

const (
	// Aggregated things stand for many: they carry thin lines that rise to the right,
	// unless they are too small to show them.
	Aggregated Flag = 1 << iota
	// Hatched things carry dense lines that fall to the right.
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

// Hatch lines of aggregated and hatched things: distance across the lines and
// thickness in pixels, and the least extent of an aggregated thing that shows them.
const (
	AggregatedStep, AggregatedLine = 6, 1.5
	HatchedStep, HatchedLine       = 4, 1
	AggregatedLeast                = 6
)

// FlagsOf returns the flags of thing i of a column that may be nil.
func FlagsOf(column []Flag, i int) Flag {
	if i < len(column) {
		return column[i]
	}
	return 0
}

// inStep lengthens an optional column after a thing was added without a value for it.
func inStep[T any](column []T, n int, zero T) []T {
	if column == nil {
		return nil
	}
	for len(column) < n {
		column = append(column, zero)
	}
	return column
}

// setLast sets the value of the last of n things in an optional column.
func setLast[T any](column []T, n int, zero, value T) []T {
	if n == 0 {
		return column
	}
	if column == nil {
		column = make([]T, 0, n)
	}
	column = inStep(column, n, zero)
	column[n-1] = value
	return column
}
