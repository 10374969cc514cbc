package chrometrace

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A category is the meaning of a "cat", looked up once.
type category struct {
	name    string
	role    trace.Role
	regions map[string]trace.RegionID

	// For Kineto's categories only:
	gpu        bool // rows of these are streams of a device, not threads
	work       bool // is started by a launch
	launch     bool // may start work
	profiler   bool // is about the profiler, not the program
	launchFlow bool // flow records that repeat correlation ids
}

// kinetoCategories are today's names and those of 2021.
var kinetoCategories = map[string]category{
	"kernel":              {gpu: true, work: true},
	"concurrent_kernel":   {gpu: true, work: true},
	"gpu_memcpy":          {gpu: true, work: true},
	"gpu_memset":          {gpu: true, work: true},
	"Kernel":              {gpu: true, work: true},
	"Memcpy":              {gpu: true, work: true},
	"Memset":              {gpu: true, work: true},
	"gpu_user_annotation": {gpu: true},
	"cuda_sync":           {gpu: true},
	"cuda_event":          {gpu: true},
	"gpu_pm_counter":      {gpu: true},
	"mtia_ccp_events":     {gpu: true, work: true},
	"collective_comm":     {gpu: true, work: true},
	"cuda_runtime":        {launch: true},
	"cuda_driver":         {launch: true},
	"hip_runtime":         {launch: true},
	"xpu_runtime":         {launch: true},
	"mtia_runtime":        {launch: true},
	"privateuse1_runtime": {launch: true},
	"Runtime":             {launch: true},
	"Trace":               {profiler: true},
	"ac2g":                {launchFlow: true},
	"async":               {launchFlow: true}, // of 2021, named "launch"
	"async_cpu_to_gpu":    {launchFlow: true},
}

// roles that the common table of roles cannot know, as they are one writer's.
var chromeRoles = map[string]trace.Role{
	"critical path component": trace.RoleAnnotation, // Bazel's summary, drawn over the real threads
	"dftracer":                trace.RoleOverhead,
}

// category returns the meaning of a record's category.
func (c *dictionary) category(v value) *category {
	if v.kind != text {
		v = value{}
	}
	name := v.plain(c.scratch[0])
	known, ok := c.categories[string(name)]
	if !ok {
		made := category{}
		if c.dialect == kineto {
			made = kinetoCategories[string(name)]
		}
		made.name = string(name)
		made.role = chromeRoles[made.name]
		made.regions = map[string]trace.RegionID{}
		known = &made
		c.categories[made.name] = known
	}
	return known
}

// categoryOf finds the category of a record that is prepared.
func (c *dictionary) categoryOf(r *record) *category {
	if r.sort.known == nil {
		r.sort.known = c.category(r.category)
	}
	return r.sort.known
}

// regionOf finds the region of a record that is prepared.
func (c *dictionary) regionOf(r *record) trace.RegionID {
	if r.what == nil {
		return c.region(c.categoryOf(r), r.name)
	}
	if !r.what.known {
		r.what.region, r.what.known = c.region(c.categoryOf(r), r.name), true
	}
	return r.what.region
}

// region finds the region of a name in a category, and defines it the first time.
func (c *dictionary) region(cat *category, name value) trace.RegionID {
	text := name.plain(c.scratch[1])
	if id, ok := cat.regions[string(text)]; ok {
		return id
	}
	r := trace.Region{Name: string(text), Category: cat.name, Role: cat.role}
	if r.Name == "" {
		r.Name = "(no name)"
	}
	if cat.name == "python_function" {
		r.File, r.Line = pythonPlace(r.Name)
	}
	id := c.w.Region(r)
	cat.regions[string(text)] = id
	return id
}

// pythonPlace returns the place of a function as Kineto names it: "train.py(12): step".
func pythonPlace(name string) (file string, line int) {
	file, rest, ok := strings.Cut(name, "(")
	number, _, closed := strings.Cut(rest, "): ")
	line, err := strconv.Atoi(number)
	if !ok || !closed || err != nil || line < 0 || strings.HasPrefix(file, "<") {
		return "", 0
	}
	return file, line
}

// endRegion finds the region that an end record names. Ends may leave out the
// name, and the category that their begin has.
func (c *dictionary) endRegion(r *record) trace.RegionID {
	if !r.name.present() || len(r.name.raw()) == 0 {
		return trace.NoRegion
	}
	if r.what != nil && r.what.known {
		return r.what.region
	}
	cat := c.categoryOf(r)
	name := r.name.plain(c.scratch[1])
	if _, ok := cat.regions[string(name)]; ok {
		return c.regionOf(r)
	}
	if cat.name == "" {
		for _, other := range c.categories {
			if id, ok := other.regions[string(name)]; ok {
				return id
			}
		}
	}
	return c.regionOf(r)
}
