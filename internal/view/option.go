package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// An Option is something a user can set, named once for all views. Kind is
// "text", "choice", "number", "integer", "switch", "patterns" (repeatable) or "file".
type Option struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind" ts:"OptionKind"`
	Choices []string `json:"choices,omitempty"` // of a choice
	// Open: a choice may go on with details after a colon.
	Open    bool   `json:"open,omitempty"`
	Default string `json:"default"`
	Help    string `json:"help"`
	// Title and Group are the name of the option in the page, and the heading that it is below there.
	Title string `json:"title"`
	Group string `json:"group"`
	// Word stands for a number that the view chooses, such as auto.
	Word string `json:"word,omitempty"`
	// Bare is the value of the option on the command line without one; "": it needs a value.
	Bare string `json:"-"`
	// Min, Max and Step of a number, for a slider; equal: none.
	Min  float64 `json:"min,omitempty"`
	Max  float64 `json:"max,omitempty"`
	Step float64 `json:"step,omitempty"`
}

// OptionTable is the one table of options that views share; order is the order of the help.
var OptionTable = []Option{
	{Name: "busy", Kind: "patterns", Help: "roles, categories or regions that count as busy, joined by commas"},
	{Name: "idle", Kind: "patterns", Help: "roles, categories or regions that count as not busy, joined by commas"},
	{Name: "layers", Kind: "patterns",
		Help: "states drawn as layers, each with its own moments: busy, roles, categories or regions, joined by " +
			"commas"},
	{Name: "moments", Kind: "integer", Default: "3", Min: 3, Max: 8, Step: 1,
		Help: "highest order of the moments, 3 to 8"},
	{Name: "basis", Kind: "choice", Choices: []string{"moments", "cosine", "haar", "bins"}, Default: "moments",
		Help: "basis of the utilization; --bins sets the number of coefficients for all but moments"},
	{Name: "axis", Kind: "text", Help: "a counter that only grows, such as cycles, in place of time"},
	{Name: "gantt", Kind: "text", Default: "none", Bare: "beside",
		Help: "the two-state chart of the same rows: none, beside (on the right), behind, or a width such as 300 " +
			"or 30%"},
	{Name: "metric", Kind: "text", Default: "exclusive",
		Help: "exclusive, inclusive, calls, or any metric of the source"},
	{Name: "over", Kind: "choice", Choices: []string{"calls", "locations"}, Default: "calls",
		Help: "what one point of a box is: a call, or the sum over the calls of a location"},
	{Name: "violin", Kind: "choice", Choices: []string{"auto", "all", "none"}, Default: "auto",
		Help: "outlines of distributions behind boxes: auto draws those with several modes"},
	{Name: "caller", Kind: "patterns", Help: "only calls made by these regions; root for calls without a caller"},
	{Name: "path", Kind: "text",
		Help: "only calls along this path: patterns of the callers joined by ;, the direct caller last"},
	{Name: "hide", Kind: "patterns", Help: "regions left out of the picture"},
	{Name: "keep", Kind: "patterns", Help: "regions that are always in the picture, before those chosen by order"},
	{Name: "against", Kind: "text",
		Help: "compare with these locations: patterns joined by commas, group:N of the view groups, or rest; " +
			"group:N/group:M compares two groups"},
	{Name: "shift", Kind: "text", Help: "move the second run by this time, such as 1.5s or -20ms"},
	{Name: "closure", Kind: "choice", Choices: []string{"direct", "dynamic", "static"}, Default: "direct",
		Help: "callers of a call: the direct one, all around it as it ran (dynamic), or all that caller-callee " +
			"pairs allow (static)"},
	{Name: "value-scale", Kind: "choice", Choices: []string{"linear", "log", "rank"}, Default: "linear",
		Help: "scale of the values on an axis or in colours"},
	{Name: "a", Kind: "patterns",
		Help: "set A: locations by pattern, from=T, to=T, time=T..T; several parts are combined; default: the " +
			"selection"},
	{Name: "b", Kind: "patterns", Help: "set B, written as set A; rest, all, or none for the rest"},
	{Name: "match", Kind: "patterns", Help: "OLD=NEW: match region OLD of A with region NEW of B"},
	{Name: "min-change", Kind: "number", Default: "1", Min: 0, Max: 20, Step: 0.1,
		Help: "smallest change that is reported, in percent"},
	{Name: "square", Kind: "choice", Choices: []string{"rings", "stripes"}, Default: "rings",
		Help: "quantiles of a square as rings around its centre with one slice per location, or as stripes with " +
			"locations side by side"},
	{Name: "span", Kind: "choice", Choices: []string{"all", "row"}, Default: "all",
		Help: "colours span all values on display, or those of each row"},
	{Name: "similarity", Kind: "choice", Choices: []string{"both", "structure", "time"}, Default: "both",
		Help: "what makes locations similar: the calls they make (structure), the time in them, or both"},
	{Name: "k", Kind: "integer", Default: "0",
		Help: "number of groups; 0: by the threshold, or the number with the clearest separation"},
	{Name: "threshold", Kind: "number", Default: "0", Min: 0, Max: 1, Step: 0.01,
		Help: "smallest mean similarity within a group; 0: no threshold"},
	{Name: "seed", Kind: "integer", Default: "1",
		Help: "seed of the sample, used if there are too many locations to compare all pairs"},
	{Name: "request", Kind: "patterns",
		Help: "requests by id or glob; or conditions that must all hold: slow or slow:1% (the slowest), errors, " +
			">200ms, <1s, took:100ms..1s, begin:1s..3s, root:NAME, KEY=VALUE of the root"},
	{Name: "order", Kind: "text", Help: "order of rows"},
	{Name: "arrange", Kind: "choice", Choices: []string{"tree", "groups", "optimal"}, Open: true, Default: "tree",
		Help: "order of locations: the tree, or similar locations next to each other " +
			"(groups:k=3,similarity=time,threshold=0.8,group=locations,time=1s..2s), or the optimal aggregation " +
			"(optimal:p=0.3); --order groups and --group optimal are the same"},
	{Name: "group", Kind: "text", Help: "locations that are merged; `parallax views VIEW` lists the values"},
	{Name: "top", Kind: "integer", Default: "0", Help: "largest number of rows; 0: as many as fit"},
	{Name: "rows", Kind: "choice", Choices: []string{"processors", "threads", "all"}, Default: "processors",
		Help: "what a row is: processors (a GPU with its streams, a main thread, a thread of a team, a processor " +
			"of Go, a service), threads (also streams, and goroutines by function), or all locations with intervals"},
	{Name: "by", Kind: "text", Help: "what is counted or compared; `parallax views VIEW` lists the values"},
	{Name: "phase", Kind: "text", Default: "auto",
		Help: "how the run is divided into phases: auto, slices:N, or a pattern of regions such as iteration"},
	{Name: "bins", Kind: "integer", Default: "0",
		Help: "number of equal bins of time or values; 0: chosen from the size of the picture"},
	{Name: "depth", Kind: "integer", Default: "0",
		Help: "number of nesting levels; 0: only the innermost, in one row"},
	{Name: "direction", Kind: "choice", Choices: []string{"top-down", "bottom-up"}, Default: "top-down",
		Help: "from callers to callees, or from regions to their callers"},
	{Name: "form", Kind: "choice", Choices: []string{"icicle", "table", "beside", "graph"}, Default: "icicle",
		Help: "form of the tree; beside: both trees of a comparison on one scale; graph: each region once, in 3D, " +
			"with lines to its callees"},
	{Name: "picture", Kind: "choice", Choices: []string{"findings", "causes"}, Default: "findings",
		Help: "one card per finding, or a matrix of causes and waiting locations with their place on the machine"},
	{Name: "show", Kind: "choice",
		Choices: []string{"dominant", "max", "min", "last", "average", "random", "random-not-zero"},
		Default: "dominant",
		Help: "region drawn in a pixel with many intervals: with the most time, longest, shortest that is not " +
			"empty, last, shares (average), or open at a random time, of all times or of those with an open " +
			"interval"},
	{Name: "links", Kind: "choice", Choices: []string{"auto", "all", "none"}, Default: "auto",
		Help: "draw links as arrows"},
	{Name: "verdict", Kind: "choice", Choices: []string{"shown", "none"}, Default: "shown",
		Help: "the verdict in words above the picture"},
	{Name: "critical", Kind: "switch", Default: "false",
		Help: "draw the critical path: of the steps of a GPU job, or of the slowest selected request"},
	{Name: "only", Kind: "patterns", Help: "only these of the selected locations, such as kind:processor"},
	{Name: "expand", Kind: "patterns", Help: "groups of the location tree that are drawn in full"},
	{Name: "collapse", Kind: "patterns",
		Help: "groups of the location tree that are drawn as one row; in boxes and matrices, regions that are " +
			"merged, such as category:MPI"},
	{Name: "pin", Kind: "patterns", Help: "locations whose rows stay at the top when scrolling"},
	{Name: "at-phase", Kind: "text", Default: "auto",
		Help: "phase at which two runs are aligned: auto (the first step or iteration of both), none, or a phase " +
			"by name or number"},
	{Name: "axis-to", Kind: "text", Help: "end of the time axis, to draw runs of different length on one scale"},
	{Name: "scroll", Kind: "integer", Default: "0", Help: "first row shown"},
	{Name: "labels", Kind: "integer", Default: "0",
		Help: "width of the row labels in pixels, to align pictures below each other; 0: as needed"},
	{Name: "counters", Kind: "patterns", Help: "counters drawn as lines below the rows"},
	{Name: "counters-of", Kind: "patterns",
		Help: "locations whose counters are drawn, with those below them, or else the nearest above with counters; " +
			"default: all rows"},
	{Name: "p", Kind: "number", Default: "auto", Min: 0, Max: 1, Step: 0.001,
		Help: "trade-off between detail and loss: 0 all detail, 1 one value; auto chooses it from the data"},
	{Name: "gain", Kind: "choice", Choices: []string{"values", "entropy"}, Default: "values",
		Help: "measure of the gain"},
	{Name: "scale", Kind: "choice", Choices: []string{"normalised", "paper"}, Default: "normalised",
		Help: "scale of gain and loss"},
	{Name: "values", Kind: "text",
		Help: "aggregated values: regions, roles, categories, busy, patterns joined by commas, each also " +
			"+instants[:NAME]; or instants[:NAME], counter:NAME, mean:NAME"},
	{Name: "hierarchy", Kind: "text", Default: "auto",
		Help: "hierarchy of locations: auto (the tree, hosts, or a grid of ranks, whichever explains most), tree, " +
			"split:SEP of names, attribute:KEY, or ranks:N blocks"},
	{Name: "layout", Kind: "file",
		Help: "layout FILE[:NAME], a built-in layout by name, or one proposed for the run: grid, nodes, " +
			"hosts:LEVELS, chain, rows or hilbert"},
	{Name: "map", Kind: "file", Help: "file of RANK:CNAME lines with the Cray node of each rank"},
	{Name: "event0", Kind: "text",
		Help: "value of event0: REGION:METRIC (the last colon splits), atomic:NAME:count|min|max|mean, " +
			"counter:NAME:mean|min|max|last, or metadata:KEY"},
	{Name: "event1", Kind: "text", Help: "value of event1, written as event0"},
	{Name: "event2", Kind: "text", Help: "value of event2, written as event0"},
	{Name: "event3", Kind: "text", Help: "value of event3, written as event0"},
	{Name: "shape", Kind: "choice", Choices: []string{"points", "spheres", "bars", "mesh"}, Default: "points",
		Help: "shape of the points"},
	{Name: "space", Kind: "choice", Choices: []string{"flat", "bars", "mesh"}, Default: "flat",
		Help: "draw a matrix as a plane of colours, or with its values as height in 3D"},
	{Name: "point", Kind: "number", Default: "1", Min: 0.1, Max: 5, Step: 0.1,
		Help: "size of points, spheres and bars; 1 is the default size"},
	{Name: "detail", Kind: "integer", Default: "3", Min: 2, Max: 6, Step: 1,
		Help: "steps of light on spheres; 2 draws them as points"},
	{Name: "axes", Kind: "choice", Choices: []string{"shown", "hidden"}, Default: "shown",
		Help: "box, ticks and names of a 3D picture"},
	{Name: "key", Kind: "choice", Choices: []string{"shown", "hidden"}, Default: "shown", Help: "the colour scale"},
	{Name: "traffic", Kind: "choice", Choices: []string{"hidden", "shown"}, Default: "hidden",
		Help: "lines between locations that exchange messages, coloured by amount"},
	{Name: "numbering", Kind: "choice", Choices: []string{"auto", "threads", "processes"}, Default: "auto",
		Help: "what rank and maxRank of a layout count: threads, as in ParaProf, or processes; auto counts threads " +
			"if several share a rank and the layout uses neither thread nor slot"},
	{Name: "cores", Kind: "choice", Choices: []string{"mean", "expand"}, Default: "mean",
		Help: "points that differ only in coordinates after the third: their mean, or side by side"},
	{Name: "range", Kind: "text", Help: "low,high: fixed ends of the colour scale, for every metric"},
	{Name: "camera", Kind: "text", Help: "azimuth,elevation,zoom[,panX,panY]: degrees, and shares of the picture"},
	{Name: "min", Kind: "text", Help: "smallest value shown, or a share such as 20%"},
	{Name: "max", Kind: "text", Help: "largest value shown, or a share"},
	{Name: "slice", Kind: "text", Help: "axis=value[:width][,…]: only points there; the default width is 1"},
	{Name: "tree", Kind: "choice", Choices: []string{"auto", "calls", "paths"}, Default: "auto",
		Help: "calls: every call; paths: calls of one call path as one sector, as wide as their time, and two runs " +
			"as one picture of the change; auto: calls, or paths of a profile"},
	{Name: "ring", Kind: "integer", Default: "0",
		Help: "distance of rings in pixels; 0: chosen from the size of the picture"},
	{Name: "paint", Kind: "choice", Choices: []string{"auto", "location", "processor", "region", "time", "both",
		"depth", "duration", "children"},
		Default: "auto",
		Help: "meaning of colours; auto: location, or region if all calls are at one; both: location and time; " +
			"children: number of calls made; call paths are painted by region, or by their change between two " +
			"runs, if none is given; processor: the one that ran a call longest, if calls move between processors " +
			"as goroutines do, else the location"},
	{Name: "root", Kind: "text",
		Help: "show only the tree below this node: its id in the JSON, or LOCATION/LANE/ROW as a search finds it"},
	{Name: "zoom", Kind: "text",
		Help: "FACTOR, or FACTOR,X,Y with the centre X,Y measured from the root in half pictures; or a call: #ID " +
			"of the JSON, LOCATION/LANE/ROW, or region:PATTERN, the widest sector of such a region"},
	{Name: "until", Kind: "text",
		Help: "draw only calls that began by this time, or by this share of the run such as 40%"},
	{Name: "find", Kind: "text", Help: "part of a name, in any case: matches stay bright, the rest is dimmed"},
	{Name: "light", Kind: "switch", Default: "false", Help: "draw the whole run and highlight the selection"},
	{Name: "all", Kind: "switch", Default: "false",
		Help: "write everything into JSON and CSV, not only what is drawn"},
	{Name: "colour", Kind: "text", Default: "region",
		Help: "meaning of colours: region, role, busy, duration; for boxes location or groups"},
	{Name: "file", Kind: "text", Help: "source file to show: its recorded path, or the end of it"},
	{Name: "line", Kind: "text", Default: "hot:1",
		Help: "line in the middle: its number, or hot:K for the K-th largest value"},
	{Name: "palette", Kind: "choice", Choices: []string{"viridis", "cividis", "diverging", "spectrum"},
		Default: "viridis",
		Help:    "colour map for magnitudes"},
	{Name: "paper", Kind: "switch", Default: "false", Help: "use the colours of the original paper"},
}

// renamed has the present names of options by those of the release before, which are still accepted.
var renamed = map[string]string{"stretch": "value-scale", "worth": "min-change", "alike": "similarity"}

// OptionName returns the present name of an option.
func OptionName(name string) string {
	if now := renamed[name]; now != "" {
		return now
	}
	return name
}

// named returns the set with the present names of its options.
func named(set map[string][]string) map[string][]string {
	out := make(map[string][]string, len(set))
	for name, values := range set {
		out[OptionName(name)] = append(out[OptionName(name)], values...)
	}
	return out
}

// Use picks options from the table by name; a view may give another default as
// "name=default". Unknown names are a bug of the view and panic.
func Use(names ...string) []Option {
	out := make([]Option, 0, len(names))
	for _, n := range names {
		name, def, has := strings.Cut(n, "=")
		i := slices.IndexFunc(OptionTable, func(o Option) bool { return o.Name == name })
		if i < 0 {
			panic("view: no option " + name + " in the table")
		}
		o := OptionTable[i]
		o.Group, o.Title = wordsOf(n)
		if has {
			o.Default = def
		}
		out = append(out, o)
	}
	return out
}

// Words replaces the help of some options by that of one view: the table speaks for all
// views. Each text is "name: help"; choices may follow in brackets, "name: help [a b]",
// and are then the only ones.
func Words(options []Option, texts ...string) []Option {
	for _, text := range texts {
		name, help, _ := strings.Cut(text, ": ")
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			panic("view: no option " + name + " to say something of")
		}
		o := &options[i]
		if words, list, ok := strings.Cut(help, " ["); ok {
			help = words
			o.Kind, o.Choices = "choice", strings.Fields(strings.TrimSuffix(list, "]"))
		}
		o.Help = help
	}
	return options
}

// Values are the options of one request, checked against the view's own.
type Values struct {
	options []Option
	set     map[string][]string
}

// NewValues checks the values that a user set. Options that the view does not have, and
// values that do not fit, are errors that list the valid ones.
func NewValues(v *View, set map[string][]string) (Values, error) {
	set = orderedByGroups(v, named(set))
	for name, vals := range set {
		i := slices.IndexFunc(v.Options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			return Values{}, fmt.Errorf("view %s has no option --%s%s", v.Name, name, has(v))
		}
		o := v.Options[i]
		if o.Kind != "patterns" && len(vals) > 1 {
			return Values{}, fmt.Errorf("--%s is given %d times, want once", name, len(vals))
		}
		for _, x := range vals {
			if err := o.check(x); err != nil {
				return Values{}, err
			}
		}
	}
	return Values{options: v.Options, set: set}, nil
}

// orderedByGroups lets --order groups be --arrange groups, and --group optimal
// --arrange optimal, in every view that orders locations, whatever else they mean there.
func orderedByGroups(v *View, set map[string][]string) map[string][]string {
	if group := set["group"]; len(group) == 1 && group[0] == "optimal" && len(set["arrange"]) == 0 &&
		v.hasOption("arrange") && !v.hasOption("p") {
		// Views with p draw the parts as rows; the others bring their rows together.
		set = maps.Clone(set)
		delete(set, "group")
		set["arrange"] = []string{"optimal"}
		return set
	}
	order := set["order"]
	if len(order) != 1 || len(set["arrange"]) > 0 || order[0] != "groups" && !strings.HasPrefix(order[0], "groups:") ||
		!v.hasOption("arrange") {
		return set
	}
	set = maps.Clone(set)
	delete(set, "order")
	set["arrange"] = order
	return set
}

func (v *View) hasOption(name string) bool {
	return slices.ContainsFunc(v.Options, func(o Option) bool { return o.Name == name })
}

func has(v *View) string {
	if len(v.Options) == 0 {
		return "; it takes none"
	}
	s := "; it has"
	for _, o := range v.Options {
		s += " --" + o.Name
	}
	return s
}

func (o *Option) check(x string) error {
	switch o.Kind {
	case "choice":
		stem, _, more := strings.Cut(x, ":")
		if !slices.Contains(o.Choices, x) && !(o.Open && more && slices.Contains(o.Choices, stem)) {
			return words.NotOneOf("--"+o.Name, x, o.Choices...)
		}
	case "number":
		if x == o.Default { // which may be a word
			break
		}
		f, err := strconv.ParseFloat(x, 64)
		if err != nil || o.Max > o.Min && !(f >= o.Min && f <= o.Max) {
			return fmt.Errorf("--%s %q: want a number%s", o.Name, x, span(o))
		}
	case "integer":
		if _, err := strconv.Atoi(x); err != nil && (x != o.Word || x == "") {
			return fmt.Errorf("--%s %q: want a whole number%s", o.Name, x, orWord(o))
		}
	case "switch":
		if _, err := strconv.ParseBool(x); err != nil {
			return fmt.Errorf("--%s %q: want true or false", o.Name, x)
		}
	}
	return nil
}

func orWord(o *Option) string {
	if o.Word != "" {
		return " or " + o.Word
	}
	return ""
}

func span(o *Option) string {
	if o.Max > o.Min {
		return fmt.Sprintf(" from %g to %g", o.Min, o.Max)
	}
	return ""
}

// Text returns a value as written, or the default.
func (v Values) Text(name string) string {
	if x := v.set[name]; len(x) > 0 {
		return x[0]
	}
	for i := range v.options {
		if v.options[i].Name == name {
			return v.options[i].Default
		}
	}
	return ""
}

// Patterns returns all values of a repeatable option.
func (v Values) Patterns(name string) []string { return v.set[name] }

// RegionPatterns returns the patterns on regions of a repeatable option, those joined
// by commas apart. One that names a region as it is, commas and all, is one pattern,
// and so is a regular expression.
func (v Values) RegionPatterns(name string, regions []trace.Region) (out []string) {
	for _, p := range v.set[name] {
		whole := strings.HasPrefix(p, "re:") || !strings.Contains(p, ",")
		if m, err := RegionPattern(p); err == nil && !whole {
			for i := range regions {
				whole = whole || m(trace.RegionID(i), &regions[i])
			}
		}
		if whole {
			out = append(out, p)
			continue
		}
		for part := range strings.SplitSeq(p, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// Number, Integer and Switch give a checked value.
func (v Values) Number(name string) float64 { f, _ := strconv.ParseFloat(v.Text(name), 64); return f }
func (v Values) Integer(name string) int    { i, _ := strconv.Atoi(v.Text(name)); return i }
func (v Values) Switch(name string) bool    { b, _ := strconv.ParseBool(v.Text(name)); return b }

// isNumber reports whether a value is a number, and not a word such as auto.
func (v Values) isNumber(name string) bool {
	_, err := strconv.ParseFloat(v.Text(name), 64)
	return err == nil
}

// Set reports whether the user set the option.
func (v Values) Set(name string) bool { return len(v.set[name]) > 0 }

// With is the values with one option set.
func (v Values) With(name, text string) Values {
	set := maps.Clone(v.set)
	if set == nil {
		set = map[string][]string{}
	}
	set[name] = []string{text}
	v.set = set
	return v
}

// All returns the value of every option, for the JSON output; renamed ones under both names.
func (v Values) All() map[string]any {
	out := map[string]any{}
	for _, o := range v.options {
		switch {
		case o.Kind == "patterns":
			out[o.Name] = append([]string{}, v.set[o.Name]...)
		case o.Kind == "number" && v.isNumber(o.Name):
			out[o.Name] = v.Number(o.Name)
		case o.Kind == "integer":
			out[o.Name] = v.Integer(o.Name)
		case o.Kind == "switch":
			out[o.Name] = v.Switch(o.Name)
		default:
			out[o.Name] = v.Text(o.Name)
		}
	}
	for old, now := range renamed {
		if value, has := out[now]; has {
			out[old] = value
		}
	}
	return out
}
