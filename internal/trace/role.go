package trace

import "strings"

// RoleOf decides the role of a region from its name and category, for formats
// that do not say. The tables are asked in this order and the first answer wins:
//
//  1. names that mean the same in every category: a step of the profiler
//  2. categories that leave no doubt (a GPU kernel, a user's annotation), with
//     the names that are exceptions in them
//  3. whole names: states of runtimes and recorders
//  4. beginnings of names: the calls of a library
//  5. functions of Python, and collectives written with hyphens
//  6. categories that only hint (a group of functions)
//
// A name that none of them knows is compute. Letter case does not count, nor do the underscores that Fortran compilers
// append, nor an argument list. It is called once per region, so the tables are walked, not compiled.
func RoleOf(name, category string) Role {
	written := strings.TrimSpace(name)
	name = strings.ToLower(written)
	category = strings.ToLower(strings.TrimSpace(category))
	if strings.HasPrefix(name, profilerStep) {
		return RoleAnnotation // the old profiler of PyTorch files it under operators
	}
	if c, ok := sureCategories[category]; ok {
		if r, ok := matchRule(c.except, name); ok {
			return r
		}
		if category == "python_function" {
			return pythonRole(name)
		}
		return c.role
	}
	bare := bareName(name)
	if r, ok := roleWords[bare]; ok {
		return r
	}
	if r, ok := matchRule(roleRules, name); ok {
		return r
	}
	if isGPUCall(written) {
		r, _ := matchRule(gpuCalls, name)
		return r
	}
	if r, ok := roleWords[libraryName(bare)]; ok {
		return r
	}
	if r := pythonRole(name); r != RoleCompute {
		return r
	}
	if isCollective(bare) {
		return RoleCommunication
	}
	for part := range strings.FieldsFuncSeq(category, func(r rune) bool { return r == '|' || r == ',' }) {
		// as TAU and Chrome join groups
		if r, ok := hintCategories[part]; ok {
			return r
		}
	}
	return RoleCompute
}

// profilerStep begins the ranges that PyTorch's profiler puts around each step.
const profilerStep = "profilerstep"

// libraryName returns the name that a function of the C library is called by: symbols
// of its inside carry underscores and words in front and behind.
func libraryName(bare string) string {
	if rest, ok := strings.CutPrefix(bare, "__"); ok {
		rest = strings.TrimPrefix(rest, "gi_")
		rest = strings.TrimPrefix(rest, "libc_")
		rest = strings.TrimSuffix(rest, "_nocancel")
		return strings.TrimLeft(rest, "_")
	}
	if i := strings.IndexByte(bare, '@'); i > 0 { // read@plt, read@@GLIBC_2.2.5
		return bare[:i]
	}
	return bare
}

// isCollective recognises collectives and messages by the names that compilers of models
// and trainers give them: all-reduce.7, grads-reduce-scatter, forward-recv,
// collective-permute-start. A name of several words or a path says something else.
func isCollective(bare string) bool {
	if strings.ContainsAny(bare, " /\\:") {
		return false
	}
	bare = strings.TrimRight(bare, "0123456789.") // XLA numbers its instructions
	for _, part := range hyphenated {
		if strings.Contains(bare, part) {
			return true
		}
	}
	for _, part := range hyphenatedEnds {
		if strings.HasSuffix(bare, part) {
			return true
		}
	}
	return false
}

var (
	hyphenated = []string{"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
		"collective-broadcast"}
	hyphenatedEnds = []string{"-send", "-recv", "-receive", "send-done", "recv-done"}
)

// WaitsForAll reports whether a call of communication is a collective operation that ends on no rank before all have
// begun it, by its name: a barrier, an all-reduce. Calls that only begin one are none.
func WaitsForAll(name string) bool {
	bare := strings.NewReplacer("_", "", "-", "").Replace(bareName(strings.ToLower(name)))
	for _, part := range []string{"barrier", "allreduce", "allgather", "alltoall"} {
		if at := strings.Index(bare, part); at >= 0 && !strings.HasSuffix(bare[:at], "mpii") {
			return true
		}
	}
	return false
}

// bareName returns a name in lower case without argument list, source place and
// trailing underscores.
func bareName(name string) string {
	if i := strings.IndexAny(name, "(["); i > 0 {
		name = name[:i]
	}
	return strings.TrimRight(strings.TrimSpace(name), "_")
}

// A roleRule matches names that begin with prefix and hold part somewhere after it.
type roleRule struct {
	prefix, part string
	role         Role
}

func matchRule(rules []roleRule, name string) (Role, bool) {
	for i := range rules {
		if rest, ok := strings.CutPrefix(name, rules[i].prefix); ok && strings.Contains(rest, rules[i].part) {
			return rules[i].role, true
		}
	}
	return 0, false
}

type sureCategory struct {
	role   Role
	except []roleRule
}

// sureCategories are those of PyTorch's profiler in its old and new spelling, and
// those of other recorders whose meaning is as plain.
var sureCategories = map[string]sureCategory{
	"kernel":              {RoleCompute, collectiveKernels},
	"concurrent_kernel":   {RoleCompute, collectiveKernels},
	"gpu_memcpy":          {RoleCopy, nil},
	"gpu_memset":          {RoleCopy, nil},
	"memcpy":              {RoleCopy, nil},
	"memset":              {RoleCopy, nil},
	"cuda_sync":           {RoleSynchronization, nil},
	"cuda_runtime":        {RoleOverhead, gpuCalls},
	"cuda_driver":         {RoleOverhead, gpuCalls},
	"hip_runtime":         {RoleOverhead, gpuCalls},
	"xpu_runtime":         {RoleOverhead, gpuCalls},
	"mtia_runtime":        {RoleOverhead, nil},
	"glow_runtime":        {RoleOverhead, nil},
	"runtime":             {RoleOverhead, gpuCalls},
	"cpu_op":              {RoleCompute, collectiveOperators},
	"operator":            {RoleCompute, collectiveOperators},
	"python_function":     {RoleCompute, nil}, // pythonRole knows more
	"collective_comm":     {RoleCommunication, nil},
	"mtia_ccp_events":     {RoleCompute, collectiveKernels}, // kernels as the control processor of an MTIA runs them
	"overhead":            {RoleOverhead, nil},
	"gc notification":     {RoleOverhead, nil},
	"user_annotation":     {RoleAnnotation, collectiveOperators},
	"gpu_user_annotation": {RoleAnnotation, nil},
	"cpu_instant_event":   {RoleAnnotation, nil},
	"trace":               {RoleAnnotation, nil},
	"nvtx":                {RoleAnnotation, nil},
	"roctx":               {RoleAnnotation, nil},
}

// hintCategories are groups in which some names mean something else.
var hintCategories = map[string]Role{
	"mpi": RoleCommunication, "shmem": RoleCommunication, "gaspi": RoleCommunication, "nccl": RoleCommunication,
	"communication": RoleCommunication, "communication thread state": RoleCommunication,
	"posix": RoleIO, "stdio": RoleIO, "mpiio": RoleIO, "mpi-io": RoleIO, "hdf5": RoleIO, "io": RoleIO, "i/o": RoleIO,
	"file_io": RoleIO,
	"node.fs": RoleIO, "node.fs.sync": RoleIO, "node.fs.async": RoleIO,
	"synchronization": RoleSynchronization, "barrier": RoleSynchronization, "lock": RoleSynchronization,
	"idle": RoleIdle, "memory node state": RoleOverhead, "annotation": RoleAnnotation,
}

// collectiveKernels are GPU kernels that move data between devices and wait for
// peers while they do.
var collectiveKernels = []roleRule{
	{"", "nccl", RoleCommunication}, // RCCL keeps NCCL's names, MSCCL adds a letter
	{"", "rccl", RoleCommunication},
	{"", "msccl", RoleCommunication},
	{"", "oneccl", RoleCommunication},
	{"", "nvshmem", RoleCommunication},
	{"", "rocshmem", RoleCommunication},
	{"", "cross_device_reduce", RoleCommunication},
	{"", "all-reduce", RoleCommunication}, // as trainers and XLA name them
	{"", "all-gather", RoleCommunication},
	{"", "reduce-scatter", RoleCommunication},
	{"", "all-to-all", RoleCommunication},
	{"", "collective-permute", RoleCommunication},
}

// collectiveOperators are operators and ranges that stand for a collective. On
// the CPU (gloo) they are the only record of it, so a user's annotation of that
// name counts as communication.
var collectiveOperators = []roleRule{
	{"nccl:", "", RoleCommunication},
	{"rccl:", "", RoleCommunication},
	{"gloo:", "", RoleCommunication},
	{"mpi:", "", RoleCommunication},
	{"ucc:", "", RoleCommunication},
	{"xccl:", "", RoleCommunication},
	{"hccl:", "", RoleCommunication},
	{"c10d::", "", RoleCommunication},
	{"_c10d_functional::", "", RoleCommunication},
	{"c10d_functional::", "", RoleCommunication},
	{"record_param_comms", "", RoleCommunication},
	{"all2all_", "", RoleCommunication}, // TorchRec's
	{"autograd::engine::evaluate_function: all2all_", "", RoleCommunication},
}

// gpuCalls are calls of a GPU's runtime on the host. A call that returns before
// the work is done is overhead, one that waits is synchronization, and one that
// copies before it returns is a copy.
var gpuCalls = []roleRule{
	{"", "synchronize", RoleSynchronization},
	{"", "waitevent", RoleSynchronization},
	{"", "waitforevents", RoleSynchronization},
	{"", "waitvalue", RoleSynchronization},
	{"", "waitexternalsemaphores", RoleSynchronization},
	{"hsa_signal_wait", "", RoleSynchronization},
	{"clfinish", "", RoleSynchronization},
	{"", "async", RoleOverhead},
	{"", "cpy", RoleCopy},
	{"", "", RoleOverhead},
}

// isGPUCall recognises the calls of the GPU runtimes by the name alone, letter case
// included: "cu" also begins the kernels of cuBLAS and cuDNN, and "cuda_" and
// "hip_" begin the functions of users.
func isGPUCall(name string) bool {
	for _, p := range gpuPrefixes {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" {
			return rest[0] >= 'A' && rest[0] <= 'Z' || strings.HasSuffix(p, "_")
		}
	}
	for _, p := range gpuVerbs {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

var gpuPrefixes = []string{"cuda", "hip", "hsa_", "acc_", "cupti", "roctracer_"}

var gpuVerbs = []string{
	"cuLaunch", "cuMem", "cuCtx", "cuStream", "cuEvent", "cuModule", "cuDevice", "cuFunc", "cuInit", "cuGraph",
	"cuOccupancy", "cuLibrary",
	"cuKernel", "cuPointer", "cuDriver", "cuTensorMap", "zeCommand", "zeEvent", "zeFence", "zeKernel", "zeModule",
	"zeMem",
	"clEnqueue", "clFinish", "clFlush", "clWaitForEvents", "clBuildProgram", "clCreate", "clRelease", "clSet", "clGet",
}
