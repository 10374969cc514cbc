package otf2

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Paradigms that are asked for by number.
const (
	paradigmUnknown     = 0
	paradigmUser        = 1
	paradigmCompiler    = 2
	paradigmOpenMP      = 3
	paradigmMPI         = 4
	paradigmMeasurement = 6
)

// paradigmNames are the words for paradigms that an archive does not name itself.
var paradigmNames = []string{
	"", "user", "compiler", "openmp", "mpi", "cuda", "measurement", "pthread", "hmpp", "ompss", "hardware", "gaspi",
	"upc", "shmem",
	"winthread", "qtthread", "acethread", "tbbthread", "openacc", "opencl", "mtapi", "sampling", "none", "hip",
	"kokkos",
}

// The roles of regions.
const (
	roleUnknown = iota
	roleFunction
	roleWrapper
	roleLoop
	roleCode
	roleParallel
	roleSections
	roleSection
	roleWorkshare
	roleSingle
	roleSingleBlock
	roleMaster
	roleCritical
	roleCriticalBlock
	roleAtomic
	roleBarrier
	roleImplicitBarrier
	roleFlush
	roleOrdered
	roleOrderedBlock
	roleTask
	roleTaskCreate
	roleTaskWait
	roleOneToAll
	roleAllToOne
	roleAllToAll
	roleCollective
	roleFileIO
	rolePointToPoint
	roleRMA
	roleDataTransfer
	roleArtificial
	roleThreadCreate
	roleThreadWait
	roleTaskUntied
	roleAllocate
	roleDeallocate
	roleReallocate
	roleFileMetadata
)

var roleWords = []string{
	roleLoop: "loop", roleCode: "code", roleParallel: "parallel", roleSections: "sections", roleSection: "section",
	roleWorkshare: "workshare", roleSingle: "single", roleSingleBlock: "single block", roleMaster: "master",
	roleCritical:      "critical",
	roleCriticalBlock: "critical block", roleAtomic: "atomic", roleBarrier: "barrier",
	roleImplicitBarrier: "implicit barrier",
	roleFlush:           "flush", roleOrdered: "ordered", roleOrderedBlock: "ordered block", roleTask: "task",
	roleTaskCreate: "task create",
	roleTaskWait:   "task wait", roleOneToAll: "one to all", roleAllToOne: "all to one", roleAllToAll: "all to all",
	roleCollective: "collective", roleFileIO: "file i/o", rolePointToPoint: "point to point", roleRMA: "one-sided",
	roleDataTransfer: "data transfer", roleArtificial: "artificial", roleThreadCreate: "thread create",
	roleThreadWait: "thread wait",
	roleTaskUntied: "untied task", roleAllocate: "allocate", roleDeallocate: "deallocate", roleReallocate: "reallocate",
	roleFileMetadata: "file metadata",
}

// roleOf translates the archive's role of a region. A function of the user may be
// anything, so there its name decides; so it does for MPI, where MPI_Init and
// MPI_File_open are no communication.
func roleOf(role, paradigm uint8) trace.Role {
	switch role {
	case roleBarrier, roleImplicitBarrier, roleCritical, roleAtomic, roleFlush, roleOrdered, roleTaskWait,
		roleThreadWait:
		if paradigm == paradigmMPI {
			return trace.RoleCommunication
		}
		return trace.RoleSynchronization
	case roleOneToAll, roleAllToOne, roleAllToAll, roleCollective, rolePointToPoint, roleRMA:
		return trace.RoleCommunication
	case roleFileIO, roleFileMetadata:
		return trace.RoleIO
	case roleDataTransfer:
		return trace.RoleCopy
	case roleTaskCreate, roleThreadCreate, roleAllocate, roleDeallocate, roleReallocate:
		return trace.RoleOverhead
	case roleLoop, roleCode, roleParallel, roleSections, roleSection, roleWorkshare, roleSingle, roleSingleBlock,
		roleMaster,
		roleCriticalBlock, roleOrderedBlock, roleTask, roleTaskUntied:
		return trace.RoleCompute
	}
	if paradigm == paradigmMeasurement {
		return trace.RoleOverhead
	}
	return trace.RoleByName
}

// oldRole translates the kinds of regions from before version 1.1.
func oldRole(kind uint8) (role, paradigm uint8) {
	openMP := []uint8{
		5: roleParallel, 6: roleLoop, 7: roleSections, 8: roleSection, 9: roleWorkshare, 10: roleSingle, 11: roleMaster,
		12: roleCritical,
		13: roleAtomic, 14: roleBarrier, 15: roleImplicitBarrier, 16: roleFlush, 17: roleCriticalBlock,
		18: roleSingleBlock, 19: roleWrapper,
		20: roleTask, 21: roleTaskWait, 33: roleTaskCreate, 34: roleOrdered, 35: roleOrderedBlock,
	}
	mpi := []uint8{22: roleBarrier, 23: roleOneToAll, 24: roleAllToOne, 25: roleAllToAll, 26: roleCollective}
	switch {
	case int(kind) < len(openMP) && openMP[kind] != 0:
		return openMP[kind], paradigmOpenMP
	case int(kind) < len(mpi) && mpi[kind] != 0:
		return mpi[kind], paradigmMPI
	case kind == 1:
		return roleFunction, paradigmCompiler
	case kind == 2:
		return roleLoop, paradigmUser
	}
	return roleFunction, paradigmUser
}

// paradigmWord is the category of regions of a paradigm.
func (d *definitions) paradigmWord(p uint8) string {
	if name, ok := d.paradigms[p]; ok && d.text(name) != "" {
		return strings.ToLower(d.text(name))
	}
	if int(p) < len(paradigmNames) {
		return paradigmNames[p]
	}
	return ""
}

// defineRegions passes every region to w, in the order of the archive. Writers
// that define a region once a rank give the same name, file and line each time,
// which makes them one.
func (d *definitions) defineRegions(w trace.Writer) *table[trace.RegionID] {
	ids := new(table[trace.RegionID])
	for i := range d.regions {
		r := &d.regions[i]
		out := trace.Region{Name: d.text(r.name), Category: d.paradigmWord(r.paradigm),
			Role: roleOf(r.role, r.paradigm), File: d.text(r.file)}
		if out.Name == "" {
			out.Name = d.text(r.canonical)
		}
		if out.Name == "" {
			out.Name = "region " + decimal(uint64(r.id))
		}
		if r.line != undefined32 {
			out.Line = int(r.line)
		}
		out.Attributes = d.regionAttributes(r, out.Name)
		ids.put(uint64(r.id), w.Region(out))
	}
	return ids
}

func (d *definitions) regionAttributes(r *region, name string) (list []trace.Attribute) {
	add := func(key, text string) {
		if text != "" && text != name {
			list = append(list, trace.Attribute{Key: key, Value: trace.Text(text)})
		}
	}
	if int(r.role) < len(roleWords) {
		add("kind", roleWords[r.role])
	}
	add("canonical name", d.text(r.canonical))
	add("description", d.text(r.description))
	return list
}
