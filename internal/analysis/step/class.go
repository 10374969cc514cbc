package step

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// noTerm is for regions that neither run on a GPU nor count on the host.
const noTerm Term = -1

// workTerm returns the term of a region on a row of a GPU. Ranges, waits and the recorder's own marks are
// no work.
func workTerm(g *trace.Region) Term {
	name, category := strings.ToLower(g.Name), strings.ToLower(g.Category)
	if category == "cuda_sync" || category == "cuda_event" || category == "gpu_pm_counter" {
		return noTerm
	}
	switch g.Role {
	case trace.RoleAnnotation, trace.RoleSynchronization, trace.RoleIdle, trace.RoleOverhead:
		return noTerm
	case trace.RoleCommunication:
		return Communication
	}
	switch {
	case strings.Contains(category, "memset") || strings.HasPrefix(name, "memset"):
		return Memset
	case g.Role == trace.RoleCopy, strings.HasPrefix(name, "memcpy"), name == "dma_request": // as MTIA calls its copies
		return Memcpy
	}
	return Kernel
}

// loaderWords are parts of names, in lower case, of regions that make or wait for input.
var loaderWords = []string{
	"dataloader", "data_loader", "data loader", "enumerate(datapipe)", "datafetcher", "dataloading", "data_loading",
	"data loading", "data-loading",
	"input pipeline", "input_pipeline", "next batch", "next_batch", "get_batch", "fetch_batch", "load_batch",
	"load_data", "iteratorgetnext", "iterator::getnext", "infeed",
	"batch-generator", "batch_generator",
}

func isLoader(name string) bool {
	for _, w := range loaderWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// A Doing is the activity of a thread of the host.
type Doing uint8

// The activities of a thread, for the causes of idle time.
const (
	Nothing Doing = iota
	Annotated
	Python
	Operating // in an operator, or other code
	Calling   // a call of CUDA, HIP and their like
	Allocating
	Synchronizing
	Sleeping
	Exchanging // communication by the host
	Loading
)

// A hostClass is the term and the activity of a region on a thread.
type hostClass struct {
	term  Term
	doing Doing
}

// runtimeCategories hold calls of GPU libraries.
var runtimeCategories = map[string]bool{
	"runtime": true, "cuda_runtime": true, "cuda_driver": true, "hip_runtime": true, "hip_api": true,
	"xpu_runtime": true, "mtia_runtime": true, "privateuse1_runtime": true, "glow_runtime": true,
}

var allocations = []string{"malloc", "memfree", "cudafree", "hipfree", "memalloc", "hostalloc", "mempool", "memcreate",
	"memaddressreserve", "memmap", "hostregister"}

// classOf returns the class of a region on a row of the host.
func classOf(g *trace.Region) hostClass {
	name, category := strings.ToLower(g.Name), strings.ToLower(g.Category)
	switch {
	case category == "overhead" || category == "gpu_user_annotation":
		return hostClass{noTerm, Nothing}
	case runtimeCategories[category] || g.Role == trace.RoleOverhead && isCall(g.Name) ||
		g.Role == trace.RoleSynchronization && isCall(g.Name):
		c := hostClass{Runtime, Calling}
		for _, a := range allocations {
			if strings.Contains(name, a) {
				c.doing = Allocating
			}
		}
		if g.Role == trace.RoleSynchronization && !strings.Contains(name, "streamwaitevent") ||
			strings.Contains(name, "synchronize") {
			c.doing = Synchronizing
		}
		return c
	case isLoader(name):
		return hostClass{Loader, Loading}
	case g.Role == trace.RoleCommunication && !onDevice(name):
		return hostClass{Communication, Exchanging}
	}
	c := hostClass{CPU, Operating}
	switch {
	case g.Role == trace.RoleIdle:
		c.doing = Sleeping
	case g.Role == trace.RoleSynchronization:
		c.doing = Synchronizing
	case category == "python_function" || strings.HasPrefix(name, "$") && strings.Contains(name, ".py:"):
		c.doing = Python
	case g.Role == trace.RoleAnnotation:
		c.doing = Annotated
	}
	return c
}

// isCall recognises calls of the drivers' libraries: cuLaunchKernel, cudaMalloc, hipModuleLaunchKernel.
func isCall(name string) bool {
	for _, p := range []string{"cuda", "hip", "cu"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
			return true
		}
	}
	return false
}

// onDevice recognises operators of the host that only start a collective of the GPU.
func onDevice(name string) bool {
	for _, p := range []string{"nccl", "rccl", "hccl", "xccl", "c10d::", "_c10d", "record_param_comms"} {
		if strings.Contains(name, p) {
			return true
		}
	}
	return false
}

// HostClass returns the term and activity of a region on a thread; a negative term for none.
func HostClass(g *trace.Region) (Term, Doing) {
	c := classOf(g)
	return c.term, c.doing
}

// WorkTerm returns the term of a region on a row of a GPU, and whether it is work at all.
func WorkTerm(g *trace.Region) (Term, bool) {
	t := workTerm(g)
	return t, t != noTerm
}
