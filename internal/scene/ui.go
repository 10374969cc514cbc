package scene

// Colours that are not those of data. Their names in palette.json are the same in lower case with hyphens: UITextMuted
// is "text-muted".
const (
	UIBackground Colour = iota
	UISurface           // panels, bars
	UIText
	UITextMuted // labels of axes, notes
	UIHairline  // between things
	UIGrid      // inside a plot, behind the data
	UIAxis      // the line and ticks of an axis
	UISelection // fill over the selection, mostly transparent
	UISelectionEdge
	UIFocus
	UIAccent // text that can be followed
	UIWarning
	UIError
	UIGood
	UIAggregate // fill of a thing that stands for many without one colour of its own
	UIHatch     // the diagonal lines of aggregated and hatched things
	UIOutline   // the hairline of outlined things
	UILink      // arrows of links
	UICursor    // cross-hair
	UIBand      // every other row
	UIEmpty     // nothing open
	UIData      // data of one kind: bars, curves
	UIDataSoft  // the same, behind it
	UIInkDark   // text on light data, in both themes
	UIInkLight  // text on dark data, in both themes
	UIInk       // text on data that is light in light and dark in dark
	UIInkReverse
	// The papers' own colours.
	PaperGrey  // moments: the bar of the norm
	PaperBlack // moments: deviation, mean, skew
	PaperGreen // treemap
	PaperRed
	uiEnd
)
