package otf2

import "github.com/parallax-hpc/parallax/internal/trace"

var (
	ioModes   = []string{"read", "write", "flush"}
	ioAccess  = []string{"read only", "write only", "read and write", "execute only", "search only"}
	ioWhences = []string{"start", "current", "end", "data", "hole"}
)

// fileRecord takes records of I/O: facts of the call they are in.
func (r *observer) fileRecord(id uint8, f *fields) {
	n := &r.a.names
	if id == evIoDeleteFile {
		f.uint8() // paradigm
		if name, ok := r.a.defs.nameOf(typeIOFile, r.local.global(mapIOFile, uint64(f.uint32()))); ok {
			r.add(r.a.name(&n.file), trace.Text(name))
		}
		return
	}
	handle := f.uint32()
	switch id {
	case evIoOperationTest, evIoOperationIssued:
		f.uint64()
		r.tally.tests++
		return
	case evIoOperationComplete:
		result := f.uint64()
		f.uint64() // matching
		r.add(r.a.name(&n.transferred), bytesValue(result))
		return
	case evIoOperationCancelled:
		f.uint64()
		r.tally.cancelled++
		return
	}
	if name, ok := r.a.defs.fileOf(r.local.global(mapIOHandle, uint64(handle))); ok {
		r.add(r.a.name(&n.file), trace.Text(name))
	} else {
		r.add(r.a.name(&n.handle), bytesValue(uint64(handle)))
	}
	switch id {
	case evIoCreateHandle:
		r.add(r.a.name(&n.mode), wordOf(ioAccess, f.uint8()))
	case evIoSeek:
		f.int64() // as asked
		r.add(r.a.name(&n.whence), wordOf(ioWhences, f.uint8()))
		r.add(r.a.name(&n.offset), bytesValue(f.uint64()))
	case evIoOperationBegin:
		r.add(r.a.name(&n.mode), wordOf(ioModes, f.uint8()))
		f.uint32() // flags
		r.add(r.a.name(&n.requested), bytesValue(f.uint64()))
	case evIoAcquireLock, evIoReleaseLock, evIoTryLock:
		r.add(r.a.name(&n.lockType), wordOf(lockTypeNames, f.uint8()))
	}
	if f.bad {
		r.facts = r.facts[:0]
	}
}
