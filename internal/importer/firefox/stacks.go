package firefox

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// tables are the tables of stacks, of a thread or of all.
type tables struct {
	stacks, frames, functions, resources, sources *table
	texts                                         []string
}

// member reads a member of a thread, or of the shared part, that is one of the tables.
func (t *tables) member(r *jsonstream.Reader, name string) (err error) {
	switch name {
	case "stackTable":
		t.stacks, err = readTable(r, "frame", "prefix", "prefixOffset")
	case "frameTable":
		t.frames, err = readTable(r, "func", "location", "category", "line")
	case "funcTable":
		t.functions, err = readTable(r, "name", "resource", "fileName", "source", "lineNumber", "isJS")
	case "resourceTable":
		t.resources, err = readTable(r, "name")
	case "sources":
		t.sources, err = readTable(r, "filename")
	case "stringArray", "stringTable":
		t.texts, err = readTexts(r)
	default:
		err = r.Skip()
	}
	return err
}

// or fills in missing tables from another.
func (t *tables) or(other *tables) {
	for _, x := range []struct{ to, from **table }{
		{&t.stacks, &other.stacks}, {&t.frames, &other.frames}, {&t.functions, &other.functions},
		{&t.resources, &other.resources}, {&t.sources, &other.sources},
	} {
		if *x.to == nil {
			*x.to = *x.from
		}
		if *x.to == nil {
			*x.to = &table{}
		}
	}
	if t.texts == nil {
		t.texts = other.texts
	}
}

func (t *tables) text(i int) string {
	if i < 0 || i >= len(t.texts) {
		return ""
	}
	return t.texts[i]
}

// A stacker turns stacks of a thread into paths of regions.
type stacker struct {
	*tables
	w       trace.Writer
	process *process
	regions map[frameIn]trace.RegionID
	chain   []int
	lined   []stack.Frame // of the path found last, with lines
}

// A frameIn is a frame within a category that is more than a word, or none (-1).
type frameIn struct{ frame, category int }

// prefix is the stack that a stack was called from, -1 for none.
func (s *stacker) prefix(i int) int {
	if s.stacks.has("prefixOffset") {
		if back := s.stacks.index("prefixOffset", i); back > 0 {
			return i - back
		}
		return -1
	}
	return s.stacks.index("prefix", i)
}

// path lists the regions of a stack, outermost first; nil if there is no such stack. A function called while idle
// is idle, and so on: frames without a category have that of their caller.
func (s *stacker) path(id int, to []trace.RegionID) []trace.RegionID {
	s.chain = s.chain[:0]
	for id >= 0 && id < s.stacks.rows && len(s.chain) < s.stacks.rows {
		s.chain = append(s.chain, s.stacks.index("frame", id))
		id = s.prefix(id)
	}
	to, s.lined = to[:0], s.lined[:0]
	within := -1
	for _, frame := range slices.Backward(s.chain) {
		if c := s.frames.index("category", frame); c >= 0 {
			if within = -1; categoryRoles[s.category(c)] != trace.RoleByName {
				within = c
			}
		}
		region := s.region(frameIn{frame, within})
		to = append(to, region)
		s.lined = append(s.lined, stack.Frame{Region: region, Line: max(s.frames.index("line", frame), 0)})
	}
	return to
}

func (s *stacker) category(i int) string {
	if i < 0 || i >= len(s.process.meta.categories) {
		return ""
	}
	return s.process.meta.categories[i]
}

func (s *stacker) region(f frameIn) trace.RegionID {
	return importer.Once(s.regions, f, func() trace.RegionID { return s.w.Region(s.describe(f)) })
}

// describe returns the function of a frame.
func (s *stacker) describe(f frameIn) trace.Region {
	var r trace.Region
	if function := s.frames.index("func", f.frame); function >= 0 {
		r = s.function(function)
	} else {
		r = s.location(s.text(s.frames.index("location", f.frame)))
	}
	r.Name = cmp.Or(r.Name, "(unknown)")
	if f.category < 0 {
		f.category = s.frames.index("category", f.frame)
	}
	r.Category = s.category(f.category)
	r.Role = categoryRoles[r.Category]
	return r
}

// categoryRoles are the roles of categories.
var categoryRoles = map[string]trace.Role{"Idle": trace.RoleIdle, "GC / CC": trace.RoleOverhead,
	"Profiler": trace.RoleOverhead}

// function is a function of a processed profile.
func (s *stacker) function(i int) (r trace.Region) {
	r.Name = s.text(s.functions.index("name", i))
	file := s.functions.index("fileName", i)
	if source := s.functions.index("source", i); source >= 0 {
		file = s.sources.index("filename", source)
	}
	r.File = s.text(file)
	if line := s.functions.index("lineNumber", i); line > 0 && r.File != "" {
		r.Line = line
	}
	if isAddress(r.Name) { // without symbols: the library says at least where
		if lib := s.text(s.resources.index("name", s.functions.index("resource", i))); lib != "" {
			r.Name = lib + "+" + r.Name
		}
	}
	return r
}

func isAddress(name string) bool {
	if len(name) < 3 || !strings.HasPrefix(name, "0x") {
		return false
	}
	_, err := strconv.ParseUint(name[2:], 16, 64)
	return err == nil
}

// location is a frame of a Gecko profile: an address, a label, or "function (file:line:column)[source]".
func (s *stacker) location(text string) (r trace.Region) {
	if isAddress(text) {
		address, _ := strconv.ParseUint(text[2:], 16, 64)
		r.Name = text
		if lib := byAddress(s.process.libraries, float64(address)); lib != nil && lib.name != "" {
			r.Name = lib.name + "+0x" + strconv.FormatUint(address-uint64(math.Max(lib.start, 0)), 16)
		}
		return r
	}
	if open := strings.LastIndexByte(text, '['); open > 0 && strings.HasSuffix(text, "]") {
		if _, err := strconv.Atoi(text[open+1 : len(text)-1]); err == nil {
			text = text[:open]
		}
	}
	r.Name = text
	open := strings.LastIndex(text, " (")
	if open <= 0 || !strings.HasSuffix(text, ")") {
		return r
	}
	place := text[open+2 : len(text)-1]
	var numbers []int
	for len(numbers) < 2 {
		colon := strings.LastIndexByte(place, ':')
		n, err := strconv.Atoi(place[colon+1:])
		if colon <= 0 || err != nil {
			break
		}
		numbers = append(numbers, n)
		place = place[:colon]
	}
	if len(numbers) == 0 { // no place, but part of a name
		return r
	}
	r.Name, r.File, r.Line = text[:open], place, max(numbers[len(numbers)-1], 0)
	return r
}
