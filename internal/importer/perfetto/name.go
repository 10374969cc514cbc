package perfetto

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A dictionary holds regions, attributes and strings, which packets speak of by number.
type dictionary struct {
	w trace.Writer

	regions    map[naming]trace.RegionID
	names      map[trace.RegionID]naming
	stacks     map[trace.RegionID]bool // of sampled call stacks
	attributes importer.Attributes
	texts      map[string]string

	// Used again for each packet.
	packet  packet
	scratch []fact
	key     []byte

	tally tally
}

// A naming is the name and category of a region in the file.
type naming struct{ name, category string }

// region finds the region of an event by the numbers of its name and category, or
// by their strings.
func (c *dictionary) region(s *sequence, e *event) trace.RegionID {
	interned := e.nameID != 0 && len(e.categories) == 0 && len(e.categoryIDs) <= 1
	k := regionKey{e.nameID, e.categoryID()}
	if interned {
		if k.name < uint64(len(s.recent)) {
			if r := &s.recent[k.name]; r.set && r.category == k.category {
				return r.id
			}
		}
		if id, ok := s.regions[k]; ok {
			s.remember(k, id)
			return id
		}
	}
	id := c.define(c.nameOf(s, e), c.categoryOf(s, e), trace.RoleByName)
	if interned {
		s.regions[k] = id
	}
	return id
}

// define finds a region by name and category.
func (c *dictionary) define(name, category string, role trace.Role) trace.RegionID {
	n := naming{name, category}
	id, ok := c.regions[n]
	if ok {
		return id
	}
	shown := cmp.Or(name, "(no name)")
	if role == trace.RoleByName {
		role = roleOf(name, category)
	}
	id = c.w.Region(trace.Region{Name: shown, Category: category, Role: role})
	c.regions[n] = id
	if isSampling(category) {
		if c.stacks == nil {
			c.stacks = map[trace.RegionID]bool{}
		}
		c.stacks[id] = true
	}
	if c.names[id] == (naming{}) {
		c.names[id] = n
	}
	return id
}

// roles are those of categories that ROCm's recorders use and whose names alone
// say little: names of kernels, of copies.
var roles = map[string]trace.Role{
	"memory_copy": trace.RoleCopy, "rocm_memory_copy": trace.RoleCopy, "copy": trace.RoleCopy,
	"memory_allocation": trace.RoleOverhead,
	"kernel_dispatch":   trace.RoleCompute, "rocm_kernel_dispatch": trace.RoleCompute, "device_hip": trace.RoleCompute,
	"mpi": trace.RoleCommunication, "rccl": trace.RoleCommunication, "rccl_api": trace.RoleCommunication,
	"rocm_rccl": trace.RoleCommunication,
	"user":      trace.RoleByName,
}

func roleOf(name, category string) trace.Role {
	if r, ok := roles[category]; ok {
		return r
	}
	return trace.RoleByName
}

// nameOf is the name of an event; lost names are distinguished by their number.
func (c *dictionary) nameOf(s *sequence, e *event) string {
	switch {
	case e.name != nil:
		return c.text(e.name)
	case e.nameID == 0:
		return ""
	}
	name, ok := s.names.get(e.nameID)
	if !ok {
		c.tally.Add(lostNames, nowhere)
		return "(name lost " + strconv.FormatUint(e.nameID, 10) + ")"
	}
	return name
}

// categoryOf is the category of an event; of several, all.
func (c *dictionary) categoryOf(s *sequence, e *event) string {
	switch id := e.categoryID(); {
	case len(e.categories) > 1 || len(e.categoryIDs) > 1 || len(e.categories) == 1 && id != 0:
		return c.allCategories(s, e)
	case len(e.categories) == 1:
		return c.text(e.categories[0])
	case id == 0:
		return ""
	}
	name, ok := s.categories.get(e.categoryID())
	if !ok {
		c.tally.Add(lostNames, nowhere)
	}
	return name
}

func (c *dictionary) allCategories(s *sequence, e *event) string {
	var all []string
	for _, id := range e.categoryIDs {
		if name, ok := s.categories.get(id); ok {
			all = append(all, name)
		}
	}
	for _, name := range e.categories {
		all = append(all, string(name))
	}
	return strings.Join(all, ",")
}

// mostTexts and longestText bound the strings that are kept to be used again.
const (
	mostTexts   = 1 << 15
	longestText = 256
)

// text is bytes as a string, the same one for the same bytes as a rule.
func (c *dictionary) text(b []byte) string {
	if s, ok := c.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(b) <= longestText {
		if len(c.texts) >= mostTexts {
			clear(c.texts)
		}
		c.texts[s] = s
	}
	return s
}
