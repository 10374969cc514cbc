package chrometrace

import "github.com/parallax-hpc/parallax/internal/trace"

// A category is what a "cat" means, looked up once.
type category struct {
	name    string
	role    trace.Role
	regions map[string]trace.RegionID

	// Of Kineto's categories only:
	gpu        bool // rows of these are streams of a device, not threads
	work       bool // is started by a launch
	launch     bool // may start work
	profiler   bool // is about the profiler, not the program
	launchFlow bool // flow records that say what correlation ids say
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

// category finds what a record's category means.
func (c *dictionary) category(v value) *category {
	if v.kind != text {
		v = value{}
	}
	if last := c.lastCategory; last != nil && last.name == string(v.raw) {
		return last
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
	c.lastCategory = known
	return known
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
	id := c.w.Region(r)
	cat.regions[string(text)] = id
	return id
}

// endRegion finds the region that an end record names. Ends may leave out the
// name, and the category that their begin has.
func (c *dictionary) endRegion(r *record) trace.RegionID {
	if !r.name.present() || len(r.name.raw) == 0 {
		return trace.NoRegion
	}
	cat := c.category(r.category)
	name := r.name.plain(c.scratch[1])
	if id, ok := cat.regions[string(name)]; ok {
		return id
	}
	if cat.name == "" {
		for _, other := range c.categories {
			if id, ok := other.regions[string(name)]; ok {
				return id
			}
		}
	}
	return c.region(cat, r.name)
}
