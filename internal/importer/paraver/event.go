package paraver

import (
	"fmt"
	"maps"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A meaning is the conversion of events of a type.
type meaning uint8

const (
	counted meaning = iota // a sample of a counter
	region                 // an interval, from a value to 0
	stacked                // intervals that nest: each 0 ends the innermost
	marked                 // an instant
	detail                 // an attribute of the interval or instant of the same record
)

// An eventType is a type of events, with its definitions.
type eventType struct {
	id       int64
	name     string
	category string
	meaning  meaning
	role     trace.Role
	values   map[int64]string
	regions  map[int64]trace.RegionID
	// attribute of details
	attribute trace.AttributeID
	defined   bool
}

// Types of events that mean something without a .pcf; numbers are Extrae's.
const (
	typeApplication = 40000001
	typeTraceInit   = 40000002
	typeFlush       = 40000003
	typeMPI         = 50000001 // to 50000005: point to point, collective, other, one-sided, files
	lastMPI         = 50000005
	typeParallel    = 60000001
	typeWorksharing = 60000002
	typeBarrier     = 60000005
	typeCritical    = 60000006
	typeUnnamed     = 60000007
	typeDispatch    = 60000011
	typeJoin        = 60000016
	typeOutlined    = 60000018
	typeFunction    = 60000019
	typeTask        = 60000021
	typeTaskwait    = 60000022
	typeTaskBody    = 60000023
)

// knownTypes are those whose name and role do not depend on the .pcf.
var knownTypes = map[int64]struct {
	name     string
	category string
	meaning  meaning
	role     trace.Role
	values   map[int64]string
}{
	typeApplication: {"application", "Extrae", region, trace.RoleAnnotation, map[int64]string{1: "application"}},
	typeTraceInit: {"trace initialisation", "Extrae", region, trace.RoleOverhead,
		map[int64]string{1: "trace initialisation"}},
	typeFlush: {"flushing the trace", "Extrae", region, trace.RoleOverhead,
		map[int64]string{1: "flushing the trace"}},
	typeParallel: {"parallel region", "OpenMP", region, trace.RoleCompute,
		map[int64]string{1: "parallel do", 2: "parallel sections", 3: "parallel region"}},
	typeWorksharing: {"worksharing", "OpenMP", region, trace.RoleCompute,
		map[int64]string{4: "OpenMP do", 5: "OpenMP sections", 6: "OpenMP single"}},
	typeBarrier: {"OpenMP barrier", "OpenMP", region, trace.RoleSynchronization,
		map[int64]string{1: "OpenMP barrier"}},
	typeCritical: {"named critical", "OpenMP", region, trace.RoleByName,
		map[int64]string{3: "waiting for a lock", 5: "releasing a lock", 6: "holding a lock"}},
	typeUnnamed: {"critical", "OpenMP", region, trace.RoleByName,
		map[int64]string{3: "waiting for a lock", 5: "releasing a lock", 6: "holding a lock"}},
	typeDispatch: {"worksharing dispatch", "OpenMP", region, trace.RoleOverhead,
		map[int64]string{1: "worksharing dispatch"}},
	typeJoin: {"worksharing join", "OpenMP", region, trace.RoleSynchronization,
		map[int64]string{1: "join", 2: "join without waiting"}},
	typeOutlined: {"parallel function", "OpenMP", stacked, trace.RoleCompute, nil},
	typeFunction: {"user function", "user function", stacked, trace.RoleByName, nil},
	typeTask:     {"OpenMP task", "OpenMP", region, trace.RoleOverhead, map[int64]string{1: "creating a task"}},
	typeTaskwait: {"OpenMP taskwait", "OpenMP", region, trace.RoleSynchronization,
		map[int64]string{1: "OpenMP taskwait"}},
	typeTaskBody: {"task function", "OpenMP", stacked, trace.RoleCompute, nil},
}

// isCounter recognises hardware counters by Extrae's numbers.
func isCounter(id int64) bool { return id >= 41999999 && id < 48000000 }

// isDetail recognises types that describe the call or sample of their record: callers and
// their lines, lines of functions, sizes and partners of MPI, I/O and memory calls.
func isDetail(id int64) bool {
	switch {
	case id >= 70000000 && id < 90000000, id >= 30000100 && id < 30000200, id >= 60000100 && id < 60000200,
		id >= 50100001 && id <= 50100099, id >= 50001000 && id < 50002000:
		return true
	}
	switch id {
	case 40000010, 40000011, 40000013, 40000041, 40000042, 40000043, 40000059, 60000028, 60000032, 63000004, 63000005,
		64099999:
		return true
	}
	return false
}

// isSample recognises types of sampled functions.
func isSample(id int64) bool { return id >= 30000000 && id < 30000100 }

// eventOf returns the meaning of a type, deciding it when the type is first met.
func (c *converter) eventOf(id int64) *eventType {
	if id == c.lastType && c.last != nil {
		return c.last
	}
	e := c.types[id]
	if e == nil {
		e = c.newType(id)
		c.types[id] = e
	}
	c.lastType, c.last = id, e
	return e
}

func (c *converter) newType(id int64) *eventType {
	e := &eventType{id: id, name: fmt.Sprint("event ", id), regions: map[int64]trace.RegionID{}}
	said := c.names.events[id]
	if said != nil {
		e.name, e.values = said.name, said.values
	}
	e.category = e.name
	known, isKnown := knownTypes[id]
	switch {
	case isKnown:
		e.meaning, e.role, e.category = known.meaning, known.role, known.category
		if said == nil {
			e.name = known.name
		}
		e.values = merged(known.values, e.values)
	case id >= typeMPI && id <= lastMPI:
		e.meaning, e.category = region, "MPI"
		if e.values == nil {
			e.values = mpiCalls
		}
	case isDetail(id):
		e.meaning = detail
	case isSample(id):
		e.meaning, e.category = marked, "sample"
	case isCounter(id) || e.values == nil:
		e.meaning = counted
	case endsAtZero(e.values):
		e.meaning = region
	default:
		e.meaning = marked
	}
	return e
}

// merged is a table of values in which first goes before second.
func merged(first, second map[int64]string) map[int64]string {
	all := maps.Clone(second)
	if all == nil {
		all = map[int64]string{}
	}
	maps.Copy(all, first)
	return all
}

// endsAtZero reports whether the value 0 of a type means that nothing goes on.
func endsAtZero(values map[int64]string) bool {
	zero, ok := values[0]
	if !ok {
		return false
	}
	zero = strings.ToLower(zero)
	for _, word := range []string{"end", "outside", "close", "exit", "unlocked", "not ", "none", "leave", "idle",
		"out of", "no "} {
		if strings.HasPrefix(zero, word) {
			return true
		}
	}
	return false
}

// nameOf names a value.
func (e *eventType) nameOf(value int64) string {
	if name, ok := e.values[value]; ok && name != "" {
		if (name == "Begin" || name == "1") && value == 1 {
			return e.name // "Flushing Traces", not "Begin"
		}
		return name
	}
	return fmt.Sprintf("%s %d", e.name, value)
}

// regionOf defines the region of a value when it is first met.
func (c *converter) regionOf(e *eventType, value int64) trace.RegionID {
	id, ok := e.regions[value]
	if !ok {
		if len(e.regions) >= maxRegions {
			c.tally.Add(manyValues, c.line)
			value = otherValue
			if id, ok = e.regions[value]; ok {
				return id
			}
			id = c.w.Region(trace.Region{Name: e.name + " (other values)", Category: e.category, Role: e.role})
		} else {
			id = c.w.Region(trace.Region{Name: e.nameOf(value), Category: e.category, Role: e.role})
		}
		e.regions[value] = id
	}
	return id
}

const (
	maxRegions = 1 << 16
	otherValue = -1 << 63
)
