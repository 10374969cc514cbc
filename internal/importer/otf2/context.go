package otf2

import "github.com/parallax-hpc/parallax/internal/trace"

// context takes an event of the calling context tree. Its node gives the whole
// call path; the unwind distance says how many of its nodes, from the innermost
// on, were entered anew. Calls that a sample meets began between the sample before
// and this one, and those it no longer meets ended there: both are taken at the
// sample, and counted as guessed.
func (r *threader) context(id uint8, f *fields) {
	node := f.uint32()
	if f.bad {
		return
	}
	node = uint32(r.local.global(mapCallingContext, uint64(node)))
	r.callPath(node)
	if id == evCallingContextLeave {
		r.closeContexts(max(len(r.path)-1, 0))
		return
	}
	distance := f.uint32()
	kept := 0
	for kept < len(r.path) && kept < len(r.contexts) && r.path[kept] == r.contexts[kept] {
		kept++
	}
	if distance > 1 && distance != undefined32 {
		kept = min(kept, max(0, len(r.path)-int(min(distance-1, uint32(len(r.path))))))
	}
	entered := len(r.path) - kept
	if id == evCallingContextEnter {
		entered-- // the innermost is entered here, exactly
	}
	r.tally.sampled += int64(max(entered, 0))
	r.closeContexts(kept)
	for _, c := range r.path[kept:] {
		r.enter(r.contextRegion(c))
		r.contexts = append(r.contexts, c)
	}
}

// callPath lists the nodes from the root to node.
func (r *threader) callPath(node uint32) {
	r.path = r.path[:0]
	for len(r.path) < deepest {
		c, ok := r.a.defs.contexts.get(uint64(node))
		if !ok {
			break
		}
		r.path = append(r.path, node)
		node = c.parent
	}
	for i, j := 0, len(r.path)-1; i < j; i, j = i+1, j-1 {
		r.path[i], r.path[j] = r.path[j], r.path[i]
	}
}

// closeContexts leaves all but the outermost n.
func (r *threader) closeContexts(n int) {
	for k := len(r.contexts) - 1; k >= n; k-- {
		r.leave(r.contextRegion(r.contexts[k]))
		r.contexts = r.contexts[:k]
	}
}

func (r *threader) contextRegion(node uint32) trace.RegionID {
	c, _ := r.a.defs.contexts.get(uint64(node))
	if id, ok := r.a.regions.get(uint64(c.region)); ok {
		return id
	}
	return r.a.ownRegion("unknown region")
}

// endContexts leaves the contexts that samples left open: a program that is sampled has no record of its end.
func (r *threader) endContexts() { r.closeContexts(0) }
