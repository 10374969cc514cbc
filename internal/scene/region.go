package scene

import "strings"

// roleSections are the families of colours in the order of trace.Role; a test of
// the views holds the two against each other. The first is "no role".
var roleSections = [...]string{"", "compute", "communication", "synchronization", "idle", "io", "copy", "overhead", "annotation"}

// RoleColour gives the colour that stands for a role. A role without a family
// (none, or unknown) has the colour of nothing open.
func RoleColour(role uint8) Colour { return family(role).At(0) }

func family(role uint8) Section {
	if int(role) < len(roleSections) && role > 0 {
		return loadPalette().byName[roleSections[role]]
	}
	return Section{Start: int(UIEmpty), Length: 1}
}

// RegionColour gives the colour of a region: from the family of its role, by its
// name alone, so the same in every view and every run.
func RegionColour(name string, role uint8) Colour {
	f := family(role)
	name = plainName(name)
	if i, ok := knownShades[name]; ok {
		return f.At(i)
	}
	first := 0
	if strings.HasPrefix(name, "MPI_") {
		first = min(rareShades, f.Length-1)
	}
	return f.At(first + int(hashName(name)%uint64(max(f.Length-first, 1))))
}

// FreeShade gives a colour of a role's family that is not taken: the one given, or
// the next after it. Where all are taken it is the one given.
func FreeShade(c Colour, role uint8, taken map[Colour]bool) Colour {
	f := family(role)
	for k := range f.Length {
		if next := f.At(int(c) - f.Start + k); !taken[next] {
			return next
		}
	}
	return c
}

// rareShades is where the shades of MPI's seldom calls begin: they do not share
// the first ones, which the calls that fill pictures have.
const rareShades = 8

// LocationColour gives one of twelve distinct hues, starting over past the last.
func LocationColour(i int) Colour { return loadPalette().byName["locations"].At(i) }

// LocationShades is how many shades LocationTimeColour tells apart.
func LocationShades() int {
	return loadPalette().byName["location-time"].Length / loadPalette().byName["locations"].Length
}

// LocationTimeColour gives the hue of LocationColour in a lightness that says when:
// at share 0 of a run light, at 1 dark.
func LocationTimeColour(i int, share float64) Colour {
	s := loadPalette().byName["location-time"]
	steps := LocationShades()
	return s.At(i*steps%s.Length + min(int(share*float64(steps)), steps-1))
}

// plainName takes away what recorders add to the same name: blanks round it, the
// brackets of TAU, the P of the profiling layer, the underscores of Fortran.
func plainName(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(strings.TrimSuffix(s, "()"))
	if len(s) > 5 && (s[:5] == "PMPI_" || s[:5] == "pmpi_") {
		s = s[1:]
	}
	if len(s) > 4 && strings.EqualFold(s[:4], "mpi_") {
		s = "MPI_" + strings.ToLower(strings.TrimRight(s[4:], "_"))
	}
	return s
}

// hashName is FNV-1a with a finisher, so that names which differ in one letter
// differ in their low bits.
func hashName(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// knownShades gives names that often stand next to each other shades far apart:
// a family's shades are ordered so that the first few differ the most. Names are
// as plainName writes them.
var knownShades = func() map[string]int {
	shades := map[string]int{}
	for _, names := range [][]string{
		{
			"MPI_allreduce", "MPI_recv", "MPI_send", "MPI_wait", "MPI_barrier", "MPI_bcast", "MPI_irecv", "MPI_waitall",
			"MPI_isend", "MPI_alltoall", "MPI_reduce", "MPI_sendrecv", "MPI_allgather", "MPI_alltoallv", "MPI_gather",
			"MPI_scatter", "MPI_waitany", "MPI_test", "MPI_ssend", "MPI_iprobe",
		},
		{"ncclDevKernel_AllReduce", "ncclDevKernel_ReduceScatter", "ncclDevKernel_AllGather", "ncclDevKernel_SendRecv", "ncclDevKernel_Broadcast"},
	} {
		for i, n := range names {
			shades[n] = i
		}
	}
	// The one state of its role that most recorders have is the role's own colour.
	for _, n := range []string{"Executing", "Computing", "computing", "compute", "Running", "running", "Idle", "idle", "Blocked", "Overhead"} {
		shades[n] = 0
	}
	return shades
}()
