package jfr

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A plan is the conversion of the events of a class.
type plan struct {
	region      trace.RegionID
	threadField int // -1: none
	duration    int
	sample      *sampleKind
	counters    []counter
	collector   bool // belongs to the garbage collector
	setting     bool
}

// A counter is a field that is a level.
type counter struct{ field, name, unit string }

// counters are the events whose numbers are levels over time.
var counters = map[string][]counter{
	"jdk.CPULoad": {{"jvmUser", "CPU load: JVM user", ""}, {"jvmSystem", "CPU load: JVM system", ""},
		{"machineTotal", "CPU load: machine", ""}},
	"jdk.ThreadCPULoad": {{"user", "CPU load: user", ""}, {"system", "CPU load: system", ""}},
	"jdk.GCHeapSummary": {{"heapUsed", "heap used", "bytes"},
		{"heapSpace.committedSize", "heap committed", "bytes"}},
	"jdk.MetaspaceSummary": {{"metaspace.used", "metaspace used", "bytes"},
		{"metaspace.committed", "metaspace committed", "bytes"}},
	"jdk.JavaThreadStatistics":    {{"activeCount", "Java threads", ""}},
	"jdk.ClassLoadingStatistics":  {{"loadedClassCount", "classes loaded", ""}},
	"jdk.PhysicalMemory":          {{"usedSize", "memory used on the machine", "bytes"}},
	"jdk.ResidentSetSize":         {{"size", "resident set size", "bytes"}},
	"jdk.ThreadContextSwitchRate": {{"switchRate", "context switches a second", ""}},
	"jdk.NetworkUtilization":      {{"readRate", "network read rate", ""}, {"writeRate", "network write rate", ""}},
	"jdk.DirectBufferStatistics":  {{"memoryUsed", "direct buffers", "bytes"}},
	"jdk.ExecutorStatistics":      {{"activeCount", "executor: active", ""}},
	"jdk.ThreadAllocationStatistics": {
		{"allocated", "allocated", "bytes"},
	},
}

// roles of events of the JDK.
var roles = map[string]trace.Role{
	"ThreadPark": trace.RoleSynchronization, "JavaMonitorEnter": trace.RoleSynchronization,
	"JavaMonitorWait": trace.RoleSynchronization,
	"ThreadSleep":     trace.RoleIdle, "VirtualThreadPinned": trace.RoleSynchronization,
	"SocketRead": trace.RoleIO, "SocketWrite": trace.RoleIO, "FileRead": trace.RoleIO, "FileWrite": trace.RoleIO,
	"FileForce":         trace.RoleIO,
	"GarbageCollection": trace.RoleOverhead, "Compilation": trace.RoleOverhead, "ClassLoad": trace.RoleOverhead,
	"ExecuteVMOperation": trace.RoleOverhead,
}

// plan finds the plan of a class.
func (c *converter) plan(x *class) *plan {
	p, ok := c.plans[x.name]
	if ok && p.duration < len(x.fields) && p.threadField < len(x.fields) && p.duration == x.field("duration") &&
		p.threadField == threadField(x) {
		return p
	}
	p = &plan{threadField: threadField(x), duration: x.field("duration"), counters: counters[x.name],
		setting: x.name == "jdk.ActiveSetting"}
	if s, ok := sampleKinds[x.name]; ok {
		p.sample = &s
	}
	short, isJDK := strings.CutPrefix(x.name, "jdk.")
	r := trace.Region{Name: short}
	if isJDK {
		r.Category = "jdk"
		r.Role = roles[short]
	}
	p.collector = isJDK &&
		(strings.Contains(short, "GC") || strings.Contains(short, "Garbage") || strings.HasPrefix(short, "G1") ||
			strings.HasPrefix(short, "Z"))
	if p.collector {
		r.Role = trace.RoleOverhead
	}
	// Events about the recording say nothing of the program.
	if c.plans[x.name] = p; p.counters == nil && p.sample == nil && !p.setting &&
		(p.threadField >= 0 || p.duration >= 0) {
		p.region = c.w.Region(r)
	}
	return p
}

// threadField is the field that says whose event it is.
func threadField(x *class) int {
	for _, name := range []string{"sampledThread", "eventThread", "thread"} {
		if i := x.field(name); i >= 0 && x.fields[i].class.name == "java.lang.Thread" {
			return i
		}
	}
	return -1
}
