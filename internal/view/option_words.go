package view

import "strings"

// optionWords name the options in the page, in the groups of its form: options of a group stand together, groups in
// this order. `parallax view --help` and scripts have the names of the table.
var optionWords = []struct {
	group string
	words string // lines of "name: words"
}{
	{"Rows", `
group: Merge rows
rows: A row is
arrange: Order of locations
order: Order
by: One row per
depth: Levels of nesting
tree: Tree
direction: Direction
only: Only these
expand: Always open
collapse: Always as one row
pin: Pinned at the top
top: Number of rows
hide: Left out
keep: Always shown
hierarchy: Hierarchy
p: Detail against loss
phase: Phases
root: Only below
until: Only calls before
zoom: Zoom
request: Requests
caller: Called by
path: Called along the path
closure: Callers are
file: Source file
line: Line in the middle
labels: Width of labels
scroll: First row shown`},
	{"Values", `
metric: Metric
values: Values
over: A point is
busy: Busy is
idle: Not busy is
layers: Layers
moments: Highest moment
basis: Basis
bins: Number of bins
value-scale: Scale
range: Ends of the scale
min: Smallest value
max: Largest value
slice: Slice
span: Colours span
gain: Gain is
scale: Gain and loss
similarity: Similar by
k: Number of groups
threshold: Least similarity
seed: Seed of the sample
event0: First value
event1: Second value
event2: Third value
event3: Fourth value`},
	{"Colour", `
colour: Colours mean
show: A pixel shows
paint: Colours mean
palette: Colour map
key: Colour scale
light: Highlight the selection
find: Find names
paper: Colours of the paper`},
	{"Links", `
links: Arrows
critical: Critical path
traffic: Traffic`},
	{"Counters", `
counters: Lines below rows
counters-of: Counters of
axis: Counter in place of time`},
	{"Form", `
picture: Picture
verdict: Verdict in words
form: Form
violin: Outlines of distributions
square: Quantiles as
gantt: Chart beside
shape: Shape
space: In space
layout: Layout
map: Map of nodes
numbering: Ranks count
cores: Cores of a node
camera: Camera
axes: Axes
point: Size of points
detail: Light on spheres
ring: Distance of rings`},
	{"Comparison", `
a: Set A
b: Set B
match: Matched regions
min-change: Smallest change
against: Against
shift: Move the second run
at-phase: Align at phase
axis-to: End of the axis`},
	{"Files", `
all: Everything in files`},
}

// wordsOf returns the group of an option in the page and its name there. An option that is not listed is in the
// group Form under its own name.
func wordsOf(name string) (group, title string) {
	for _, g := range optionWords {
		for line := range strings.Lines(g.words) {
			if n, title, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && n == name {
				return g.group, title
			}
		}
	}
	title = strings.ReplaceAll(name, "-", " ")
	return "Form", strings.ToUpper(title[:1]) + title[1:]
}
